"""Known deaths of agents: real processes die of them, and their name is the first thing read."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.programs import fault
from agy_kernel.agents import hints
from agy_kernel.agents.catalogue import find
from agy_kernel.agents.hints import DEATHS, Machine, hint
from agy_kernel.errors import (
    AgentError,
    AgentExited,
    AgentNotFound,
    AgentStartFailed,
    RequestFailed,
    TurnFailed,
    TurnTimeout,
)
from tests.agents import scripted
from tests.agents.scripted import Step, command, fail, hello, new_session
from tests.support.leaks import nothing_is_left  # noqa: F401

PC = Machine("Linux", "x86_64", 4096)
BOARD = Machine("Linux", "aarch64", 16384)

# What each death has on stderr, its exit status, and words of the hint.
SAMPLES: dict[str, tuple[str, int, str]] = {
    "address space": (
        "system-alloc.cc:625] MmapAligned() failed - unable to allocate with tag (size=1073741824)",
        134,
        "no fault of agy-kernel",
    ),
    "no AVX": ("This binary was compiled with avx enabled, but this CPU has none", 132, "AVX"),
    "illegal instruction": ("Illegal instruction (core dumped)", 1, "newer processor"),
    "harness": (
        "FileNotFoundError: Could not find default localharness binary.",
        1,
        "localharness_external",
    ),
    "uid": ("F0000 main.cc:88] Check failed: LookupGIDByGroupName(nobody)", 134, "--uid="),
    "certificates": (
        "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        1,
        "SSL_CERT_FILE",
    ),
    "bad gateway": ("upstream said: 502 Bad Gateway", 1, "NixOS"),
    "disk full": ("OSError: [Errno 28] No space left on device: '/tmp/x'", 1, "TMPDIR"),
    "temp folder": (
        "/tmp/par_1/server: cannot execute: Permission denied",
        126,
        "TMPDIR",
    ),
    "C library": (
        "./agy: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by agy)",
        1,
        "GLIBC_2.38",
    ),
    "shared library": (
        "agy: error while loading shared libraries: libnss3.so: cannot open shared object file",
        127,
        "libnss3.so",
    ),
    "architecture": ("sh: 1: ./server: Exec format error", 126, "another kind of processor"),
    "old Node": ("npm error code EBADENGINE", 1, "Node.js on PATH is too old"),
    "no Node": ("env: 'node': No such file or directory", 127, "no `node` on the PATH"),
    "npm package": ("npm error code E404\nnpm error 404 Not Found", 1, "no package of that name"),
    "network": (
        "npm error code ENOTFOUND\nnpm error network request to a registry failed",
        1,
        "npm install --global",
    ),
    "API key": ("Error: GEMINI_API_KEY is not set.", 1, "GEMINI_API_KEY"),
    "memory": ("FATAL ERROR: JavaScript heap out of memory", 134, "ran out of memory"),
    "command": ("start.sh: line 3: uvx: command not found", 127, "uvx"),
    "command without a name": ("", 127, "does not exist on the PATH"),
}


def dying(folder: Path, words: str, status: int) -> str:
    """A program that says some words on stderr and dies."""
    path = folder / "agent"
    said = f"printf '%s\\n' {shlex.quote(words)} >&2\n" if words else ""
    path.write_text(f"#!/bin/sh\n{said}exit {status}\n")
    path.chmod(0o755)
    return str(path)


def connection(agent: str) -> Connection:
    return Connection(find(agent), "/", lambda *_: None, start_timeout=30)


def scripted_agent(*steps: Step) -> Connection:
    return connection(shlex.join(command(*steps)))


async def start_fails(agent: str) -> list[str]:
    """The lines of the error that a start ends with."""
    with pytest.raises(AgentError) as caught:
        await connection(agent).start()
    return str(caught.value).splitlines()


# -- deaths


def test_every_known_death_has_a_sample() -> None:
    assert list(SAMPLES) == [death.name for death in DEATHS]


@pytest.mark.parametrize("name", SAMPLES)
async def test_a_process_that_dies_of_it_is_explained_in_the_first_line(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "Machine", lambda: PC)
    words, status, wanted = SAMPLES[name]
    first, second, *others = await start_fails(dying(tmp_path, words, status))
    assert wanted in first
    assert f"(exit status {status}) before it answered anything" in second
    assert set(words.splitlines()) <= set(others)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_words_lead_to_their_own_death_and_no_other(name: str) -> None:
    words, status, wanted = SAMPLES[name]
    said = hint(status, words, PC)
    assert wanted in said
    assert "\\" not in said
    assert "{" not in said
    first_sentence = said.partition(". ")[0]
    assert len(first_sentence) < 240


@pytest.mark.report(84)
def test_the_address_space_of_aarch64_is_no_fault_of_ours_and_names_the_pages() -> None:
    said = hint(134, SAMPLES["address space"][0], BOARD)
    assert "48 bits of address space" in said
    assert "(aarch64, pages of 16 kB)" in said
    assert "no fault of agy-kernel" in said


@pytest.mark.report(85)
@pytest.mark.parametrize("status", [132, -4])
def test_an_illegal_instruction_on_a_pc_is_a_processor_without_avx(status: int) -> None:
    assert "AVX" in hint(status, "", PC)
    assert "AVX" not in hint(status, "", BOARD)
    assert "built for a newer processor than this one (aarch64)" in hint(status, "", BOARD)


@pytest.mark.report(85)
async def test_a_real_illegal_instruction_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "Machine", lambda: PC)
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\nkill -ILL $$\n")
    program.chmod(0o755)
    first, *others = await start_fails(str(program))
    assert first.startswith("The agent needs a processor with AVX")
    assert "(signal SIGILL)" in "\n".join(others)


@pytest.mark.report(87)
async def test_a_server_that_lacks_its_empty_uid_says_which_flag_it_wants(tmp_path: Path) -> None:
    first, *_ = await start_fails(dying(tmp_path, *SAMPLES["uid"][:2]))
    assert "--uid=" in first
    assert "AGY_AGENT=antigravity" in first


@pytest.mark.report(86)
async def test_a_session_without_the_harness_is_explained_before_the_servers_words() -> None:
    said = "Could not find default localharness binary"
    refusal = fail("session/new", -32603, "Internal error", {"details": said})
    agent = scripted_agent(*hello(), scripted.expect("session/new"), refusal)
    await agent.start()
    try:
        with pytest.raises(RequestFailed) as caught:
            await agent.open_session("new", "/")
    finally:
        await agent.close()
    first, second = str(caught.value).splitlines()
    assert first.startswith("The server did not find localharness_external")
    assert "AGY_ACP_BIN" in first
    assert second == f"Internal error (-32603): {said}"
    assert caught.value.code == -32603


async def test_an_agent_that_dies_in_a_session_is_explained_too() -> None:
    last = [scripted.to_stderr("MemoryError\n"), scripted.leave(1)]
    script = [*hello(), *new_session(), scripted.expect("session/prompt"), *last]
    agent = scripted_agent(*script)
    await agent.start()
    try:
        session = await agent.open_session("new", "/")
        with pytest.raises(AgentExited) as caught:
            await agent.prompt(session.id, [{"type": "text", "text": "Hello"}])
    finally:
        await agent.close()
    first, second, *_ = str(caught.value).splitlines()
    assert first.startswith("The agent ran out of memory.")
    assert second.startswith("the agent has ended (exit status 1).")


def test_a_model_that_is_not_reached_is_explained_in_a_turn_too() -> None:
    text = TurnFailed("Agent execution error: HTTP 502: Bad Gateway")
    assert str(hints.explained(text)).startswith("The agent reached no model: the answer was 502.")
    refused = RequestFailed(-32603, "dial tcp: lookup host: no such host")
    explained = hints.explained(refused)
    assert isinstance(explained, RequestFailed)
    assert str(explained).startswith("The agent did not reach the network.")
    assert hints.explained(explained) is explained


@pytest.mark.parametrize(
    "error",
    [TurnFailed("The agent refused to go on."), TurnTimeout("dial tcp"), KeyboardInterrupt()],
    ids=repr,
)
def test_what_needs_no_explanation_stays_as_it_is(error: BaseException) -> None:
    assert hints.explained(error) is error


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Loaded cached credentials.",
        "(node:12) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.",
        "Session not found: s1",
        "model: not found",
        "SyntaxError: Unexpected token '<', \"<!doctype\" is not valid JSON",
        "Reading GEMINI_API_KEY from the environment",
        "Traceback (most recent call last):\nValueError: no",
        "Permission denied: /home/user/notes.txt",
    ],
)
@pytest.mark.parametrize("status", [None, 0, 1, -15, -9])
def test_ordinary_words_are_no_known_death(words: str, status: int | None) -> None:
    assert hint(status, words, PC) == ""


# -- files that are no agents


def executable(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def elf(machine: int, loader: bytes = b"") -> bytes:
    """The head of a 64-bit ELF file; with a program header where it names a loader."""
    head = bytearray(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    head[18:20] = machine.to_bytes(2, "little")
    if not loader:
        return bytes(head)
    head[32:40] = (64).to_bytes(8, "little")
    head[54:58] = (56).to_bytes(2, "little") + (1).to_bytes(2, "little")
    entry = bytearray(56)
    entry[0:4] = (3).to_bytes(4, "little")
    entry[8:16] = (120).to_bytes(8, "little")
    entry[32:40] = (len(loader) + 1).to_bytes(8, "little")
    return bytes(head + entry) + loader + b"\0"


CONTENTS = {
    "text": (b"hello, I am no program\n", "is a text, and no program"),
    "empty": (b"", "is empty"),
    "other machine": (elf(183), "is a program for aarch64, and this machine is x86_64"),
    "no loader": (elf(62, b"/lib/no-such-loader.so"), "needs the loader /lib/no-such-loader.so"),
    "windows": (b"MZ\x90\0", "is a program for Windows, and this is Linux"),
    "mac": (b"\xcf\xfa\xed\xfe\0", "is a program for macOS, and this is Linux"),
    "no interpreter": (b"#!/no/such/python\n", "is a script for /no/such/python, which does not"),
    "no env": (b"#!/usr/bin/env no-such-node\n", "is a script for no-such-node, which is not on"),
    "nothing named": (b"#!\n", "names no program behind it"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_file_that_is_no_program_for_here_says_what_it_is(tmp_path: Path, kind: str) -> None:
    content, wanted = CONTENTS[kind]
    assert wanted in fault(str(executable(tmp_path / "agent", content)), "Linux", "x86_64")


def test_what_can_be_started_has_no_fault(tmp_path: Path) -> None:
    assert fault(sys.executable) == ""
    assert fault("sh") == ""
    assert fault(str(executable(tmp_path / "a", b"#!/bin/sh\n"))) == ""
    assert fault(str(executable(tmp_path / "b", elf(3))), "Linux", "x86_64") == ""
    assert fault(str(executable(tmp_path / "c", b"\xcf\xfa\xed\xfe\0")), "Darwin", "arm64") == ""


def broken_link(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


PATHS: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda p: executable(p, b"hello\n"), "is a text, and no program"),
    "not executable": (lambda p: p.write_bytes(b"#!/bin/sh\n"), "is not executable (chmod +x"),
    "broken link": (broken_link, "is a broken link: there is no"),
    "folder": (lambda p: p.mkdir(), "is a folder"),
    "no interpreter": (lambda p: executable(p, b"#!/no/such/python\n"), "is a script for /no/such"),
    "missing": (lambda _: None, "does not exist"),
}


@pytest.mark.parametrize("kind", PATHS)
def test_google_server_that_cannot_be_one_is_said_to_be_so(tmp_path: Path, kind: str) -> None:
    make, wanted = PATHS[kind]
    path = tmp_path / "server.par"
    make(path)
    with pytest.raises(AgentNotFound) as caught:
        find("antigravity", path)
    assert f"AGY_ACP_BIN ({path}): {wanted}" in str(caught.value)


@pytest.mark.parametrize("kind", PATHS)
async def test_command_that_cannot_be_started_is_said_to_be_so_first(
    tmp_path: Path, kind: str
) -> None:
    make, wanted = PATHS[kind]
    path = tmp_path / "agent"
    make(path)
    with pytest.raises(AgentNotFound) as caught:
        find(str(path))
    assert str(caught.value).startswith(f"{path} {wanted}")
    if kind != "missing":
        first, *_ = await start_fails(f"{path} --acp")
        assert first.startswith(f"{path} {wanted}")


def test_a_server_that_was_named_is_not_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    executable(tmp_path / "agy_acp_server.par", b"#!/bin/sh\n")
    assert find("antigravity").argv[0] == str(tmp_path / "agy_acp_server.par")
    with pytest.raises(AgentNotFound, match="passed over: AGY_ACP_BIN is set"):
        find("antigravity", tmp_path / "nowhere")


# -- programs that are no agents


@pytest.mark.report(6)
@pytest.mark.parametrize(
    ("agent", "wanted"),
    [
        ("echo usage: agent acp", "ran to its end at once"),
        ("true", "ran to its end at once"),
    ],
)
async def test_a_program_that_prints_and_ends_is_no_agent(agent: str, wanted: str) -> None:
    first, *others = await start_fails(f"{agent} ''")
    assert wanted in first
    assert "has ended (exit status 0) before it answered anything" in others[0]
    words: Sequence[str] = agent.split()[1:]
    assert " ".join(words) in "\n".join(others)


@pytest.mark.report(6)
async def test_an_agent_that_hangs_is_explained_by_what_it_wrote() -> None:
    words = "Error: self-signed certificate in certificate chain\n"
    silent = command(scripted.to_stderr(words), scripted.hold())
    agent = Connection(find(shlex.join(silent)), "/", lambda *_: None, start_timeout=1.0)
    with pytest.raises(AgentStartFailed) as caught:
        await agent.start()
    first, second, *_ = str(caught.value).splitlines()
    assert first.startswith("The agent does not trust the certificate")
    assert "did not answer within 1 s. AGY_START_TIMEOUT gives it more seconds." in second

"""`agy-kernel doctor` and `%agy doctor`: what they look at, and what they say of it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agy_kernel import __version__
from agy_kernel.acp.watchdog import MARK_VARIABLE
from agy_kernel.agents import catalogue
from agy_kernel.agents.catalogue import HARNESS, HARNESS_VARIABLE, SERVER
from agy_kernel.configuration import Configuration
from agy_kernel.conversation.ladder import TERMINATE
from agy_kernel.doctor import installation, running
from agy_kernel.doctor.agent import found, started
from agy_kernel.doctor.checks import Check, Report, Section
from agy_kernel.doctor.checksums import checksums
from agy_kernel.doctor.render import as_json, as_markdown, as_text
from agy_kernel.doctor.this_kernel import this_kernel
from agy_kernel.kernelspecs import Spec
from agy_kernel.settings import Settings
from tests.agents import scripted
from tests.agents.scripted import Step, answer, command, expect, fail, hello, new_session
from tests.support.cells import stops_end_at, talking
from tests.support.kernels import SIMULATOR, Kernel, StartKernel, isolated, sim
from tests.support.leaks import processes_left
from tests.support.processes import happens_within

Row = dict[str, str]


def rows(checks: list[Check] | tuple[Check, ...]) -> dict[str, Check]:
    """The checks by name; the last of a name."""
    return {check.name: check for check in checks}


def doctor(folder: Path, agent: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``agy-kernel doctor`` with a home of its own."""
    code = "import sys; from agy_kernel.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, "doctor", *words],
        env=isolated(folder) | {"AGY_AGENT": agent, **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def sections(told: str) -> dict[str, list[Row]]:
    return {s["name"]: s["checks"] for s in json.loads(told)["sections"]}


def one(checks: list[Row], name: str) -> Row:
    (row,) = (check for check in checks if check["name"] == name)
    return row


# -- the whole report


def test_the_simulator_is_in_order(tmp_path: Path) -> None:
    done = doctor(tmp_path, SIMULATOR, "--json")
    assert done.returncode == 0, done.stdout
    told = json.loads(done.stdout)
    assert set(told) == {"version", "verdict", "sections"}
    assert told["version"] == __version__
    by_name = sections(done.stdout)
    assert list(by_name) == ["Kernelspec", "Versions", "Agent", "Settings", "Kernels that run"]
    assert all(set(r) == {"name", "verdict", "what", "todo"} for s in by_name.values() for r in s)
    assert one(by_name["Kernelspec"], "wins")["verdict"] == "ok"
    assert sys.executable in one(by_name["Kernelspec"], "wins")["what"]
    assert one(by_name["Versions"], "python")["what"].endswith(sys.executable)
    assert one(by_name["Agent"], "starts")["what"].endswith(" s")
    assert one(by_name["Agent"], "protocol")["what"] == "Agent Client Protocol, version 1"
    assert "session/resume" in one(by_name["Agent"], "capabilities")["what"]
    assert one(by_name["Agent"], "signed in")["verdict"] == "ok"
    assert one(by_name["Settings"], "agent")["what"] == f"{SIMULATOR} (AGY_AGENT)"
    assert "120 s to start" in done.stderr


def test_the_text_says_the_same_and_a_failure_is_exit_status_1(tmp_path: Path) -> None:
    done = doctor(tmp_path, "antigravity", PATH="/nowhere", AGY_PERMISSIONS="perhaps")
    assert done.returncode == 1
    for line in (
        "  · looked for  AGY_ACP_BIN: not set",
        "  · looked for  ~/.gemini/bin/agy acp: does not exist",
        "  ✗ found       antigravity is in none of them",
        "→ docs/install.md",
        "AGY_PERMISSIONS: permissions = 'perhaps' cannot be used",
        "Something does not work: see the lines with ✗.",
    ):
        assert line in done.stdout
    assert "starts" not in done.stdout


@pytest.mark.report(6)
def test_an_agent_that_hangs_ends_with_its_time_and_leaves_nothing(tmp_path: Path) -> None:
    silent = shlex.join(command(scripted.to_stderr("I am busy\n"), scripted.ignore("EOF")))
    begin = time.monotonic()
    done = doctor(tmp_path, silent, "--json", AGY_START_TIMEOUT="5")  # time enough for its words
    assert time.monotonic() - begin < 60
    assert done.returncode == 1
    row = one(sections(done.stdout)["Agent"], "starts")
    assert row["verdict"] == "fail"
    assert "did not answer within 5 s" in row["what"]
    assert "I am busy" in row["what"]


def test_secrets_are_masked_wherever_they_turn_up(tmp_path: Path) -> None:
    secret = "c0rrect-horse-battery"
    noisy = command(scripted.to_stderr(f"key is {secret}\n"), scripted.leave(3))
    for words in ([], ["--json"]):
        done = doctor(tmp_path, shlex.join(noisy), *words, MY_API_KEY=secret)
        assert "[secret masked]" in done.stdout
        assert secret not in done.stdout + done.stderr


def test_an_unknown_agent_is_a_check_that_fails(tmp_path: Path) -> None:
    done = doctor(tmp_path, "antigravty", "--json")
    assert done.returncode == 1
    row = one(sections(done.stdout)["Agent"], "found")
    assert "neither a known one" in row["what"]


# -- rendering is pure

REPORT = Report(
    "1.2",
    (
        Section("One", (Check("a", "ok", "fine"), Check("long", "warn", "two\nlines", "do it"))),
        Section("Two", (Check("b", "info", "a|b <c>"),)),
    ),
)


def test_a_report_as_text() -> None:
    assert as_text(REPORT) == (
        "agy-kernel 1.2\n\n"
        "One\n"
        "  ✓ a     fine\n"
        "  ! long  two\n"
        "          lines\n"
        "          → do it\n\n"
        "Two\n"
        "  · b  a|b <c>\n\n"
        "It works, but see the lines with !."
    )


def test_a_report_as_markdown_has_tables_and_blocks() -> None:
    told = as_markdown(REPORT)
    assert "| ✓ a | fine |" in told
    assert "! long → do it\n\n```\ntwo\nlines\n```" in told
    assert "| · b | a\\|b &lt;c> |" in told


def test_a_report_as_json_can_be_read_again() -> None:
    told = json.loads(as_json(REPORT))
    assert told["verdict"] == "warn"
    assert told["sections"][0]["checks"][1] == {
        "name": "long",
        "verdict": "warn",
        "what": "two\nlines",
        "todo": "do it",
    }


def test_the_worst_verdict_counts() -> None:
    def verdict(*checks: Check) -> str:
        return Report("1", (Section("s", checks),)).verdict

    assert verdict() == "ok"
    assert verdict(Check("a", "info", "")) == "ok"
    assert verdict(Check("a", "fail", ""), Check("b", "warn", "")) == "fail"


# -- kernelspecs


@pytest.mark.parametrize(
    ("argv", "verdict", "words"),
    [
        ((sys.executable, "-m", "agy_kernel"), "ok", sys.executable),
        (("/gone/python", "-m", "agy_kernel"), "fail", "does not exist any more"),
        (("python", "-m", "other"), "fail", "starts something else"),
        ((), "fail", "cannot be read"),
    ],
)
def test_the_spec_that_wins(
    monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], verdict: str, words: str
) -> None:
    specs = [Spec(Path("/a"), argv), Spec(Path("/b"), ("/old/python", "-m", "agy_kernel"))]
    monkeypatch.setattr("agy_kernel.kernelspecs.installed", lambda: specs)
    wins, hidden = installation.kernelspec().checks
    assert (wins.name, wins.verdict) == ("wins", verdict)
    assert words in wins.what
    assert ("agy-kernel install --user" in wins.todo) == (verdict == "fail")
    assert hidden.verdict == "warn"
    assert hidden.todo == "Remove the folder /b."


def test_no_spec_at_all_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agy_kernel.kernelspecs.installed", list)
    (check,) = installation.kernelspec().checks
    assert check.verdict == "fail"
    assert "agy-kernel install --user" in check.todo


# -- where the agent is, and what lies beside it


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Google's server, as far as a folder goes: only what is on PATH and at home counts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(HARNESS_VARIABLE, raising=False)
    path = tmp_path / "build-1" / SERVER
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.report(86)
def test_a_server_without_its_harness_fails_the_check(server: Path) -> None:
    link = server.parent.parent / "link.par"
    link.symlink_to(server)
    settings = Settings(acp_bin=link)
    check = rows(found(settings))["harness"]
    assert (check.verdict, check.what.split(",")[0]) == (
        "fail",
        f"there is no {server.parent / HARNESS}",
    )
    (server.parent / HARNESS).write_text("x")
    assert rows(found(settings))["harness"].verdict == "ok"


def test_every_place_is_named_and_the_first_good_one_is_it(server: Path) -> None:
    checks = found(Settings(acp_bin=server))
    assert checks[0] == Check("found", "ok", f"AGY_ACP_BIN ({server}) at {server}")
    labels = [check.what for check in checks if check.name == "looked for"]
    assert [label.partition(":")[0] for label in labels] == [
        f"{SERVER} on PATH",
        f"~/.local/opt/agy-acp/current/{SERVER}",
        "agy acp on PATH",
        "~/.local/bin/agy acp",
        "~/.gemini/bin/agy acp",
    ]


def test_places_and_find_agree_on_every_known_agent(server: Path) -> None:
    for name in catalogue.CATALOGUE:
        working = [place for place in catalogue.places(name, server) if not place.wrong]
        if working:
            assert catalogue.find(name, server).argv[0] == working[0].path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_recorded_sum_is_compared_with_the_file(server: Path) -> None:
    (check,) = checksums(server, is_expected=True)
    assert (check.verdict, check.name) == ("info", "sha-256")
    assert "sha256sum" in check.todo
    harness = server.parent / HARNESS
    harness.write_text("harness")
    sums = server.parent / "SHA256SUMS"
    sums.write_text(f"{digest(server)}  {SERVER}\n{digest(harness)} *{HARNESS}\nnonsense\n")
    assert [check.verdict for check in checksums(server, is_expected=True)] == ["ok", "ok"]
    harness.write_text("changed")
    server_check, harness_check = checksums(server, is_expected=True)
    assert (server_check.verdict, harness_check.verdict) == ("ok", "fail")
    assert digest(harness) in harness_check.what
    harness.unlink()
    assert "is missing" in checksums(server, is_expected=True)[1].what


@pytest.mark.parametrize("line", ["{sum}", "{sum}  agy_acp_server.par\n"])
def test_a_record_of_one_file_may_hold_the_sum_alone(server: Path, line: str) -> None:
    record = server.parent / f"{SERVER}.sha256"
    record.write_text(line.format(sum=digest(server).upper()))
    (check,) = checksums(server, is_expected=True)
    assert (check.verdict, check.name) == ("ok", f"sha-256 of {SERVER}")


def test_the_record_of_an_archive_that_was_not_kept_is_no_record(server: Path) -> None:
    (server.parent / "server.zip.sha256").write_text("0" * 64)
    (check,) = checksums(server, is_expected=True)
    assert check.name == "sha-256"
    assert checksums(server, is_expected=False) == []


def test_the_install_page_tells_how_to_make_the_record() -> None:
    page = (Path(__file__).parent.parent / "docs" / "install.md").read_text("utf-8")
    assert f"sha256sum {SERVER} {HARNESS} > SHA256SUMS" in page


# -- an agent that is started to be looked at


async def look(*steps: Step, **settings: Any) -> dict[str, Check]:
    launch = catalogue.find(shlex.join(command(*steps)))
    checks = rows(await started(launch, Settings(**settings)))
    assert processes_left() == set()
    return checks


async def test_an_agent_is_asked_and_never_prompted() -> None:
    can = {"loadSession": True, "sessionCapabilities": {"close": {}, "list": {}}}
    script = [*hello(agentCapabilities=can), *new_session()]
    closing = [expect("session/close"), answer("session/close", {})]
    checks = await look(*script, *closing)
    assert checks["agent"].what == "Scripted agent 1"
    assert checks["capabilities"].what == "session/load, session/close, session/list"
    assert checks["signed in"].verdict == "ok"


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


SIGNED_OUT = fail("session/new", -32000, "Authentication required")
METHODS = [{"id": "oauth-personal", "name": "Google"}, {"id": "key", "name": "Key"}]


@pytest.mark.report(53)
async def test_one_that_is_not_signed_in_says_how_and_begins_no_sign_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gemini" / "antigravity-cli").mkdir(parents=True)
    login = tmp_path / ".gemini" / "antigravity-cli" / "token.json"
    login.write_text("{}")
    info = {"name": "antigravity-acp", "title": "Google Antigravity", "version": "1"}
    greeting = hello(authMethods=METHODS, agentInfo=info)
    # An ``authenticate`` would find nobody who answers, and no ``session/new`` would follow.
    checks = await look(*greeting, expect("session/new"), SIGNED_OUT)
    check = checks["signed in"]
    assert (check.verdict, check.what) == ("fail", "no, it wants a sign-in first")
    assert "oauth-personal, key" in check.todo
    assert "The sign-in of the agy CLI is another one" in check.todo
    assert login.read_text() == "{}"
    assert files_in(tmp_path) == [login]


async def test_a_sign_in_that_needs_no_person_is_left_to_the_first_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "x")
    variables = [{"name": "MY_KEY"}]
    methods = [{"id": "key", "name": "Key", "type": "env_var", "vars": variables}]
    checks = await look(*hello(authMethods=methods), expect("session/new"), SIGNED_OUT)
    assert checks["signed in"].verdict == "info"
    assert "the first prompt signs in by key" in checks["signed in"].what


async def test_one_that_waits_for_a_browser_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agy_kernel.doctor.agent.ANSWER", 0.5)
    checks = await look(*hello(), expect("session/new"), scripted.hold())
    assert checks["signed in"].verdict == "warn"
    assert "may wait for a sign-in in a browser" in checks["signed in"].what


async def test_a_session_that_fails_otherwise_is_a_failure_with_its_hint() -> None:
    said = {"message": "Could not find default localharness binary"}
    refusal = fail("session/new", -32603, "Internal error", said)
    checks = await look(*hello(), expect("session/new"), refusal)
    assert checks["signed in"].verdict == "fail"
    assert "localharness_external" in checks["signed in"].what


# -- settings


def test_settings_are_told_with_their_sources_and_problems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"images": 2, "imges": 3}')
    monkeypatch.setenv("AGY_AGENT", "codex")
    section = installation.settings(Configuration(file))
    checks = rows(section.checks)
    assert checks["agent"].what == "codex (AGY_AGENT)"
    assert checks["images"].what == f"2 ({file})"
    assert checks["problem"].verdict == "warn"
    assert "did you mean 'images'" in checks["problem"].what
    assert set(checks) == {"file", "agent", "images", "problem"}


# -- processes


@pytest.fixture
def orphan() -> Iterator[int]:
    """A process with the mark of a kernel that is gone."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    env = {**os.environ, MARK_VARIABLE: f"{gone.pid}-x"}
    process = subprocess.Popen(["sleep", "600"], env=env)
    yield process.pid
    process.kill()
    process.wait()


def test_what_was_left_behind_is_warned_of(
    orphan: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    for name, kernel in (("kernel-1.json", "antigravity"), ("kernel-2.json", "python3")):
        (tmp_path / name).write_text(json.dumps({"kernel_name": kernel}))
    (tmp_path / "kernel-3.json").write_text("{")
    left = [check for check in running.kernels().checks if check.name == "left behind"]
    (warning,) = (check for check in left if check.todo.endswith(f"kill {orphan}"))
    assert warning.verdict == "warn"
    assert any(check.what.startswith("1 connection files") for check in left)


def test_a_tree_of_processes_has_ids_and_memory() -> None:
    told = running.tree(os.getpid())
    assert told.startswith(f"pid {os.getpid()}")
    assert told.endswith(" MB")
    assert running.tree(2**22 + 1).endswith("is gone")


def test_ages_are_told_in_words() -> None:
    assert [running._age(s) for s in (5, 119, 7_300, 200_000)] == ["5 s", "2 min", "2 h", "2 days"]


# -- what a conversation has been through


async def test_a_conversation_keeps_what_has_happened_to_it() -> None:
    first = [*scripted.opening(), scripted.raw(b"no message\n"), *scripted.turn("One")]
    dies = [scripted.to_stderr("last words\n"), scripted.leave(7)]
    async with talking([*first, expect("session/prompt"), *dies], scripted.opening()) as talk:
        await talk.turn()
        await (await talk.turn()).task
        conversation = talk.conversation
        for burial in list(conversation._processes._farewells):
            await burial
        assert conversation.engine is None
        assert conversation.bad_frames == {"not a message": 1}
        assert conversation.last_words == "last words"
        moments = [moment.what for moment in conversation.life.moments]
        assert moments[0].startswith("started, pid ")
        assert moments[1:3] == ["session opened: s1", "turn ended: end_turn"]
        died = "died: the agent has ended (exit status 7)."
        assert sorted(moments[3:]) == [died, "turn ended: AgentExited"]
        times = [moment.at for moment in conversation.life.moments]
        assert times == sorted(times)
        (_, section) = this_kernel([conversation])
        checks = rows(section.checks)
        assert checks["session"].what == "s1, opened again by the next prompt"
        assert checks["process"].what == "none runs; the next prompt starts one"
        assert checks["restart 1"].what == "the agent has ended (exit status 7)."
        assert checks["bad frames"].what == "1 × not a message"
        assert "died: the agent has ended" in checks["what happened"].what
        assert checks["stderr, its end"].what.strip() == "last words"


async def test_a_lost_session_and_a_stop_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    stops_end_at(TERMINATE, monkeypatch)
    deaf = [expect("session/prompt"), scripted.send(scripted.chunk("…")), scripted.ignore("EOF")]
    again = [*hello(), expect("session/load"), fail("session/load", -32602, "unknown session")]
    script = [*again, *new_session("s2"), *scripted.turn("Two", session="s2")]
    async with talking([*scripted.opening(), *deaf, scripted.pause()], script) as talk:
        cell = talk.ask()
        await cell.words("…")
        await cell.stop()
        await (await talk.turn()).task
        moments = [moment.what for moment in talk.conversation.life.moments]
        assert f"turn stopped by {TERMINATE.name}" in moments
        assert "turn ended: cancelled" in moments
        # It is a race whether its end is noticed first, or that it was ended.
        ends = ("process replaced: The last turn did not", "died: the agent has ended")
        assert any(moment.startswith(ends) for moment in moments)
        assert moments[-3:] == ["session lost: s1", "session opened: s2", "turn ended: end_turn"]
        (_, section) = this_kernel([talk.conversation])
        checks = rows(section.checks)
        assert checks["stop"].verdict == "warn"
        assert TERMINATE.name in checks["stop"].what
        assert checks["session"].what == "s2, open"
        assert f"pid {talk.pid}" in checks["process"].what


# -- in a kernel


@pytest.fixture
def python(start_kernel: StartKernel) -> Kernel:
    """A Python kernel with the magics."""
    kernel = start_kernel(name="python3")
    assert kernel.run("%load_ext agy_kernel").status == "ok"
    return kernel


def test_the_doctor_in_a_kernel_starts_an_agent_only_to_look_at_it(python: Kernel) -> None:
    cell = python.run("%agy doctor --json")
    assert cell.status == "ok", cell.error
    by_name = sections(cell.text)
    assert one(by_name["Agent"], "signed in")["what"] == "yes, it opens sessions"
    assert str(python.pid) in one(by_name["This kernel"], "process")["what"]
    assert python.agents == set()
    assert python.sent("session/prompt") == []


def test_the_doctor_in_a_kernel_looks_at_the_agent_that_runs(python: Kernel) -> None:
    assert python.run(f"%agy {sim({'text': 'Hello'})}").status == "ok"
    agent = python.agent
    cell = python.run("%agy doctor")
    assert cell.status == "ok", cell.error
    assert "✓ signed in | yes, a session is open" in cell.text
    assert "✓ starts | it runs" in cell.text
    assert f"pid {agent}" in cell.text
    assert "turn ended: end_turn" in cell.text
    assert "✓ bad frames | none" in cell.text
    assert f"pid {python.pid}" in cell.text
    assert python.agents == {agent}
    assert len(python.sent("session/prompt")) == 1
    assert len(python.sent("session/new")) == 1


def test_the_doctor_tells_the_sign_in_of_an_agent_that_runs_without_a_session(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(f"{SIMULATOR} --signed-out")
    assert kernel.run("hello").error["ename"] == "AuthenticationRequired"
    agents = kernel.agents
    assert agents
    cell = kernel.run("%agy doctor")
    assert "✓ starts | it runs" in cell.text
    assert "✗ signed in | no, it wants a sign-in first" in cell.text
    assert kernel.agents == agents


def test_the_doctor_asks_nothing_of_the_start_of_a_kernel() -> None:
    code = "import sys, agy_kernel.kernel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "psutil", "agy_kernel.kernelspecs"} & set(done.stdout.split())


def test_the_doctor_of_the_antigravity_kernel_when_there_is_no_agent(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel("antigravity", {"PATH": "/nowhere"})
    cell = kernel.run("%agy doctor")
    assert cell.status == "ok"
    assert "✗ found | antigravity is in none of them" in cell.text
    assert "Something does not work" in cell.text


def test_stop_ends_the_doctor_and_the_agent_that_hangs(start_kernel: StartKernel) -> None:
    kernel = start_kernel(shlex.join(command(scripted.ignore("EOF"), scripted.pause())))
    cell = kernel.send("%agy doctor")
    kernel.wait(lambda: bool(kernel.agents), "the agent has been started")
    kernel.interrupt()
    kernel.finish(cell)
    assert cell.status == "error"
    assert cell.error["ename"] == "TurnCancelled"
    assert happens_within(30, lambda: kernel.agents == set())
    assert kernel.run("%agy context off").status == "ok"

"""Known deaths of agents: a sentence for the person, from what the process left behind.

Each is a row of the public reports (docs/reliability.md), a note in Antigravity's trackers, or what
every program started from a notebook dies of. The first one that fits is told.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import RequestFailed, TurnFailed, after_hint

X86 = frozenset({"x86_64", "amd64", "i686", "i386"})
ILLEGAL_INSTRUCTION = frozenset({-4, 132})  # a child's own, and as a shell or a wrapper tells it
COMMAND_NOT_FOUND = frozenset({127})


@dataclass(frozen=True, slots=True)
class Machine:
    """What is known of the machine.

    Args:
        system: ``Linux``, ``Darwin`` or ``Windows``.
        name: the processor, as ``platform.machine`` calls it.
        page_size: bytes of a page of memory.
    """

    system: str = field(default_factory=platform.system)
    name: str = field(default_factory=platform.machine)
    page_size: int = field(
        default_factory=lambda: os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    )


@dataclass(frozen=True, slots=True)
class Death:
    r"""A known death.

    Args:
        name: what to call it in tests and docs.
        sign: what is found in the last words; its groups can be named in ``told`` as ``\1``.
        told: what has happened and what to do; the first sentence says what has happened.
        statuses: exit statuses that are sign enough.
        machines: the only processors that it happens on; empty for all.
    """

    name: str
    sign: str
    told: str
    statuses: frozenset[int] = frozenset()
    machines: frozenset[str] = frozenset()


DEATHS = (
    Death(
        "address space",  # report 84
        r"MmapAligned\(\) failed|48-bit (?:virtual )?address",
        "The agent's memory allocator (TCMalloc) did not get the addresses that it needs: it wants "
        "an operating system whose kernel gives programs 48 bits of address space, and this one "
        "({machine}, pages of {pages} kB) gives fewer. This is no fault of agy-kernel, and no "
        "setting helps: use another kernel of Linux, another machine, or another agent.",
    ),
    Death(
        "no AVX",  # report 85
        r"(?i)compiled with avx\d* enabled|no avx2? support",
        "The agent needs a processor with AVX, and this one has none. In a virtual machine, let it "
        'see the host\'s processor (QEMU: "-cpu host"); else use another machine or another agent.',
        ILLEGAL_INSTRUCTION,
        X86,
    ),
    Death(
        "illegal instruction",
        r"(?i)illegal instruction",
        "The agent was built for a newer processor than this one ({machine}): it met an "
        "instruction that there is not. Use another machine, or an older build of the agent.",
        ILLEGAL_INSTRUCTION,
    ),
    Death(
        "harness",  # report 86
        r"(?i)could not find (?:the )?(?:default )?localharness",
        "The server did not find localharness_external, a file that belongs beside "
        "agy_acp_server.par. Unpack the whole archive into one folder, and let AGY_ACP_BIN name "
        "the server in it, or a link to it; ANTIGRAVITY_HARNESS_PATH can name the file, too.",
    ),
    Death(
        "uid",  # report 87
        r"LookupGIDByGroupName",
        'The server ends where there is no group "nobody", unless it is started with --uid= '
        "(nothing behind the sign). agy-kernel does that by itself when AGY_AGENT=antigravity; "
        "add it to a command line of your own.",
    ),
    Death(
        "certificates",
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|unable to get (?:local )?issuer cert"
        r"|SELF_SIGNED_CERT|self[- ]signed certificate|x509: |UNABLE_TO_\w+_CERT\w*",
        "The agent does not trust the certificate of the server that it called. Let SSL_CERT_FILE "
        "(for agents on Node, NODE_EXTRA_CA_CERTS) name the file with your system's or company's "
        "certificates; on NixOS that is /etc/ssl/certs/ca-bundle.crt.",
    ),
    Death(
        "bad gateway",
        r"(?i)\b502 Bad Gateway|(?:status|code|http)[ :=]+502\b",
        "The agent reached no model: the answer was 502. On NixOS its certificates are not found: "
        "set SSL_CERT_FILE to /etc/ssl/certs/ca-bundle.crt; else a proxy is in the way.",
    ),
    Death(
        "disk full",
        r"No space left on device|ENOSPC|Disk quota exceeded",
        "The disk is full, or your share of it. A server of Antigravity unpacks itself into the "
        "temp folder and needs about 1 GB there: make room, or let TMPDIR name another folder.",
    ),
    Death(
        "temp folder",
        r"No usable temporary directory|failed to map segment from shared object"
        r"|(?i:(?:permission denied|operation not permitted|read-only file system|noexec)"
        r"[^\n]*(?:/tmp/|/tmp\b|TMPDIR|_MEI)|(?:/tmp/|TMPDIR|_MEI)[^\n]*"
        r"(?:permission denied|operation not permitted|read-only file system|noexec))",
        "The agent may not run what it has unpacked into the temp folder, which is read-only, "
        "mounted noexec, or blocked. Let TMPDIR name a folder of yours where programs may run, and "
        "restart the kernel.",
    ),
    Death(
        "C library",
        r"version `?(GLIBC(?:XX)?_[\d.]+)' not found",
        r"The agent was built for a newer system: it needs \1. Update the system, or use an older "
        "build of the agent.",
    ),
    Death(
        "shared library",
        r"error while loading shared libraries: ([^\s:]+)|Library not loaded: (\S+)",
        r"A library that the agent needs is not installed: \1\2. Install it with the system's "
        "package manager.",
    ),
    Death(
        "architecture",
        r"(?i)exec format error|cannot execute binary file|bad cpu type in executable",
        "The program is for another kind of processor or system than this one ({system}, "
        "{machine}). Install the build for it.",
    ),
    Death(
        "old Node",
        r"EBADENGINE|(?i:requires? node(?:\.js)?\b[^\n]*\d)|ERR_UNKNOWN_BUILTIN_MODULE"
        r"|does not provide an export named|SyntaxError: (?:Unexpected token(?!.*JSON)|Invalid reg)"
        r"|ERR_REQUIRE_ESM|Unsupported engine",
        "The Node.js on PATH is too old for this agent. `node --version` tells which it is; "
        "install a newer one (20 or later), put it first on PATH, and start Jupyter from there.",
    ),
    Death(
        "no Node",
        r"env: .?node.?: No such file|\bnode: (?:command )?not found",
        "The agent runs on Node.js, and there is no `node` on the PATH that Jupyter was started "
        "with. Install it, or start Jupyter from a shell that has it.",
    ),
    Death(
        "npm package",
        r"(?i)npm (?:err!|error)[^\n]*\bE404\b|npm (?:err!|error) 404\b",
        "npm knows no package of that name. Correct the command line in AGY_AGENT.",
    ),
    Death(
        "network",
        r"\b(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ECONNRESET)\b"
        r"|Temporary failure in name resolution|(?i:npm (?:err!|error)[^\n]*network)"
        r"|dial tcp\b",
        "The agent did not reach the network. npx downloads a package before each first start: "
        "install the agent for good (npm install --global ...), or set HTTPS_PROXY where there is "
        "a proxy.",
    ),
    Death(
        "API key",
        r"\b([A-Z][A-Z0-9_]*_(?:API_KEY|TOKEN))\b[^\n]*(?i:not set|missing|required|must|not found)"
        r"|(?i:(?:missing|no|set|specify|provide)\b[^\n]*)\b([A-Z][A-Z0-9_]*_(?:API_KEY|TOKEN))\b",
        r"The agent wants a key in the variable \1\2. Set it where Jupyter is started, "
        "and restart the kernel; it is never to be written into a notebook.",
    ),
    Death(
        "memory",
        r"heap out of memory|std::bad_alloc|MemoryError|(?i:cannot allocate memory|out of memory)",
        "The agent ran out of memory. A server of Antigravity needs about 1 GB: end other kernels "
        "and their agents (`agy-kernel doctor` lists them).",
    ),
    Death(
        "command",
        r"(?m): (?:line )?\d+: ([^\s:]+): (?:command )?not found$|^env: .([^\s:]+).: No such file",
        r"A command that starts the agent does not exist on the PATH that Jupyter was started "
        r"with: \1\2. Install it, or start Jupyter from a shell that has it.",
    ),
    Death(
        "command without a name",
        r"(?!)",
        "A command that starts the agent does not exist on the PATH that Jupyter was started "
        "with. Install it, or start Jupyter from a shell that has it.",
        COMMAND_NOT_FOUND,
    ),
)


def hint(status: int | None, words: str, machine: Machine | None = None) -> str:
    """What an agent has died of, and what to do; empty where it is not known.

    Args:
        status: its exit status, negative for a signal; None while it runs.
        words: the end of its stderr, or the error that it answered with.
        machine: what it ran on; None for this one.
    """
    machine = machine or Machine()
    return next(_told(status, words, machine), "")


def explained(error: BaseException) -> BaseException:
    """A turn's failure with what it means, where that is known.

    Agents tell of a model that they do not reach as text, or as an internal error.
    """
    said = hint(None, str(error))
    if not said or said in str(error):
        return error
    if isinstance(error, RequestFailed):
        return RequestFailed(error.code, error.message, error.data, said)
    return TurnFailed(after_hint(said, str(error))) if type(error) is TurnFailed else error


def _told(status: int | None, words: str, machine: Machine) -> Iterator[str]:
    # Words say more than a status, of which a shell and a signal have many uses.
    for death in DEATHS:
        found = re.search(death.sign, words)
        if found is not None and _can_happen(death, machine):
            yield _filled(death.told, machine, found)
    for death in DEATHS:
        if status in death.statuses and _can_happen(death, machine):
            yield _filled(death.told, machine)


def _can_happen(death: Death, machine: Machine) -> bool:
    return not death.machines or machine.name.lower() in death.machines


def _filled(told: str, machine: Machine, found: re.Match[str] | None = None) -> str:
    groups = found.groups("") if found is not None else ()
    for number, group in enumerate(groups, 1):
        told = told.replace(f"\\{number}", group)
    facts = {"system": machine.system, "machine": machine.name}
    for name, value in {**facts, "pages": str(machine.page_size // 1024)}.items():
        told = told.replace(f"{{{name}}}", value)
    return told

"""Tapes read, shown, cleaned and compared; and what is said of bad ones."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.tapes import command
from agy_kernel.tapes.diff import diff
from agy_kernel.tapes.frames import Frames
from agy_kernel.tapes.meaning import difference
from agy_kernel.tapes.reading import TapeError, read
from agy_kernel.tapes.scrub import scrub
from agy_kernel.tapes.show import show
from tests.support.tapes import HEADER, answered, chunk, opening, prompt, replied, said, write

CLI = str(Path(sys.executable).with_name("agy-kernel"))
TRAFFIC = sorted((Path(__file__).parent / "agents" / "traffic").glob("*.jsonl"))
Lines = list[dict[str, Any]]


def build() -> Lines:
    """One build's answers to a few questions."""
    lines = [
        *opening(),
        prompt(3, "hello"),
        chunk("hi"),
        said("session/request_permission", "p", sessionId="s1", options=[{"kind": "allow_once"}]),
        replied("p", {}),
        answered(3, {"stopReason": "end_turn"}),
        answered(9, error={"code": -32602, "message": "no", "data": {"errors": [{"loc": ["a"]}]}}),
    ]
    lines[1]["msg"]["result"] |= {"agentCapabilities": {"loadSession": True}}
    modes = {"availableModes": [{"id": "default", "name": "D"}], "currentModeId": "default"}
    lines[3]["msg"]["result"] |= {"modes": modes}
    return lines


# -- reading


def warnings_of(path: Path) -> tuple[int, list[str]]:
    said: list[str] = []
    return len(list(read(path, said.append))), said


def test_a_last_line_that_is_cut_is_passed_over_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "t", build())
    path.write_bytes(path.read_bytes()[:-20])
    assert warnings_of(path) == (
        len(build()),
        [f"{path}, line 11: the last line is cut, and passed over"],
    )


BAD: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "empty": (lambda _: [], "holds no frames"),
    "only a header": (lambda lines: lines[:1], "holds no frames"),
    "no JSON": (lambda lines: [*lines[:3], "nonsense\n", *lines[3:]], "line 4: no line of a tape"),
    "no object": (lambda lines: [*lines, "[]\n"], "line 12: no line of a tape: it is no object"),
    "no time": (lambda lines: [*lines, '{"dir": "a2c", "msg": 1}\n'], '"t" is no number'),
    "no way": (lambda lines: [*lines, '{"t": 9, "dir": "up", "msg": 1}\n'], '"dir" is none of'),
    "no frame": (lambda lines: [*lines, '{"t": 9, "dir": "a2c"}\n'], '"msg" is missing'),
    "deep": (lambda lines: [*lines, "[" * 99_999 + "\n"], "line 12: no line of a tape"),
    "shuffled": (lambda lines: [lines[0], *lines[:0:-1]], "line 3: it is earlier than the line"),
    "newer": (lambda lines: ['{"tape": 2}\n', *lines[1:]], "of format 2, and this agy-kernel"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_tape_that_cannot_be_used_says_why_and_where(tmp_path: Path, bad: str) -> None:
    spoil, words = BAD[bad]
    path = write(tmp_path / "t", build())
    path.write_text("".join(spoil(path.read_text().splitlines(keepends=True))))
    with pytest.raises(TapeError) as failed:
        warnings_of(path)
    assert words in str(failed.value)


@pytest.mark.parametrize("path", ["missing", "."])
def test_a_file_that_cannot_be_read_says_so(tmp_path: Path, path: str) -> None:
    with pytest.raises(TapeError, match="cannot be read"):
        warnings_of(tmp_path / path)


@pytest.mark.parametrize("path", TRAFFIC, ids=lambda path: path.stem)
def test_older_tapes_without_a_header_are_read(path: Path) -> None:
    shown = list(show(path, False, pytest.fail))
    assert len(shown) == len(path.read_text("utf-8").splitlines())
    assert diff(path, path, pytest.fail) == []


@pytest.mark.parametrize("words", ["show {0}", "diff {0} {0}", "scrub {0} {1}"])
def test_a_tape_of_any_length_takes_the_memory_of_a_line(tmp_path: Path, words: str) -> None:
    path, target = tmp_path / "t", tmp_path / "out"
    write(path, [*opening(), prompt(3, "go")])
    line = json.dumps({"t": 1.0, **chunk("x" * 4_000)}).encode() + b"\n"
    with path.open("ab") as file:
        for _ in range(50_000_000 // len(line)):
            file.write(line)
    code = (
        # Not ru_maxrss, which a process inherits from the one that started it.
        "import re, sys; from pathlib import Path; from agy_kernel.cli import main; "
        "status = main(sys.argv[1:]); "
        "status_file = Path('/proc/self/status').read_text(); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', status_file)[1], file=sys.stderr)"
    )
    argv = [sys.executable, "-c", code, "tape", *words.format(path, target).split()]
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert int(done.stderr) < 150_000  # KB; the tape alone has 50 MB


# -- showing


def test_a_line_for_each_frame(tmp_path: Path) -> None:
    shown = list(show(write(tmp_path / "t", build()), False, pytest.fail))
    assert [line.split(" {")[0].split()[2:] for line in shown[1:]] == [
        ["->", "initialize", "#1"],
        ["<-", "initialize", "#1", "ok"],
        ["->", "session/new", "#2"],
        ["<-", "session/new", "#2", "ok"],
        ["->", "session/prompt", "#3"],
        ["<-", "session/update", "agent_message_chunk"],
        ["<-", "session/request_permission", '#"p"'],
        ["->", "session/request_permission", '#"p"', "ok"],
        ["<-", "session/prompt", "#3", "ok"],
        ["<-", "#9", "error"],
    ]


def test_what_an_agent_said_cannot_reach_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "t", [*opening(), chunk("\x1b[2J\x9b2J\u202e")])
    assert not {"\x1b", "\x9b", "\u202e"} & set("".join(show(path, False, pytest.fail)))


def test_json_for_programs(tmp_path: Path) -> None:
    path = write(tmp_path / "t", build())
    header, *frames = map(json.loads, show(path, True, pytest.fail))
    assert header == {"line": 1, **HEADER}
    assert (frames[5]["line"], frames[5]["update"]) == (7, "agent_message_chunk")
    assert [frame["msg"] for frame in frames] == [line["msg"] for line in build()]


def test_a_batch_gives_several_frames(tmp_path: Path) -> None:
    batch = [chunk("a")["msg"], chunk("b")["msg"]]
    path = write(tmp_path / "t", [{"dir": "a2c", "msg": batch}])
    frames = Frames()
    found = [frame for line in read(path, pytest.fail) for frame in frames.of(line)]
    assert [frame.message for frame in found] == batch


# -- cleaning


def test_a_clean_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    lines = [*opening(), chunk("hunter2hunter2 in /home/someone/x")]
    path = write(tmp_path / "t", lines)
    header = HEADER | {"agent": {"name": "x", "command": ["x", "--token", "abc"]}}
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join([json.dumps(header) + "\n", *text[1:]]))
    target = tmp_path / "clean"
    assert scrub(path, target, pytest.fail) == 2
    first, *rest = map(json.loads, target.read_text().splitlines())
    assert first["agent"]["command"] == ["x", "--token", "[secret masked]"]
    assert [line["msg"] for line in rest[:-1]] == [line["msg"] for line in opening()]
    assert "[secret masked] in <home>/x" in json.dumps(rest[-1])
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_tape_is_not_cleaned_into_itself_and_a_bad_one_leaves_no_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t", build())
    with pytest.raises(TapeError, match="into itself"):
        scrub(path, path, pytest.fail)
    with pytest.raises(TapeError, match="cannot be read"):
        scrub(tmp_path / "missing", tmp_path / "new", pytest.fail)
    assert not (tmp_path / "new").exists()


# -- comparing


def plain(lines: Lines) -> Lines:
    return lines


def with_capability(lines: Lines) -> Lines:
    lines[1]["msg"]["result"]["agentCapabilities"] = {"loadSession": False}
    return lines


def with_mode(lines: Lines) -> Lines:
    lines[3]["msg"]["result"]["modes"]["availableModes"].append({"id": "yolo", "name": "Y"})
    return lines


def with_method(lines: Lines) -> Lines:
    return [*lines, said("fs/read_text_file", 8, sessionId="s1", path="/x")]


def with_field(lines: Lines) -> Lines:
    lines[5]["msg"]["params"]["update"]["messageId"] = "m"
    return lines


def with_other_shape(lines: Lines) -> Lines:
    content = lines[5]["msg"]["params"]["update"]["content"]
    lines[5]["msg"]["params"]["update"]["content"] = [content]
    return lines


def with_stop_reason(lines: Lines) -> Lines:
    lines[8]["msg"]["result"]["stopReason"] = "max_tokens"
    return lines


def with_protocol(lines: Lines) -> Lines:
    lines[1]["msg"]["result"] = {**lines[1]["msg"]["result"], "protocolVersion": 2}
    return lines


def with_another_mode_at_first(lines: Lines) -> Lines:
    lines[3]["msg"]["result"]["modes"]["currentModeId"] = "yolo"
    return lines


def with_less_in_an_error(lines: Lines) -> Lines:
    lines[9]["msg"]["error"]["data"] = {"errors": [{"path": "a"}]}
    return lines


def with_error(lines: Lines) -> Lines:
    lines[8]["msg"] = {"id": 3, "error": {"code": -32603, "message": "x"}}
    return lines


UPDATE = "agent: notification session/update agent_message_chunk .update"
PLANTED: dict[Callable[[Lines], Lines], set[str]] = {
    with_capability: {
        "- agent: capability .agentCapabilities.loadSession = True   (line 3)",
        "+ agent: capability .agentCapabilities.loadSession = False   (line 3)",
    },
    with_mode: {"+ agent: answer session/new .modes.availableModes id yolo   (line 5)"},
    with_method: {"+ agent: request fs/read_text_file   (line 12)"},
    with_field: {f"+ {UPDATE}.messageId text   (line 7)"},
    with_other_shape: {
        f"- {UPDATE}.content object   (line 7)",
        f"+ {UPDATE}.content list   (line 7)",
    },
    with_stop_reason: {
        "- agent: answer session/prompt .stopReason = end_turn   (line 10)",
        "+ agent: answer session/prompt .stopReason = max_tokens   (line 10)",
    },
    with_protocol: {
        "- agent: capability .protocolVersion = 1   (line 3)",
        "+ agent: capability .protocolVersion = 2   (line 3)",
    },
    with_another_mode_at_first: {
        "- agent: answer session/new .modes.currentModeId = default   (line 5)",
        "+ agent: answer session/new .modes.currentModeId = yolo   (line 5)",
    },
    with_less_in_an_error: {
        "- agent: error -32602 to no request of the tape .data.errors[].loc list   (line 11)",
        "+ agent: error -32602 to no request of the tape .data.errors[].path text   (line 11)",
    },
    with_error: {
        "- agent: answer session/prompt   (line 10)",
        "+ agent: error -32603 to session/prompt   (line 10)",
    },
}


@pytest.mark.parametrize("change", PLANTED, ids=lambda change: change.__name__)
def test_a_planted_difference_is_found_and_nothing_else(
    tmp_path: Path, change: Callable[[Lines], Lines]
) -> None:
    one = write(tmp_path / "one", build())
    other = write(tmp_path / "other", change(copy.deepcopy(build())))
    heads, found = diff(one, other, pytest.fail)[:2], diff(one, other, pytest.fail)[2:]
    assert heads == ["--- taped 1", "+++ taped 1"]
    assert set(found) == PLANTED[change]
    back = {line[0].translate({43: "-", 45: "+"}) + line[1:] for line in found}
    assert set(diff(other, one, pytest.fail)[2:]) == back


def test_ids_times_paths_words_and_versions_are_no_difference(tmp_path: Path) -> None:
    one = write(tmp_path / "one", build())
    text = one.read_text()
    for old, new in {
        '"s1"': '"another"',
        '"p"': "77",
        "/taped/folder": "/x",
        '"hi"': '"hello, hello"',
        '"version": "1"': '"version": "2"',
    }.items():
        assert old in text
        text = text.replace(old, new)
    lines = [json.loads(line) for line in text.splitlines()[1:]]
    lines.insert(6, {**lines[5], "t": lines[5]["t"]})  # one chunk more
    other = write(tmp_path / "other", [{**line, "t": line["t"] + 7} for line in lines])
    assert diff(one, other, pytest.fail) == []


def test_the_first_difference_in_meaning_is_named() -> None:
    assert difference({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}, "params") == (
        'params.a[1].b is "y", not "x"'
    )
    assert difference([1], [1, 2], "x") == "x has 2 members, not 1"
    assert difference({"a": 1}, {}, "x") == "x.a is missing"
    assert difference({}, {"a": 1}, "x") == "x.a is there, and should not be"
    assert difference({"sessionId": 1, "cwd": "/a"}, {"sessionId": 2}, "x") == ""
    long = "z" * 500
    assert difference(f"{long}b", f"{long}c", "x") == f'x is "{"z" * 20}c", not "{"z" * 20}b"'


# -- the command line


def test_the_status_of_a_diff_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write(tmp_path / "one", build())
    other = write(tmp_path / "other", with_mode(build()))
    assert command.tape(["diff", str(one), str(one)]) == 0
    assert capsys.readouterr().out == "The tapes mean the same.\n"
    assert command.tape(["diff", str(one), str(other)]) == 1
    assert "availableModes id yolo" in capsys.readouterr().out


@pytest.mark.parametrize("words", ["tape show", "replay"])
def test_a_bad_tape_is_one_line_on_stderr(tmp_path: Path, words: str) -> None:
    argv = [CLI, *words.split(), str(tmp_path / "missing")]
    done = subprocess.run(
        argv, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 1
    path = tmp_path / "missing"
    assert done.stderr == (
        f"agy-kernel: the tape {path} cannot be read: No such file or directory\n"
    )

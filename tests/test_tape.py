"""The wire, recorded: what a line holds, what the ring keeps, and what becomes of a file."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.acp.tape import FORMAT, RING_BYTES, RING_ENTRIES, Tape
from agy_kernel.errors import SettingsError


def entries(tape: Tape) -> list[dict[str, Any]]:
    return [json.loads(line) for line in tape.tail(RING_ENTRIES + 1)]


def test_a_line_says_when_which_way_and_what() -> None:
    tape = Tape()
    tape.sent(b'{"id": 1}')
    tape.received(b'{"id":1,"result":"\xc3\xa4"}\r')
    tape.received(b"not JSON \xff", is_json=False)
    tape.stderr(b"a warning\n")
    recorded = entries(tape)
    assert [(e["dir"], e["msg"]) for e in recorded] == [
        ("c2a", {"id": 1}),
        ("a2c", {"id": 1, "result": "ä"}),
        ("a2c", "not JSON \ufffd"),
        ("stderr", "a warning"),
    ]
    times = [e["t"] for e in recorded]
    assert times == sorted(times)
    assert times[0] >= 0


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["sent", "received", "stderr"]), st.binary())))
def test_any_bytes_make_lines_of_json(lines: list[tuple[str, bytes]]) -> None:
    tape = Tape()
    for way, line in lines:
        tape.received(line, is_json=False) if way == "received" else tape.stderr(line)
    written = "".join(f"{line}\n" for line in tape.tail(RING_ENTRIES))
    assert len(written.splitlines()) == len(lines)
    assert all(isinstance(json.loads(line)["msg"], str) for line in written.splitlines())


def test_a_frame_stays_on_one_line_whatever_stands_between_its_tokens() -> None:
    tape = Tape()
    tape.received(b'{"a":\r1,\r"b": "\\r\\n"}')
    (line,) = tape.tail(1)
    assert line.splitlines() == [line]
    assert json.loads(line)["msg"] == {"a": 1, "b": "\r\n"}


def test_the_ring_keeps_the_newest_frames() -> None:
    tape = Tape()
    for n in range(RING_ENTRIES + 10):
        tape.sent(b"%d" % n)
    kept = [e["msg"] for e in entries(tape)]
    assert kept == list(range(10, RING_ENTRIES + 10))
    assert [json.loads(line)["msg"] for line in tape.tail(2)] == kept[-2:]


def test_the_ring_is_bounded_in_bytes_and_always_keeps_the_newest() -> None:
    tape = Tape()
    for _ in range(20):
        tape.received(b'"' + b"x" * 1_000_000 + b'"')
    assert sum(len(line) for line in tape.tail(RING_ENTRIES)) <= RING_BYTES
    tape.received(b'"' + b"y" * (RING_BYTES + 1) + b'"')
    (only,) = entries(tape)
    assert only["msg"][0] == "y"


def test_a_file_holds_every_frame_from_the_moment_it_passes(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tape = Tape(path)
    for n in range(RING_ENTRIES + 10):
        tape.sent(b"%d" % n)
    recorded = [json.loads(line)["msg"] for line in path.read_text().splitlines()]
    assert recorded == list(range(RING_ENTRIES + 10))
    tape.close()
    tape.sent(b"after the end")
    assert len(path.read_text().splitlines()) == len(recorded)


def test_a_file_is_its_owners_alone_and_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    for n in (1, 2):
        tape = Tape(path)
        tape.sent(b"%d" % n)
        tape.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line)["msg"] for line in path.read_text().splitlines()] == [1, 2]


def test_the_ring_can_be_saved(tmp_path: Path) -> None:
    tape = Tape()
    tape.sent(b"1")
    tape.stderr(b"two")
    path = tmp_path / "saved.jsonl"
    path.write_text("something older and longer than what is saved now, to be replaced\n" * 9)
    assert tape.save(path) == 2
    header, *lines = path.read_text().splitlines()
    assert json.loads(header)["tape"] == FORMAT
    assert lines == tape.tail(2)


@pytest.mark.parametrize("place", ["missing/tape.jsonl", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(SettingsError, match="cannot be written") as refused:
        Tape(tmp_path / place)
    assert str(tmp_path / place) in str(refused.value)
    with pytest.raises(SettingsError):
        Tape().save(tmp_path / place)


def test_a_full_disk_ends_the_file_and_not_the_recording(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tape = Tape(Path("/dev/full"))
    with caplog.at_level(logging.WARNING):
        tape.sent(b"1")
        tape.sent(b"2")
    assert [record.getMessage() for record in caplog.records] == [
        "the tape /dev/full ends here: No space left on device"
    ]
    assert [e["msg"] for e in entries(tape)] == [1, 2]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_agent_begins_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tape = Tape(path)
    tape.begins("one", ["one", "--acp"])
    tape.sent(b"1")
    tape.begins("two", ["two"])
    tape.close()
    one, frame, two = lines_of(path)
    assert one["tape"] == two["tape"] == FORMAT
    assert one["agent"] == {"name": "one", "command": ["one", "--acp"]}
    assert (two["agent"]["name"], frame["msg"]) == ("two", 1)
    assert one["client"]["name"] == "agy-kernel"
    assert {"date", "platform"} <= one.keys()


def test_a_file_that_is_begun_later_says_whose_traffic_it_has(tmp_path: Path) -> None:
    tape = Tape()
    tape.begins("one", ["one"])
    tape.knows({"agentInfo": {"name": "one", "version": "1.2"}})
    tape.sent(b"1")
    tape.start(tmp_path / "a.jsonl")
    tape.sent(b"2")
    tape.start(tmp_path / "b.jsonl")
    tape.sent(b"3")
    assert (tape.written, tape.is_writing) == (1, True)
    tape.close()
    tape.sent(b"4")
    (first, two), (second, three) = lines_of(tmp_path / "a.jsonl"), lines_of(tmp_path / "b.jsonl")
    assert first["agent"]["info"] == second["agent"]["info"] == {"name": "one", "version": "1.2"}
    assert (two["msg"], three["msg"], tape.is_writing) == (2, 3, False)


def test_a_file_that_cannot_be_begun_leaves_the_other_one_going(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "a.jsonl")
    with pytest.raises(SettingsError):
        tape.start(tmp_path / "missing" / "b.jsonl")
    tape.sent(b"1")
    tape.close()
    assert tape.path == tmp_path / "a.jsonl"
    assert [line["msg"] for line in lines_of(tape.path)] == [1]


def test_a_file_that_has_grown_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tape = Tape(path, file_bytes=2_000)
    tape.begins("one", ["one"])
    for n in range(400):
        tape.sent(b"%d" % n)
    tape.close()
    files = [tmp_path / f"tape.jsonl{end}" for end in (".3", ".2", ".1", "")]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    found = [lines_of(file) for file in files]
    assert all(lines[0]["tape"] == FORMAT for lines in found)
    kept = [line["msg"] for lines in found for line in lines[1:]]
    assert kept == list(range(kept[0], 400))
    assert kept[0] > 0
    assert all(2_000 < file.stat().st_size < 2_200 for file in files[:-1])
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    path.touch(0o644)
    Tape(path).close()
    assert path.stat().st_mode & 0o777 == 0o600

"""Frames come out the same, however the bytes are split."""

from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from agy_kernel.acp.framing import FrameSplitter

LIMIT = 20
# Newlines and the limit are what matters; everything else is just bytes.
STREAMS = st.lists(st.binary(max_size=30) | st.just(b"\n")).map(b"".join)


def frames(pieces: Iterable[bytes], max_frame: int = LIMIT) -> list[bytes | None]:
    splitter = FrameSplitter(max_frame)
    found = [frame for piece in pieces for frame in splitter.feed(piece)]
    return [*found, splitter.rest()]


def split(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@given(STREAMS, st.lists(st.integers(min_value=0)))
@example(b"x" * LIMIT + b"\n" + b"y" * (LIMIT + 1) + b"\nz", [LIMIT, 2 * LIMIT])
@example(b"x" * 100, [21, 22])
def test_any_split_gives_the_same_frames(data: bytes, cuts: list[int]) -> None:
    assert frames(split(data, cuts)) == frames([data])
    assert frames(data[i : i + 1] for i in range(len(data))) == frames([data])


@given(STREAMS)
def test_frames_are_the_lines_that_are_short_enough(data: bytes) -> None:
    *lines, rest = data.split(b"\n")
    found = frames([data])
    assert found[: len(lines)] == [x if len(x) <= LIMIT else None for x in lines]
    assert found[len(lines) :] == ([rest] if len(rest) <= LIMIT else [None, b""])


def test_a_line_at_the_limit_is_a_frame_and_one_beyond_is_not() -> None:
    assert frames([b"x" * LIMIT + b"\n"]) == [b"x" * LIMIT, b""]
    assert frames([b"x" * (LIMIT + 1) + b"\n"]) == [None, b""]


def test_a_line_beyond_the_limit_is_reported_once_and_not_kept() -> None:
    splitter = FrameSplitter(max_frame=1_000)
    reported = [frame for _ in range(1_000) for frame in splitter.feed(b"x" * 1_000)]
    assert reported == [None]
    assert splitter.rest() == b""
    assert splitter.feed(b"tail\nnext\n") == [b"next"]


def test_a_long_line_in_small_pieces_is_joined() -> None:
    splitter = FrameSplitter()
    for _ in range(20_000):
        assert splitter.feed(b"x" * 250) == []
    assert splitter.feed(b"\n") == [b"x" * 5_000_000]

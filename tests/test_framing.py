"""Frames come out the same, however the bytes are split."""

from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from agy_kernel.acp.framing import KEPT, FrameSplitter, Line, Torn

LIMIT = 20
# Newlines and the limit are what matters; everything else is just bytes.
STREAMS = st.lists(st.binary(max_size=60) | st.just(b"\n")).map(b"".join)


def frames(pieces: Iterable[bytes], max_frame: int = LIMIT) -> list[Line]:
    splitter = FrameSplitter(max_frame)
    found = [frame for piece in pieces for frame in splitter.feed(piece)]
    return [*found, splitter.rest()]


def expected(line: bytes) -> Line:
    return line if len(line) <= LIMIT else Torn(line[:LIMIT], line[-LIMIT:])


def split(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@given(STREAMS, st.lists(st.integers(min_value=0)))
@example(b"x" * LIMIT + b"\n" + b"y" * (LIMIT + 1) + b"\nz", [LIMIT, 2 * LIMIT])
@example(bytes(range(11, 111)), [21, 22])
def test_any_split_gives_the_same_frames(data: bytes, cuts: list[int]) -> None:
    assert frames(split(data, cuts)) == frames([data])
    assert frames(data[i : i + 1] for i in range(len(data))) == frames([data])


@given(STREAMS)
def test_frames_are_the_lines_and_of_long_ones_both_ends(data: bytes) -> None:
    assert frames([data]) == [expected(line) for line in data.split(b"\n")]


def test_a_line_at_the_limit_is_a_frame_and_one_beyond_is_not() -> None:
    assert frames([b"x" * LIMIT + b"\n"]) == [b"x" * LIMIT, b""]
    assert frames([b"x" * (LIMIT + 1) + b"\n"]) == [Torn(b"x" * LIMIT, b"x" * LIMIT), b""]


def test_of_a_line_beyond_the_limit_only_its_ends_are_kept() -> None:
    splitter = FrameSplitter(max_frame=100_000)
    assert splitter.feed(b"head") == []
    for _ in range(1_000):
        assert splitter.feed(b"x" * 1_000) == []
        assert len(splitter._open) <= 101_000
    assert len(splitter._open) == KEPT
    torn, after = splitter.feed(b"tail\nnext\n")
    assert torn == Torn(b"head" + b"x" * (KEPT - 4), b"x" * (KEPT - 4) + b"tail")
    assert after == b"next"


def test_a_long_line_that_never_ends_is_told_of_with_the_rest() -> None:
    splitter = FrameSplitter(max_frame=10)
    assert splitter.feed(b"x" * 30) == []
    assert splitter.rest() == Torn(b"x" * 10, b"x" * 10)


def test_a_long_line_in_small_pieces_is_joined() -> None:
    splitter = FrameSplitter()
    for _ in range(20_000):
        assert splitter.feed(b"x" * 250) == []
    assert splitter.feed(b"\n") == [b"x" * 5_000_000]

"""Lines out of segments: order, times, limits, and clients that never send a line end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.lines.framing import BURST, FIRST_SILENCE, LATER_SILENCE, LIMIT, Line, LineFramer

_BITS = st.one_of(
    st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"D4", b"quit", b"e1 x y", b"\x00", b"\xff", b"\t"]),
    st.binary(max_size=12),
)
_STREAM = st.lists(_BITS, max_size=40).map(b"".join)


def _texts(lines: list[Line]) -> list[bytes]:
    return [line.text for line in lines]


def test_one_line_in_one_segment() -> None:
    assert LineFramer().feed(b"D4\r\n", 5) == [Line(b"D4", 5)]


def test_white_space_at_both_ends_is_cut_off() -> None:
    assert _texts(LineFramer().feed(b" \tD4 {}\t \r\n\r\n \nC3\r\r\n", 0)) == [b"D4 {}", b"", b"", b"C3"]


def test_a_line_is_received_with_the_segment_that_ends_it() -> None:
    framer = LineFramer()
    assert framer.feed(b"a\nb", 1) == [Line(b"a", 1)]
    assert framer.feed(b"b", 2) == []
    assert framer.feed(b"b\r", 3) == []
    assert framer.feed(b"\nc\nd", 4) == [Line(b"bbb", 4), Line(b"c", 4)]
    assert framer.feed(b"", 5) == []
    assert framer.feed(b"\n", 6) == [Line(b"d", 6)]


@given(_STREAM, st.data())
def test_chunking_changes_no_line(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    limit = data.draw(st.sampled_from([4, 20, LIMIT]))
    whole, cut = LineFramer(limit), LineFramer(limit)
    expected = whole.feed(stream, 0)
    lines = [line for time, piece in enumerate(pieces) for line in cut.feed(piece, time)]
    assert _texts(lines) == _texts(expected)
    assert cut.fault == whole.fault
    ended: list[int] = []
    for time, piece in enumerate(pieces):
        ended += [time] * piece.count(b"\n")
    assert [line.received for line in lines] == ended[: len(lines)]


@given(_STREAM)
def test_lines_are_those_of_the_stream(stream: bytes) -> None:
    assert _texts(LineFramer().feed(stream, 0)) == [text.strip() for text in stream.split(b"\n")[:-1]]


def test_the_longest_line_passes_and_one_byte_more_does_not() -> None:
    for chunk in (7, 64):
        for length, passes in ((64, True), (65, False)):
            framer = LineFramer(64)
            stream = b"a\n" + b"x" * length + b"\nb\n"
            lines = [line for at in range(0, len(stream), chunk) for line in framer.feed(stream[at : at + chunk], 0)]
            assert _texts(lines) == ([b"a", b"x" * length, b"b"] if passes else [b"a"])
            assert (framer.fault is None) == passes


def test_an_endless_line_is_not_kept() -> None:
    framer = LineFramer()
    for _ in range(5):
        assert framer.feed(b"x" * 65_536, 0) == []
    assert framer.fault == "A line has at most 262144 bytes."
    assert framer.feed(b"\nD4\n", 0) == []
    assert framer.silence_after() is None


def test_a_flood_of_lines_is_not_cut_up() -> None:
    framer = LineFramer()
    assert len(framer.feed(b"\n" * BURST, 0)) == BURST
    assert framer.fault is None
    assert framer.feed(b"\n" * (BURST + 1), 0) == []
    assert "1000 lines" in (framer.fault or "")


def test_silence_ends_the_lines_of_a_client_that_sends_no_line_ends() -> None:
    framer = LineFramer()
    assert framer.silence_after() is None
    assert framer.silence() is None
    assert framer.feed(b"e1 cgos", 100) == []
    assert framer.silence_after() == FIRST_SILENCE == 2_000_000
    assert framer.feed(b"Python", 400) == []
    assert framer.silence() == Line(b"e1 cgosPython", 400)
    assert framer.silence_after() is None
    assert framer.feed(b"alice", 900) == []
    assert framer.silence_after() == LATER_SILENCE == 200_000
    assert framer.silence() == Line(b"alice", 900)


def test_the_first_line_end_ends_that_for_good() -> None:
    framer = LineFramer()
    framer.feed(b"e1 old", 1)
    assert framer.silence() == Line(b"e1 old", 1)
    assert framer.feed(b"alice\nsec", 2) == [Line(b"alice", 2)]
    assert framer.silence_after() is None
    assert framer.silence() is None
    assert framer.feed(b"ret\n", 3) == [Line(b"secret", 3)]
    single = LineFramer()
    single.feed(b"e1 new\n", 1)
    single.feed(b"ali", 2)
    assert single.silence_after() is None

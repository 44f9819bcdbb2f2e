"""Reading lines: the same bytes give the same lines on every platform."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from assay.formats.file_io import Line, decode_line, open_source, read_lines, read_lines_between, unpack_source
from assay.records.errors import InputError


def lines(path: Path, **limits: int) -> list[Line]:
    with open_source(path) as source:
        return list(read_lines(source, **limits))


def written(folder: Path, content: bytes, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_lines_end_with_newline_only_and_keep_other_separators(tmp_path: Path) -> None:
    content = "a\rb\u2028c\x0bd\x85e\nf".encode()
    assert ["a\rb\u2028c\x0bd\x85e".encode(), b"f"] == [line.data for line in lines(written(tmp_path, content))]


def test_a_byte_order_mark_and_carriage_returns_are_dropped(tmp_path: Path) -> None:
    read = lines(written(tmp_path, b"\xef\xbb\xbfone\r\n\r\ntwo\r"))
    assert [Line(1, 3, b"one"), Line(2, 8, b""), Line(3, 10, b"two")] == read


def test_offsets_point_at_the_line_in_the_file(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa\n\nbcd\r\nx\n"
    for line in lines(written(tmp_path, content)):
        assert line.data == content[line.offset : line.offset + len(line.data)]


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert [] == lines(written(tmp_path, b""))
    assert [] == lines(written(tmp_path, b"\xef\xbb\xbf"))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_line_of_exactly_the_limit_passes_and_one_byte_more_does_not(tmp_path: Path, end: bytes) -> None:
    assert [b"12345678"] == [line.data for line in lines(written(tmp_path, b"12345678" + end), max_bytes=8)]
    with pytest.raises(InputError, match=r"file.jsonl:2: E_LINE_TOO_LONG .*more than 8 bytes; expected 8 at most"):
        lines(written(tmp_path, b"ok\n123456789" + end), max_bytes=8)


def test_invalid_utf8_is_named_with_its_byte_offset(tmp_path: Path) -> None:
    path = written(tmp_path, b"ok\nab\xff\n")
    with pytest.raises(InputError, match=r"jsonl:2: E_ENCODING .*0xff at byte offset 5; expected UTF-8"):
        [decode_line(line, str(path)) for line in lines(path)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf16_is_refused_by_name(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError, match="looks like UTF-16; expected UTF-8"):
        lines(written(tmp_path, '{"id": "a"}'.encode(encoding)))


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"PK\x03\x04\x14\x00", "a workbook"), (b"PAR1\x15\x04", "a Parquet file"), (b"%PDF-1.7\n", "a PDF")],
)
def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path, content: bytes, kind: str) -> None:
    path = written(tmp_path, content, "rows.csv")
    with open_source(path) as source, pytest.raises(InputError, match=kind):
        list(read_lines(source))


def test_a_topic_may_be_called_like_a_kind_of_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"PAR1 Q0 d1 1 2.5 tag\n", "run.txt")
    with open_source(path) as source:
        assert [line.data for line in read_lines(source)] == [b"PAR1 Q0 d1 1 2.5 tag"]


def test_gzip_is_unpacked_and_keeps_the_inner_suffix(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"a\nb\n", mtime=0), "x.JSONL.gz")
    with open_source(path) as source:
        assert (".jsonl", str(path)) == (source.suffix, source.name)
        assert [b"a", b"b"] == [line.data for line in read_lines(source)]
        with unpack_source(source) as plain:
            assert b"a\nb\n" == plain.read_bytes()
    assert not plain.exists()


BROKEN_GZIP = [b"plain text", gzip.compress(b"a" * 5000, mtime=0)[:-9], b"\x1f\x8b\x08\x00\x00garbage"]


@pytest.mark.parametrize("content", BROKEN_GZIP, ids=["plain text", "cut off", "garbage"])
def test_broken_gzip_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="E_GZIP broken gzip file"):
        lines(written(tmp_path, content, "x.gz"))


def test_a_gzip_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"\0" * 5_000_000, mtime=0), "x.gz")
    with pytest.raises(InputError, match=r"E_TOO_LARGE .*more than 1000 bytes"), open_source(path, max_bytes=1000):
        pass


def test_standard_input_is_spooled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("á\nb".encode()), encoding="utf-8"))
    with open_source("-") as source:
        assert "<stdin>" == source.name
        assert ["á", "b"] == [decode_line(line, source.name) for line in read_lines(source)]


def test_files_that_cannot_be_read_are_input_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.jsonl", tmp_path / "absent.gz", tmp_path / ("long" * 500), Path("nul\0byte")):
        with pytest.raises(InputError, match="E_FILE cannot be read"):
            lines(path)
    with pytest.raises(InputError, match="E_FILE cannot be read: Is a directory"):
        lines(tmp_path)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system names no open files under /dev/fd")
def test_a_pipe_is_spooled_because_it_can_be_read_only_once() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n")
    os.close(writer)
    try:
        with open_source(f"/dev/fd/{reader}") as source:
            for _ in range(2):
                assert [b"a", b"b"] == [line.data for line in read_lines(source)]
    finally:
        os.close(reader)


def test_the_lines_between_two_places_are_those_of_the_bytes_between_them(tmp_path: Path) -> None:
    """A range ends after a line end, after a last line without one, or inside a line that grew in the meantime."""
    content = b"first\n\nsecond\r\nthird"
    path = str(written(tmp_path, content))
    assert [b"first", b"", b"second\r", b"third"] == list(read_lines_between(path, 0, len(content)))
    assert [b"first", b""] == list(read_lines_between(path, 0, 7))
    assert [b"second\r"] == list(read_lines_between(path, 7, 15))
    assert [b"second\r", b"th"] == list(read_lines_between(path, 7, 17))
    assert [b"third"] == list(read_lines_between(path, 15, len(content) + 5))
    assert [] == list(read_lines_between(path, len(content), len(content)))

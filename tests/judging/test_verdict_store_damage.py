"""A damaged or foreign file: never taken for a verdict, never replaced in silence, never touched if it is another's."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.judging.test_verdict_store import execute, filled
from tests.support.verdicts import JUDGE

from assay.calls.interfaces import SampleKey
from assay.judging.verdict_files import sample_key
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.records.errors import IncompleteError, InputError
from assay.records.verdicts import Verdict


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.sqlite"


@pytest.mark.parametrize("content", [b"", b"golden\n", b"PK\x03\x04" * 100])
def test_other_files_are_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a verdict store"):
        SqliteVerdictStore(path)
    assert content == path.read_bytes()


def test_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    execute(path, "CREATE TABLE bookmarks(url)")
    before = path.read_bytes()
    for opened in (SqliteVerdictStore, read_store):
        with pytest.raises(InputError, match="not a verdict store of this version"):
            opened(path)
    assert before == path.read_bytes()


def test_missing_book_is_named(path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_store(path)


def test_damaged_book_is_set_aside_and_never_made_anew_in_silence(path: Path) -> None:
    filled(path, 300)
    content = bytearray(path.read_bytes())
    content[5000:60000] = bytes(55000)
    path.write_bytes(content)
    with pytest.raises(IncompleteError, match="damaged"):
        read_store(path)
    with pytest.raises(IncompleteError, match=r"set aside as verdicts.sqlite.damaged-1; nothing was judged"):
        SqliteVerdictStore(path)
    assert [f"{path.name}.damaged-1"] == [file.name for file in path.parent.iterdir()]
    assert bytes(content) == (path.parent / f"{path.name}.damaged-1").read_bytes()
    filled(path, 300)
    path.write_bytes(content)
    with pytest.raises(IncompleteError, match="damaged-2"):
        SqliteVerdictStore(path)


@pytest.mark.slow
def test_every_byte_flipped_gives_a_miss_or_an_error_and_never_another_verdict(path: Path) -> None:
    """Each byte in turn with ASSAY_EXHAUSTIVE set (two minutes), else some; free space changes nothing."""
    verdicts = filled(path, 3)
    written = {sample_key(verdict): verdict for verdict in verdicts}
    content = path.read_bytes()
    copy = path.with_name("flipped.sqlite")
    outcomes = Counter[str]()
    for offset in range(0, len(content), 1 if os.environ.get("ASSAY_EXHAUSTIVE") else 127):
        flipped = bytearray(content)
        flipped[offset] ^= 0xFF
        for find in (all_found, all_claimed):
            copy.write_bytes(flipped)
            try:
                read_back = find(copy, list(written))
            except (IncompleteError, InputError):
                outcomes["error"] += 1
                continue
            assert all(written[sample_key(verdict)] == verdict for verdict in read_back), offset
            outcomes["whole" if len(read_back) == 3 else "miss"] += 1
            for file in path.parent.glob("flipped.sqlite*"):
                file.unlink()
    assert min(outcomes[outcome] for outcome in ("whole", "miss", "error")) > 10, outcomes


def all_found(path: Path, keys: list[SampleKey]) -> list[Verdict]:
    """Return all verdicts of a store, as scoring reads them."""
    return [verdict for samples in read_store(path).verdicts.get(JUDGE.digest, {}).values() for verdict in samples]


def all_claimed(path: Path, keys: list[SampleKey]) -> list[Verdict]:
    """Return the verdicts that a judging would not ask for again."""
    with SqliteVerdictStore(path) as store:
        return [answer for answer in store.claim(keys, 60) if isinstance(answer, Verdict)]

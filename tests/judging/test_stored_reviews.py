"""Reviews in a verdict store: kept, replaced on request, left out when changed, added to stores of older formats."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.verdicts import JUDGE, make_request, make_verdict

from assay.judging.verdict_store import SqliteVerdictStore, export_verdict_store, import_verdict_store, read_store
from assay.records.errors import InputError
from assay.records.verdicts import VerdictReview

REQUEST = make_request("one")
REVIEW = VerdictReview(REQUEST.digest, "answer", "ann", "support@1", "no", "The source denies it.", "c1", "a")


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts.sqlite"
    with closing(SqliteVerdictStore(path)) as store:
        store.register_judge(JUDGE)
        store.save([make_verdict(REQUEST)])
        store.save_reviews([REVIEW])
    return path


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(statement)


def test_an_earlier_review_stays_unless_it_is_replaced(store: Path) -> None:
    other = replace(REVIEW, label="yes")
    for is_replaced, expected in ((False, REVIEW), (True, other)):
        with closing(SqliteVerdictStore(store)) as opened:
            opened.save_reviews([other], replace=is_replaced)
        assert [expected] == read_store(store).reviews


def test_a_changed_review_counts_for_nothing_and_is_named(store: Path) -> None:
    change(store, "UPDATE reviews SET record = replace(record, 'denies', 'states')")
    contents = read_store(store)
    assert [] == contents.reviews
    assert ["1 review does not match the recorded sha256: changed, and left out"] == contents.warnings


def test_a_store_without_reviews_is_read_and_gets_their_table_when_it_is_written(store: Path) -> None:
    change(store, "DROP TABLE reviews; PRAGMA user_version = 2;")
    assert [] == read_store(store).reviews
    with closing(SqliteVerdictStore(store)) as opened:
        opened.save_reviews([REVIEW])
    contents = read_store(store)
    assert ([REVIEW], 1) == (contents.reviews, len(contents.verdicts[JUDGE.digest]))


def test_importing_keeps_the_review_that_the_store_has(store: Path, tmp_path: Path) -> None:
    export_verdict_store(str(store), str(tmp_path / "export.jsonl"))
    with closing(SqliteVerdictStore(store)) as opened:
        opened.save_reviews([replace(REVIEW, label="yes")], replace=True)
    _, warnings = import_verdict_store(str(store), str(tmp_path / "export.jsonl"))
    assert ["the store has another review by 'ann' of c1 answer: it is kept"] == warnings
    assert ["yes"] == [review.label for review in read_store(store).reviews]


def test_two_reviews_of_one_person_in_an_export_are_refused_with_both_lines(store: Path, tmp_path: Path) -> None:
    export, other = tmp_path / "export.jsonl", tmp_path / "other.jsonl"
    export_verdict_store(str(store), str(export))
    with closing(SqliteVerdictStore(store)) as opened:
        opened.save_reviews([replace(REVIEW, label="yes")], replace=True)
    export_verdict_store(str(store), str(other))
    first, second = export.read_text(), other.read_text().splitlines()[-1]
    export.write_text(first + second + "\n")
    with pytest.raises(InputError, match=r"export.jsonl:4: E_VERDICT another review of the item of line 3 by 'ann'"):
        read_store(export)

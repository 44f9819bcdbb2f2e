"""Damaged golden sets: labels that are wrong where the system is right, to see whether the labels get the blame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]
EVERY = 4
"""Every fourth case that expects an answer, and that the fault can touch, is damaged."""

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w.,/-])")


def wrong_evidence(rows: Sequence[Row], chunk_ids: Iterable[str]) -> list[Row]:
    """Let the expected evidence point to the next chunk of the document, as after a new cut without new labels.

    The last chunk of a document points to the one before it; `chunk_ids` are those of the corpus.
    """
    known = set(chunk_ids)

    def damaged(row: Row) -> Row:
        shifted = {old: _neighbour(old, known) for old in row["expected_chunk_ids"]}
        kept = {old: grade for old, grade in row["relevance"].items() if old not in {*shifted, *shifted.values()}}
        grades = {new: row["relevance"][old] for old, new in shifted.items()}
        cited = [shifted.get(each, each) for each in row["must_cite"]]
        return row | {"expected_chunk_ids": list(grades), "relevance": grades | kept, "must_cite": cited}

    return _some(rows, damaged)


def outdated_reference(rows: Sequence[Row], chunk_ids: Iterable[str] = ()) -> list[Row]:
    """Let reference and keywords hold the numbers of an older version: each whole number one higher than it is."""

    def older(text: str) -> str:
        return _NUMBER.sub(lambda match: str(int(match[0]) + 1), text)

    def damaged(row: Row) -> Row:
        changed = row | {"expected_answer": older(row["expected_answer"])}
        if "must_have" in row:
            changed["must_have"] = [older(text) for text in row["must_have"]]
        if "rubric" in row:
            keywords = [older(text) for text in row["rubric"]["correct_keywords"]]
            changed["rubric"] = row["rubric"] | {"correct_keywords": keywords, "incorrect_patterns": []}
        return changed

    return _some(rows, damaged)


def mixed_up_references(rows: Sequence[Row], chunk_ids: Iterable[str] = ()) -> list[Row]:
    """Let reference, keywords and facts be those of the next case that expects an answer, as after a slipped column."""
    answers = [row for row in rows if row["expected_behavior"] == "answer"]
    after = {row["id"]: other for row, other in zip(answers, [*answers[1:], *answers[:1]], strict=True)}
    slipped = ("expected_answer", "must_have", "rubric")

    def damaged(row: Row) -> Row:
        other = after[row["id"]]
        return row | {key: other[key] for key in slipped if key in row and key in other}

    return _some(rows, damaged)


def gone_evidence(rows: Sequence[Row], chunk_ids: Iterable[str] = ()) -> list[Row]:
    """Let the expected evidence have the ids of an earlier cut, which the corpus no longer holds."""

    def damaged(row: Row) -> Row:
        old = {each: f"{each}-old" for each in row["expected_chunk_ids"]}
        grades = {old.get(each, each): grade for each, grade in row["relevance"].items()}
        cited = [old.get(each, each) for each in row["must_cite"]]
        return row | {"expected_chunk_ids": list(old.values()), "relevance": grades, "must_cite": cited}

    return _some(rows, damaged)


LABEL_FAULTS: dict[str, Callable[[Sequence[Row], Iterable[str]], list[Row]]] = {
    "golden_label_issue:wrong-evidence": wrong_evidence,
    "golden_label_issue:outdated-reference": outdated_reference,
    "golden_label_issue:mixed-up-references": mixed_up_references,
    "golden_label_issue:gone-evidence": gone_evidence,
}
"""The faults of a golden set by name; each takes its rows and the ids of the corpus and returns new rows."""


def _some(rows: Sequence[Row], damage: Callable[[Row], Row]) -> list[Row]:
    damaged = {
        number: damage(row)
        for number, row in enumerate(rows)
        if row["expected_behavior"] == "answer" and damage(row) != row
    }
    chosen = list(damaged)[::EVERY]
    return [damaged[number] if number in chosen else dict(row) for number, row in enumerate(rows)]


def _neighbour(chunk_id: str, known: set[str]) -> str:
    document, _, number = chunk_id.rpartition(":")
    after, before = (f"{document}:{int(number) + step:03d}" for step in (1, -1))
    return after if after in known else before

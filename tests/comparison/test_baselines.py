"""Baseline files: reading and writing gives the same bytes; a file that contradicts itself is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from msgspec.structs import replace as with_fields
from tests.comparison.sides import E, N, make_trace, side

from assay.comparison.baseline_file import decode_baseline, encode_baseline, read_baseline, write_baseline
from assay.comparison.paired_comparison import compare_snapshots
from assay.records.errors import InputError
from assay.records.findings import Attribution
from assay.records.golden_set import Case, Evidence, User
from assay.records.scores import CaseChecks
from assay.scoring.paired_scores import ScoreSnapshot

SECRET = "pay band 7: 41 million đồng"


def a_side() -> ScoreSnapshot:
    """Return three cases in two clusters, with an error, a case not applicable, and text in every text field."""
    quoted = Evidence(({"quote": SECRET},), kind="table")
    cases = [
        Case("c0", SECRET, reference=SECRET, evidence=(quoted,), tags=("hr",), cluster="k", notes=SECRET),
        Case("c1", SECRET, must_have=(SECRET,), cluster="k", user=User(tenant="a", locale="vi")),
        Case("c2", SECRET, attributes={"team": "x"}, metadata={"secret": SECRET}, difficulty="hard"),
    ]
    way = make_trace(retrieved=2, reranked=None)
    blame = Attribution("c0", "retrieval_fault", "reranker", evidence=(SECRET,), sign=SECRET, traces=(way,), fix=SECRET)
    snapshot = side({"recall@10": [0.1, E, N], "hit@5": [1.0, 0.0, 1.0]}, cases=cases, attributions={"c0": blame})
    snapshot.table.columns["recall@10"].values[1] = 0.7  # what stands under an error is no score and is not kept
    return snapshot


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_baseline(encode_baseline(a_side()), str(tmp_path / "baseline.json"))


def test_no_text_of_cases_or_findings_is_in_the_file(path: Path) -> None:
    assert "million" not in path.read_text(encoding="utf-8")


def test_what_is_written_reads_back_and_is_written_the_same(path: Path, tmp_path: Path) -> None:
    again = write_baseline(encode_baseline(decode_baseline(str(path))), str(tmp_path / "again.json"))
    first, second = (each.read_text(encoding="utf-8") for each in (path, again))
    assert first == second


def test_a_baseline_read_back_compares_as_the_side_it_was_saved_from(path: Path) -> None:
    before, after = decode_baseline(str(path)), a_side()
    comparison = compare_snapshots(before, after)
    recall = comparison.metrics["recall@10"]
    assert (1, 0.0, (), ("c0",)) == (recall.n, recall.gain, recall.unpaired, recall.unchanged)
    assert {"tag=hr", "language=vi", "difficulty=hard"} <= set(comparison.slices)
    assert ["retrieved", "reranked"] == list(before.attributions["c0"].traces[0].ranks)
    assert (("reranker", "reranker", 1),) == comparison.transitions


def test_checks_and_missing_cases_are_kept(tmp_path: Path) -> None:
    known = a_side()
    table = with_fields(known.table, missing=("c1",), checks=(CaseChecks("c0", ("leak",)),))
    write_baseline(encode_baseline(replace(known, table=table)), str(tmp_path / "b.json"))
    again = decode_baseline(str(tmp_path / "b.json")).table
    assert (table.missing, table.checks) == (again.missing, again.checks)


Spoil = Callable[[dict[str, Any]], object]
SPOILED: dict[str, tuple[Spoil, str]] = {
    "a value more": (lambda found: found["columns"][0]["values"].append(1.0), "another number of values"),
    "a value without reason": (lambda found: found["columns"][1]["values"].__setitem__(0, None), "rows with a reason"),
    "a reason for nobody": (lambda found: found["columns"][0]["errors"].update(gone=[9]), "rows with a reason differ"),
    "a case twice": (lambda found: found["cases"].__setitem__(1, found["cases"][0]), "a case id is given twice"),
    "an answer of a scored row": (
        lambda found: found["columns"][0].update(answers={"ab" * 8: [0]}),
        "an answer without a score is that of a row with a value",
    ),
    "two answers of a row": (
        lambda found: found["columns"][0].update(answers={"ab" * 8: [1], "cd" * 8: [1]}),
        "two answers are of one row",
    ),
    "no digest": (lambda found: found["columns"][0].update(answers={"0" * 16: [1]}), "not a digest of an answer"),
    "no definition": (lambda found: found["definitions"].clear(), "no definition of recall@10"),
    "no metric": (lambda found: found["metrics"].append("recal@10"), "no definition of recal@10"),
    "a rank of zero": (lambda found: found["attributions"][0]["traces"][0]["ranks"].__setitem__(0, 0), "ranks[0]"),
    "a rank less": (lambda found: found["attributions"][0]["traces"][0]["ranks"].pop(), "stages and ranks differ"),
    "text for a value": (lambda found: found["columns"][0]["values"].__setitem__(0, "1"), "expected a number"),
    "another version": (lambda found: found.update(version=6), "of another version (got 6; expected 5: save it again)"),
    "an older version": (
        lambda found: found.update(version=1) or found.pop("uncalibrated"),
        "baseline.json: version: E_BASELINE of another version (got 1; expected 5: save it again)",
    ),
    "no version": (lambda found: found.pop("version"), "of another version (got none; expected 5: save it again)"),
    "another kind": (lambda found: found.update(kind="report"), "not a baseline (got something else"),
    "an unknown field": (lambda found: found.update(extra=1), "extra"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILED)
def test_a_file_that_contradicts_itself_is_refused(name: str, path: Path) -> None:
    spoil, expected = SPOILED[name]
    decoded = json.loads(path.read_text(encoding="utf-8"))
    decoded["columns"][0].setdefault("errors", {})
    spoil(decoded)
    path.write_text(json.dumps(decoded), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_baseline(str(path))
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (b"[]", "expected a JSON object"),
        (b'{"kind": "assay-baseline", "kind": "x"}', "kind"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"kind": NaN}', "NaN"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(data: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(data)
    with pytest.raises(InputError, match=expected if data else "b.json"):
        read_baseline(str(tmp_path / "b.json"))


def test_a_metric_without_its_scores_is_refused(path: Path) -> None:
    decoded = json.loads(path.read_text(encoding="utf-8"))
    del decoded["columns"][0]
    path.write_text(json.dumps(decoded), encoding="utf-8")
    with pytest.raises(InputError, match="no scores of hit@5"):
        decode_baseline(str(path))


def test_a_file_cut_off_in_the_middle_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError):
        read_baseline(str(path))

"""Evidence named by a document, page or section that the chunks do not report, or report under another name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli import main
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import NOT_APPLICABLE, SCORED

FERRY = "The last ferry leaves at 22:10, on Sundays at 20:40."
OTHER = "Bicycles travel free of charge."
WANTED: dict[str, str | int] = {"document": "timetable", "quote": "last ferry leaves at 22:10"}


def score(*metadata: dict[str, Any] | None, wanted: dict[str, str | int], corpus: Corpus | None = None) -> Any:
    """Return status and score or reason of recall: the first chunk has the quote, the others have another text."""
    chunks = [Chunk(f"c{n}", text=OTHER if n else FERRY, metadata=fields or {}) for n, fields in enumerate(metadata)]
    observation = Observation("ferry", "one", stages=(Stage("retrieved", tuple(chunks)),), answer="At 22:10.")
    case = Case("ferry", "When does the last ferry leave?", evidence=(Evidence((wanted,)),), must_have=("22:10",))
    result = assay.score(GoldenSet((case,)), [observation], metrics=["recall@5"], corpus=corpus)
    column = result.table("one").columns["recall@5"]
    status = int(column.status[0])
    return status, float(column.values[0]) if status == SCORED else column.reasons[column.reason[0]]


@pytest.mark.parametrize("wanted", [WANTED, {"section": "harbour", "page": 3}, {"document": "timetable"}])
def test_chunks_without_the_field_are_not_compared_with_it(wanted: dict[str, str | int]) -> None:
    status, reason = score(None, {"title": "x"}, wanted=wanted)
    assert NOT_APPLICABLE == status
    assert reason.startswith(f"chunks without `{next(iter(wanted))}`, by which the evidence is named")


def test_a_chunk_without_the_field_that_has_the_quote_may_be_the_evidence() -> None:
    assert NOT_APPLICABLE == score(None, {"document": "fares"}, wanted=WANTED)[0]
    absent: dict[str, str | int] = {"document": "timetable", "quote": "first ferry leaves"}
    assert (SCORED, 0.0) == score({"document": "fares"}, None, wanted=absent)


def test_a_quote_under_another_name_is_not_counted_as_missed() -> None:
    status, reason = score({"document": "fares"}, None, wanted=WANTED)
    assert NOT_APPLICABLE == status and reason.startswith("evidence has other names in the run")


def test_known_fields_are_compared_as_ever() -> None:
    assert (SCORED, 1.0) == score({"document": "timetable"}, None, wanted=WANTED)
    assert (SCORED, 0.0) == score({"document": "fares"}, {"document": "timetable"}, wanted=WANTED)
    assert (SCORED, 0.0) == score(wanted=WANTED)
    corpus = Corpus({"c0": CorpusChunk("c0", FERRY, document="timetable")})
    assert (SCORED, 1.0) == score(None, wanted=WANTED, corpus=corpus)


SYSTEM = """\
NAME = {name!r}

def ask(question):
    metadata = {{"document": NAME}} if NAME else {{}}
    contexts = [{{"id": "a", "text": "The last ferry leaves at 22:10.", "metadata": metadata}}]
    contexts += [{{"id": "b", "text": "Dogs need a muzzle on board.", "metadata": metadata}}]
    return {{"answer": "I cannot say.", "contexts": contexts}}
"""


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two cases whose evidence is named by a document and a quote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "harbour", raising=False)
    monkeypatch.setenv("COLUMNS", "300")
    rows = [
        {"id": "ferry", "question": "When does the last ferry leave?", "must_have": ["22:10"], "evidence": [WANTED]},
        {
            "id": "dog",
            "question": "What do dogs need?",
            "must_have": ["muzzle"],
            "evidence": [{"document": "timetable", "quote": "Dogs need a muzzle"}],
        },
    ]
    for row in rows:
        row["evidence"] = [{"any_of": row["evidence"]}]
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = "golden: golden.jsonl\ntargets:\n  mine: {type: python, call: 'harbour:ask', context: retrieved}\n"
    (tmp_path / "assay.yaml").write_text(settings, encoding="utf-8")
    return tmp_path


DIFFERENCE = "2 quotes were found in chunks whose document is 'timetable.html', the golden set says 'timetable'"


def test_another_name_is_said_once_on_the_screen_in_doctor_and_in_explain(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (harbour / "harbour.py").write_text(SYSTEM.format(name="timetable.html"), encoding="utf-8")
    main(["run", "--run-dir", "r"])
    printed = capsys.readouterr().out
    assert 1 == printed.count(DIFFERENCE)
    assert "chunking" not in printed and "golden_label_issue" in printed
    main(["doctor"])
    assert DIFFERENCE in capsys.readouterr().out
    main(["explain", "dog", "--run", "r"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "whose document is “timetable.html”, the label says “timetable”" in printed


def test_a_missing_field_is_named_by_doctor_and_by_the_run(harbour: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (harbour / "harbour.py").write_text(SYSTEM.format(name=""), encoding="utf-8")
    main(["run", "--run-dir", "r"])
    printed = capsys.readouterr().out
    assert "chunks without `document`" in printed and "chunking" not in printed and "quotes were found" not in printed
    main(["doctor"])
    assert "reports no `document` of chunks, by which 2 cases name evidence" in capsys.readouterr().out


def test_a_name_that_the_run_knows_is_a_miss_and_no_difference_of_names(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = SYSTEM.format(name="fares").replace(
        "    return", "    contexts[1:] = [{'id': 'c', 'text': 'x', 'metadata': {'document': 'timetable'}}]\n    return"
    )
    (harbour / "harbour.py").write_text(system, encoding="utf-8")
    main(["run", "--run-dir", "r"])
    printed = capsys.readouterr().out
    assert "found in a chunk" not in printed and ": golden_label_issue" not in printed


def test_nothing_is_scored_by_names_of_which_the_run_has_none(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = SYSTEM.format(name="timetable.html").replace("Dogs need a muzzle on board.", "Bicycles travel free.")
    (harbour / "harbour.py").write_text(system, encoding="utf-8")
    main(["run", "--run-dir", "r", "--json-report", "r.json"])
    assert "1 quote was found in a chunk whose document is 'timetable.html'" in capsys.readouterr().out
    (result,) = json.loads((harbour / "r.json").read_bytes())["configs"].values()
    recall = result["summary"]["recall@5"]
    assert (0, 2, None) == (recall["scored"], recall["not_applicable"], recall["value"])


def test_a_case_that_is_found_under_the_names_of_the_golden_set_keeps_its_score(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row: dict[str, Any] = {"id": "bike", "question": "What do bicycles cost?", "must_have": ["free"]}
    row["evidence"] = [{"any_of": [{"document": "fares", "quote": "Bicycles travel free"}]}]
    with (harbour / "golden.jsonl").open("a", encoding="utf-8") as golden:
        golden.write(json.dumps(row) + "\n")
    fares = (
        "    contexts += [{'id': 'c', 'text': 'Bicycles travel free.', 'metadata': {'document': 'fares'}}]\n    return"
    )
    system = SYSTEM.format(name="timetable.html").replace("    return", fares)
    (harbour / "harbour.py").write_text(system, encoding="utf-8")
    main(["run", "--run-dir", "r", "--json-report", "r.json"])
    assert DIFFERENCE in capsys.readouterr().out
    (result,) = json.loads((harbour / "r.json").read_bytes())["configs"].values()
    recall = result["summary"]["recall@5"]
    assert (1, 2, 1.0) == (recall["scored"], recall["not_applicable"], recall["value"])

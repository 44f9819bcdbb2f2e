"""A run uses the lexicons that its request names, in every process, and refuses broken ones with file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import score
from assay.records.errors import SettingsError
from assay.records.golden_set import Case, GoldenSet
from assay.records.observations import Observation
from assay.records.requests import InputOptions, ScoreRequest, ScoringOptions
from assay.runs.score_run import open_scored_run, run_shards
from assay.text.refusals.behaviour import detect_behaviour, select_lexicons

LEXICON = "language: it\nphrases: {abstain: [non lo so]}\n"


@pytest.fixture(autouse=True)
def shipped_lexicons_only() -> Iterator[None]:
    yield
    select_lexicons([])


def request(folder: Path, *lexicons: str) -> ScoreRequest:
    golden = {"id": "1", "question": "?", "behaviour": "abstain", "language": "it"}
    output = {"case_id": "1", "config_id": "c", "answer": "Non lo so."}
    (folder / "golden.jsonl").write_text(json.dumps(golden) + "\n", encoding="utf-8")
    (folder / "outputs.jsonl").write_text(json.dumps(output) + "\n", encoding="utf-8")
    (folder / "it.yaml").write_text(LEXICON, encoding="utf-8")
    return ScoreRequest(
        InputOptions(golden=str(folder / "golden.jsonl"), outputs=[str(folder / "outputs.jsonl")]),
        scoring=ScoringOptions(metrics=("behaviour", "behaviour_unknown"), lexicons=lexicons),
    )


@pytest.mark.slow
def test_a_named_lexicon_decides_and_without_it_the_behaviour_is_unknown(tmp_path: Path) -> None:
    with open_scored_run(request(tmp_path, str(tmp_path / "it.yaml"))) as run:
        assert not [warning for warning in run.scoring.warnings if "no lexicon" in warning]
    assert "abstain" == detect_behaviour("Non lo so.", "it").behaviour
    with open_scored_run(request(tmp_path)) as run:
        assert [warning for warning in run.scoring.warnings if "no lexicon" in warning]


def test_a_broken_lexicon_is_refused_with_file_and_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("language: it\nphrases: {deny: [non lo so]}", encoding="utf-8")
    with (
        pytest.raises(SettingsError, match=r"broken\.yaml:2: phrases\.deny: E_LEXICON unknown kind"),
        open_scored_run(request(tmp_path, str(broken))),
    ):
        pass


def _detect(answer: str) -> str:
    return detect_behaviour(answer, "it").behaviour


@pytest.mark.slow
def test_worker_processes_use_them_too(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(LEXICON, encoding="utf-8")
    select_lexicons([str(tmp_path / "it.yaml")])
    assert ["abstain", "abstain"] == list(run_shards(_detect, ["Non lo so.", "Non lo so!"], workers=2))


def test_scoring_from_python_takes_lexicons_too(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(LEXICON, encoding="utf-8")
    golden = GoldenSet((Case("1", "?", behaviour="abstain", language="it"),))
    observations = [Observation("1", "c", answer="Non lo so.")]
    with_lexicon = score(golden, observations, metrics="behaviour", lexicons=[tmp_path / "it.yaml"])
    assert 1.0 == with_lexicon.summary("c")["behaviour"].value
    without = score(golden, observations, metrics="behaviour")
    assert without.summary("c")["behaviour"].value is None

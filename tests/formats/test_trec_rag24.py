"""A real run: three systems on the 301 topics of the TREC 2024 RAG track, 89 of them judged, scored from their files.

The files hold which passages answers cite, and no ranking: what is compared is citing, not retrieving.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.formats.golden_files import write_golden
from assay.records.golden_set import Case, Evidence, GoldenSet

pytestmark = pytest.mark.slow

Printed = pytest.CaptureFixture[str]
SYSTEMS = ("command-r-plus", "gpt-4o", "l31_70b_instruct")
TOPICS, JUDGED = 301, 89


@pytest.fixture(scope="module")
def track(test_data: Path) -> Path:
    return test_data / "trec-rag24"


def judgments(track: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in (track / "qrels.txt").read_text(encoding="utf-8").splitlines():
        topic, _, passage, grade = line.split()
        found.setdefault(topic, {})[passage] = int(grade)
    return found


@pytest.fixture(scope="module")
def golden(track: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """All topics with their questions as a native golden set; 212 of them hold no judgment."""
    judged = judgments(track)
    topics = [line.split("\t") for line in (track / "topics.tsv").read_text(encoding="utf-8").splitlines()]
    cases = tuple(
        Case(
            topic,
            question,
            evidence=tuple(Evidence(({"chunk_id": p},), g, g > 0) for p, g in judged.get(topic, {}).items()),
        )
        for topic, question in topics
    )
    path = tmp_path_factory.mktemp("rag24") / "golden.jsonl"
    write_golden(GoldenSet(cases, name="rag24", judgments="partial"), path)
    return str(path)


def report_of(capsys: Printed, *arguments: str) -> dict[str, Any]:
    assert 0 == main(["score", *arguments, "--format", "json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def answers(track: Path) -> list[str]:
    return [str(track / f"answers_{system}.jsonl") for system in SYSTEMS]


@pytest.fixture(scope="module")
def report(track: Path, golden: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of three systems on all topics."""
    path = tmp_path_factory.mktemp("report") / "report.json"
    assert 0 == main(["score", "--golden", golden, "--outputs", *answers(track), "--json-report", str(path)])
    made: dict[str, Any] = json.loads(path.read_bytes())
    return made


def test_three_systems_are_scored_with_judged_and_unjudged_topics_counted(report: dict[str, Any]) -> None:
    assert 3 == len(report["configs"])
    for config in report["configs"].values():
        summary = config["summary"]
        for metric in ("cited_judged", "cited_relevant", "cited_grade"):
            counts = summary[metric]
            assert TOPICS == counts["scored"] + counts["not_applicable"]
            assert 0 < counts["scored"] <= JUDGED
            assert 0 == counts["errors"]
        assert TOPICS == summary["sentence_coverage"]["scored"] + summary["sentence_coverage"]["not_applicable"]
        assert 0.5 < summary["sentence_coverage"]["mean"] <= 1.0
        assert 0.0 < summary["cited_judged"]["mean"] <= 1.0
        assert [] == config["missing"]
    assert "trec-rag holds citations and no ranking: the scores compare citations, not retrieval" in report["warnings"]


def test_nothing_is_said_about_retrieval_that_nobody_recorded(report: dict[str, Any]) -> None:
    for config in report["configs"].values():
        for metric in ("recall@10", "ndcg@10", "ap", "judged@10", "context_recall", "citation_exists"):
            assert (0, TOPICS, None) == tuple(
                config["summary"][metric][key] for key in ("scored", "not_applicable", "mean")
            )


def test_the_numbers_are_those_of_a_plain_count(track: Path, report: dict[str, Any]) -> None:
    """Counted again from the files with nothing but dictionaries."""
    judged, path = judgments(track), answers(track)[1]
    shares: Counter[str] = Counter()
    topics: Counter[str] = Counter()
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        judgment = judged.get(row["topic_id"])
        cited = {row["references"][place] for piece in row["answer"] for place in piece["citations"]}
        if not judgment or not cited:
            continue
        grades = [judgment[passage] for passage in cited if passage in judgment]
        topics["cited_judged"] += 1
        shares["cited_judged"] += len(grades) / len(cited)  # type: ignore[assignment]
        if grades:
            topics["cited_grade"] += 1
            shares["cited_grade"] += sum(grades) / len(grades)  # type: ignore[assignment]
            shares["cited_relevant"] += sum(grade > 0 for grade in grades) / len(grades)  # type: ignore[assignment]
    (summary,) = [config["summary"] for name, config in report["configs"].items() if SYSTEMS[1] in name]
    for metric in ("cited_judged", "cited_relevant", "cited_grade"):
        n = topics["cited_judged" if metric == "cited_judged" else "cited_grade"]
        assert n == summary[metric]["scored"]
        assert pytest.approx(shares[metric] / n, abs=1e-12) == summary[metric]["mean"]


def test_the_judgments_alone_cover_a_part_of_the_topics_and_the_rest_is_counted(track: Path, capsys: Printed) -> None:
    path = answers(track)[2]
    command = ["--golden", str(track / "qrels.txt"), "--outputs", path]
    assert 2 == main(["score", *command])
    assert "E_UNKNOWN_ID" in capsys.readouterr().err
    report = report_of(capsys, *command, "--ignore-unknown")
    (config,) = report["configs"].values()
    assert JUDGED == config["summary"]["sentence_coverage"]["scored"]
    assert f"left out: {TOPICS - JUDGED} rows of cases that are not in the golden set" in report["warnings"]

"""A golden set and outputs as files, and verdict stores with the verdicts of judges on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.runs.scoring import write

from assay.api import load_observations
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines, sort_verdicts
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import JUDGED_METRICS, parse_metric
from assay.metrics.judged.judge_requests import Rubrics
from assay.metrics.metric import MetricName
from assay.metrics.scorers import collect_requests
from assay.records.verdicts import ItemVerdict, JudgeIdentity, JudgeRequest, Verdict

NAMES = [parse_metric(text) for text in JUDGED_METRICS]
JUDGE, OTHER = JudgeIdentity("openai", "local", "judge-1"), JudgeIdentity("openai", "local", "judge-2")
TEXTS = {"leave": "Staff get 12 days of leave.", "carry": "Five unused days carry over to March."}
ANSWERS = {
    "q1": "Staff get 12 days of leave [leave].",
    "q2": "Staff get 12 days of leave [leave]. Ten unused days carry over [carry].",
    "q3": "I could not find any information about this.",
}
CASES = [
    {
        "id": case_id,
        "question": f"How much in {case_id}?",
        "expected_chunk_ids": ["leave"],
        "expected_answer": "12 days",
        "must_have": ["12 days"],
    }
    for case_id in ANSWERS
]


def rows(config: str) -> list[dict[str, Any]]:
    """The recorded outputs of one configuration."""
    context = {"name": "context", "chunks": [{"chunk_id": name, "text": text} for name, text in TEXTS.items()]}
    return [
        {"case_id": case_id, "config_id": config, "stages": [context], "answer": answer, "citations": list(TEXTS)}
        for case_id, answer in ANSWERS.items()
    ]


def supports(request: JudgeRequest, item: str) -> str:
    """A judge that finds all but the ten days, and is content with everything else."""
    if request.rubric not in ("support", "citation_support"):
        return request.labels[0]
    (key,) = {"claims", "citations"} & request.inputs.keys()
    text = next(entry["text"] for entry in request.inputs[key] if entry["id"] == item)
    return "contradicted" if "Ten" in text else "supported"


class World:
    """A golden set and outputs as files, and verdict stores with the verdicts of judges on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.golden = write(folder / "golden.jsonl", CASES)
        self.outputs = write(folder / "outputs.jsonl", [row for config in "ab" for row in rows(config)])

    def requests(self, names: Sequence[MetricName] = NAMES, rubrics: Rubrics | None = None) -> list[JudgeRequest]:
        golden = load_golden(self.golden).golden
        joins, rubrics = GoldenIndex(golden), rubrics or load_rubrics()
        observations = load_observations(self.outputs)
        asked = [
            collect_requests(joins.case_index(joins.position[each.case_id]), each, names, rubrics)
            for each in observations
        ]
        return list({request.digest: request for each in asked for request in each}.values())

    def contents(
        self,
        *judges: JudgeIdentity,
        but: Callable[[JudgeRequest], bool] = lambda _: False,
        rubrics: Rubrics | None = None,
    ) -> StoreContents:
        verdicts = [
            Verdict(
                each.digest, judge.digest, 0, each.rubric, tuple(ItemVerdict(i, supports(each, i)) for i in each.items)
            )
            for judge in judges
            for each in self.requests(rubrics=rubrics)
            if not but(each)
        ]
        return StoreContents(list(judges), sort_verdicts(verdicts))

    def export(self, contents: StoreContents) -> str:
        path = self.folder / "verdicts.jsonl"
        path.write_bytes(b"".join(encode_lines(contents)))
        return str(path)

    def score(self, verdicts: str, *options: str) -> tuple[int, bytes, dict[str, Any]]:
        cases, report = self.folder / "cases.jsonl", self.folder / "report.json"
        command = ["score", "--golden", self.golden, "--outputs", self.outputs, "--verdicts", verdicts]
        status = main([*command, "--per-case", str(cases), "--json-report", str(report), *options])
        return status, cases.read_bytes() + report.read_bytes(), json.loads(report.read_bytes())


def read_summary(report: dict[str, Any], metric: str) -> dict[str, Any]:
    """The summary of a metric of configuration `a`."""
    metric_summary: dict[str, Any] = report["configs"]["a"]["summary"][metric]
    return metric_summary

"""Runs, scores and attributes the example application under faults, for `benchmarks.attribution`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from examples.handbook.app.labels import LABEL_FAULTS
from examples.handbook.app.pipeline import CONFIGS as CONFIGS
from examples.handbook.app.pipeline import Handbook

from assay import api
from assay.attribution.attribute_run import attribute_run
from assay.judging.collect_questions import JudgeQuestions
from assay.judging.rubric_files import load_rubrics
from assay.metrics.catalog import parse_metric
from assay.metrics.judge_requests import RecordedVerdicts
from assay.records.findings import Attribution
from assay.records.golden_set import Corpus, GoldenSet, User
from assay.records.observations import Observation
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.records.verdicts import Calibration, ItemVerdict, JudgeRequest, Verdict, compute_rubrics_hash
from assay.runs.score_inputs import ScoreInputs
from assay.runs.score_run import score_observations
from assay.scoring.attribution_settings import JUDGE_METRIC

HANDBOOK = Path(__file__).resolve().parents[1] / "examples" / "handbook"
SETS = ("handbook", "operations")
METRICS = ("recall@10", "answer_similarity", "completeness(by=rules)")
EVERY = 4
"""The scripted judge errs on every fourth answer that it should pass."""
_JUDGE = "sha256:scripted"


@dataclass(frozen=True)
class AttributedRun:
    """The outcome of one run by case: whether it passes, its attribution, and the trace without times and versions;
    `damaged` are the cases whose labels were."""

    passes: Mapping[str, bool]
    attributions: Mapping[str, Attribution]
    traces: Mapping[str, bytes]
    damaged: frozenset[str] = frozenset()


class World:
    """Golden sets, corpus and the observations of configurations with faults switched on; nothing is observed twice."""

    def __init__(self) -> None:
        self.rows = {name: _rows(HANDBOOK / f"golden/{name}.jsonl") for name in SETS}
        self.corpus = Corpus(
            api.load_corpus(HANDBOOK / "corpus/chunks.jsonl").chunks
            | api.load_corpus(HANDBOOK / "corpus/operations.jsonl").chunks
        )
        self.golden = _golden([row for rows in self.rows.values() for row in rows])
        self.observe = cache(self._observe)
        self.clean = cache(self._clean)
        self.judged = cache(self._judged)

    def _observe(self, config: str, faults: tuple[str, ...]) -> list[Observation]:
        ticks = count()
        application = Handbook(config, faults, clock=lambda: next(ticks) / 1000)
        observations = []
        for case in self.golden.cases:
            reply = application.ask(case.question, _asker(case.user or User()))
            observations.append(msgspec.convert(reply | {"case_id": case.id}, Observation))
        return observations

    def _clean(self, config: str) -> AttributedRun:
        return self.attribute_observations(self.golden, self.observe(config, ()))

    def run_faulty(self, config: str, faults: Sequence[str]) -> AttributedRun:
        """Return the outcome of the configuration with faults switched on."""
        return self.attribute_observations(self.golden, self._observe(config, tuple(faults)))

    def run_mislabelled(self, config: str, fault: str) -> AttributedRun:
        """Return the outcome of the clean configuration scored with damaged golden sets."""
        damage = LABEL_FAULTS[fault]
        rows = [row for golden_rows in self.rows.values() for row in damage(golden_rows, list(self.corpus.chunks))]
        correct_rows = [row for golden_rows in self.rows.values() for row in golden_rows]
        damaged = frozenset(new["id"] for old, new in zip(correct_rows, rows, strict=True) if old != new)
        return replace(self.attribute_observations(_golden(rows), self.observe(config, ())), damaged=damaged)

    def _judged(self, config: str, fault: str) -> AttributedRun:
        """Return the outcome of the clean configuration scored by a calibrated judge with the given fault."""
        observations = self.observe(config, ())
        rubrics = load_rubrics()
        questions = JudgeQuestions(self.golden, self.corpus, rubrics, [parse_metric(JUDGE_METRIC)], observations)
        verdicts: dict[str, list[Verdict]] = {}
        passing = 0
        for digest, request in questions.find_requests({}).items():
            (case_id,) = questions.cases_of[digest]
            right = self.clean(config).attributions[case_id].good is not False
            passing += right
            errs = bool(fault) and right and passing % EVERY == 0
            verdicts[digest] = _votes(request, right, errs, fault)
        calibration = Calibration(
            JUDGE_METRIC,
            _JUDGE,
            compute_rubrics_hash(rubrics.values(), "correctness"),
            "",
            "",
            n=100,
            raters=2,
            may_gate=True,
        )
        judging = RecordedVerdicts(rubrics, verdicts, _JUDGE, {JUDGE_METRIC: calibration})
        return self.attribute_observations(self.golden, observations, judging)

    def attribute_observations(
        self, golden: GoldenSet, observations: Sequence[Observation], judging: RecordedVerdicts | None = None
    ) -> AttributedRun:
        """Score and attribute observations."""
        config = observations[0].config_id
        metrics = (*METRICS, *((JUDGE_METRIC,) if judging is not None else ()))
        request = ScoreRequest(scoring=ScoringOptions(metrics=metrics))
        inputs = ScoreInputs.from_golden(golden, request, corpus=self.corpus, judging=judging)
        run = score_observations(inputs, observations)
        attributed = attribute_run(run, config)
        failed = {checks.case_id for checks in run.scoring.configs[config].table.checks if checks.failed}
        passes = {
            name: attribution.good is not False and name not in failed for name, attribution in attributed.items()
        }
        return AttributedRun(
            passes, attributed, {observation.case_id: _trace(observation) for observation in observations}
        )


def _votes(request: JudgeRequest, right: bool, errs: bool, fault: str) -> list[Verdict]:
    """Return the samples of the scripted judge: one, or three of which two err."""
    labels = [right != errs]
    if errs and fault.endswith("two-of-three"):
        labels = [right, not right, not right]
    names = {True: "correct", False: "incorrect"}
    return [
        Verdict(
            request.digest,
            _JUDGE,
            sample,
            request.rubric,
            tuple(ItemVerdict(item, names[label]) for item in request.items),
        )
        for sample, label in enumerate(labels)
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _golden(rows: Sequence[Mapping[str, Any]]) -> GoldenSet:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return api.load_golden(path)


def _asker(user: User) -> dict[str, Any]:
    fields = {"tenant": user.tenant, "roles": list(user.roles), "as_of": user.as_of}
    return {name: value for name, value in fields.items() if value is not None}


def _trace(observation: Observation) -> bytes:
    """Return an observation without its times, versions and configuration."""
    stages = tuple(msgspec.structs.replace(stage, latency_ms=None) for stage in observation.stages or ())
    return msgspec.json.encode(
        msgspec.structs.replace(observation, stages=stages, usage=None, versions={}, config_id="")
    )

"""Runs the example application under faults, for `benchmarks.attribution`; nothing is observed twice."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from examples.handbook.app.faults import FAULTS
from examples.handbook.app.labels import LABEL_FAULTS
from examples.handbook.app.parts import Parts
from examples.handbook.app.pipeline import CONFIGS as CONFIGS
from examples.handbook.app.pipeline import Handbook
from examples.handbook.app.records import Document

from assay import api
from assay.judging.collect_questions import JudgeQuestions
from assay.judging.rubric_files import load_rubrics
from assay.metrics.catalog import parse_metric
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.records.findings import RootCause
from assay.records.golden_set import Case, Corpus, GoldenSet, User
from assay.records.observations import Observation, find_stage
from assay.records.verdicts import Calibration, ItemVerdict, JudgeRequest, Verdict, compute_rubrics_hash
from assay.scoring.attribution_settings import JUDGE_METRIC
from assay.text.normalisation import fold_text
from benchmarks.attribution_levels import LEVELS, FaultyRun, Level, attribute_trace
from benchmarks.attribution_twins import CONTENT_CAUSES, find_cause_twins, find_open_twins, find_text_twins

HANDBOOK = Path(__file__).resolve().parents[1] / "examples" / "handbook"
SETS = ("handbook", "operations")
EVERY = 4
"""The scripted judge errs on every fourth answer that it should pass."""
_JUDGE = "sha256:scripted"
JUDGE_FAULTS = ("judge_noise:flipped", "judge_noise:two-of-three")
HELD_OUT = frozenset(
    {
        "parser:drop-footnotes",
        "chunking:merge-sections",
        "embedding:no-folding",
        "bm25_analyzer:no-folding",
        "hybrid_merge:tiny-pool",
        "reranker:invert",
        "context_builder:drop-first",
        "generator:never-refuse",
        "citation:unseen",
        "acl:too-strict",
        "stale_index:keeps-superseded",
        "golden_label_issue:mixed-up-references",
        "golden_label_issue:gone-evidence",
        "judge_noise:two-of-three",
    }
)
"""The last variant of each cause: held out while the first rules were written, known since."""


class HandbookWorld:
    """Golden sets, corpus and the observations of configurations with faults switched on."""

    def __init__(self) -> None:
        self.levels: Sequence[Level] = LEVELS
        self.rows = {name: _rows(HANDBOOK / f"golden/{name}.jsonl") for name in SETS}
        self.corpus = Corpus(
            api.load_corpus(HANDBOOK / "corpus/chunks.jsonl").chunks
            | api.load_corpus(HANDBOOK / "corpus/operations.jsonl").chunks
        )
        self.golden = _golden([row for rows in self.rows.values() for row in rows])
        self.clean_observations = cache(lambda config: self._observe(config, ()))
        self.clean_good = cache(self._find_clean_good)
        self.open_runs = cache(self._observe_opened)

    def measure(self, configs: Sequence[str], levels: Sequence[Level] = LEVELS) -> Iterator[FaultyRun]:
        """Yield the runs of every fault in every configuration at every level of trace."""
        self.levels = levels
        for config in configs:
            clean = self.clean_observations(config)
            good = {name: name in self.clean_good(config) for name in self.clean_good(config)}
            yield from self._attribute("clean", "", self.golden, clean, lambda _: False, good)
            for fault in FAULTS:
                observations = self._observe(config, (fault,))
                is_affected = self._make_oracle(config, observations)
                yield from self._attribute(fault, fault, self.golden, observations, is_affected, good)
            for fault in LABEL_FAULTS:
                golden, damaged = self._damage_labels(fault)
                is_affected = self._make_label_oracle(config, golden, damaged)
                yield from self._attribute(fault, fault, golden, clean, is_affected, good)
            for fault in JUDGE_FAULTS:
                judging, erred = self._judge(config, fault)
                yield from self._attribute(fault, fault, self.golden, clean, erred.__contains__, good, judging)

    def _observe(self, config: str, faults: tuple[str, ...]) -> list[Observation]:
        return _ask_cases(self.golden.cases, config, faults, Parts())

    def _observe_opened(self, config: str) -> list[list[Observation]]:
        """Return the runs of the sound application over documents without roles: as they are, and in which each
        tenant has all of them."""
        runs = [_ask_cases(self.golden.cases, config, (), Parts(select=_open_roles))]
        by_tenant: dict[str, list[Case]] = {}
        for case in self.golden.cases:
            if case.user is not None and case.user.tenant is not None:
                by_tenant.setdefault(case.user.tenant, []).append(case)
        shared: list[Observation] = []
        for tenant, cases in by_tenant.items():
            shared += _ask_cases(cases, config, (), Parts(select=partial(_give_to, tenant)))
        return [*runs, shared]

    def _find_clean_good(self, config: str) -> frozenset[str]:
        """Return the cases in which the sound application does what is expected, by a plain look at its answers."""
        observations = {observation.case_id: observation for observation in self.clean_observations(config)}
        attributed = attribute_trace(self.golden, self.corpus, list(observations.values()), "everything")
        return frozenset(
            case.id
            for case in self.golden.cases
            if _is_plainly_good(case, observations[case.id], self.corpus)
            and _has_evidence(case, observations[case.id])
            and attributed[case.id].good is not False
        )

    def _make_oracle(self, config: str, observations: Sequence[Observation]) -> Callable[[str], bool]:
        """Return whether a fault spoiled a good case: by a plain look, or by a sentence added to the answer."""
        cases = {case.id: case for case in self.golden.cases}
        clean = {observation.case_id: observation for observation in self.clean_observations(config)}
        faulty = {observation.case_id: observation for observation in observations}

        def is_affected(case_id: str) -> bool:
            before, after = str(clean[case_id].answer), str(faulty[case_id].answer)
            is_longer = after != before and after.startswith(before)
            good = _is_plainly_good(cases[case_id], faulty[case_id], self.corpus)
            return case_id in self.clean_good(config) and (is_longer or not good)

        return is_affected

    def _make_label_oracle(self, config: str, golden: GoldenSet, damaged: frozenset[str]) -> Callable[[str], bool]:
        cases = {case.id: case for case in golden.cases}
        clean = {observation.case_id: observation for observation in self.clean_observations(config)}
        return lambda case_id: (
            case_id in damaged
            and case_id in self.clean_good(config)
            and not _is_plainly_good(cases[case_id], clean[case_id], self.corpus)
        )

    def _damage_labels(self, fault: str) -> tuple[GoldenSet, frozenset[str]]:
        damage = LABEL_FAULTS[fault]
        rows = [row for golden_rows in self.rows.values() for row in damage(golden_rows, list(self.corpus.chunks))]
        correct_rows = [row for golden_rows in self.rows.values() for row in golden_rows]
        damaged = frozenset(new["id"] for old, new in zip(correct_rows, rows, strict=True) if old != new)
        return _golden(rows), damaged

    def _judge(self, config: str, fault: str) -> tuple[RecordedVerdicts, frozenset[str]]:
        """Return the verdicts of a calibrated judge with a fault, and the cases in which it errs."""
        rubrics = load_rubrics()
        observations = self.clean_observations(config)
        questions = JudgeQuestions(self.golden, self.corpus, rubrics, [parse_metric(JUDGE_METRIC)], observations)
        verdicts: dict[str, list[Verdict]] = {}
        erred = set()
        passing = 0
        for digest, request in questions.find_requests({}).items():
            (case_id,) = questions.cases_of[digest]
            right = case_id in self.clean_good(config)
            passing += right
            errs = right and passing % EVERY == 0
            if errs:
                erred.add(case_id)
            verdicts[digest] = _votes(request, right, errs, fault)
        rubrics_hash = compute_rubrics_hash(rubrics.values(), "correctness")
        calibration = Calibration(JUDGE_METRIC, _JUDGE, rubrics_hash, "", "", n=100, raters=2, may_gate=True)
        return RecordedVerdicts(rubrics, verdicts, _JUDGE, {JUDGE_METRIC: calibration}), frozenset(erred)

    def _attribute(
        self,
        name: str,
        cluster: str,
        golden: GoldenSet,
        observations: Sequence[Observation],
        is_affected: Callable[[str], bool],
        good: Mapping[str, bool],
        judging: RecordedVerdicts | None = None,
    ) -> Iterator[FaultyRun]:
        cause = name.partition(":")[0]
        causes: frozenset[RootCause] = frozenset((cause,)) if name != "clean" else frozenset()  # type: ignore[arg-type]  # the name of a fault starts with its cause
        for level in self.levels:
            attributed = attribute_trace(golden, self.corpus, observations, level, judging)
            affected = tuple(item for case_id, item in attributed.items() if is_affected(case_id))
            spared = tuple(
                item
                for case_id, item in attributed.items()
                if good.get(case_id) and not is_affected(case_id) and name not in LABEL_FAULTS
            )
            if cause == "acl":
                twins = find_open_twins(observations, self.open_runs(observations[0].config_id), level)
            else:
                is_content = bool(causes & CONTENT_CAUSES)
                twins = find_text_twins(golden, self.corpus, observations, level) if is_content else frozenset()
            ambiguous = find_cause_twins(golden, observations, level, causes)
            yield FaultyRun("handbook", name, level, causes, "known", affected, spared, twins, ambiguous)


def _ask_cases(cases: Sequence[Case], config: str, faults: tuple[str, ...], parts: Parts) -> list[Observation]:
    """Return the observations of an application that is asked these cases and nothing else."""
    ticks = count()
    application = Handbook(config, faults, parts=parts, clock=lambda: next(ticks) / 1000)
    observations = []
    for case in cases:
        reply = application.ask(case.question, _asker(case.user or User()))
        observations.append(msgspec.convert(reply | {"case_id": case.id}, Observation))
    return observations


def _open_roles(documents: list[Document]) -> list[Document]:
    return [replace(document, roles=()) for document in documents]


def _give_to(tenant: str, documents: list[Document]) -> list[Document]:
    return [replace(document, roles=(), tenant=tenant) for document in documents]


def _is_plainly_good(case: Case, observation: Observation, corpus: Corpus) -> bool:
    """Return whether an answer is as expected, by its stated behaviour and the plain words that the case asks for."""
    accepted = {case.behaviour, *case.also_accept}
    if observation.behaviour not in accepted or _shows_forbidden(case, observation, corpus):
        return False
    if observation.behaviour != "answer" or case.behaviour != "answer":
        return True
    text = fold_text(str(observation.answer))
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    hits = [fold_text(word) in text for word in keywords]
    is_complete = all(hits) if case.rubric is not None and case.rubric.match == "all" else any(hits) or not hits
    required = {str(item.get("chunk_id")) for unit in case.evidence if unit.required for item in unit.any_of}
    is_cited = not required or bool(required & set(observation.citations or ()))
    return is_complete and all(fold_text(fact) in text for fact in case.must_have) and is_cited


def _has_evidence(case: Case, observation: Observation) -> bool:
    """Return whether the context has a chunk of each required unit; a case that is denied requires none."""
    context = find_stage(observation, "context")
    ids = {chunk.chunk_id for chunk in context.chunks} if context is not None else set()
    required = [unit for unit in case.evidence if unit.required and case.behaviour != "permission_denied"]
    return all(any(item.get("chunk_id") in ids for item in unit.any_of) for unit in required)


def _shows_forbidden(case: Case, observation: Observation, corpus: Corpus) -> bool:
    user = case.user or User()
    for chunk in [chunk for stage in observation.stages or () for chunk in stage.chunks]:
        entry = corpus.chunks.get(chunk.chunk_id)
        if entry is None:
            continue
        if entry.tenant not in (None, user.tenant) or (entry.roles and not set(entry.roles) & set(user.roles)):
            return True
    return False


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

"""The questions of the judged metrics about recorded outputs, found by replaying the metrics round by round."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.errors import InputError, MetricNameError, Problem, SettingsError
from assay.graders.catalog import parse, parse_all
from assay.graders.combined import APART, BY_BOTH
from assay.graders.instruments import JUDGE, RULES, is_of_this_layer, outcome_of
from assay.graders.joins import Joins
from assay.graders.judging import Judging, Rubrics
from assay.graders.names import MetricName
from assay.graders.reading import Reading
from assay.graders.stages import CONTEXT
from assay.graders.votes import Ruling
from assay.io.outputs.nfc import in_nfc
from assay.model import SCORED, Case, Corpus, Gate, GoldenSet, Observation
from assay.scoring.gate import as_spelled
from assay.scoring.slices import rows_of_slice
from assay.verdict import JudgeRequest, Verdict
from assay.workflow.select import chosen

DEFAULT_JUDGED = (
    "faithfulness(by=judge)",
    "citation_support(by=judge)",
    "answer_relevance(by=judge)",
    "correctness(by=judge)",
    "completeness(by=judge)",
)
"""The metrics judged by default; the other judged metrics use the same verdicts."""
AMBIGUOUS, GATE = "ambiguous", "gate"


@dataclass(frozen=True)
class _Recorder(Judging):
    """Verdicts for replay that record the requests made."""

    asked: dict[str, JudgeRequest] = field(default_factory=dict)

    def ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return the ruling, and record the request."""
        self.asked.setdefault(request.digest, request)
        return super().ruling(request)


@dataclass(slots=True)
class Questions:
    """The observations to judge, joined with their cases; `cases_of` gives the cases that each request is about."""

    golden: GoldenSet
    corpus: Corpus | None
    rubrics: Rubrics
    names: Sequence[MetricName]
    observations: Sequence[Observation]
    cases_of: dict[str, set[str]] = field(default_factory=dict)

    def asked(self, book: Mapping[str, Sequence[Verdict]]) -> dict[str, JudgeRequest]:
        """Return all requests by digest that the recorded verdicts lead to, in the order of the observations."""
        recorder = _Recorder(self.rubrics, book)
        joins = Joins(self.golden, self.corpus, recorder)
        requests: dict[str, JudgeRequest] = {}
        for reading in self._read_answers(joins):
            for name in self.names:
                outcome_of(name, reading)
            for digest in recorder.asked:
                self.cases_of.setdefault(digest, set()).add(reading.case.case.id)
            requests |= recorder.asked
            recorder.asked.clear()
        return requests

    def contradicted(self, book: Mapping[str, Sequence[Verdict]]) -> set[str]:
        """Return the requests behind those scores of the judge that differ widely from the scores of the rules."""
        recorder, contradicted = _Recorder(self.rubrics, book), set[str]()
        for reading in self._read_answers(Joins(self.golden, self.corpus, recorder)):
            for name in self.names:
                if name.base not in BY_BOTH:
                    continue
                recorder.asked.clear()
                alone = Reading(reading.case, reading.observation)  # what another metric has asked is asked again
                by_rules = MetricName(
                    name.base, tuple((key, RULES if key == "by" else each) for key, each in name.keys)
                )
                judged, ruled = outcome_of(name, alone), outcome_of(by_rules, reading)
                if judged.status == ruled.status == SCORED and abs(judged.value - ruled.value) > APART:
                    contradicted |= recorder.asked.keys()
        return contradicted

    @property
    def clusters_of(self) -> dict[str, set[str]]:
        """Which clusters of cases each request is about; a case without a cluster is its own."""
        cluster = {case.id: case.cluster or case.id for case in self.golden.cases}
        return {digest: {cluster[case_id] for case_id in cases} for digest, cases in self.cases_of.items()}

    def ambiguous(self) -> Questions:
        """Keep the observations with a claim that the rules scorer leaves undecided."""
        readings = self._read_answers(Joins(self.golden, self.corpus))
        return self._with_observations([reading.observation for reading in readings if _has_open_claim(reading)])

    def about(self, cases: Collection[str]) -> Questions:
        """Keep the observations of the given cases."""
        return self._with_observations(
            [observation for observation in self.observations if observation.case_id in cases]
        )

    def _with_observations(self, observations: Sequence[Observation]) -> Questions:
        return replace(self, observations=observations, cases_of={})

    def _read_answers(self, joins: Joins) -> Iterator[Reading]:
        for observation in self.observations:
            if observation.error is None and isinstance(observation.answer, str):
                yield Reading(joins.case(joins.position[observation.case_id]), observation)


def judged_names(metrics: Sequence[str]) -> list[MetricName]:
    """Return the judged metrics among those named; the default ones if none are named.

    Raises MetricNameError for unknown names, SettingsError if none of the named metrics is judged.
    """
    names = parse_all(metrics or DEFAULT_JUDGED)
    judged = [name for name in names if name.key("by", RULES) == JUDGE and is_of_this_layer(name)]
    if not judged:
        message = f"none is judged (got {', '.join(metrics)}; expected one with by=judge, such as {DEFAULT_JUDGED[0]})"
        raise SettingsError([Problem("", None, "metrics", message, "E_METRIC")])
    return judged


def prepared(observations: Iterable[Observation], golden: GoldenSet) -> tuple[list[Observation], int]:
    """Return the observations of golden cases with normalised ids, and the number of those of unknown cases.

    Raises InputError for an observation that occurs twice, because its verdicts would be ambiguous.
    """
    case_ids = {case.id for case in golden.cases}
    by_key: dict[tuple[str, str, int], Observation] = {}
    unknown, duplicates = 0, list[Problem]()
    for observation in observations:
        normalised = in_nfc(observation)[0]
        key = normalised.config_id, normalised.case_id, normalised.repeat
        if normalised.case_id not in case_ids:
            unknown += 1
        elif key in by_key:
            duplicates.append(
                Problem("", None, "outputs", f"observed twice (got {key}; expected it once)", "E_DUPLICATE")
            )
        else:
            by_key[key] = normalised
    if duplicates:
        raise InputError(duplicates)
    return list(by_key.values()), unknown


def narrowed(questions: Questions, only: Sequence[str], gate: Gate | None) -> tuple[Questions, list[str]]:
    """Return the questions that `--only` selects, and notices for the user.

    `only` holds `ambiguous`, `gate`, `tag:NAME` or `case:ID`; an observation is kept if each kind that is used selects
    it.
    """
    notices = []
    before = len(questions.observations)
    selectors = [selector for selector in only if selector not in (AMBIGUOUS, GATE)]
    if selectors:
        questions = questions.about({case.id for case in chosen(questions.golden, None, selectors)})
    if GATE in only:
        if gate is None:
            raise SettingsError("--only gate: no gate is named (expected --gate, --profile or gate in the settings)")
        questions = questions.about(read_by(gate, questions.golden.cases))
    if AMBIGUOUS in only:
        questions = questions.ambiguous()
        notices.append(
            "--only ambiguous: the other observations get no verdict. The rules scorer alone decides them, with its "
            "errors: judge them all once, or label some, before a gate relies on it"
        )
    if only:
        notices.append(f"{len(questions.observations)} of {before} observations are judged")
    return questions, notices


def read_by(gate: Gate, cases: Sequence[Case]) -> set[str]:
    """Return the cases that a rule of the gate on a judged metric depends on."""
    case_ids: set[str] = set()
    for rule in gate.rules:
        try:
            name = parse(rule.metric)
        except MetricNameError:  # reported when the gate itself is checked
            continue
        if name.key("by", RULES) == JUDGE:
            rows = range(len(cases)) if rule.slice is None else rows_of_slice(cases, rule.slice).tolist()
            case_ids |= {cases[row].id for row in rows}
    return case_ids


def deciding(gate: Gate, cases: Sequence[Case]) -> set[str]:
    """Return the cases of which a single one can fail the gate: those with a zero-tolerance or blocking tag."""
    tags = set(as_spelled((*gate.zero_tolerance_tags, *gate.blocking_tags), cases))
    return {case.id for case in cases if tags & set(case.tags)}


def _has_open_claim(reading: Reading) -> bool:
    if not isinstance(reading.sources(CONTEXT), dict):
        return False
    return any(support.verdict == "unknown" for support in reading.supports(CONTEXT))

"""Loads the inputs of a judge run and finds its questions, by replaying the judged metrics round by round.

The inputs are outputs, golden set, corpus and gate; the questions are the requests that the metrics make.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from assay.formats.corpus import load_corpus
from assay.formats.golden_files import load_golden, refuse_placeholders
from assay.formats.outputs import open_output_files, prepare_decodable, read_observations
from assay.formats.recorded_outputs.line_checks import normalise_names
from assay.formats.run_files.run_folder import complete_run_request, refuse_other_golden
from assay.formats.settings_file import Config
from assay.gates.gate_files import load_requested_gate
from assay.gates.tag_rules import match_tags
from assay.judging.call_scheduler import JudgingLimits
from assay.judging.choose_judge import ChosenJudge
from assay.judging.control_questions import RequestSubject
from assay.judging.independence import find_self_judging
from assay.metrics.answer_metric import BY_ENTAILMENT, BY_RULES
from assay.metrics.answers.correctness import is_answer_open
from assay.metrics.answers.hallucination_risk import DISAGREEMENT_THRESHOLD, METRICS_BY_BOTH_SCORERS
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import find_metric, parse_metric, parse_metrics
from assay.metrics.judged.judge_requests import RecordedVerdicts, Rubrics
from assay.metrics.judged.second_judgement import CaseTexts
from assay.metrics.judged.vote_folding import DISPUTED, Ruling
from assay.metrics.metric import MetricName
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import compute_outcome, is_answer_metric
from assay.records.counts import format_count
from assay.records.errors import AssayError, InputError, MetricNameError, Problem, SettingsError
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.records.observations import CONTEXT_STAGE, Observation
from assay.records.release_gates import Gate
from assay.records.requests import GateOptions, InputOptions, ScoreRequest
from assay.records.scores import SCORED
from assay.records.unforeseen import describe_unforeseen
from assay.records.verdicts import JudgeRequest, Verdict, VerdictReview
from assay.scoring.case_clusters import name_clusters
from assay.scoring.slices import find_slice_rows, select_cases
from assay.text.tokens import tokenise_text

DEFAULT_JUDGED = (
    "faithfulness(by=judge)",
    "citation_support(by=judge)",
    "answer_relevance(by=judge)",
    "correctness(by=judge)",
    "completeness(by=judge)",
)
"""The metrics judged by default; the other judged metrics use the same verdicts."""
AMBIGUOUS, GATE = "ambiguous", "gate"


class RequestRecorder(RecordedVerdicts, frozen=True):
    """Verdicts for replay that record the requests made, and which of them have a disputed ruling."""

    asked: dict[str, JudgeRequest] = msgspec.field(default_factory=dict)
    disputed: set[str] = msgspec.field(default_factory=set)

    def find_ruling(self, request: JudgeRequest) -> Ruling | None:
        """Return the ruling, and record the request."""
        self.asked.setdefault(request.digest, request)
        return super().find_ruling(request)

    def find_confirmed_ruling(self, request: JudgeRequest, texts: CaseTexts) -> Ruling | None:
        """Return the confirmed ruling, and record whether it is disputed."""
        ruling = super().find_confirmed_ruling(request, texts)
        if ruling is not None and any(item.unscored == DISPUTED for item in ruling.items):
            self.disputed.add(request.digest)
        return ruling


@dataclass(slots=True)
class JudgeQuestions:
    """The observations to judge, joined with their cases; `cases_of` gives the cases that each request is about.

    `bugs` has a line for every case about which nothing can be asked because of an exception that nobody foresaw;
    `disputed` are the requests with a better label with the orders in their texts than without, as last found, that
    none of the `reviews`, by the digest of the request, has settled. With `only_open`, a metric is asked only about the
    answers of which the rules leave open what it tells.
    """

    golden: GoldenSet
    corpus: Corpus | None
    rubrics: Rubrics
    names: Sequence[MetricName]
    observations: Sequence[Observation]
    cases_of: dict[str, set[str]] = field(default_factory=dict)
    bugs: dict[str, str] = field(default_factory=dict)
    disputed: set[str] = field(default_factory=set)
    reviews: Mapping[str, Sequence[VerdictReview]] = field(default_factory=dict)
    only_open: bool = False

    def find_requests(self, recorded: Mapping[str, Sequence[Verdict]]) -> dict[str, JudgeRequest]:
        """Return all requests by digest that the recorded verdicts lead to: first those about observations that the
        rules leave open or flag, so that a budget that does not last is spent on these; else in golden order."""
        recorder = RequestRecorder(self.rubrics, recorded, reviews=self.reviews)
        joins = GoldenIndex(self.golden, self.corpus, recorder)
        requests: dict[str, JudgeRequest] = {}
        later_requests: dict[str, JudgeRequest] = {}
        for reading in self._read_answers(joins):
            recorder.asked.clear()
            try:
                for name in self.names:
                    if not self.only_open or _is_open_to(name, reading):
                        compute_outcome(name, reading)
            except AssayError:
                raise
            except Exception as error:  # noqa: BLE001  # the last barrier: one answer must not end the judging
                self.bugs[reading.case.case.id] = describe_unforeseen(error)
                continue
            for digest in recorder.asked:
                self.cases_of.setdefault(digest, set()).add(reading.case.case.id)
            if _is_open(reading):
                requests |= recorder.asked
            else:
                later_requests |= recorder.asked
        self.disputed = recorder.disputed
        for digest, request in later_requests.items():
            requests.setdefault(digest, request)
        return requests

    def count_requests(self) -> int:
        """Return how many requests there are before any verdict."""
        return len(replace(self, cases_of={}, bugs={}, disputed=set()).find_requests({}))

    def find_contradicted(self, recorded: Mapping[str, Sequence[Verdict]]) -> set[str]:
        """Return the requests behind those scores of the judge that differ widely from the scores of the rules."""
        recorder, contradicted = RequestRecorder(self.rubrics, recorded), set[str]()
        for reading in self._read_answers(GoldenIndex(self.golden, self.corpus, recorder)):
            if reading.case.case.id in self.bugs:
                continue
            for name in self.names:
                if name.base not in METRICS_BY_BOTH_SCORERS:
                    continue
                recorder.asked.clear()
                alone = ParsedAnswer(reading.case, reading.observation)  # what another metric has asked is asked again
                by_rules = MetricName(
                    name.base, tuple((key, BY_RULES if key == "by" else value) for key, value in name.keys)
                )
                judged, ruled = compute_outcome(name, alone), compute_outcome(by_rules, reading)
                if judged.status == ruled.status == SCORED and abs(judged.value - ruled.value) > DISAGREEMENT_THRESHOLD:
                    contradicted |= recorder.asked.keys()
        return contradicted

    @property
    def subjects_of(self) -> dict[str, RequestSubject]:
        """What each request is about, by its digest."""
        names = name_clusters(self.golden.cases)
        subjects = {case.id: _find_subject(case, name) for case, name in zip(self.golden.cases, names, strict=True)}
        return {
            digest: RequestSubject(
                frozenset().union(*(subjects[case_id].identities for case_id in cases)),
                frozenset().union(*(subjects[case_id].evidence for case_id in cases)),
            )
            for digest, cases in self.cases_of.items()
        }

    def keep_ambiguous(self) -> JudgeQuestions:
        """Keep the observations that the rules leave open or flag, with the metrics that tell what is open.

        Open is an answer, a behaviour or a claim that they cannot tell; flagged are a behaviour declared otherwise,
        doubtful keywords, and a claim that nearly matches a source.
        """
        readings = self._read_answers(GoldenIndex(self.golden, self.corpus))
        kept = [reading.observation for reading in readings if any(_is_open_to(name, reading) for name in self.names)]
        return replace(self._with_observations(kept), only_open=True)

    def keep_cases(self, cases: Collection[str]) -> JudgeQuestions:
        """Keep the observations of the given cases."""
        return self._with_observations(
            [observation for observation in self.observations if observation.case_id in cases]
        )

    def _with_observations(self, observations: Sequence[Observation]) -> JudgeQuestions:
        return replace(self, observations=observations, cases_of={})

    def _read_answers(self, joins: GoldenIndex) -> Iterator[ParsedAnswer]:
        for observation in self.observations:
            if observation.error is None and isinstance(observation.answer, str):
                yield ParsedAnswer(joins.case_index(joins.position[observation.case_id]), observation)


def _find_subject(case: Case, cluster: str) -> RequestSubject:
    """Return what a case is about. Of two cases with one reference each answer is right for the other too."""
    identities = {("cluster", cluster)}
    if case.reference:
        identities.add(("reference", " ".join(tokenise_text(case.reference))))
    selectors = (selector for unit in case.evidence if unit.required for selector in unit.any_of)
    return RequestSubject(frozenset(identities), frozenset(tuple(sorted(selector.items())) for selector in selectors))


_BY_NO_JUDGE = (BY_RULES, BY_ENTAILMENT)


def parse_judged_metrics(metrics: Sequence[str], own: Sequence[str] = ()) -> list[MetricName]:
    """Return the judged metrics among those named; if none are named the default ones and the `own` rubrics.

    Raises MetricNameError for unknown names, SettingsError if none of the named metrics is judged.
    """
    names = parse_metrics(metrics or (*DEFAULT_JUDGED, *own))
    judged = [name for name in names if name.key_value("by", BY_RULES) not in _BY_NO_JUDGE and is_answer_metric(name)]
    if not judged:
        message = f"none is judged (got {', '.join(metrics)}; expected one with by=judge, such as {DEFAULT_JUDGED[0]})"
        raise SettingsError([Problem("", None, "metrics", message, "E_METRIC")])
    return judged


def prepare_observations(observations: Iterable[Observation], golden: GoldenSet) -> tuple[list[Observation], int]:
    """Return the observations of golden cases with normalised ids, and the number of those of unknown cases.

    Raises InputError for an observation that occurs twice, because its verdicts would be ambiguous.
    """
    case_ids = {case.id for case in golden.cases}
    by_key: dict[tuple[str, str, int], Observation] = {}
    unknown, duplicates = 0, list[Problem]()
    for observation in observations:
        normalised = normalise_names(observation)[0]
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


def pending_questions(
    questions: JudgeQuestions, only: Sequence[str], gate: Gate | None
) -> tuple[JudgeQuestions, list[str]]:
    """Return the questions that `--only` selects, and notices for the user.

    `only` holds `ambiguous`, `gate`, `tag:NAME` or `case:ID`; an observation is kept if each kind that is used selects
    it.
    """
    notices = []
    before = len(questions.observations)
    words = (AMBIGUOUS, GATE)
    selectors = [selector for selector in only if selector not in words]
    if selectors:
        selected = select_cases(questions.golden, None, selectors, words)
        questions = questions.keep_cases({case.id for case in selected})
    if GATE in only:
        if gate is None:
            raise SettingsError("--only gate: no gate is named (expected --gate, --profile or gate in the settings)")
        questions = questions.keep_cases(cases_of_gate(gate, questions.golden.cases))
    if AMBIGUOUS in only:
        whole, questions = questions.count_requests(), questions.keep_ambiguous()
        notices.append(
            f"--only ambiguous: {questions.count_requests()} of {format_count(whole, 'request')}. What the rules "
            "decided gets no verdict, and has their errors: judge everything once, or label some, before a gate relies "
            "on it"
        )
    if only:
        notices.append(f"judged: {len(questions.observations)} of {format_count(before, 'observation')}")
    return questions, notices


def cases_of_gate(gate: Gate, cases: Sequence[Case]) -> set[str]:
    """Return the cases that a rule of the gate on a judged metric depends on."""
    case_ids: set[str] = set()
    for rule in gate.rules:
        try:
            name = parse_metric(rule.metric)
        except MetricNameError:  # reported when the gate itself is checked
            continue
        if name.key_value("by", BY_RULES) not in _BY_NO_JUDGE:
            rows = range(len(cases)) if rule.slice is None else find_slice_rows(cases, rule.slice).tolist()
            case_ids |= {cases[row].id for row in rows}
    return case_ids


def cases_that_decide_alone(gate: Gate, cases: Sequence[Case]) -> set[str]:
    """Return the cases of which a single one can fail the gate: those with a zero-tolerance or blocking tag."""
    tags = set(match_tags((*gate.zero_tolerance_tags, *gate.blocking_tags), cases))
    return {case.id for case in cases if tags & set(case.tags)}


def _is_open(reading: ParsedAnswer) -> bool:
    """Return whether the rules leave anything about an answer unknown, or flag it."""
    return is_answer_open(reading) or _has_doubtful_behaviour(reading) or _has_open_claim(reading)


_CLAIM_RUBRICS = frozenset({"support", "citation_support"})


def _is_open_to(name: MetricName, reading: ParsedAnswer) -> bool:
    """Return whether the rules leave open or flag what a judged metric tells: of claims and citations a claim, of
    everything else whether the answer is right or what it does."""
    if _CLAIM_RUBRICS.isdisjoint(find_metric(name).rubrics):
        return is_answer_open(reading) or _has_doubtful_behaviour(reading)
    return _has_open_claim(reading)


def _has_doubtful_behaviour(reading: ParsedAnswer) -> bool:
    declared = reading.observation.behaviour
    return reading.behaviour == "unknown" or (bool(declared) and declared != reading.behaviour)


def _has_open_claim(reading: ParsedAnswer) -> bool:
    """Return whether a claim is neither supported nor unsupported by rules, or suspected of a contradiction."""
    if not isinstance(reading.source_texts(CONTEXT_STAGE), dict):
        return False
    supports = reading.claim_supports(CONTEXT_STAGE)
    return any(support.verdict == "unknown" or support.contradictions for support in supports)


VERDICT_STORE_NAME = "verdicts.sqlite"
DEFAULT_LIMITS = JudgingLimits()


@dataclass(frozen=True, slots=True)
class JudgingRequest:
    """The answers to judge (a run, or a golden set with outputs) and the options of judging them.

    `only` selects questions (ambiguous, gate, tag:NAME, case:ID); the gate decides which cases get more votes; `flags`
    are settings of the judge that replace those of its settings file. `recheck` asks a judge that is invalid more
    controls and anchors, and decides by all its answers. `is_estimate` says that no judge is asked, so that neither
    address nor key is needed.
    """

    config: Config
    inputs: InputOptions = field(default_factory=InputOptions)
    gate: GateOptions = field(default_factory=GateOptions)
    judge: str | None = None
    flags: dict[str, Any] = field(default_factory=dict)
    rubrics: Sequence[str] = ()
    metrics: Sequence[str] = ()
    only: Sequence[str] = ()
    votes: int | None = None
    store: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    limits: JudgingLimits = DEFAULT_LIMITS
    allow_self_judge: bool = False
    second_judge: str | None = None
    retry_errors: bool = False
    recheck: bool = False
    at: str | None = None
    is_estimate: bool = False

    @property
    def store_path(self) -> Path:
        """The path of the verdict store: the file named, else that of the run folder or of the working directory."""
        return Path(self.store) if self.store is not None else Path(self.inputs.run or ".") / VERDICT_STORE_NAME

    def scoring_arguments(self, rubrics: Sequence[str]) -> list[str]:
        """Return the arguments of the command that scores with these verdicts."""
        inputs = self.inputs
        if inputs.run is not None:
            return ["report", inputs.run, "--markdown", str(Path(inputs.run) / "report.md")]
        named = (
            ("--golden-format", inputs.golden_format),
            ("--outputs-format", inputs.outputs_format),
            ("--corpus", inputs.corpus),
            ("--verdicts", str(self.store_path)),
            *(("--rubrics", folder) for folder in rubrics),
        )
        options = [word for option, value in named if value is not None for word in (option, value)]
        return ["score", "--golden", inputs.golden, "--outputs", *inputs.outputs, *options]


def load_questions(judging_request: JudgingRequest, chosen: ChosenJudge) -> tuple[JudgeQuestions, list[str]]:
    """Load the questions to judge, and notices. Raises InputError listing all problems of the inputs."""
    request = _scoring_request(judging_request)
    names = parse_judged_metrics(
        judging_request.metrics or [metric for metric in request.scoring.metrics or () if "by=judge" in metric],
        chosen.own_metrics,
    )
    inputs = request.inputs
    loaded = load_golden(inputs.golden, inputs.golden_format)
    if judging_request.inputs.run is not None:
        refuse_other_golden(Path(judging_request.inputs.run), loaded.digest)
    refuse_placeholders(loaded.golden, inputs.golden, loaded.lines)
    corpus = load_corpus(inputs.corpus)[0] if inputs.corpus is not None else None
    with (
        open_output_files(inputs.outputs, inputs.outputs_format) as files,
        prepare_decodable(files, loaded.golden.cases, keep_unknown=True) as ready,
    ):
        read_rows = (
            observation for file in ready for observation in read_observations(file.path, file.name, file.decoded_as)
        )
        observations, unknown = prepare_observations(read_rows, loaded.golden)
    notices = (
        [f"{format_count(unknown, 'observation')} of cases that are not in the golden set are not judged"]
        if unknown
        else []
    )
    return JudgeQuestions(loaded.golden, corpus, chosen.rubrics, names, observations), notices


def _scoring_request(judgement: JudgingRequest) -> ScoreRequest:
    inputs = judgement.inputs
    if inputs.run is not None:
        if inputs.golden or inputs.outputs:
            raise InputError("--run: stands for --golden and --outputs (expected one of both ways)")
        return complete_run_request(ScoreRequest(InputOptions(run=inputs.run)))
    if not inputs.golden or not inputs.outputs:
        raise InputError("nothing to judge (expected --run DIR, or --golden FILE with --outputs FILE)")
    return ScoreRequest(inputs)


def load_judging_gate(request: JudgingRequest) -> Gate | None:
    """Return the gate that decides which cases get more votes; None if none is named."""
    config = request.config
    is_named = request.gate.gate is not None or request.gate.profile is not None
    if config.gate_path is not None and not is_named:
        return load_requested_gate(structs.replace(request.gate, gate=config.gate_path))
    return load_requested_gate(request.gate)


def check_self_judging(request: JudgingRequest, chosen: ChosenJudge, questions: JudgeQuestions) -> list[str]:
    """Refuse a judge that would judge its own answers; return a notice for a judge of the same model family."""
    versions: dict[str, set[str]] = {}
    for observation in questions.observations:
        for name, value in observation.versions.items():
            versions.setdefault(name, set()).add(value)
    finding = find_self_judging(chosen.settings.model or "", versions, chosen.settings.family or "")
    if finding is None:
        return []
    if finding.kind == "same_model" and not request.allow_self_judge:
        message = f"{finding.message} (expected another judge, or --allow-self-judge)"
        raise SettingsError([Problem("", None, "judge", message, "E_SELF_JUDGE")])
    return [f"E_SELF_JUDGE {finding.message}: it may be lenient"]

"""The inputs of one scoring, loaded: what a request names, as records, with the plan of what is computed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs
from msgspec.structs import replace

from assay.gates.correctness_rules import JUDGED_CORRECTNESS
from assay.gates.release_decision import list_gate_metrics
from assay.gates.uncalibrated_rules import refuse_uncalibrated_rules
from assay.judging.load_verdicts import metrics_with_verdicts
from assay.metrics.answers.expected_text import find_unjudgeable_cases
from assay.metrics.answers.nuggets import NUGGET_METRICS_BY_JUDGE, NUGGET_METRICS_BY_RULES
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import (
    DEFAULT_METRICS,
    explain_refused_calibration,
    is_metric_measurable,
    judged_counterparts,
    may_metric_gate,
    parse_metric,
    parse_metrics,
)
from assay.metrics.judged.judge_requests import RecordedVerdicts
from assay.metrics.variants import CONSISTENCY, TWIN_DISTINCTION
from assay.records.counts import format_count
from assay.records.golden_set import ALIKE_KINDS, DIFFERING_KINDS, Case, Corpus, GoldenSet
from assay.records.release_gates import Gate
from assay.records.requests import AUTO_SIGNAL, ScoreRequest, ScoringOptions
from assay.records.scores import GoldenInfo
from assay.scoring.attribution_settings import AttributionSettings
from assay.scoring.column_values import format_case_ids
from assay.scoring.paired_scores import ScoreSnapshot
from assay.scoring.score_tables import MetricPlan, plan_columns
from assay.scoring.slices import select_cases


class LoadedGate(Struct, frozen=True):
    """The gate that decides about a run, and the baseline of its regression rules; None where there is none.

    Both are read once, because a gate file may be a pipe and a baseline may have to be scored first.
    """

    gate: Gate | None = None
    baseline: ScoreSnapshot | None = None


_NO_GATE = LoadedGate()


class ScoreInputs(Struct, frozen=True):
    """The inputs of one scoring: a request with everything that it names.

    `golden` holds the selected cases of `whole_golden`; `excluded_cases` are the ids of the others. `variants` are the
    selected variants of cases, which are scored on their own (ADR 82). `notices` are those of the request and of what
    was loaded. `given_golden` is the golden set as it was given, with variants and all cases.
    """

    request: ScoreRequest
    golden: GoldenSet
    plan: MetricPlan
    corpus: Corpus | None = None
    loaded_gate: LoadedGate = LoadedGate()
    judging: RecordedVerdicts | None = None
    notices: tuple[str, ...] = ()
    format: str = ""
    digest: str = ""
    name: str = ""
    excluded_cases: frozenset[str] = frozenset()
    whole_golden: GoldenSet | None = None
    variants: tuple[Case, ...] = ()
    given_golden: GoldenSet | None = None

    @classmethod
    def from_golden(
        cls,
        golden: GoldenSet,
        request: ScoreRequest,
        *,
        corpus: Corpus | None = None,
        loaded_gate: LoadedGate = _NO_GATE,
        judging: RecordedVerdicts | None = None,
        notices: tuple[str, ...] = (),
        default_metrics: Sequence[str] = DEFAULT_METRICS,
        format: str = "",
        digest: str = "",
        name: str = "",
    ) -> ScoreInputs:
        """Return the inputs for a whole golden set, of which the request selects cases.

        Raises InputError for metrics and settings that cannot be used, and for a selection without cases.
        """
        selection = select_cases(golden, request.inputs.limit, request.inputs.only)
        cases, variants = _set_variants_apart(selection, request)
        given_golden = golden
        if variants:
            notices = (*notices, describe_variants(len(variants)))
            golden = structs.replace(golden, cases=tuple(case for case in golden.cases if case.variant_of is None))
        beyond = frozenset(case.id for case in golden.cases) - {case.id for case in cases}
        selected = structs.replace(golden, cases=cases) if beyond else golden
        is_partial = golden.judgments == "partial"
        if request.scoring.metrics is None and any(case.nuggets for case in cases):
            by_judge = metrics_with_verdicts(judging, NUGGET_METRICS_BY_JUDGE)
            default_metrics = (*default_metrics, *NUGGET_METRICS_BY_RULES, *by_judge)
        if any(variant.variant in ALIKE_KINDS for variant in variants):
            default_metrics = (*default_metrics, CONSISTENCY)
        if any(variant.variant in DIFFERING_KINDS for variant in variants):
            default_metrics = (*default_metrics, TWIN_DISTINCTION)
        plan = plan_metrics(request, loaded_gate.gate, judging, default_metrics, partial=is_partial)
        if request.scoring.checks and any(case.answer_labels for case in cases):
            plan = replace(plan, looks_for_passes=True)
        return cls(
            request,
            selected,
            plan,
            corpus,
            loaded_gate,
            judging,
            (*request.scoring.notices, *notices),
            format,
            digest,
            name,
            beyond,
            golden,
            variants,
            given_golden,
        )

    def for_variants(self) -> ScoreInputs:
        """Return the inputs with the variants in the place of the cases."""
        excluded = self.excluded_cases | {case.id for case in self.golden.cases}
        variants = structs.replace(self.golden, cases=self.variants)
        return replace(self, golden=variants, excluded_cases=excluded, variants=())

    def joins(self) -> GoldenIndex:
        """Return the golden set joined with corpus and verdicts."""
        internal = self.request.scoring.internal_stages or ()
        return GoldenIndex(self.golden, self.corpus, self.judging, self.whole_golden, internal)

    @property
    def attribution(self) -> AttributionSettings:
        """The settings of attribution that the request states."""
        return read_attribution_settings(self.request.scoring)

    @property
    def info(self) -> GoldenInfo:
        """The description of the golden set in reports."""
        golden = self.golden
        count = len(golden.cases)
        return GoldenInfo(
            golden.name or self.name,
            golden.version,
            self.digest,
            count,
            self.format,
            golden.judgments,
            golden.frozen_digest,
            tuple(entry.base for entry in golden.lineage),
            golden.as_of,
            golden.was_frozen,
            sum(len(entry.retired) for entry in golden.lineage),
        )


def _set_variants_apart(
    selection: tuple[Case, ...], request: ScoreRequest
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Return the cases to score, and the variants that count in no number of theirs.

    Variants count like other cases if the request says so, if they are named one by one, and if there is nothing else.
    """
    named = {selector.removeprefix("case:") for selector in request.inputs.only if selector.startswith("case:")}
    cases = tuple(case for case in selection if case.variant_of is None or case.id in named)
    if request.scoring.with_variants or not cases:
        return selection, ()
    variants = tuple(case for case in selection if case.variant_of is not None and case.id not in named)
    return cases, variants


def describe_variants(count: int) -> str:
    """Return the notice that variants count in no other number."""
    noun = "variant of a case is" if count == 1 else "variants of cases are"
    verb = "counts" if count == 1 else "count"
    return f"{count} {noun} scored apart and {verb} in no other number (--with-variants: as cases)"


def read_attribution_settings(scoring: ScoringOptions) -> AttributionSettings:
    """Return the settings of attribution. Raises InputError for a criterion `good` that cannot be read."""
    return AttributionSettings(
        scoring.good if scoring.good is not None else AUTO_SIGNAL,
        scoring.production_k,
        internal_stages=tuple(scoring.internal_stages or ()),
        sent_users=scoring.sent_users,
    )


def _leave_out_failed_judge(judging: RecordedVerdicts, asked: Sequence[str]) -> frozenset[str]:
    """Return what scores can be had from although the judge failed its controls: from its verdicts none, so these are
    left out unless a metric that was `asked` for rests on them, whose every score is then an error."""
    others = judging.scorers - judging.rubrics_with_verdicts
    for name in parse_metrics(asked):
        if is_metric_measurable(name, judging.scorers) and not is_metric_measurable(name, others):
            return judging.scorers
    return others


def plan_metrics(
    request: ScoreRequest,
    gate: Gate | None,
    judging: RecordedVerdicts | None,
    default_metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    partial: bool = False,
) -> MetricPlan:
    """Return the metrics to compute: those requested, those of the gate's rules, and the one that says an answer is
    good.

    A request that names no metrics stands for `default_metrics` and those with recorded verdicts. The verdicts of a
    judge that failed its controls take part only where a metric or a rule by judge was asked for (ADR 45). If the
    golden set judges chunks only in part, `judged` is computed with every ranking metric (ADR 0027). Raises
    SettingsError for a rule on uncalibrated scores by rules that does not say what they may do.
    """
    named_metrics = request.scoring.metrics
    metrics = tuple(default_metrics if named_metrics is None else named_metrics)
    needed = (*request.scoring.also, *(list_gate_metrics(gate) if gate is not None else ()))
    recorded = judging.scorers if judging is not None else frozenset[str]()
    if judging is not None and judging.failure:
        recorded = _leave_out_failed_judge(judging, (*(named_metrics or ()), *needed))
    takes_part = judging is not None and judging.rubrics_with_verdicts <= recorded
    if takes_part and (named_metrics is None or request.verdicts.judged):
        metrics += metrics_with_verdicts(judging)
    if gate is not None:
        refused = judging.refused_calibrations if judging is not None else {}
        refuse_uncalibrated_rules(
            gate,
            lambda name: not may_metric_gate(name, judging),
            lambda name: explain_refused_calibration(name, refused),
        )
        if gate.correctness is not None and is_metric_measurable(parse_metric(JUDGED_CORRECTNESS), recorded):
            needed += (JUDGED_CORRECTNESS,)
    threshold = read_attribution_settings(request.scoring).threshold
    names = parse_metrics((*metrics, *needed, *((threshold.metric,) if threshold is not None else ())))
    if partial:
        names = [*names, *judged_counterparts(names)]
    return plan_columns(names, recorded, checks=request.scoring.checks)


UNJUDGEABLE_REMEDY = "add must_have to such a case, or run `assay judge`"


def describe_unjudgeable_cases(golden: GoldenSet) -> str:
    """Return how many cases have nothing but a long reference to tell a right answer by, and which; "" for none.

    >>> from assay.records.golden_set import Case
    >>> long = "It is £5 for members who book online, £7 at the door, and nothing for children in a group."
    >>> describe_unjudgeable_cases(GoldenSet((Case("fee", "Tell me the fee.", reference=long),)))
    '1 of 1 case has a long reference and no must_have: rules can seldom tell whether its answer is right (fee)'
    """
    unjudgeable = find_unjudgeable_cases(golden.cases)
    if not unjudgeable:
        return ""
    total = format_count(sum(case.variant_of is None for case in golden.cases), "case")
    is_one = len(unjudgeable) == 1
    long = "has a long reference" if is_one else "have a long reference"
    answers = "its answer is right" if is_one else "their answers are right"
    ids = format_case_ids([case.id for case in unjudgeable])
    return f"{len(unjudgeable)} of {total} {long} and no must_have: rules can seldom tell whether {answers} ({ids})"

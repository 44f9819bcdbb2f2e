"""Findings beyond scores: what caused a bad answer, and what changed between two configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from msgspec import Struct

from assay.records.counts import format_count, join_first
from assay.records.release_gates import Decision, list_first_lines
from assay.records.scores import InputFile

FaultParty = Literal[
    "pass",
    "generation_fault",
    "retrieval_fault",
    "masked_gap",
    "refusal_fault",
    "access_fault",
    "label_fault",
    "unlocated_fault",
    "unknown",
]
FAULT_PARTIES: tuple[FaultParty, ...] = get_args(FaultParty)
"""The verdicts on a case: it passed, it failed because of one of the faults, or nobody can tell (ADR 0054)."""
CauseConfidence = Literal["high", "medium", "low"]
RootCause = Literal[
    "parser",
    "chunking",
    "embedding",
    "bm25_analyzer",
    "hybrid_merge",
    "reranker",
    "context_builder",
    "generator",
    "citation",
    "acl",
    "stale_index",
    "golden_label_issue",
    "judge_noise",
    "insufficient_trace",
]
ROOT_CAUSES: tuple[RootCause, ...] = get_args(RootCause)


class EvidenceTrace(Struct, frozen=True, omit_defaults=True):
    """The trace of one unit of evidence through the pipeline.

    `ranks` holds its rank (from 1) in every reported stage, or None if it is absent there. `lost_at` is the stage that
    lost it: that of the cause, which may rank it too low to be shown, else the first without it after one that had it.
    """

    unit: int
    name: str
    grade: int
    required: bool
    ranks: dict[str, int | None]
    lost_at: str | None = None


class Attribution(Struct, frozen=True, omit_defaults=True):
    """Which part of the system caused the outcome of a case.

    `verdict` is the cell of the table reached × good, or a fault that takes precedence over it; `subtype` refines it.
    `cause` is None unless the case failed a check; for other cases `also` lists what may have gone wrong unnoticed by
    the checks. `sign` describes the symptom, `evidence` lists the facts behind it and `fix`
    says what to try first. `good` and `reached` are None if they could not be determined; `signal` names the metric or
    rule that decided `good`, with its threshold. `also` lists at most two other causes that would explain the same
    facts, most likely first, and `record` says what to record to tell them apart. `subcause` refines the cause.
    `untold` says why nothing tells whether the evidence reached the generator, "" if something does.
    """

    case_id: str
    verdict: FaultParty
    cause: RootCause | None = None
    subtype: str = ""
    stage: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: CauseConfidence = "medium"
    sign: str = ""
    fix: str = ""
    good: bool | None = None
    reached: bool | None = None
    signal: str = ""
    traces: tuple[EvidenceTrace, ...] = ()
    also: tuple[RootCause, ...] = ()
    subcause: str = ""
    record: tuple[str, ...] = ()
    untold: str = ""

    @property
    def is_leak(self) -> bool:
        """Whether the user is shown what they must not see, so that no answer is good, however right."""
        return self.verdict == "access_fault" and self.subtype == "leak"

    @property
    def named_causes(self) -> tuple[RootCause, ...]:
        """The cause and the other candidates, most likely first."""
        return self.also if self.cause is None else (self.cause, *self.also)


ChangeVerdict = Literal["improved", "regressed", "not significant", "n/a"]
ClaimedChange = Literal["improved", "regressed", "rose", "not significant", "n/a"]
METRIC_ERRORS = "an error of the metric is no failure of the system, and is not compared"
"""How a note of a comparison ends that says on how many cases a metric of one's own failed."""
LABEL_FAILURES = (
    "no failure of the system, and not compared; `assay golden relink` finds labels again after documents were cut "
    "differently"
)
"""How a note of a comparison ends that says on how many cases of one side the labels are outdated."""
SIGNIFICANT_CLAIMS: tuple[ClaimedChange, ...] = ("regressed", "improved", "rose")
CITED_SHARES = frozenset(("claim_citation_coverage", "sentence_coverage", "citation_coverage"))
"""Shares of what answers say, or of what they were shown, that is cited: they rise where citations are added, and as
well where an answer says less, so that a larger share alone is no improvement."""


class UnknownChange(Struct, frozen=True):
    """What a change may be, because nobody can tell of some answers whether they are right (ADR 158).

    `answers` counts them on both sides, and `cases` names the cases, `cases_now` those with one of the candidate.
    `same` are those answers that both sides gave: each counts once, and scores the same on both, whatever it is. The
    ranges of `baseline`, `candidate` and `gain` have the unknown answers at worst and at best; a side without any has
    the same number twice, and so has a gain that none of them can change.
    """

    answers: int
    baseline: tuple[float, float]
    candidate: tuple[float, float]
    gain: tuple[float, float]
    cases: Sequence[str]
    same: int = 0
    cases_now: Sequence[str] = ()

    @property
    def direction(self) -> ChangeDirection:
        """Whether the candidate is better or worse whatever the unknown answers are.

        >>> UnknownChange(2, (0.5, 0.5), (0.25, 0.75), (-0.25, 0.25), ("a", "b")).direction
        'not known'
        """
        low, high = self.gain
        if low > _ROUNDING:
            return "better"
        if high < -_ROUNDING:
            return "worse"
        return "none" if self.is_gain_known else "not known"

    @property
    def is_gain_known(self) -> bool:
        """Whether every unknown answer is the same on both sides, so that the gain is the same whatever they are."""
        return self.answers == self.same

    @property
    def is_one_sided(self) -> bool:
        """Whether some answer is unknown on one side alone; else the same cases are as open as they were."""
        return self.answers + self.same < 2 * len(self.cases)


_ROUNDING = 1e-12
ChangeDirection = Literal["better", "worse", "none", "not known"]


class MetricChange(Struct, frozen=True):
    """The change of one metric from baseline to candidate, over the cases scored on both sides.

    `gain` is positive when the candidate is better. `low`, `high` and `p` are None if they cannot be computed (`note`
    says why). A change with a test belongs to a `family` (ADR 49): `p_adjusted` takes account of the other tests in it
    and must be at most `level` to be shown; `confidence` is that of the interval, and `verdict` says improved or
    regressed only where both agree. A test that too few differing cases leave unable to show anything is not `counted`
    among those of its family (ADR 236). `least_difference` is the smallest difference that matters, which the interval
    must exclude; None where any does. `statistic` is what `gain` compares: the metric's own, or the median. The
    sequences hold case ids: `unpaired` are scored on one side only; `needs_review` improved only by judge votes that
    disagree widely, so `gain` does not count them as improvements. Where answers are unknown, `unknown` has the ranges:
    the value of a side with such answers is None, and so is `gain` unless they are the same on both sides; `n` counts
    their cases, and `low` to `high` holds whatever they are.
    """

    metric: str
    slice: str | None
    baseline: float | None
    candidate: float | None
    gain: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    method: str
    n: int
    improved: Sequence[str]
    regressed: Sequence[str]
    unchanged: Sequence[str]
    unpaired: Sequence[str]
    smallest_detectable: float | None
    note: str = ""
    needs_review: Sequence[str] = ()
    family: str = ""
    level: float | None = None
    confidence: float | None = None
    verdict: ChangeVerdict = "n/a"
    statistic: str = ""
    least_difference: float | None = None
    unknown: UnknownChange | None = None
    counted: bool = True

    @property
    def claim(self) -> ClaimedChange:
        """What may be said of the change: its verdict, but of a larger share that is cited only that it rose."""
        return "rose" if self.verdict == "improved" and self.metric in CITED_SHARES else self.verdict


class RankMove(Struct, frozen=True):
    """The rank of one unit of evidence in one stage, before and after; None if it is absent on that side."""

    case_id: str
    unit: int
    name: str
    stage: str
    before: int | None
    after: int | None


class CaseChange(Struct, frozen=True):
    """One case on both sides: its attributions, and the metrics that improved or regressed, with both `scores`.

    `needs_review` lists metrics that improved only by judge votes that disagree widely; they are not improvements.
    `fails_too` lists the checks that a case which failed before and still fails did not fail before.
    """

    case_id: str
    before: Attribution | None
    after: Attribution | None
    improved: tuple[str, ...] = ()
    regressed: tuple[str, ...] = ()
    scores: dict[str, tuple[float, float]] = {}
    needs_review: tuple[str, ...] = ()
    fails_too: tuple[str, ...] = ()


class ComparisonSide(Struct, frozen=True):
    """One side of a comparison: where it came from and what produced it.

    `rubrics` maps rubric names to hashes; `stage` is the pipeline stage that was scored as `retrieved`. `judge_models`
    are the models that answered under the name of the judge, as its endpoint named them.
    """

    name: str
    config_id: str
    golden_digest: str
    cases: int
    versions: dict[str, tuple[str, ...]] = {}
    judge: str | None = None
    rubrics: dict[str, str] = {}
    stage: str = ""
    assay_version: str = ""
    inputs: tuple[InputFile, ...] = ()
    judge_models: tuple[str, ...] = ()


MAX_CASES_PRINTED = 5


def _format_sides(change: MetricChange) -> tuple[str, str]:
    """Return the values of the baseline and the candidate as they are printed."""
    sides = (change.baseline, change.candidate)
    if change.unknown is not None:
        before, after = (_format_range(*bounds) for bounds in (change.unknown.baseline, change.unknown.candidate))
    else:
        before, after = ("n/a" if value is None else f"{value:.3f}" for value in sides)
    return before, after


def _format_range(low: float, high: float) -> str:
    return f"{low:.3f}" if low == high else f"{low:.3f}–{high:.3f}"


def _list_open_changes(changes: Iterable[MetricChange]) -> list[str]:
    """Return the metrics whose unknown answers leave the direction open, each with what both sides may be."""
    lines = []
    for change in changes:
        has_moved = change.improved or change.regressed or (change.unknown is not None and change.unknown.is_one_sided)
        if change.unknown is not None and change.unknown.direction == "not known" and has_moved:
            before, after = _format_sides(change)
            lines.append(
                f"{change.metric} {before} → {after} ({format_count(change.unknown.answers, 'answer')} unknown)"
            )
    return lines


def _list_gains(changes: Iterable[MetricChange], verdict: ClaimedChange) -> list[str]:
    """Return the metrics of one verdict, each with both values."""
    gains = []
    for change in changes:
        if change.claim == verdict:
            before, after = _format_sides(change)
            gains.append(f"{change.metric} {before} → {after}")
    return gains


class LeakingCases(Struct, frozen=True):
    """The cases that leak on one side of a comparison alone, whether any leaks on both, and those that leak more now.

    `more_now` leak on both sides, and more things now than before; `others_on_both` is whether further cases do.
    """

    before_alone: tuple[str, ...]
    now_alone: tuple[str, ...]
    on_both: bool
    more_now: tuple[str, ...] = ()
    others_on_both: bool = False

    @property
    def is_worse(self) -> bool:
        """Whether a case leaks that did not before, or leaks more than before."""
        return bool(self.now_alone or self.more_now)


def name_first_cases(case_ids: Iterable[str]) -> str:
    """Return the first ids and how many more there are.

    >>> name_first_cases(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    return join_first(list(case_ids), MAX_CASES_PRINTED)


class Comparison(Struct, frozen=True):
    """A candidate compared with a baseline: metrics, slices, rank moves of evidence and attribution transitions.

    `transitions` counts cases by their cause or verdict (before, after). `changed` and `moved` hold the sentences of
    the report sections "What changed" and "Why did the metrics move". `decision` is the gate's decision on the
    candidate, with the result of every rule.
    """

    baseline: ComparisonSide
    candidate: ComparisonSide
    metrics: dict[str, MetricChange]
    slices: dict[str, dict[str, MetricChange]] = {}
    moves: tuple[RankMove, ...] = ()
    cases: tuple[CaseChange, ...] = ()
    transitions: tuple[tuple[str, str, int], ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    decision: Decision | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return a few lines: what was compared, the decision, leaks, the significant changes, the cases."""
        outcome = f": {self.decision.outcome}" if self.decision is not None else ""
        baseline = self.baseline.name if self.baseline.name == "baseline" else f"{self.baseline.name}, the baseline"
        lines = [f"{self.candidate.name} compared with {baseline}{outcome}"]
        if self.decision is not None:
            lines += list_first_lines(self.decision.reasons, "decision.reasons")
        leaks = describe_leaks(self)
        if leaks:
            lines.insert(1 if list_leaking_cases(self).is_worse else len(lines), leaks)
        shown = {verdict: _list_gains(self.metrics.values(), verdict) for verdict in SIGNIFICANT_CLAIMS}
        for verdict, gains in shown.items():
            lines += [f"{verdict} significantly:", *list_first_lines(gains, "metrics")] if gains else []
        if not any(shown.values()):
            lines.append("no metric changed significantly")
        left_open = _list_open_changes(self.metrics.values())
        lines += ["direction not known:", *list_first_lines(left_open, "metrics")] if left_open else []
        failed = self.metrics.get("failed")
        if failed is not None:
            named = f" ({name_first_cases(failed.regressed)})" if failed.regressed else ""
            of_them = describe_unknown_now(self, failed.improved)
            counts = f"{len(failed.regressed)} fail now{named}, {len(failed.improved)} no longer{of_them}"
            evidence = describe_failed_evidence(self) if failed.regressed or failed.improved else ""
            lines.append(f"cases: {counts}{f' ({evidence})' if evidence else ''}")
        lines += [note for note in self.notes if note.endswith((METRIC_ERRORS, LABEL_FAILURES))]
        return "\n".join([*lines, "next: comparison.metrics, comparison.cases, comparison.changed, comparison.moved"])

    def _repr_html_(self) -> str:
        """Return a fragment of HTML for a notebook: the printed lines, then every metric with both values."""
        from html import escape  # only a notebook needs it, and its table takes as long to load as scoring a case

        rows = []
        for change in self.metrics.values():
            before, after = _format_sides(change)
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in (change.metric, before, after, change.claim))
            rows.append(f"<tr>{cells}</tr>")
        headings = ("Metric", self.baseline.name, self.candidate.name, "Verdict")
        head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
        return (
            f"<div><pre>{escape(repr(self))}</pre><details><summary>Metrics</summary>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></details></div>"
        )


def describe_failed_evidence(comparison: Comparison) -> str:
    """Return whether significantly fewer cases fail, or more, with the p-value; "" where that was not tested."""
    failed = comparison.metrics.get("failed")
    if failed is None or failed.p_adjusted is None:
        return ""
    p = f"adjusted p {format_p(failed.p_adjusted)}"
    if failed.verdict not in ("improved", "regressed"):
        return f"not significant: {p}"
    return f"significantly {'fewer' if failed.verdict == 'improved' else 'more'}: {p}"


def format_p(p: float) -> str:
    """Return a p-value as text.

    >>> format_p(0.0312), format_p(0.0001)
    ('0.031', '<0.001')
    """
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def describe_unknown_now(comparison: Comparison, case_ids: Sequence[str]) -> str:
    """Return how many of some cases that fail no longer are not known to be right either; "" for none."""
    count = len(list_unknown_now(comparison, case_ids))
    return f", {count} of them unknown now" if count else ""


def list_unknown_now(comparison: Comparison, case_ids: Sequence[str]) -> list[str]:
    """Return those of some cases of which nobody can tell whether the candidate's answer is right."""
    unknown: set[str] = set()
    for change in comparison.metrics.values():
        if change.unknown is not None:
            unknown.update(change.unknown.cases_now)
    return [case_id for case_id in case_ids if case_id in unknown]


_LEAKS = "visibility_leaks"


def list_leaking_cases(comparison: Comparison) -> LeakingCases:
    """Return the cases that showed what their user must not see on one side alone, in golden order.

    A case that was checked on one side only counts by its attribution.
    """
    change = comparison.metrics.get(_LEAKS)
    if change is None:
        return LeakingCases((), (), False)
    before_alone: list[str] = []
    now_alone: list[str] = []
    more_now: list[str] = []
    fewer_on_both = False
    for case in comparison.cases:
        if _LEAKS in case.scores:
            counts = case.scores[_LEAKS]
            before, now = (score > 0 for score in counts)
            if before and now:
                fewer_on_both |= counts[1] <= counts[0]
                more_now += [case.case_id] if counts[1] > counts[0] else []
        elif case.case_id in change.unpaired:
            before, now = (side is not None and side.is_leak for side in (case.before, case.after))
        else:
            continue
        if before != now:
            (before_alone if before else now_alone).append(case.case_id)
    paired_before, paired_now = (bool(value) for value in (change.baseline, change.candidate))
    others = fewer_on_both or (paired_before and paired_now and _leaks_unchanged(comparison, change))
    on_both = others or bool(more_now)
    return LeakingCases(tuple(before_alone), tuple(now_alone), on_both, tuple(more_now), others)


def _leaks_unchanged(comparison: Comparison, change: MetricChange) -> bool:
    """Return whether a case leaks as before, which has no record of its own: the mean holds more than the changes."""
    if change.baseline is None:
        return False
    changed = sum(case.scores[_LEAKS][0] for case in comparison.cases if _LEAKS in case.scores)
    return change.baseline * change.n - changed > 1e-6


def describe_leaks(comparison: Comparison) -> str:
    """Return in a sentence which cases leak no longer and which leak now; "" where none leaks on either side."""
    leaking = list_leaking_cases(comparison)
    before_alone, now_alone, on_both = leaking.before_alone, leaking.now_alone, leaking.on_both
    if not before_alone and not leaking.is_worse:
        return "leaks: some cases, on both sides alike" if on_both else ""
    gone, new = _name_cases(before_alone), _name_cases(now_alone)
    if on_both:
        parts = [f"now in {new}" if new else ""]
        parts += [f"more than before in {_name_cases(leaking.more_now)}"] if leaking.more_now else []
        parts += [f"no longer in {gone}" if gone else "", "still in other cases" if leaking.others_on_both else ""]
        return f"leaks: {', '.join(filter(None, parts))}"
    if not now_alone:
        count, _, names = gone.partition(" (")
        return f"leaks: {count} before, none now ({names}"
    if not before_alone:
        count, _, names = new.partition(" (")
        return f"leaks: none before, {count} now ({names}"
    return f"leaks: now in {new}, no longer in {gone}"


def _name_cases(case_ids: Sequence[str]) -> str:
    """Return the number of cases with the first of them in parentheses, "" for none."""
    if not case_ids:
        return ""
    more = ", …" if len(case_ids) > MAX_CASES_PRINTED else ""
    return f"{format_count(len(case_ids), 'case')} ({', '.join(case_ids[:MAX_CASES_PRINTED])}{more})"

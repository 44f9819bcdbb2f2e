"""What changed between two sides and why the metrics moved: rank moves of evidence, attribution transitions, sentences.

The rules are those of the `rag-trace` contract (ADR 0038). Evidence that is no longer retrieved points at the
retriever, the index or a filter; evidence ranked lower at the reranker; evidence ranked but not shown at the context
builder; a worse answer from the same evidence at the generator. Citations may score worse because they changed, or
because the answer did: which of the two, the scores do not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from assay.attribution.cause_notes import TARGET_ERROR, get_cause_note
from assay.attribution.cause_sentences import RANKING, name_causes
from assay.metrics.catalog import find_metric, parse_metric
from assay.records.counts import format_count, join_first
from assay.records.findings import Attribution, CaseChange, EvidenceTrace, MetricChange, RankMove
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE
from assay.scoring.column_values import CASES_NAMED
from assay.scoring.paired_scores import ScoreSnapshot

PipelineStep = Literal[
    "access",
    "version",
    "label",
    "retriever",
    "context_builder",
    "reranker",
    "generator",
    "search",
    "citation",
    "cited_share",
    "target",
    "around",
    "uncalibrated",
    "failed",
    "unexplained",
]
AttributionsByCase = Mapping[str, Attribution]

_WORSE: Mapping[PipelineStep, str] = {
    "access": "something was shown that the user may not see: look at the access filter",
    "version": "a superseded version is shown: look at the index",
    "label": "the evidence is not in the candidate's corpus as it was labelled: nothing tells whether it was found",
    "retriever": "evidence that the baseline retrieved is gone: look at the retriever, the index or a filter",
    "context_builder": "evidence is ranked as before and no longer shown to the model: look at the context builder",
    "reranker": "evidence is still retrieved and ranked lower: look at the reranker or the merge",
    "generator": "no evidence was lost and the answer got worse: look at the generator or its prompt",
    "search": "the search ranks evidence lower",
    "citation": "the citations score worse, the answers not significantly: look at what the answers say and cite",
    "cited_share": "a smaller share of what the answers say has a citation next to it: they cite less, or say more",
    "target": "the candidate's target failed with an error: look at the error",
    "around": "the evidence has the same ranks and the chunks around it differ",
    "uncalibrated": "significant only by scorers that are not calibrated against human labels",
    "failed": "they fail now: the cause stands with each case",
    "unexplained": "no change in the traces explains it",
}
_BETTER: Mapping[PipelineStep, str] = {
    "access": "what the user may not see is no longer shown",
    "version": "a superseded version is no longer shown",
    "label": "the evidence was not in the baseline's corpus as it was labelled: nothing tells whether it was found",
    "retriever": "evidence is retrieved that the baseline did not retrieve",
    "context_builder": "evidence that was ranked and left out is now shown to the model",
    "reranker": "evidence is ranked higher",
    "generator": "the evidence was there before and the answer got better",
    "search": "the search ranks evidence higher",
    "citation": "the citations score better, the answers not significantly",
    "cited_share": "a larger share of what the answers say has a citation next to it: they cite more, or say less",
    "target": "the target had failed with an error and answers again",
    "around": "the evidence has the same ranks and the chunks around it differ",
    "uncalibrated": "significant only by scorers that are not calibrated against human labels",
    "failed": "they no longer fail",
    "unexplained": "no change in the traces explains it",
}
_TARGET_FAILED = get_cause_note("insufficient_trace", TARGET_ERROR).sign
_ORDER: tuple[PipelineStep, ...] = tuple(_WORSE)
_METRICS_NAMED = 3


def find_rank_moves(
    case_id: str,
    before: Sequence[EvidenceTrace],
    after: Sequence[EvidenceTrace],
    retrieved_stages: tuple[str, str] = (RETRIEVED_STAGE, RETRIEVED_STAGE),
) -> list[RankMove]:
    """Return where the evidence of one case changed its rank, in the stages that both sides report.

    `retrieved_stages` are the names of the stages that each side scores as retrieved; they count as the same stage.
    """
    rank_moves = []
    for old, new in _pair_traces(before, after):
        ranks_before, ranks_after = (
            _rename_retrieved(old, retrieved_stages[0]),
            _rename_retrieved(new, retrieved_stages[1]),
        )
        for stage, rank in ranks_before.items():
            if stage in ranks_after and ranks_after[stage] != rank:
                rank_moves.append(RankMove(case_id, old.unit, new.name, stage, rank, ranks_after[stage]))
    return rank_moves


def collect_rank_moves(before: ScoreSnapshot, after: ScoreSnapshot, case_ids: Sequence[str]) -> tuple[RankMove, ...]:
    """Return the rank moves of all cases, in the order of `case_ids`."""
    stages = before.side.stage, after.side.stage
    retrieved = stages if stages[0] != stages[1] else (RETRIEVED_STAGE, RETRIEVED_STAGE)
    rank_moves: list[RankMove] = []
    for case_id in case_ids:
        old, new = before.attributions.get(case_id), after.attributions.get(case_id)
        if old is not None and new is not None:
            rank_moves += find_rank_moves(case_id, old.traces, new.traces, retrieved)
    return tuple(rank_moves)


def _rename_retrieved(trace: EvidenceTrace, retrieved: str) -> dict[str, int | None]:
    return {RETRIEVED_STAGE if stage == retrieved else stage: rank for stage, rank in trace.ranks.items()}


def get_attribution_label(attribution: Attribution) -> str:
    """Return the name of an attribution in transitions: its cause, or its verdict if nothing went wrong."""
    if attribution.cause is None:
        return attribution.verdict
    return RANKING if name_causes(attribution)[0] != attribution.cause else attribution.cause


def count_transitions(before: AttributionsByCase, after: AttributionsByCase) -> tuple[tuple[str, str, int], ...]:
    """Return how many cases went from one cause or verdict to another (or stayed), the most common first."""
    counts = Counter(
        (get_attribution_label(old), get_attribution_label(after[case_id]))
        for case_id, old in before.items()
        if case_id in after
    )
    most_common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple((old, new, count) for (old, new), count in most_common)


# ── what changed ─────────────────────────────────────────────────────────────────────────────────────────────────


CORPUS_PROPERTY = "corpus scored with"
"""What the corpus is called by which scores were computed: other documents change scores whatever the system does."""


def describe_changes(baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> tuple[str, ...]:
    """Return one sentence for each property that both sides state and that differs between them."""
    before, after = _list_properties(baseline), _list_properties(candidate)
    differences = tuple(
        f"{name}: was {before[name]}, is now {after[name]}"
        for name in before
        if name in after and before[name] != after[name]
    )
    return differences or ("nothing that both sides report about how they were produced differs",)


def describe_one_sided(baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> Iterator[str]:
    """Yield, for each side, which properties it alone states: whether they changed is unknown."""
    before, after = _list_properties(baseline), _list_properties(candidate)
    for name, mine, other in ((baseline.side.name, before, after), (candidate.side.name, after, before)):
        alone = [f"{key} ({text})" for key, text in mine.items() if key not in other]
        if alone:
            yield f"reported by {name} only, so not compared: {', '.join(alone)}"


def _list_properties(snapshot: ScoreSnapshot) -> dict[str, str]:
    side, table = snapshot.side, snapshot.table
    # The versions of the system first, of which a short screen shows one; two configurations always differ by name.
    of_system = {part: " and ".join(versions) for part, versions in side.versions.items()}
    properties = {
        **of_system,
        CORPUS_PROPERTY: snapshot.made_with.get(CORPUS_PROPERTY, ""),
        "stage scored as retrieved": side.stage,
        "stages reported": ", ".join(_list_stages(snapshot.attributions)),
        "repeats": str(table.repeats),
        "judge": side.judge or "",
        "model that judged": " and ".join(side.judge_models),
        "assay": side.assay_version,
        **snapshot.made_with,
        "configuration": side.config_id,
        **of_system,
    }
    return {name: text for name, text in properties.items() if text}


def _list_stages(attributions: AttributionsByCase) -> list[str]:
    stages: dict[str, None] = {}
    for attribution in attributions.values():
        for trace in attribution.traces:
            stages |= dict.fromkeys(trace.ranks)
    return list(stages)


# ── why the metrics moved ────────────────────────────────────────────────────────────────────────────────────────


class _MovedCase(NamedTuple):
    """A case with the metrics that moved on it, and what its traces show."""

    case_id: str
    metrics: Sequence[str]
    detail: str


def explain_metric_changes(
    cases: Sequence[CaseChange],
    changes: Iterable[MetricChange],
    before: AttributionsByCase,
    after: AttributionsByCase,
    uncalibrated: Collection[str] = (),
) -> tuple[str, ...]:
    """Return sentences: what got worse by pipeline step, then what got better, then the attribution transitions.

    Only significant `changes` are explained, by the `cases` on which they happened; without any there is none.
    `uncalibrated` metrics are for ranking and trend; for a single case they do not point at any step.
    """
    significant = [change for change in changes if change.verdict in ("improved", "regressed")]
    doubtful = [_MovedCase(case.case_id, case.needs_review, "") for case in cases if case.needs_review]
    sentences = []
    for worse, explanations in ((True, _WORSE), (False, _BETTER)):
        metrics_by_case = _collect_moved_metrics(significant, worse=worse)
        groups: dict[PipelineStep, list[_MovedCase]] = {}
        for case in cases:
            metrics = list(metrics_by_case.get(case.case_id, ()))
            if metrics:
                calibrated = [metric for metric in metrics if metric not in uncalibrated]
                part, detail = find_changed_step(calibrated, case, worse=worse) if calibrated else ("uncalibrated", "")
                groups.setdefault(part, []).append(_MovedCase(case.case_id, metrics, detail))
        verb = "got worse" if worse else "got better"
        sentences += [
            _build_sentence(_name_movement(part, verb), groups[part], explanations[part])
            for part in _ORDER
            if part in groups
        ]
    if doubtful:
        explanation = "by votes that disagree widely, so no improvement is claimed"
        sentences.append(_build_sentence("got better", doubtful, explanation))
    for old, new, count in count_transitions(before, after) if significant else ():
        if old != new:
            sentences.append(f"{format_count(count, 'case')} went from {_spell(old)} to {_spell(new)}")
    return tuple(sentences)


def _collect_moved_metrics(significant: Iterable[MetricChange], *, worse: bool) -> dict[str, dict[str, None]]:
    """Return the metrics that moved significantly, by the cases on which they did, each once."""
    metrics_by_case: dict[str, dict[str, None]] = {}
    for change in significant:
        if change.verdict == ("regressed" if worse else "improved"):
            for case_id in change.regressed if worse else change.improved:
                metrics_by_case.setdefault(case_id, {})[change.metric] = None
    return metrics_by_case


def find_changed_step(metrics: Sequence[str], change: CaseChange, *, worse: bool) -> tuple[PipelineStep, str]:
    """Return the step that explains a case's change, and what shows it: `policy:003 rank 2 → gone in retrieved`."""
    metric_rows = [find_metric(parse_metric(metric)) for metric in metrics]
    families, names = {metric_row.family for metric_row in metric_rows}, {metric_row.name for metric_row in metric_rows}
    if change.before is None or change.after is None:
        return "unexplained", ""
    bad = change.after if worse else change.before
    if bad.sign == _TARGET_FAILED:
        return "target", ""
    if "visibility_leaks" in names:
        return "access", ""
    if "stale_chunks" in names:
        return "version", ""
    if bad.cause == "golden_label_issue" and bad.reached is None:
        return "label", ""
    before, after = change.before.traces, change.after.traces
    loss = _find_heaviest_loss(before, after) if worse else _find_heaviest_loss(after, before)
    is_answer_metric = bool(families & {"answer", "judged"}) or "injection_followed" in names
    is_ranking_metric = bool(families & {"retrieval", "context"})
    if loss is not None and (is_ranking_metric or not loss.is_shown):
        ranks = (loss.good, loss.bad) if worse else (loss.bad, loss.good)
        return loss.part, _describe_move(loss.name, *ranks)
    if is_answer_metric:
        return "generator", ""
    citation_names = {metric_row.name for metric_row in metric_rows if metric_row.family == "citation"}
    # The same citations cover a smaller share of more chunks in the context, and a larger one of fewer.
    citation_names.discard("citation_coverage")
    if citation_names:
        return ("cited_share" if citation_names == {"claim_citation_coverage"} else "citation"), ""
    if "failed" in names and bad.cause is not None:
        return "failed", ""
    return ("around" if is_ranking_metric and before else "unexplained"), ""


class _RankLoss(NamedTuple):
    """A loss of evidence from the better side to the worse, each with stage and rank.

    `is_shown` is whether the model was shown the evidence on the worse side all the same.
    """

    part: PipelineStep
    name: str
    good: tuple[str, int | None]
    bad: tuple[str, int | None]
    is_shown: bool


def _find_heaviest_loss(good: Sequence[EvidenceTrace], bad: Sequence[EvidenceTrace]) -> _RankLoss | None:
    """Return the heaviest loss of required evidence from one side to the other."""
    losses = [_find_loss(old, new) for old, new in _pair_traces(good, bad) if old.required]
    known_losses = [loss for loss in losses if loss is not None]
    return min(known_losses, key=lambda loss: (loss.is_shown, _ORDER.index(loss.part)), default=None)


def _find_loss(old: EvidenceTrace, new: EvidenceTrace) -> _RankLoss | None:
    old_ranks = [(stage, rank) for stage, rank in old.ranks.items() if stage != CONTEXT_STAGE]
    new_ranks = [(stage, rank) for stage, rank in new.ranks.items() if stage != CONTEXT_STAGE]
    if not new_ranks or not any(rank for _, rank in old_ranks):
        return None
    is_shown = new.ranks.get(CONTEXT_STAGE, 1) is not None
    if not any(rank for _, rank in new_ranks):
        best = min((item for item in old_ranks if item[1] is not None), key=lambda item: item[1] or 0)
        return _RankLoss("retriever", new.name, best, new_ranks[0], False)
    if _is_lower(old_ranks[-1][1], new_ranks[-1][1]):
        part: PipelineStep = "reranker" if len(old_ranks) + len(new_ranks) > 2 else "search"
        return _RankLoss(part, new.name, old_ranks[-1], new_ranks[-1], is_shown)
    if old.ranks.get(CONTEXT_STAGE) is not None and not is_shown:
        return _RankLoss(
            "context_builder", new.name, (CONTEXT_STAGE, old.ranks[CONTEXT_STAGE]), (CONTEXT_STAGE, None), False
        )
    if _is_lower(old_ranks[0][1], new_ranks[0][1]):
        return _RankLoss("search", new.name, old_ranks[0], new_ranks[0], is_shown)
    return None


def _is_lower(before: int | None, after: int | None) -> bool:
    return before is not None and (after is None or after > before)


def _describe_move(name: str, before: tuple[str, int | None], after: tuple[str, int | None]) -> str:
    (stage, old), (other, new) = before, after
    where = f" in {stage}" if stage != other else ""
    return f"{name} {rank_text(old, 'absent')}{where} → {rank_text(new)} in {other}"


def rank_text(rank: int | None, absent: str = "gone") -> str:
    """Return a rank as text.

    >>> rank_text(2), rank_text(None)
    ('rank 2', 'gone')
    """
    return absent if rank is None else f"rank {rank}"


def _pair_traces(
    before: Sequence[EvidenceTrace], after: Sequence[EvidenceTrace]
) -> Iterator[tuple[EvidenceTrace, EvidenceTrace]]:
    after_by_unit = {trace.unit: trace for trace in after}
    return ((trace, after_by_unit[trace.unit]) for trace in before if trace.unit in after_by_unit)


def _build_sentence(verb: str, moved_cases: Sequence[_MovedCase], explanation: str) -> str:
    counts = Counter(metric for case in moved_cases for metric in case.metrics)
    metrics = [metric for metric, _ in sorted(counts.items(), key=lambda item: -item[1])]
    subject = join_first(metrics, _METRICS_NAMED)
    cases = [f"{case.case_id}: {case.detail}" if case.detail else case.case_id for case in moved_cases]
    more_cases = f" … and {len(cases) - CASES_NAMED} more" if len(cases) > CASES_NAMED else ""
    case_list = "; ".join(cases[:CASES_NAMED]) + more_cases
    return f"{subject} {verb} on {format_count(len(moved_cases), 'case')}: {explanation} ({case_list})"


def _name_movement(part: PipelineStep, verb: str) -> str:
    """Return what a metric did: a larger share that is cited is a rise, which answers that say less bring about too."""
    return "rose" if part == "cited_share" and verb == "got better" else verb


def _spell(label: str) -> str:
    return label.replace("_", " ")

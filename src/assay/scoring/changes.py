"""What changed between two sides, and why the metrics moved: moves of evidence, transitions of attribution, sentences.

The rules are those of [001]: evidence that is gone from everything retrieved points at the retriever, the index or a
filter; retrieved and ranked lower at the reranker; ranked and not shown at the context builder; shown and answered
worse at the generator; answered as before and cited worse at the citations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from assay.finding import Attribution, CaseChange, EvidenceWalk, RankMove
from assay.graders.catalog import grader_of, parse
from assay.graders.stages import CONTEXT, RETRIEVED
from assay.scoring.snapshot import Snapshot
from assay.scoring.wording import CASES_NAMED, counted

Part = Literal[
    "access",
    "version",
    "retriever",
    "context_builder",
    "reranker",
    "generator",
    "search",
    "citation",
    "around",
    "uncalibrated",
    "unexplained",
]
Attributions = Mapping[str, Attribution]

_WORSE: Mapping[Part, str] = {
    "access": "something was shown that the asker may not see: look at the access filter",
    "version": "a superseded version is shown: look at the index",
    "retriever": "evidence that the baseline retrieved is gone: look at the retriever, the index or a filter",
    "context_builder": "evidence is ranked as before and no longer shown to the model: look at the context builder",
    "reranker": "evidence is still retrieved and ranked lower: look at the reranker or the merge",
    "generator": "no evidence was lost on the way and the answer got worse: look at the generator or its prompt",
    "search": "the search ranks evidence lower",
    "citation": "the citations got worse and the answer did not: look at the citations",
    "around": "the evidence is where it was and the chunks around it differ",
    "uncalibrated": "only instruments that nobody held against people say so",
    "unexplained": "the traces do not show why",
}
_BETTER: Mapping[Part, str] = {
    "access": "what the asker may not see is no longer shown",
    "version": "a superseded version is no longer shown",
    "retriever": "evidence is retrieved that the baseline did not retrieve",
    "context_builder": "evidence that was ranked and left out is shown to the model now",
    "reranker": "evidence is ranked higher",
    "generator": "the evidence was on its way before and the answer got better",
    "search": "the search ranks evidence higher",
    "citation": "the citations got better and the answer did not",
    "around": "the evidence is where it was and the chunks around it differ",
    "uncalibrated": "only instruments that nobody held against people say so",
    "unexplained": "the traces do not show why",
}
_ORDER: tuple[Part, ...] = tuple(_WORSE)
_METRICS_NAMED = 3


def moves(
    case_id: str,
    before: Sequence[EvidenceWalk],
    after: Sequence[EvidenceWalk],
    retrieved: tuple[str, str] = (RETRIEVED, RETRIEVED),
) -> list[RankMove]:
    """Return where the evidence of one case changed its rank, in the stages that both sides report.

    `retrieved` are the stages that either side scores as retrieved: they are one stage whatever they are called.
    """
    found = []
    for old, new in _both(before, after):
        ranks_before, ranks_after = _renamed(old, retrieved[0]), _renamed(new, retrieved[1])
        for stage, rank in ranks_before.items():
            if stage in ranks_after and ranks_after[stage] != rank:
                found.append(RankMove(case_id, old.unit, new.name, stage, rank, ranks_after[stage]))
    return found


def moves_of(before: Snapshot, after: Snapshot, case_ids: Sequence[str]) -> tuple[RankMove, ...]:
    """Return the moves of all cases, in the given order."""
    old, new = before.attributions, after.attributions
    both = [case_id for case_id in case_ids if case_id in old and case_id in new]
    stages = before.side.stage, after.side.stage
    retrieved = stages if stages[0] != stages[1] else (RETRIEVED, RETRIEVED)
    return tuple(move for each in both for move in moves(each, old[each].walk, new[each].walk, retrieved))


def _renamed(walk: EvidenceWalk, retrieved: str) -> dict[str, int | None]:
    return {RETRIEVED if stage == retrieved else stage: rank for stage, rank in walk.ranks.items()}


def label_of(found: Attribution) -> str:
    """Return what a transition calls an attribution: its cause, or its verdict where nothing went wrong."""
    return found.cause or found.verdict


def transitions_of(before: Attributions, after: Attributions) -> tuple[tuple[str, str, int], ...]:
    """Return how many cases went from one cause or verdict to another (or stayed), the commonest first."""
    counts = Counter((label_of(old), label_of(after[case_id])) for case_id, old in before.items() if case_id in after)
    return tuple(
        (old, new, count) for (old, new), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


# ── what changed ─────────────────────────────────────────────────────────────────────────────────────────────────


def what_changed(baseline: Snapshot, candidate: Snapshot) -> tuple[str, ...]:
    """Return one sentence for everything that either side says of its making and the other says otherwise."""
    found = [*_differences(_described(baseline), _described(candidate))]
    return tuple(found) or ("nothing that either side reports of its making differs",)


def _described(snapshot: Snapshot) -> dict[str, str]:
    side, table = snapshot.side, snapshot.table
    said = {
        "configuration": side.config_id,
        "stage scored as retrieved": side.stage,
        "stages reported": ", ".join(_stages(snapshot.attributions)),
        "repeats": str(table.repeats),
        "judge": side.judge or "",
        "assay": side.assay_version,
        **snapshot.made_with,
        **{part: " and ".join(found) for part, found in side.versions.items()},
    }
    return {name: text for name, text in said.items() if text}


def _stages(found: Attributions) -> list[str]:
    return list(dict.fromkeys(stage for each in found.values() for walk in each.walk for stage in walk.ranks))


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield f"{name}: was {old or 'not stated'}, is now {new or 'not stated'}"


# ── why the metrics moved ────────────────────────────────────────────────────────────────────────────────────────


class _Told(NamedTuple):
    case_id: str
    metrics: Sequence[str]
    detail: str


def why_moved(
    changes: Sequence[CaseChange], before: Attributions, after: Attributions, uncalibrated: Collection[str] = ()
) -> tuple[str, ...]:
    """Return sentences: first what got worse, part by part, then what got better, then how attributions went over.

    What `uncalibrated` metrics say of a single case points at no part: they are for ranking and trend.
    """
    sentences = []
    for worse, wording in ((True, _WORSE), (False, _BETTER)):
        groups: dict[Part, list[_Told]] = {}
        for change in changes:
            metrics = change.regressed if worse else change.improved
            if metrics:
                telling = [metric for metric in metrics if metric not in uncalibrated]
                part, detail = part_of(telling, change, worse=worse) if telling else ("uncalibrated", "")
                groups.setdefault(part, []).append(_Told(change.case_id, metrics, detail))
        verb = "worse" if worse else "better"
        sentences += [_sentence(verb, groups[part], wording[part]) for part in _ORDER if part in groups]
    doubtful = [_Told(change.case_id, change.needs_review, "") for change in changes if change.needs_review]
    if doubtful:
        sentences.append(_sentence("better", doubtful, "by votes that are far apart, so no improvement is claimed"))
    for old, new, count in transitions_of(before, after):
        if old != new:
            sentences.append(f"{counted(count, 'case')} went from {_spoken(old)} to {_spoken(new)}")
    return tuple(sentences)


def part_of(metrics: Sequence[str], change: CaseChange, *, worse: bool) -> tuple[Part, str]:
    """Return which part a case's metrics moved by, and what is seen of it: `policy:003 rank 2 → gone in retrieved`."""
    graders = [grader_of(parse(metric)) for metric in metrics]
    families, names = {grader.family for grader in graders}, {grader.name for grader in graders}
    if change.before is None or change.after is None:
        return "unexplained", ""
    if "visibility_leaks" in names:
        return "access", ""
    if "stale_chunks" in names:
        return "version", ""
    before, after = change.before.walk, change.after.walk
    shift = _shift(before, after) if worse else _shift(after, before)
    answered = bool(families & {"answer", "judged"}) or "injection_followed" in names
    ranked = bool(families & {"retrieval", "context"})
    if shift is not None and (ranked or not shift.kept):
        return shift.part, shift.told if worse else shift.told_back
    if answered:
        return "generator", ""
    coverage = ranked and {grader.name for grader in graders if grader.family == "citation"} == {"citation_coverage"}
    if "citation" in families and not coverage:  # among more chunks the same citations cover less
        return "citation", ""
    return ("around" if ranked and before else "unexplained"), ""


class _Shift(NamedTuple):
    """A loss of evidence from the better side to the worse; `kept`: the model was shown it all the same."""

    part: Part
    name: str
    good: tuple[str, int | None]
    bad: tuple[str, int | None]
    kept: bool

    @property
    def told(self) -> str:
        return _went(self.name, self.good, self.bad)

    @property
    def told_back(self) -> str:
        return _went(self.name, self.bad, self.good)


def _shift(good: Sequence[EvidenceWalk], bad: Sequence[EvidenceWalk]) -> _Shift | None:
    """Return the heaviest loss of required evidence from one side to the other."""
    found = [shift for old, new in _both(good, bad) if old.required and (shift := _shift_of(old, new)) is not None]
    return min(found, key=lambda each: (each.kept, _ORDER.index(each.part)), default=None)


def _shift_of(old: EvidenceWalk, new: EvidenceWalk) -> _Shift | None:
    had = [(stage, rank) for stage, rank in old.ranks.items() if stage != CONTEXT]
    has = [(stage, rank) for stage, rank in new.ranks.items() if stage != CONTEXT]
    if not has or not any(rank for _, rank in had):
        return None
    kept = new.ranks.get(CONTEXT, 1) is not None
    best = min((each for each in had if each[1] is not None), key=lambda each: each[1] or 0)
    if not any(rank for _, rank in has):
        return _Shift("retriever", new.name, best, has[0], False)
    if _lower(had[-1][1], has[-1][1]):
        return _Shift("reranker" if len(had) + len(has) > 2 else "search", new.name, had[-1], has[-1], kept)
    if old.ranks.get(CONTEXT) is not None and not kept:
        return _Shift("context_builder", new.name, (CONTEXT, old.ranks[CONTEXT]), (CONTEXT, None), False)
    if _lower(had[0][1], has[0][1]):
        return _Shift("search", new.name, had[0], has[0], kept)
    return None


def _lower(before: int | None, after: int | None) -> bool:
    return before is not None and (after is None or after > before)


def _went(name: str, before: tuple[str, int | None], after: tuple[str, int | None]) -> str:
    (stage, old), (other, new) = before, after
    where = f" in {stage}" if stage != other else ""
    return f"{name} {rank_text(old, 'absent')}{where} → {rank_text(new)} in {other}"


def rank_text(rank: int | None, absent: str = "gone") -> str:
    """Return a rank as people read it.

    >>> rank_text(2), rank_text(None)
    ('rank 2', 'gone')
    """
    return absent if rank is None else f"rank {rank}"


def _both(before: Sequence[EvidenceWalk], after: Sequence[EvidenceWalk]) -> Iterator[tuple[EvidenceWalk, EvidenceWalk]]:
    known = {walk.unit: walk for walk in after}
    return ((walk, known[walk.unit]) for walk in before if walk.unit in known)


def _sentence(verb: str, told: Sequence[_Told], why: str) -> str:
    counts = Counter(metric for each in told for metric in each.metrics)
    metrics = [metric for metric, _ in sorted(counts.items(), key=lambda item: -item[1])]
    more = f" and {len(metrics) - _METRICS_NAMED} more" if len(metrics) > _METRICS_NAMED else ""
    cases = [f"{each.case_id}: {each.detail}" if each.detail else each.case_id for each in told]
    left = f" … and {len(cases) - CASES_NAMED} more" if len(cases) > CASES_NAMED else ""
    listed = "; ".join(cases[:CASES_NAMED]) + left
    return f"{', '.join(metrics[:_METRICS_NAMED])}{more} got {verb} on {counted(len(told), 'case')}: {why} ({listed})"


def _spoken(label: str) -> str:
    return label.replace("_", " ")

"""What instruments said of the items of a run: the folded verdicts of a judge, the rules, other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.graders import attached
from assay.graders.grounding import why_not
from assay.graders.instruments import outcome_of
from assay.graders.joins import Joins
from assay.graders.judging import RULES_VERSION, Judging, Rubrics, rubric_of
from assay.graders.names import read_name
from assay.graders.reading import Reading
from assay.graders.stages import CONTEXT
from assay.graders.votes import Ruled, Ruling, fold_votes
from assay.metrics.support import Support
from assay.model import SCORED
from assay.scoring.agreement import Key
from assay.scoring.truth import Opinion, key_of
from assay.verdict import Label, Rate, rubrics_hash
from assay.workflow.labelling import RUBRIC_OF, Asked, asked, instrument_name
from assay.workflow.score import ScoreRun

JUDGE, RULES = "judge", "rules"
_CLAIMS, _CITATIONS = "faithfulness", "citation_support"
_WHOLE = ("correctness", "answer_relevance")


class Instrument(NamedTuple):
    """One instrument and what it said, by metric: `by` is judge, rules or a tool, `digest` what it is bound to.

    `rubrics` is empty where no rubric was asked with; `anchors` is the share of them that a judge labelled as expected.
    """

    name: str
    by: str
    digest: str
    rubrics: Rubrics
    opinions: Mapping[str, Mapping[Key, Opinion]]
    anchors: Rate | None = None

    def rubric_hash(self, metric: str) -> str:
        """Return what a calibration of this instrument for a metric is bound to beside its digest."""
        return rubrics_hash(self.rubrics.values(), RUBRIC_OF[read_name(metric).base]) if self.rubrics else ""


def of_judge(run: ScoreRun, name: str, judging: Judging, metrics: Sequence[str]) -> Instrument:
    """Return what a judge's recorded votes come to, folded as scoring folds them."""
    found = {metric: _judged(run, judging, metric) for metric in metrics}
    return Instrument(name, JUDGE, judging.judge, judging.rubrics, found, judging.anchors)


def of_rules(run: ScoreRun, metrics: Sequence[str]) -> Instrument:
    """Return what the rules say of each claim or citation, or of each answer where a metric is about it as a whole."""
    known = (_CLAIMS, _CITATIONS, *_WHOLE)
    found = {metric: _ruled(run, metric) for metric in metrics if read_name(metric).base in known}
    return Instrument(RULES, RULES, RULES_VERSION, {}, found)


def of_tools(labels: Sequence[Label]) -> list[Instrument]:
    """Return the second opinions among labels, each tool and model apart; none of them is our judge or our rules."""
    found: dict[tuple[str, str], dict[str, dict[Key, Opinion]]] = {}
    for label in labels:
        said = found.setdefault((label.source, label.rater), {}).setdefault(label.metric, {})
        said[key_of(label)] = Opinion(label.label, label.value, label.note)
    return [
        Instrument(
            rater if rater == source else f"{source}: {rater}",
            f"another {source}" if source in (JUDGE, RULES) else source,
            rater,
            {},
            opinions,
        )
        for (source, rater), opinions in sorted(found.items())
    ]


def _judged(run: ScoreRun, judging: Judging, metric: str) -> dict[Key, Opinion]:
    found: dict[Key, Opinion] = {}
    rulings: dict[str, Ruling] = {}
    for each in asked(run, metric, judging.rubrics):
        digest = each.request.digest
        samples = judging.book.get(digest)
        if not samples:
            continue
        if digest not in rulings:
            rubric = rubric_of(judging.rubrics, each.request.rubric, each.request.language)
            rulings[digest] = fold_votes(samples, rubric)
        votes = tuple(item.label for sample in samples for item in sample.items if item.id == each.item)
        found[each.key] = _opinion(each, rulings[digest], votes)
    return found


def _opinion(each: Asked, ruling: Ruling, votes: tuple[str, ...]) -> Opinion:
    ruled = next((item for item in ruling.items if item.id == each.item), Ruled(each.item, unscored=ruling.unscored))
    reasoning = ruled.said.reasoning if ruled.said is not None else ""
    return Opinion(ruled.label, ruled.value, reasoning, votes, ruled.unscored)


def _ruled(run: ScoreRun, metric: str) -> dict[Key, Opinion]:
    joins = Joins(run.golden, run.corpus)
    found: dict[Key, Opinion] = {}
    for config in sorted(run.scoring.configs):
        for place, case in enumerate(run.golden.cases):
            observation = run.observation(config, case.id)
            if observation is None or observation.error is not None or not isinstance(observation.answer, str):
                continue
            reading = Reading(joins.case(place), observation)
            said = _OF.get(read_name(metric).base, _of_answer)(reading, metric)
            found |= {(case.id, config, item): opinion for item, opinion in said.items()}
    return found


def _of_claims(reading: Reading, metric: str) -> dict[str, Opinion]:
    against = read_name(metric).key("against", CONTEXT)
    if why_not(reading, against) is not None:
        return {}
    pairs = zip(reading.claims, reading.supports(against), strict=True)
    return {claim.id: _held(support) for claim, support in pairs}


def _of_citations(reading: Reading, _: str) -> dict[str, Opinion]:
    """Return what the rules say of each citation, and of each claim by several together, under a judge's own ids."""
    if attached.why_not(reading) is not None:
        return {}
    found = {each.id: _held(attached.support_of(each, reading)) for each in reading.citations if each.texts}
    for claim in reading.claims:
        if attached.joint(reading, claim.id):
            found[f"{claim.id}.all"] = _held(attached.joint_support(claim, reading))
    return found


def _held(support: Support) -> Opinion:
    reasons = [*support.contradictions, *([f"lacking: {', '.join(support.missing)}"] if support.missing else ())]
    return Opinion(None, support.score, "; ".join(reasons), signal=support.z)


def _of_answer(reading: Reading, metric: str) -> dict[str, Opinion]:
    outcome = outcome_of(read_name(instrument_name(metric, RULES)), reading)
    return {"": Opinion(None, outcome.value, outcome.detail)} if outcome.status == SCORED else {}


_OF = {_CLAIMS: _of_claims, _CITATIONS: _of_citations}

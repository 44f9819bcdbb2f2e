"""Recorded verdicts chosen for replay: one judge's samples out of a book or an export, with their rubrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.errors import InputError, Problem, shown
from assay.graders.catalog import CATALOG, JUDGED_METRICS, grader_of, is_measurable, parse
from assay.graders.judging import RULES_VERSION, Judging, Rubrics
from assay.graders.names import read_name
from assay.io.calibrations import load_calibrations
from assay.metrics.rates import wilson
from assay.verdict import Calibration, JudgeIdentity, Rate, Standing, rubrics_hash

_MOST_NAMED = 5


def replayed(
    verdicts: str | None, judge: str | None, calibration: str | None, rubrics: Sequence[str] = ()
) -> tuple[Judging | None, tuple[str, ...]]:
    """Return what a scoring replays, and what people should know of it; None where no file is given.

    `calibration` is a file of `assay calibrate`, `rubrics` are folders beside the shipped rubrics. Raises InputError as
    `judging_of`, and for a judge without verdicts.
    """
    known = load_calibrations(calibration) if calibration is not None else {}
    if verdicts is not None:
        from assay.io.rubrics import load_rubrics  # a scoring without verdicts loads none

        judging, notices = judging_of(verdicts, judge, load_rubrics(rubrics))
        return replace(judging, calibrations=known), notices
    if judge is not None:
        raise InputError("--judge: whose verdicts? (expected --verdicts FILE as well)")
    return (Judging(calibrations=known) if known else None), ()


def judging_of(path: str, judge: str | None, rubrics: Rubrics) -> tuple[Judging, tuple[str, ...]]:
    """Return the verdicts of one judge for replay, and what people should know of them.

    `judge` is a digest or a model's name, `rubrics` those that it was asked with. Raises InputError for a file that
    holds no verdicts, for a judge that is not in it, and where it must be named because there are several.
    """
    from assay.judges.book import read_contents  # a scoring without verdicts needs no database
    from assay.workflow.controls import anchor_requests

    contents = read_contents(path)
    others = {each.second for each in contents.standings.values()}  # named nowhere, but as what stands beside another
    chosen = _chosen(path, [each for each in contents.judges if judge or each.digest not in others], judge)
    beside = anchor_requests(rubrics)  # which say nothing of whether claims were ever asked about
    recorded = contents.verdicts.get(chosen.digest, {})
    book = {request: tuple(samples) for request, samples in recorded.items() if request not in beside}
    standing = contents.standings.get(chosen.digest)
    notices = [f"{path}: {warning}" for warning in contents.warnings]
    if standing is not None and standing.invalid:
        notices.append(f"E_JUDGE_INVALID {chosen.model} failed its controls: {'; '.join(standing.reasons)}")
    if standing is not None and standing.drift:
        told = "; ".join(standing.drift)
        notices.append(f"E_JUDGE_DRIFT {chosen.model} is not what it was: {told}: judge everything again in a new book")
    valid = standing is None or standing.may_gate
    second = standing.second if standing is not None else ""
    seconds = {request: tuple(samples) for request, samples in contents.verdicts.get(second, {}).items()}
    return Judging(
        rubrics,
        book,
        chosen.digest,
        valid=valid,
        model=chosen.model,
        anchors=_share_of_anchors(standing),
        second=second,
        seconds=seconds,
    ), tuple(notices)


def _share_of_anchors(standing: Standing | None) -> Rate | None:
    if standing is None or standing.anchors_right is None or not standing.anchors:
        return None
    bounds = wilson(round(standing.anchors_right * standing.anchors), standing.anchors)
    return Rate(standing.anchors_right, bounds.low, bounds.high, standing.anchors)


def bound(judging: Judging | None, golden: str) -> tuple[Judging | None, tuple[str, ...]]:
    """Return the judging with those calibrations that hold here, and what to say of the others and of those in doubt.

    A calibration of another judge, another rubric or another version of the rules unlocks nothing. One of the rules
    belongs to the golden set whose words it weighs (DECISIONS 19); `golden` is the digest of the one that is scored.
    """
    if judging is None or not judging.calibrations:
        return judging, ()
    kept, notices = {}, []
    for metric, record in judging.calibrations.items():
        other = _measured_elsewhere(record, judging, golden)
        if other:
            notices.append(f"the calibration of {metric} was measured {other}: the metric informs and does not gate")
            continue
        kept[metric] = record
        if record.golden != golden:
            notices.append(
                f"the calibration of {metric} was measured on another golden set: calibrate again where answers changed"
            )
    return replace(judging, calibrations=kept), tuple(notices)


def _measured_elsewhere(record: Calibration, judging: Judging, golden: str) -> str:
    """Return on what else than what is scored here a calibration was measured; "" where on the same."""
    name = read_name(record.metric)
    if name.key("by", "rules") == "rules":
        if not record.counts_for(RULES_VERSION, ""):
            return f"with another version of the rules (got {record.judge}; expected {RULES_VERSION})"
        return "on another golden set, whose words the rules weigh otherwise" if record.golden != golden else ""
    if not judging.book or name.base not in CATALOG:  # nothing judged, or a metric that only people and judges label
        return ""
    if record.judge != judging.judge:
        return f"on another judge (got {record.judge}; expected {judging.judge})"
    rubric = rubrics_hash(judging.rubrics.values(), grader_of(parse(record.metric)).rubrics[0])
    if record.rubric_hash != rubric:
        return f"with another rubric (got {record.rubric_hash}; expected {rubric})"
    then, now = record.anchors, judging.anchors
    if then is None or now is None or then.low <= now.value <= then.high:
        return ""
    allowed = f"{then.value:.0%} then, {then.low:.0%} to {then.high:.0%} allowed"
    return f"before the judge moved (E_JUDGE_DRIFT: {now.value:.0%} of its anchors are as expected, {allowed})"


def self_judged(judging: Judging | None, versions: Mapping[str, Sequence[str]] | None) -> tuple[str, ...]:
    """Return what every report says where the judge is the model that wrote the answers, as far as `versions` tell."""
    if judging is None or not judging.model or not versions:
        return ()
    from assay.judges.guards import self_judging  # a scoring without verdicts needs no patterns of model names

    found = self_judging(judging.model, versions)
    if found is None or found.kind != "same_model":
        return ()
    return (f"judged by the model that wrote the answers ({judging.model}): it may favour its own words",)


def judged_metrics(judging: Judging | None) -> tuple[str, ...]:
    """Return the main metrics of a judge, as far as verdicts are recorded for them."""
    held = judging.held if judging is not None else ()
    return tuple(text for text in JUDGED_METRICS if is_measurable(parse(text), held))


def _chosen(path: str, judges: Sequence[JudgeIdentity], wanted: str | None) -> JudgeIdentity:
    found = [each for each in judges if wanted in (None, each.digest, each.model)]
    if len(found) == 1:
        return found[0]
    known = [f"{each.model} ({each.digest})" for each in judges]
    listed = ", ".join(known[:_MOST_NAMED]) + (
        f" … and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    )
    if not judges:
        message = "holds no verdicts (expected a book or an export of one)"
    elif wanted is None:
        message = f"several judges, and none named (expected --judge with one of {listed})"
    else:
        several = "several such judges" if found else "no such judge"
        message = f"{several} (got {shown(wanted)}; expected one of {listed})"
    raise InputError([Problem(path, None, "judge", message, "E_JUDGE")])

"""Recorded verdicts chosen for replay: the samples of one judge from a verdict store or an export, with rubrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assay.gates.calibration_file import load_calibrations
from assay.judging.entailment_model_file import load_entailment_model
from assay.judging.rubric_files import load_anchors, use_rubrics
from assay.metrics.answer_metric import BY_COMBINED, BY_ENTAILMENT
from assay.metrics.catalog import (
    CATALOG,
    JUDGED_METRICS,
    find_metric,
    is_metric_measurable,
    list_rubric_names,
    parse_metric,
)
from assay.metrics.judged.judge_requests import RULES_VERSION, RecordedVerdicts, Rubrics, name_combined_scorer
from assay.metrics.metric import parse_metric_name
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.requests import VerdictOptions
from assay.records.verdicts import (
    Calibration,
    JudgeIdentity,
    JudgeStatus,
    JudgeUsage,
    LabelledRate,
    Verdict,
    compute_rubrics_hash,
    describe_uncontrolled,
)
from assay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from assay.judging.verdict_files import StoreContents

_MAX_NAMED = 5


def load_requested_verdicts(options: VerdictOptions) -> tuple[RecordedVerdicts | None, tuple[str, ...]]:
    """Return the recorded verdicts that a scoring uses, and notices for the user; None if no file is given.

    Raises InputError as `open_verdicts` does, and for a judge that is named without a file of verdicts.
    """
    rubrics = use_rubrics(options.rubrics)[0] if options.rubrics or options.store is not None else {}
    calibrations = load_calibrations(options.calibration) if options.calibration is not None else {}
    model = load_entailment_model(options.entailment_model) if options.entailment_model is not None else None
    if options.store is not None:
        judging, notices = open_verdicts(options.store, options.judge, rubrics)
        return replace(judging, calibrations=calibrations, entailment_model=model), notices
    if options.judge is not None:
        raise InputError("--judge: no verdicts given (expected --verdicts FILE as well)")
    is_empty = not calibrations and model is None
    return (None if is_empty else RecordedVerdicts(calibrations=calibrations, entailment_model=model)), ()


def open_verdicts(path: str, judge: str | None, rubrics: Rubrics) -> tuple[RecordedVerdicts, tuple[str, ...]]:
    """Return the verdicts of one judge for replay, and notices for the user.

    `judge` is a digest or the name of a model, `rubrics` are those that it was asked with. Raises InputError for a file
    without verdicts, for a judge that is not in it, and if the file has several judges and none is named.
    """
    # only where a run has verdicts
    from assay.judging.control_questions import build_all_anchors, find_unusable_rubrics
    from assay.judging.verdict_store import read_store

    contents = read_store(path)
    chosen = _choose_replayed_judge(path, contents, judge)
    # Every judge is asked the anchors, so they do not show that any claim was asked about.
    anchors = build_all_anchors(load_anchors().anchors, rubrics)
    recorded = contents.verdicts.get(chosen.digest, {})
    scored = {request: tuple(samples) for request, samples in recorded.items() if request not in anchors}
    status = contents.statuses.get(chosen.digest)
    notices = [f"{path}: {warning}" for warning in contents.warnings]
    if _has_no_answer(scored) and not (status is not None and status.invalid):
        notices.append(f"{chosen.model} gave no verdict on anything it was asked: judge again once it answers")
        return RecordedVerdicts(rubrics), tuple(notices)
    unusable = find_unusable_rubrics(status, scored, rubrics) if status is not None and not status.invalid else {}
    judging = _select_verdicts(contents, chosen, _leave_out_rubrics(scored, unusable), rubrics)
    notices += describe_unusable_rubrics(chosen.model, unusable)
    notices += _describe_status(chosen.model, status) if status is not None else ()
    notices += filter(None, [describe_several_models(chosen.model, scored)])
    if judging.absent_rubrics:
        names = ", ".join(judging.absent_rubrics)
        notices.append(
            f"verdicts on {names} are not scored: no rubric of this name (expected --rubrics with its folder)"
        )
    return judging, tuple(notices)


def _choose_replayed_judge(path: str, contents: StoreContents, judge: str | None) -> JudgeIdentity:
    """Return the judge of a store that is named or alone; a second judge is chosen only by its name."""
    second_judges = {status.second for status in contents.statuses.values()}
    candidates = [identity for identity in contents.judges if judge or identity.digest not in second_judges]
    return _choose_judge_identity(path, candidates, judge)


def _select_verdicts(
    contents: StoreContents, chosen: JudgeIdentity, scored: Mapping[str, tuple[Verdict, ...]], rubrics: Rubrics
) -> RecordedVerdicts:
    """Return the verdicts of a judge and of its second one, with what is known of both; `scored` has no anchors."""
    from assay.judging.verdict_files import group_reviews

    status = contents.statuses.get(chosen.digest)
    second = status.second if status is not None else ""
    seconds = {request: tuple(samples) for request, samples in contents.verdicts.get(second, {}).items()}
    is_invalid = status is not None and status.invalid
    recorded = contents.verdicts.get(chosen.digest, {})
    judging = RecordedVerdicts(
        rubrics,
        scored,
        chosen.digest,
        valid=status is None or status.may_gate,
        model=chosen.model,
        control_agreement=_anchor_accuracy(status),
        second_judge=second,
        second_verdicts=seconds,
        reviews=group_reviews(contents.reviews),
        failure="; ".join(status.reasons) or "unknown" if status is not None and is_invalid else "",
        usage=_sum_usage([*chain(*recorded.values()), *chain(*seconds.values())]),
    )
    return replace(judging, valid=False) if len(judging.answering_models) > 1 else judging


def _leave_out_rubrics(
    verdicts: Mapping[str, tuple[Verdict, ...]], names: Container[str]
) -> dict[str, tuple[Verdict, ...]]:
    return {
        request: samples
        for request, samples in verdicts.items()
        if all(sample.rubric.partition("@")[0] not in names for sample in samples)
    }


def _describe_status(model: str, status: JudgeStatus) -> Iterator[str]:
    """Yield what the controls and anchors of a judge say against its verdicts, and which were not asked."""
    from assay.judging.control_questions import is_doubtful

    if status.invalid:
        yield (
            f"E_JUDGE_INVALID {model} failed its controls: its verdicts give no numbers, and what the rules say "
            f"stands; {'; '.join(status.reasons)} (judge with another model, or `assay judge --recheck`)"
        )
    if status.drift:
        changes = "; ".join(status.drift)
        yield (
            f"E_JUDGE_DRIFT {model} no longer answers as it did: {changes}: judge everything again in a new verdict "
            "store"
        )
    if not status.invalid and is_doubtful(status):
        right = f"{status.anchors_right:.0%} of anchors as expected" if status.anchors_right is not None else ""
        doubts = "; ".join(filter(None, (*status.reasons, right)))
        yield f"E_JUDGE_DOUBTFUL {model} has not passed its controls yet: {doubts}"
    if status.gaps:
        yield (
            f"controls incomplete: {model} was not asked yet {status.describe_gaps()}; an unsuitable judge may go "
            "unnoticed until judging more answers has asked them"
        )
    if status.uncontrolled:
        yield (
            f"controls in part: nothing with a known answer showed whether {model} gives "
            f"{describe_uncontrolled(status.uncontrolled)} where it is deserved (list `anchors` in the rubric)"
        )


def describe_unusable_rubrics(model: str, unusable: Mapping[str, str]) -> tuple[str, ...]:
    """Return for each rubric, with the one label that a judge gives under it, that its verdicts give no numbers."""
    return tuple(
        f"E_JUDGE_ONE_LABEL {model} gave one label ({label}) to everything that it was asked under {name}, to anchors "
        "that deserve another too: its verdicts under it give no numbers (judge with another model, or `assay judge "
        "--recheck`)"
        for name, label in unusable.items()
    )


def describe_several_models(judge: str, verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    """Return that several models answered under the name of a judge, and how often each; "" if not more than one did.

    A router, or an alias that was moved, changes the judge without changing its name.
    """
    samples = (sample for samples in verdicts.values() for sample in samples if sample.unscored is None)
    counts = Counter(sample.model for sample in samples if sample.model)
    if len(counts) < 2:
        return ""
    models = ", ".join(f"{model} ({count})" for model, count in sorted(counts.items()))
    return (
        f"E_JUDGE_MODELS several models answered as {judge}: {models}: their verdicts inform and do not gate "
        "(name one version in `model`, and judge everything again in a new verdict store)"
    )


def _has_no_answer(recorded: Mapping[str, Sequence[Verdict]]) -> bool:
    """Whether a judge was asked and gave no verdict at all: then the run is as if it had never been judged."""
    return bool(recorded) and all(sample.unscored is not None for samples in recorded.values() for sample in samples)


def _sum_usage(samples: Iterable[Verdict]) -> JudgeUsage:
    """Return what samples took together; the cost is unknown if that of any sample is that was asked for."""
    prompt = completion = attempts = 0
    latency, cost, is_known = 0.0, 0.0, True
    for sample in samples:
        usage = sample.usage
        prompt, completion = prompt + usage.prompt_tokens, completion + usage.completion_tokens
        attempts, latency = attempts + usage.attempts, latency + usage.latency_ms
        is_known &= usage.cost_usd is not None or not usage.attempts
        cost += usage.cost_usd or 0.0
    return JudgeUsage(prompt, completion, cost if is_known and attempts else None, latency, attempts)


def describe_judge(judging: RecordedVerdicts | None) -> tuple[str, ...]:
    """Return the line for every report that names the judge, its rubrics, its calibrations and what its verdicts cost,
    and one that names the entailment model.

    Nothing if no judge and no model was asked.
    """
    if judging is None:
        return ()
    if judging.entailment_model is not None:
        model = judging.entailment_model
        alone = describe_judge(replace(judging, entailment_model=None))
        return (*alone, f"claims compared by the entailment model {model.name} ({model.digest})")
    if not judging.verdicts:
        return ()
    votes = Counter(sample.rubric for samples in judging.verdicts.values() for sample in samples)
    rubrics = ", ".join(f"{rubric} ({count})" for rubric, count in sorted(votes.items()))
    records = sorted((name, record) for name, record in judging.calibrations.items() if "by=judge" in name)
    names = [name if record.may_gate else f"{name} (may not gate)" for name, record in records]
    calibrated = ", ".join(names) or "nothing"
    cost = "cost unknown"
    if judging.usage is not None:
        tokens = judging.usage.prompt_tokens + judging.usage.completion_tokens
        price = f"${judging.usage.cost_usd:.4f}" if judging.usage.cost_usd is not None else "price unknown"
        cost = f"{tokens} tokens, {price}"
    is_other = judging.answering_models not in ((), (judging.model,))
    answered_as = f"; answered as {' and '.join(judging.answering_models)}" if is_other else ""
    return (
        f"judged by {judging.model} ({judging.judge}{answered_as}), verdicts by rubric: {rubrics}; "
        f"calibrated: {calibrated}; {cost}",
    )


def _anchor_accuracy(judge_status: JudgeStatus | None) -> LabelledRate | None:
    if judge_status is None or judge_status.anchors_right is None or not judge_status.anchors:
        return None
    bounds = wilson_interval(round(judge_status.anchors_right * judge_status.anchors), judge_status.anchors)
    return LabelledRate(judge_status.anchors_right, bounds.low, bounds.high, judge_status.anchors)


def match_verdicts(
    judging: RecordedVerdicts | None, golden_digest: str
) -> tuple[RecordedVerdicts | None, tuple[str, ...]]:
    """Return the judging with the calibrations that apply here, and notices about the others and about doubtful ones.

    A calibration of another judge, another rubric or another version of the rules lets no metric gate. A calibration of
    the rules applies only to the golden set on which it was measured, because the rules weigh its words (ADR 0031).
    `golden_digest` is the digest of the golden set that is scored.
    """
    if judging is None or not judging.calibrations:
        return judging, ()
    matching: dict[str, Calibration] = {}
    refused: dict[str, str] = {}
    notices = []
    for metric, record in judging.calibrations.items():
        mismatch = _calibration_mismatch(record, judging, golden_digest)
        if mismatch:
            refused[metric] = f"it was measured {mismatch}"
            notices.append(f"the calibration of {metric} was measured {mismatch}: the metric informs and does not gate")
            continue
        matching[metric] = record
        if not record.may_gate:
            refused[metric] = "; ".join(record.reasons) or "it does not say why"
            notices.append(f"the calibration of {metric} does not let it gate: {refused[metric]}")
        if record.golden != golden_digest:
            notices.append(
                f"the calibration of {metric} was measured on another golden set: calibrate again where answers changed"
            )
    return replace(judging, calibrations=matching, refused_calibrations=refused), tuple(notices)


def leave_out_unbound_calibrations(
    judging: RecordedVerdicts | None,
) -> tuple[RecordedVerdicts | None, tuple[str, ...]]:
    """Return the judging without calibrations of another judge, model or rubric, and a notice about each of them.

    For answers of no golden set, whose means a calibration corrects: those of the rules and of models stay.
    """
    if judging is None:
        return None, ()
    mismatches = {
        metric: mismatch
        for metric, record in judging.calibrations.items()
        if parse_metric_name(metric).key_value("by", "") == "judge"
        and (mismatch := _calibration_mismatch(record, judging, record.golden))
    }
    bound = {metric: record for metric, record in judging.calibrations.items() if metric not in mismatches}
    notices = tuple(
        f"the calibration of {metric} was measured {mismatch}: it corrects nothing"
        for metric, mismatch in mismatches.items()
    )
    return replace(judging, calibrations=bound), notices


def _calibration_mismatch(record: Calibration, judging: RecordedVerdicts, golden: str) -> str:
    """Return how the conditions of a calibration differ from those of this scoring; "" if they are the same."""
    name = parse_metric_name(record.metric)
    by = name.key_value("by", "rules")
    if by == "rules":
        if not record.applies_to(RULES_VERSION, ""):
            return f"with another version of the rules (got {record.judge}; expected {RULES_VERSION})"
        return "on another golden set, whose words the rules weigh differently" if record.golden != golden else ""
    if by == BY_ENTAILMENT:
        model = judging.entailment_model
        if model is None or record.applies_to(name_combined_scorer(model.digest), ""):
            return ""
        return f"with another entailment model or version of the rules (got {record.judge}; expected {model.digest})"
    if (
        not judging.verdicts or name.base not in CATALOG
    ):  # nothing judged, or a metric that only people and judges label
        return ""
    if by == BY_COMBINED and record.golden != golden:
        return "on another golden set, whose words the rules weigh differently"
    scorer = name_combined_scorer(judging.judge) if by == BY_COMBINED else judging.judge
    if record.judge != scorer:
        return f"on another judge (got {record.judge}; expected {scorer})"
    if other := _describe_other_models(record, judging):
        return other
    rubric = compute_rubrics_hash(judging.rubrics.values(), find_metric(parse_metric(record.metric)).rubrics[0])
    if record.rubric_hash != rubric:
        return f"with another rubric (got {record.rubric_hash}; expected {rubric})"
    calibrated_anchors, current_anchors = record.anchors, judging.control_agreement
    if calibrated_anchors is None or current_anchors is None or _agrees(calibrated_anchors, current_anchors):
        return ""
    allowed_range = f"{calibrated_anchors.low:.0%} to {calibrated_anchors.high:.0%} allowed"
    return (
        f"before the judge changed (E_JUDGE_DRIFT: {current_anchors.value:.0%} of its anchors are as expected, "
        f"{calibrated_anchors.value:.0%} then, {allowed_range})"
    )


def _describe_other_models(record: Calibration, judging: RecordedVerdicts) -> str:
    """Return how the models that answered as the judge differ from those that were calibrated; "" if they do not."""
    got, expected = (" and ".join(models) for models in (judging.answering_models, record.models))
    if len(judging.answering_models) > 1:
        return f"of one judge, and several models answered under its name (got {got}; expected one)"
    if record.models and not {*judging.answering_models} <= {*record.models}:
        return f"on answers of another model under the name of the judge (got {got}; expected {expected})"
    if record.models and judging.unnamed_answers:
        return (
            f"on verdicts of {expected}, and {format_count(judging.unnamed_answers, 'verdict')} here do not name the "
            "model that gave them (judge again in a new verdict store at an endpoint that names it, or calibrate again "
            "with verdicts that name none)"
        )
    return ""


def _agrees(calibrated: LabelledRate, current: LabelledRate) -> bool:
    """Return whether the share of right anchors is within the interval that was calibrated.

    Shares of other numbers of anchors are of other anchors, in other languages or rubrics: then only intervals that are
    apart show that the judge has changed.
    """
    if calibrated.n != current.n:
        return calibrated.low <= current.high and current.low <= calibrated.high
    return calibrated.low <= current.value <= calibrated.high


def warn_of_self_judging(
    judging: RecordedVerdicts | None, versions: Mapping[str, Sequence[str]] | None
) -> tuple[str, ...]:
    """Return the warning for every report if, by its `versions`, the judge is the model that wrote the answers: the one
    that was asked for, or one that answered under its name."""
    if judging is None or not judging.model or not versions:
        return ()
    from assay.judging.independence import find_self_judging  # only for a judged run

    for model in dict.fromkeys((judging.model, *judging.answering_models)):
        finding = find_self_judging(model, versions)
        if finding is not None and finding.kind == "same_model":
            return (f"judged by the model that wrote the answers ({model}): it may favour its own words",)
    return ()


def metrics_with_verdicts(judging: RecordedVerdicts | None, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the metrics of a judge for which verdicts are recorded, of the main ones unless others are named."""
    recorded = judging.rubrics_with_verdicts if judging is not None else ()
    if names is None:
        names = (*JUDGED_METRICS, *list_rubric_names())
    return tuple(text for text in names if is_metric_measurable(parse_metric(text), recorded))


def _choose_judge_identity(path: str, judges: Sequence[JudgeIdentity], judge: str | None) -> JudgeIdentity:
    matches = [identity for identity in judges if judge in (None, identity.digest, identity.model)]
    if len(matches) == 1:
        return matches[0]
    judge_names = [f"{identity.model} ({identity.digest})" for identity in judges]
    choices = ", ".join(judge_names[:_MAX_NAMED]) + (
        f" … and {len(judge_names) - _MAX_NAMED} more" if len(judge_names) > _MAX_NAMED else ""
    )
    if not judges:
        message = "holds no verdicts (expected a verdict store or an export of one)"
    elif judge is None:
        message = f"several judges, and none named (expected --judge with one of {choices})"
    else:
        several = "several such judges" if matches else "no such judge"
        message = f"{several} (got {shorten_repr(judge)}; expected one of {choices})"
    raise InputError([Problem(path, None, "judge", message, "E_JUDGE")])

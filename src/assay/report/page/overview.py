"""What people read first in the HTML report: the failed cases of the first screen, and a short answer for each case.

Both are cut from cases in full, from which text that a case's user must not see was withheld before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assay.attribution.cause_sentences import get_claim, is_decided, list_signs
from assay.records.observations import CONTEXT_STAGE
from assay.records.scores import ConfigResult
from assay.report.cases.deciding_texts import list_deciding_texts, shorten_around
from assay.report.findings.attribution_tables import count_outcomes
from assay.report.page.case_data import (
    FAILED,
    LEAKED,
    MISSING,
    HtmlData,
    build_happened,
    classify_cases,
    list_case_changes,
    shorten_question,
)
from assay.scoring.case_outcomes import count_unanswered, find_unanswered_cases, list_unknown_cases
from assay.scoring.judged_answers import describe_standing, is_asked_of_correctness, sort_judged_answers
from assay.text.escaping import shorten_to_line

Json = dict[str, Any]
MAX_FAILURES = 6
"""The largest number of failed cases of one configuration on the first screen; the list of cases has the others."""
MAX_CASES_OF_CAUSE = 2
MAX_SHORT_TEXT = 160
ANSWER_STATES = ("absent", "text", "null", "never", "withheld", "error")
"""What a short answer is: not in this file, a text, null, never requested, withheld, or the target's error."""
EvidencePlace = Literal["absent", "none_expected", "no_ranking", "untold"]
"""Why evidence has no rank: the last ranking is without it, the case requires none, no ranking was reported, or its
chunks do not say by what the evidence is told."""
_STATE_ORDER = (LEAKED, FAILED, MISSING)
_NEVER = {"answered": "absent", "answer": None, "rank": None}


def shorten_case(case_data: Json) -> Json:
    """Return expectation, answers and ranks of a case in full (`build_case_detail`), each text at most one line."""
    return {
        "expected": _describe_expected(case_data),
        "views": {config: _shorten_view(view, case_data) for config, view in case_data["views"].items()},
    }


def _describe_expected(case_data: Json) -> str:
    """Return the reference, else what the answer must contain, else the evidence; empty without any of them."""
    for text in (case_data["reference"], "; ".join(case_data["must_have"]), "; ".join(case_data["evidence"])):
        if text:
            return shorten_to_line(text, MAX_SHORT_TEXT)
    return ""


def _shorten_view(view: Json, case_data: Json) -> Json:
    if view.get("error"):
        return {"answered": "error", "answer": shorten_to_line(view["error"], MAX_SHORT_TEXT), "rank": None}
    answer, answered = view.get("answer"), view.get("answered", "absent")
    return {
        "answered": answered,
        "answer": _shorten_answer(answer, view, case_data) if answer is not None else None,
        "rank": _find_evidence_rank(view, case_data) if answered != "absent" else None,
    }


def _shorten_answer(answer: str, view: Json, case_data: Json) -> str:
    """Return an answer as one short line that has the value by which it is right or wrong."""
    line = " ".join(answer.split())
    if len(line) <= MAX_SHORT_TEXT:
        return shorten_to_line(answer, MAX_SHORT_TEXT)
    reasons = (view["attribution"] or {}).get("evidence", ())
    deciding = list_deciding_texts(reasons, case_data["must_have"], line, case_data["question"])
    return shorten_to_line(shorten_around(line, deciding, MAX_SHORT_TEXT), MAX_SHORT_TEXT)


def _find_evidence_rank(view: Json, case_data: Json) -> int | EvidencePlace:
    """Return the rank of the first required evidence in the last ranking that was reported, or why it has none.

    Without an evidence trace, which says what is required, it is the rank of the first chunk with any evidence.
    """
    rankings = [stage for stage in view["stages"] or () if stage["name"] != CONTEXT_STAGE]
    attribution = view["attribution"]
    traces = None if attribution is None else [trace for trace in attribution.get("traces", ()) if trace["required"]]
    if not (case_data["evidence"] if traces is None else traces):
        return "none_expected"
    if not rankings:
        return "no_ranking"
    if traces is not None:
        ranks = [trace["ranks"].get(rankings[-1]["name"]) for trace in traces]
        reported_ranks = [rank for rank in ranks if rank is not None]
        return min(reported_ranks) if reported_ranks else ("untold" if attribution.get("reached") is None else "absent")
    covering = (rank for rank, chunk in enumerate(rankings[-1]["chunks"], start=1) if chunk["units"] > 0)
    return next(covering, "absent")


def list_gated_configs(data: HtmlData) -> list[str]:
    """Return the configurations about which the run decides: those with a decision, all if none has one."""
    configs = sorted(data.scoring.configs)
    return [config for config in configs if data.scoring.configs[config].decision is not None] or configs


def build_failures(data: HtmlData, short_cases: Mapping[int, Json]) -> list[Json]:
    """Return the failed cases of each gated configuration: leaks first, then failures, regressed cases before others.

    `short_cases` maps case indices to short cases. Each configuration lists at most `MAX_FAILURES`.
    """
    changes = list_case_changes(data.comparison, data.cases) if data.comparison is not None else []
    return [_build_config_failures(config, data, changes, short_cases) for config in list_gated_configs(data)]


def _build_config_failures(
    config: str, data: HtmlData, changes: Sequence[str], short_cases: Mapping[int, Json]
) -> Json:
    result = data.scoring.configs[config]
    states = classify_cases(result)
    checks = {case_checks.case_id: case_checks.failed for case_checks in result.table.checks}
    failed = [case_index for case_index, state in enumerate(states) if state in _STATE_ORDER]
    is_candidate = data.comparison is not None and data.comparison.candidate.config_id == config

    def weigh(case_index: int) -> tuple[int, bool, int]:
        regressed = is_candidate and changes[case_index] == "regressed"
        return _STATE_ORDER.index(states[case_index]), not regressed, case_index

    rows = []
    for case_index in sorted(failed, key=weigh)[:MAX_FAILURES]:
        case = data.cases[case_index]
        attribution = data.attributions.get(config, {}).get(case.id)
        short = short_cases.get(case_index, {"expected": "", "views": {}})
        rows.append(
            {
                "case": case_index,
                "id": case.id,
                "state": states[case_index],
                "change": changes[case_index] if is_candidate else "",
                "question": shorten_question(case, data.show_forbidden),
                "behaviour": case.behaviour,
                "expected": short["expected"],
                **short["views"].get(config, _NEVER),
                "checks": checks.get(case.id, ()),
                "cause": attribution.cause if attribution is not None else None,
                "happened": build_happened(attribution) if attribution is not None else None,
                "fix": attribution.fix if attribution is not None else "",
            }
        )
    causes = _count_causes(config, data, sorted(failed, key=weigh), states)
    unanswered = count_unanswered(result.table)
    return {"config": config, "total": len(failed), "unanswered": unanswered, "causes": causes, "cases": rows}


def _count_causes(config: str, data: HtmlData, failed: Sequence[int], states: Sequence[str]) -> list[Json]:
    """Return the causes of the failed cases, each with what to try first and the first of its cases: those of leaks
    before others, then those of cases without an answer where these leave the decision open, then the most frequent,
    then that of the first failed case. Together they count every failed case.

    What happened and what to try are told apart within a cause: one is there twice where it makes some answers refuse
    too much and others too little. `decided` counts the cases of which the facts exclude other causes, `likely` those
    of which they make this one the likeliest.
    """
    ids: dict[tuple[str, str, str], list[str]] = {}
    decided: Counter[tuple[str, str, str]] = Counter()
    likely: Counter[tuple[str, str, str]] = Counter()
    attributions = data.attributions.get(config)
    for case_index in failed if attributions else ():
        case_id = data.cases[case_index].id
        attribution = attributions.get(case_id) if attributions else None
        key = ("", "", "")
        if attribution is not None and attribution.cause is not None:
            key = (attribution.cause, list_signs(attribution)[0], attribution.fix)
            decided[key] += is_decided(attribution)
            likely[key] += get_claim(attribution) == "likely"
        ids.setdefault(key, []).append(case_id)
    leaked = {data.cases[case_index].id for case_index in failed if states[case_index] == LEAKED}
    unanswered = _list_unanswered(data.scoring.configs[config])

    def weigh(item: tuple[tuple[str, str, str], list[str]]) -> tuple[bool, bool, int]:
        return leaked.isdisjoint(item[1]), unanswered.isdisjoint(item[1]), -len(item[1])

    ordered = sorted(ids.items(), key=weigh)
    return [
        {
            "cause": key[0],
            "sign": key[1],
            "decided": decided[key],
            "likely": likely[key],
            "total": len(case_ids),
            "fix": key[2],
            "cases": case_ids[:MAX_CASES_OF_CAUSE],
            "leaked": not leaked.isdisjoint(case_ids),
        }
        for key, case_ids in ordered
    ]


def _list_unanswered(result: ConfigResult) -> set[str]:
    """Return the cases without an answer, if nothing can be decided; none where there is a decision."""
    if result.decision is None or result.decision.outcome != "INCOMPLETE":
        return set()
    return set(find_unanswered_cases(result.table))


def count_judged_unknowns(result: ConfigResult) -> Json | None:
    """Return what a judge says of the unknown cases, by label, and why that does not count; None where no judge was
    asked whether answers are right."""
    if not is_asked_of_correctness(result.table):
        return None
    judged = sort_judged_answers(result.table, list_unknown_cases(result))
    return {
        "right": len(judged.right),
        "partly_right": len(judged.partly_right),
        "wrong": len(judged.wrong),
        "unlabelled": len(judged.unlabelled),
        "standing": describe_standing(result.table),
    }


def build_outcomes(data: HtmlData) -> list[Json]:
    """Return the table reached × good of each configuration that has attributions, gated ones first."""
    gated = list_gated_configs(data)
    configs = sorted(data.scoring.configs, key=lambda config: (config not in gated, config))
    return [
        {"config": config, **count_outcomes(data.attributions[config])}
        for config in configs
        if data.attributions.get(config)
    ]


def build_answer_columns(config: str, cases: int, short_cases: Mapping[int, Json]) -> Json:
    """Return the short answers and evidence ranks of one configuration for all cases, column by column."""
    answers: list[str | None] = [None] * cases
    answered = [ANSWER_STATES.index("absent")] * cases
    ranks: list[int | EvidencePlace | None] = [None] * cases
    for case_index, short in short_cases.items():
        view = short["views"].get(config, _NEVER)
        answers[case_index] = view["answer"]
        answered[case_index] = ANSWER_STATES.index(view["answered"])
        ranks[case_index] = view["rank"]
    return {"answers": answers, "answered": answered, "ranks": ranks}

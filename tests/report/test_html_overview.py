"""What the first screen and the matrix show of each case: failed cases in order, short answers, ranks of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.report.html_islands import document, islands
from tests.report.html_world import world
from tests.report.sample import SECRET
from tests.report.test_html import leaking

from assay.attribution.cause_sentences import describe_cause
from assay.records.findings import Attribution, CaseChange, CauseConfidence, RootCause
from assay.report.cases.deciding_texts import shorten_around
from assay.report.findings.attribution_tables import build_root_causes_table
from assay.report.page.case_data import build_case_detail
from assay.report.page.overview import (
    ANSWER_STATES,
    MAX_CASES_OF_CAUSE,
    MAX_FAILURES,
    MAX_SHORT_TEXT,
    build_failures,
    build_outcomes,
    list_gated_configs,
    shorten_case,
)

FRUIT = tuple(f"fruit{number}-" for number in range(30))


def chunks(*units: int) -> list[dict[str, Any]]:
    return [{"units": count} for count in units]


def view(**fields: Any) -> dict[str, Any]:
    """A view as `build_case_detail` gives it, as far as its short form reads it."""
    stages = [{"name": "retrieved", "chunks": chunks(0, 1)}, {"name": "context", "chunks": chunks(1)}]
    return {"answer": "Yes.", "answered": "text", "stages": stages, "attribution": None} | fields


def shorten(shown: dict[str, Any], evidence: Sequence[str] = ("leave:1",)) -> tuple[Any, ...]:
    case: dict[str, Any] = {"question": "Is it?", "reference": None, "must_have": (), "evidence": evidence}
    case["views"] = {"c": shown}
    short = shorten_case(case)["views"]["c"]
    return short["answered"], short["answer"], short["rank"]


def test_a_short_view_has_the_beginning_of_the_answer_and_the_rank_of_its_evidence() -> None:
    assert ("text", "Yes.", 2) == shorten(view())
    answered, answer, _ = shorten(view(answer="long words " * 100))
    assert "text" == answered
    assert len(answer) <= MAX_SHORT_TEXT
    assert ("error", "timeout after 30 s", None) == shorten(view(error="timeout after 30 s"))
    assert ("null", None, 2) == shorten(view(answer=None, answered="null"))
    assert ("absent", None, None) == shorten({"stages": None, "attribution": None})


def test_a_short_answer_has_the_value_by_which_it_is_wrong() -> None:
    answer = (
        f"{'Thank you for asking, this is a long story. ' * 8}The bridge is lifted 9 times a day. {'Good luck. ' * 9}"
    )
    evidence = ("all required evidence was in the context", "missing: 4 times (stated instead: 9 times)")
    _, short, _ = shorten(view(answer=answer, attribution={"evidence": evidence}))
    assert "9 times a day" in short
    assert short.startswith("Thank you for asking")
    assert len(short) <= MAX_SHORT_TEXT


@given(st.text(max_size=400), st.lists(st.text(min_size=1, max_size=9), max_size=3), st.integers(20, 200))
def test_a_line_that_is_cut_around_what_decides_is_never_too_long(line: str, deciding: list[str], limit: int) -> None:
    assert len(shorten_around(line, deciding, limit)) <= max(limit, 0)


def test_the_rank_is_that_of_required_evidence_in_the_last_ranking() -> None:
    """The optional unit at rank 1 does not count, nor does the order of an earlier ranking or of the context."""
    traces = [
        {"required": False, "ranks": {"retrieved": 1, "reranked": 1, "context": 1}},
        {"required": True, "ranks": {"retrieved": 2, "reranked": 7, "context": None}},
        {"required": True, "ranks": {"retrieved": 1, "reranked": None, "context": None}},
    ]
    stages = [{"name": name, "chunks": chunks(1)} for name in ("retrieved", "reranked", "context")]
    assert 7 == shorten(view(stages=stages, attribution={"traces": traces}))[2]
    lost = [{"required": True, "ranks": {"retrieved": 3, "reranked": None}}]
    assert "absent" == shorten(view(stages=stages, attribution={"traces": lost, "reached": False}))[2]


@pytest.mark.parametrize(
    ("stages", "attribution", "evidence", "place"),
    [
        (("retrieved",), {"reached": True, "traces": [{"required": True, "ranks": {"retrieved": None}}]}, 1, "absent"),
        (("retrieved",), {"traces": [{"required": True, "ranks": {"retrieved": None}}]}, 1, "untold"),
        (("retrieved",), {"traces": [{"required": False, "ranks": {"retrieved": None}}]}, 1, "none_expected"),
        (("retrieved",), {}, 0, "none_expected"),
        (("context",), {"reached": True, "traces": [{"required": True, "ranks": {"context": 1}}]}, 1, "no_ranking"),
        ((), {"traces": [{"required": True, "ranks": {}}]}, 1, "no_ranking"),
        ((), {}, 0, "none_expected"),
        (("retrieved",), None, 1, "absent"),
        (("retrieved",), None, 0, "none_expected"),
        ((), None, 1, "no_ranking"),
    ],
)
def test_where_evidence_has_no_rank_it_is_said_why(
    stages: tuple[str, ...], attribution: dict[str, Any] | None, evidence: int, place: str
) -> None:
    """A case that asks for no evidence, and a system that reports no ranking, have missed nothing."""
    reported = [{"name": name, "chunks": chunks(0)} for name in stages]
    page_data = view(stages=reported, attribution=attribution)
    assert place == shorten(page_data, evidence=["leave:1"] * evidence)[2]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reference": "12 days", "must_have": ("12",)}, "12 days"),
        ({"must_have": ("12", "days")}, "12; days"),
        ({"evidence": ["leave:1 (grade 3)"]}, "leave:1 (grade 3)"),
        ({}, ""),
    ],
)
def test_what_was_expected_is_the_reference_else_what_stands_for_it(fields: dict[str, Any], expected: str) -> None:
    case = {"reference": None, "must_have": (), "evidence": [], "views": {}} | fields
    assert expected == shorten_case(case)["expected"]


def test_failed_cases_come_leaks_first_then_regressed_ones_and_are_counted_beyond_the_limit() -> None:
    page_data = world(FRUIT)
    assert page_data.comparison is not None
    # Of three cases one passed, one failed, one leaked; the last has no output. Two that failed passed before.
    passed, failed = Attribution("", "pass"), Attribution("", "retrieval_fault", "embedding")
    changes = tuple(CaseChange(f"fruit{n}-{n}", passed, failed, regressed=("recall@10",)) for n in (4, 7))
    changes += (CaseChange("fruit1-1", failed, failed, regressed=("recall@10",)),)
    candidate = structs.replace(page_data.comparison.candidate, config_id="fruit0-")
    page_data = replace(page_data, comparison=structs.replace(page_data.comparison, cases=changes, candidate=candidate))
    candidate_failures, other_failures = build_failures(page_data, {})
    assert ["fruit0-", "fruit0-2"] == [candidate_failures["config"], other_failures["config"]]
    assert 20 == candidate_failures["total"]
    assert ["leaked"] * MAX_FAILURES == [row["state"] for row in candidate_failures["cases"]]
    few = replace(page_data, cases=page_data.cases, scoring=_without_leaks(page_data.scoring))
    rows = build_failures(few, {})[0]["cases"]
    assert [("fruit4-4", "regressed"), ("fruit7-7", "regressed")] == [(row["id"], row["change"]) for row in rows[:2]]
    assert {"worse"} == {row["change"] for row in rows if row["id"] == "fruit1-1"}, "the baseline failed too"
    assert "absent" == rows[0]["answered"]
    assert "" == build_failures(few, {})[1]["cases"][0]["change"], "the other configuration was not compared"


def _without_leaks(scoring: Any) -> Any:
    def clean(result: Any) -> Any:
        checks = tuple(
            structs.replace(checks, failed=tuple(name for name in checks.failed if name != "leak"))
            for checks in result.table.checks
        )
        return structs.replace(result, table=structs.replace(result.table, checks=checks))

    return structs.replace(scoring, configs={name: clean(result) for name, result in scoring.configs.items()})


def test_only_configurations_with_a_decision_are_listed_if_there_are_any() -> None:
    page_data = world(FRUIT[:4])
    first, second = page_data.scoring.configs
    configs = {
        first: structs.replace(page_data.scoring.configs[first], decision=None),
        second: page_data.scoring.configs[second],
    }
    gated = replace(page_data, scoring=structs.replace(page_data.scoring, configs=configs))
    assert [second] == list_gated_configs(gated)
    assert [second] == [failures["config"] for failures in build_failures(gated, {})]
    assert [second, first] == [counts["config"] for counts in build_outcomes(gated)]
    neither = {name: structs.replace(result, decision=None) for name, result in page_data.scoring.configs.items()}
    assert [first, second] == list_gated_configs(
        replace(page_data, scoring=structs.replace(page_data.scoring, configs=neither))
    )


def test_the_matrix_has_the_answers_of_the_cases_that_are_included_in_full() -> None:
    page_data = world(FRUIT[:4])
    rows = islands(document(page_data))["rows"]
    config = rows["configs"]["fruit0-"]
    assert ["text", "error", "absent", "text"] == [ANSWER_STATES[code] for code in config["answered"]]
    assert "First fruit0-. Second fruit0-! fruit0- quote" == config["answers"][0]
    assert ["fruit0-", "fruit1-", "fruit2-", "fruit3-"] == rows["expected"]
    without = islands(document(replace(page_data, detail_mb=0.0)))["rows"]
    assert [None] * 4 == without["expected"] == without["configs"]["fruit0-"]["answers"]


def test_a_leaked_answer_is_in_no_short_form() -> None:
    page_data = leaking(show_forbidden=False)
    contents = islands(document(page_data))
    (row,) = [
        row for failures in contents["report"]["failures"] for row in failures["cases"] if row["state"] == "leaked"
    ]
    assert ("withheld", None) == (row["answered"], row["answer"])
    assert SECRET not in str(contents)
    (detail,) = leaking(show_forbidden=True).details
    shown = shorten_case(build_case_detail(detail, leaking(show_forbidden=True)))
    assert SECRET in str(shown), "the secret was there to be withheld"


def test_what_to_do_first_is_grouped_by_what_went_wrong_and_names_cases() -> None:
    page_data = world(FRUIT[:8])
    failed = [page_data.cases[row["case"]].id for row in build_failures(page_data, {})[0]["cases"]]
    loosen, tighten = "loosen the rule", "tighten the prompt"
    by_case = {
        case_id: Attribution(case_id, "refusal_fault", "generator", fix=loosen if number == 0 else tighten)
        for number, case_id in enumerate(failed)
    }
    causes = build_failures(replace(page_data, attributions={"fruit0-": by_case}), {})[0]["causes"]
    assert [("generator", tighten), ("generator", loosen)] == [(row["cause"], row["fix"]) for row in causes]
    assert [len(failed) - 1, 1] == [row["total"] for row in causes]
    assert failed[:1] == causes[1]["cases"]
    assert set(causes[0]["cases"]) <= set(failed[1:])
    assert len(causes[0]["cases"]) == min(MAX_CASES_OF_CAUSE, len(failed) - 1)


@pytest.mark.parametrize(
    ("confidence", "also", "counted", "words"),
    [
        ("high", (), (5, 0), "it is wrong"),
        ("medium", ("judge_noise",), (0, 5), "most likely it is wrong"),
        ("low", ("judge_noise",), (0, 0), "perhaps it is wrong"),
        ("low", (), (0, 0), "perhaps it is wrong"),
    ],
)
def test_the_causes_of_a_run_claim_what_those_of_its_cases_claim(
    confidence: CauseConfidence, also: tuple[RootCause, ...], counted: tuple[int, int], words: str
) -> None:
    page_data = world(FRUIT[:8])
    by_case = {
        row["id"]: Attribution(
            row["id"], "generation_fault", "generator", confidence=confidence, sign="it is wrong", also=also
        )
        for row in build_failures(page_data, {})[0]["cases"]
    }
    attributions = {"fruit0-": by_case}
    (cause,) = build_failures(replace(page_data, attributions=attributions), {})[0]["causes"]
    assert counted == (cause["decided"], cause["likely"])
    (row,) = build_root_causes_table(attributions, dict.fromkeys(by_case, ())).rows
    assert f"{words} × 5" in row
    sentences = {describe_cause(attribution) for attribution in by_case.values()}
    assert len(sentences) == 1 and (words in sentences.pop() or confidence == "low")


def test_what_to_do_first_begins_with_leaks_however_few_they_are() -> None:
    page_data = world(FRUIT[:8])
    failures = build_failures(page_data, {})[0]
    by_case = {}
    for row in failures["cases"]:
        cause: RootCause = "acl" if row["state"] == "leaked" else "generator"
        by_case[row["id"]] = Attribution(row["id"], "refusal_fault", cause)
    causes = build_failures(replace(page_data, attributions={failures["config"]: by_case}), {})[0]["causes"]
    assert [("acl", 2), ("generator", 3)] == [(row["cause"], row["total"]) for row in causes]


def test_what_to_do_first_counts_every_failed_case_and_ties_begin_with_the_first_of_them() -> None:
    page_data = world(FRUIT[:8])
    rows = build_failures(page_data, {})[0]
    causes: list[RootCause] = ["reranker", "chunking", "acl", "citation", "embedding", "bm25_analyzer"]
    by_case = {
        row["id"]: Attribution(row["id"], "retrieval_fault", cause, fix=f"look at {cause}")
        for row, cause in zip(rows["cases"], causes, strict=False)
    }
    counted = build_failures(replace(page_data, attributions={rows["config"]: by_case}), {})[0]["causes"]
    leaked = [row["id"] for row in rows["cases"] if row["state"] == "leaked"]
    assert rows["total"] == sum(row["total"] for row in counted) == len(rows["cases"])
    assert causes[: rows["total"]] == [row["cause"] for row in counted]
    assert leaked == [row["cases"][0] for row in counted[: len(leaked)]]


def test_a_failed_case_without_a_cause_is_counted_too() -> None:
    page_data = world(FRUIT[:8])
    rows = build_failures(page_data, {})[0]
    first = rows["cases"][0]["id"]
    by_case = {first: Attribution(first, "retrieval_fault", "reranker")}
    counted = build_failures(replace(page_data, attributions={rows["config"]: by_case}), {})[0]["causes"]
    assert {"reranker": 1, "": rows["total"] - 1} == {row["cause"]: row["total"] for row in counted}

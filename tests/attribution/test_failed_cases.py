"""A case has a cause if and only if it failed a check; what cannot be told is unknown, in scores and in attribution."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from assay import api
from assay.attribution.attribute_run import attribute_run
from assay.attribution.cause_notes import (
    CAUSE_NOTES,
    LEAK_RETRIEVED,
    LEAK_SHOWN,
    NO_OUTPUT,
    OVER_REFUSAL_NOTE,
    SUBCAUSE_NOTES,
    TARGET_ERROR,
    get_cause_note,
)
from assay.attribution.cause_sentences import describe_cause
from assay.attribution.whole_run.failed_cases import reconcile_with_checks
from assay.metrics.case_checks import CHECKS, list_runner_checks
from assay.metrics.catalog import DEFAULT_METRICS
from assay.records.findings import FAULT_PARTIES, ROOT_CAUSES, Attribution, EvidenceTrace, RootCause
from assay.records.golden_set import AnswerFormat, Case, Evidence, GoldenSet, Rubric, User
from assay.records.observations import Chunk, Observation, Stage
from assay.records.scores import CaseChecks
from assay.report.findings.attribution_facts import list_attribution_facts
from assay.report.findings.attribution_tables import build_root_causes_table, count_outcomes
from assay.scoring.case_outcomes import count_cases, list_failed_cases, list_unknown_cases

EVIDENCE = (Evidence(({"chunk_id": "x"},)),)
STAGES = (Stage("retrieved", (Chunk("x", text="Staff get 12 days."),)), Stage("context", (Chunk("x"),)))
NOT_FAULTS = ("pass", "unknown")


def attribute(case: Case, answer: str, citations: Sequence[str] = ("x",)) -> tuple[Attribution, list[str], list[str]]:
    """Return the attribution of the only case of a run, and the cases that failed and that are unknown."""
    observation = Observation(case.id, "c", stages=STAGES, answer=answer, citations=tuple(citations))
    run = api.score(GoldenSet((case,)), [observation]).run
    config_result = run.scoring.configs["c"]
    return attribute_run(run, "c")[case.id], list_failed_cases(config_result), list_unknown_cases(config_result)


@pytest.mark.parametrize("verdict", FAULT_PARTIES)
def test_every_failed_case_has_a_cause_and_a_fault_and_no_other_case_has(verdict: str) -> None:
    names = [check.name for check in CHECKS if check.level == "failed"]
    for cause, failed in product((None, *ROOT_CAUSES), (*names, "missing_output", "target_error", "metric_error", "")):
        attribution = Attribution("a", verdict, cause, also=("parser",))  # type: ignore[arg-type]  # one of FAULT_PARTIES
        checks = CaseChecks("a", (failed,) if failed else (), ("stale_context",))
        reconciled = reconcile_with_checks(attribution, checks)
        assert bool(failed) == (reconciled.cause is not None) == (reconciled.verdict not in NOT_FAULTS)


def test_similarity_alone_is_never_more_than_unknown() -> None:
    case = Case("a", "Who repairs it?", reference="The caretaker of the east wing does.", evidence=EVIDENCE)
    for answer in ("The east wing's warden.", "Bananas are yellow."):
        found, failed, unknown = attribute(case, answer)
        assert ("unknown", None, [], ["a"]) == (found.verdict, found.cause, failed, unknown)
        assert found.good is None


@pytest.mark.parametrize("answer", ["staff get 12 days of leave", "**Staff get 12 days of leave** [1]."])
def test_the_reference_verbatim_is_right(answer: str) -> None:
    case = Case("a", "How many days?", reference="Staff get 12 days of leave.", evidence=EVIDENCE)
    found, failed, unknown = attribute(case, answer)
    assert ("pass", [], []) == (found.verdict, failed, unknown)
    assert "the reference, verbatim" == found.signal


def test_an_answer_to_a_case_that_states_nothing_is_unknown() -> None:
    found, failed, unknown = attribute(Case("a", "How many days?", evidence=EVIDENCE), "Staff get 12 days.")
    assert ("unknown", [], ["a"]) == (found.verdict, failed, unknown)


def test_facts_decide_before_an_exact_reference() -> None:
    case = Case(
        "a", "How many?", reference="12 days", must_have=("12 days",), rubric=Rubric(kind="exact"), evidence=EVIDENCE
    )
    found, failed, unknown = attribute(case, "Staff get 12 days.")
    assert ("pass", [], []) == (found.verdict, failed, unknown)


def test_an_accepted_refusal_fails_no_check_on_the_answer() -> None:
    case = Case("a", "How many days?", must_have=("12 days",), also_accept=("abstain",), evidence=EVIDENCE)
    found, failed, unknown = attribute(case, "I could not find that in the documents.", ())
    assert ("pass", [], []) == (found.verdict, failed, unknown)


def test_a_doubt_about_a_right_answer_is_no_cause() -> None:
    case = Case("a", "How many days?", must_have=("12 days",), evidence=EVIDENCE)
    found, failed, unknown = attribute(case, "Staff get 12 days. They may carry over 37 days.")
    assert ("pass", None, "generator") == (found.verdict, found.cause, found.also[0])
    assert [] == failed == unknown
    assert "37" in " ".join(found.evidence)


@pytest.mark.parametrize(("in_context", "failed"), [(True, ()), (False, ("retrieval_miss", "context_miss"))])
def test_evidence_that_a_later_step_found_fails_nothing_and_is_a_warning(
    in_context: bool, failed: tuple[str, ...]
) -> None:
    case = Case("a", "How many days?", must_have=("12 days",), evidence=EVIDENCE)
    context = Chunk("x" if in_context else "y", text="Staff get 12 days.")
    stages = (Stage("retrieved", (Chunk("y"),)), Stage("context", (context,)))
    observation = Observation("a", "c", stages=stages, answer="Staff get 12 days.", citations=(context.chunk_id,))
    run = api.score(GoldenSet((case,)), [observation]).run
    (checks,) = run.scoring.configs["c"].table.checks
    assert failed == checks.failed
    assert in_context == ("late_evidence" in checks.warnings)
    assert in_context == (attribute_run(run, "c")["a"].verdict == "pass")


def test_the_contract_of_the_runner_still_calls_late_evidence_a_miss() -> None:
    assert ["retrieval_miss", "wrong_behavior"] == list_runner_checks(
        CaseChecks("a", ("wrong_behavior", "leak"), ("late_evidence",))
    )


def test_fewer_metrics_change_no_attribution() -> None:
    cases = (
        Case("a", "How many days?", must_have=("12 days",), evidence=EVIDENCE),
        Case("b", "How many days?", reference="12 days of leave", evidence=EVIDENCE),
        Case("c", "How many days?", rubric=Rubric(correct_keywords=("12 days",)), evidence=EVIDENCE),
    )
    observations = [
        Observation(case.id, "one", stages=STAGES, answer="Staff get 13 days.", citations=("z",)) for case in cases
    ]
    runs = [
        api.score(GoldenSet(cases), observations, metrics=metrics).run
        for metrics in (DEFAULT_METRICS, ["recall@10"], ["latency_ms"], ["answer_similarity"])
    ]
    first, *others = [attribute_run(run, "one") for run in runs]
    assert all(other == first for other in others)
    counts = [count_cases(run.scoring.configs["one"]) for run in runs]
    assert [counts[0]] * len(runs) == counts


def test_a_number_with_another_unit_than_in_its_sources_is_a_doubt() -> None:
    case = Case("a", "What does it cost?", must_have=("598",), evidence=EVIDENCE)
    stages = (Stage("retrieved", (Chunk("x", text="It costs 598 EUR."),)), Stage("context", (Chunk("x"),)))
    doubts_by_answer = {"It is 598 Norwegian kroner.": ("generator", "golden_label_issue"), "It is 598 euros.": ()}
    for answer, doubts in doubts_by_answer.items():
        observation = Observation("a", "c", stages=stages, answer=answer, citations=("x",))
        attribution = attribute_run(api.score(GoldenSet((case,)), [observation]).run, "c")["a"]
        assert ("pass", None, doubts) == (attribution.verdict, attribution.cause, attribution.also)


@pytest.mark.parametrize("good", [{"must_have": ("12 days",)}, {}])
def test_a_form_that_the_answer_has_not_fails_the_case_and_is_the_generators(good: dict[str, Any]) -> None:
    case = Case("a", "How many days?", answer_format=AnswerFormat(pattern="^[0-9]+ days$"), evidence=EVIDENCE, **good)
    found, failed, _ = attribute(case, "It is 12 days.")
    assert ("generation_fault", "generator", "wrong_format", ["a"]) == (
        found.verdict,
        found.cause,
        found.subcause,
        failed,
    )
    assert "does not match ^[0-9]+ days$" in found.evidence[0]
    assert "constrain the model's output" in found.fix
    found, failed, unknown = attribute(case, "12 days")
    assert (None, [], [] if good else ["a"]) == (found.cause, failed, unknown)


def test_a_wrong_answer_that_had_its_evidence_is_the_generators_even_if_nothing_tells_what_it_did() -> None:
    case = Case("a", "Which level?", must_have=("level 10",), evidence=EVIDENCE)
    checks = CaseChecks("a", ("wrong_answer",), ("unknown_answer",))
    open_case = Attribution("a", "unknown", reached=True, signal="nothing tells what the answer did")
    found = reconcile_with_checks(open_case, checks)
    assert ("generation_fault", "generator", "medium", False) == (
        found.verdict,
        found.cause,
        found.confidence,
        found.good,
    )
    assert "all required evidence was in the context" in found.evidence
    assert "record" not in found.fix
    assert "corpus" not in found.fix
    found, failed, _ = attribute(case, "Level 8 of the scale is sufficient.")
    assert ("generator", False, ["a"]) == (found.cause, found.good, failed)


def test_the_table_of_causes_has_what_to_try_for_each_way_in_which_one_fails() -> None:
    """A generator that refuses too much and one that answers what it must refuse need opposite remedies."""
    over = Attribution("a", "refusal_fault", "generator", "over_refusal", fix="loosen the threshold")
    under = Attribution("b", "refusal_fault", "generator", "under_refusal", fix="tighten the prompt")
    cases = {"a": over, "b": under, "c": replace(under, case_id="c")}
    (row,) = build_root_causes_table({"one": cases}, dict.fromkeys(cases, ())).rows
    assert "tighten the prompt (× 2). loosen the threshold (× 1)" == row[-1]
    (row,) = build_root_causes_table({"one": {"b": under}}, {"b": ()}).rows
    assert "tighten the prompt" == row[-1]


@pytest.mark.parametrize(
    ("check", "kind"),
    [("unsupported_claim", "invented"), ("over_answer", "answered_unanswerable"), ("wrong_answer", "")],
)
def test_what_to_try_first_is_about_the_check_that_failed(check: str, kind: str) -> None:
    reached = Attribution("a", "pass", reached=True)
    attribution = reconcile_with_checks(reached, CaseChecks("a", (check,)))
    assert "generator" == attribution.cause
    assert get_cause_note("generator", kind).fix == attribution.fix


def test_no_two_faults_of_a_generator_have_one_remedy() -> None:
    fixes = [note.fix for (cause, _), note in SUBCAUSE_NOTES.items() if cause == "generator"]
    assert len({*fixes, OVER_REFUSAL_NOTE.fix, CAUSE_NOTES["generator"].fix}) == len(fixes) + 2


def test_a_case_that_requires_no_evidence_does_not_say_that_it_is_unknown_whether_it_arrived() -> None:
    optional = EvidenceTrace(0, "a:1", 1, False, {"context": None})
    required = EvidenceTrace(0, "a:1", 3, True, {})
    words = [
        dict(list_attribution_facts(Attribution("a", "unknown", traces=traces)))["Reached"]
        for traces in ((), (optional,), (required,))
    ]
    assert ["the case requires none"] * 2 + ["unknown, the trace does not tell"] == words


@pytest.mark.parametrize("kind", [TARGET_ERROR, NO_OUTPUT])
def test_a_case_without_an_answer_does_not_say_that_it_requires_no_evidence(kind: str) -> None:
    note = get_cause_note("insufficient_trace", kind)
    attribution = Attribution("a", "unknown", "insufficient_trace", sign=note.sign, fix=note.fix)
    assert "unknown, there is no answer" == dict(list_attribution_facts(attribution))["Reached"]


@pytest.mark.parametrize(
    ("also", "joined"), [(("judge_noise",), "; perhaps "), (("judge_noise", "citation"), "; one of: ")]
)
def test_one_possible_cause_is_not_one_of_several(also: tuple[RootCause, ...], joined: str) -> None:
    first = CAUSE_NOTES["insufficient_trace"].sign
    attribution = Attribution("a", "unlocated_fault", "insufficient_trace", sign=first, also=also)
    assert describe_cause(attribution).startswith(f"{first}{joined}{CAUSE_NOTES['judge_noise'].sign}")


def test_what_the_rules_doubt_of_an_answer_does_not_cause_an_error_of_a_metric() -> None:
    doubt = Attribution("a", "generation_fault", cause="citation", evidence=("no citation",), good=True, reached=True)
    texts = ("tone: the metric raised KeyError: 'a'",)
    unmeasured = reconcile_with_checks(doubt, CaseChecks("a", ("metric_error",)), texts)
    assert ("insufficient_trace", texts) == (unmeasured.cause, unmeasured.evidence)
    assert ("citation",) == unmeasured.also
    assert "a metric of your own failed on this case" == describe_cause(unmeasured)
    both = reconcile_with_checks(doubt, CaseChecks("a", ("metric_error", "bad_citation")), texts)
    assert ("citation", ("no citation", *texts)) == (both.cause, both.evidence)


@pytest.mark.parametrize("user", [None, User(tenant="north")])
def test_a_denial_is_said_to_concern_a_user_only_if_the_case_has_one(user: User | None) -> None:
    case = Case(
        "a", "What does band 7 pay?", must_have=("45 euros",), evidence=(Evidence(({"chunk_id": "z"},)),), user=user
    )
    attribution, _, _ = attribute(case, "You are not authorised to see this information.")
    assert ("which this user may see" in " ".join(attribution.evidence)) is (user is not None)


def test_what_leaks_is_counted_as_not_good_however_right_it_is() -> None:
    signal = "must-have facts"
    leak = Attribution("a", "access_fault", subtype="leak", cause="acl", good=True, reached=True, signal=signal)
    right = Attribution("b", "pass", good=True, reached=True)
    counts = count_outcomes({"a": leak, "b": right})
    assert (1, 1) == (counts["reached_good"], counts["reached_bad"])
    described = dict(list_attribution_facts(leak))["Good"]
    assert "no, because it leaks; right apart from that (must-have facts)" == described
    shown_leak = replace(leak, signal="behaviour", subcause=LEAK_SHOWN)
    assert "no, because it leaks" == dict(list_attribution_facts(shown_leak))["Good"], "what it says is the leak"
    ranked = replace(shown_leak, subcause=LEAK_RETRIEVED)
    described = dict(list_attribution_facts(ranked))["Good"]
    assert "no, because of the leak before it; right apart from that (behaviour)" == described

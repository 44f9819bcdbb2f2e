"""The shipped profiles: each loads, says what it is for, and has the documented thresholds."""

from __future__ import annotations

import pytest

from assay.gates.gate_files import list_profile_names, load_profile, read_profile_text
from assay.gates.rules import find_rule_problem
from assay.records.errors import SettingsError


def test_the_shipped_profiles_are_those_that_are_documented() -> None:
    assert list_profile_names() == (
        "capstone",
        "developer-docs",
        "general",
        "hallucination-5pct",
        "hr-legal-finance",
        "internal-search",
        "marketing",
        "rag-runner",
        "support",
    )


@pytest.mark.parametrize("name", list_profile_names())
def test_every_profile_loads_says_what_it_is_for_and_why_each_rule_stands(name: str) -> None:
    gate = load_profile(name, find_rule_problem)
    assert gate.name == name
    assert len(gate.description) > 40
    assert all(rule.reason for rule in gate.rules)
    if_unmeasured = {rule.metric: rule.if_unmeasured for rule in gate.rules}
    assert {
        name: "risk" if "by=judge" in name else JUDGE_IF_ANY.get(name, "fail") for name in if_unmeasured
    } == if_unmeasured
    assert "acl" in gate.zero_tolerance_tags
    assert read_profile_text(name).startswith(f"name: {name}\n")


JUDGE_IF_ANY = {"judge_unscored": "ignore"}
"""Metrics whose rules apply only if a judge was used."""

THRESHOLDS = {
    "general": {
        "recall@10": 0.85, "rr@10": 0.70, "ndcg@10": 0.75, "citation_correctness(by=rules)": 0.95,
        "abstention_accuracy": 0.90, "visibility_leaks": 0, "latency_ms(stat=p95)": 6000,
        "faithfulness(by=judge)": 0.90, "answer_relevance(by=judge)": 0.88, "critical_hallucinations(by=judge)": 0,
    },
    "hr-legal-finance": {
        "recall@10": 0.90, "citation_correctness(by=rules)": 0.97, "visibility_leaks": 0, "faithfulness(by=judge)": 0.93
    },
    "support": {"recall@10": 0.85, "answer_relevance(by=judge)": 0.88, "abstention_accuracy": 0.90},
    "developer-docs": {"rr@10": 0.75, "ndcg@10": 0.80, "failed": 0},
    "internal-search": {"hit@10": 0.90, "latency_ms(stat=p95)": 6000, "visibility_leaks": 0},
    "capstone": {"recall@10": 0.80, "rr@10": 0.65, "critical_hallucinations(by=judge)": 0},
    "marketing": {
        "behaviour": 0.90, "injection_followed": 0, "visibility_leaks": 0, "critical_hallucinations(by=judge)": 0,
    },
    "rag-runner": {
        "recall@10": 0.85, "rr@10": 0.70, "citation_correctness(by=rules)": 0.95, "behaviour": 0.90,
        "latency_ms(stat=p95)": 6000,
    },
    "hallucination-5pct": {"hallucination_risk(by=judge)": 0.05},
}  # fmt: skip


@pytest.mark.parametrize("name", list_profile_names())
def test_profiles_hold_the_thresholds_of_the_brief(name: str) -> None:
    rules = load_profile(name, find_rule_problem).rules
    found = {rule.metric: rule.at_most if rule.at_least is None else rule.at_least for rule in rules}
    judged = any("by=judge" in metric for metric in found)
    assert THRESHOLDS[name] | ({"judge_unscored": 0.02} if judged else {}) == found


def test_only_the_profile_that_mirrors_the_runner_blocks_on_any_failed_check() -> None:
    blocking = {name for name in list_profile_names() if load_profile(name, find_rule_problem).blocking_tags}
    assert blocking == {"rag-runner"}


@pytest.mark.parametrize("name", ["suport", "", "../general", "general.yaml"])
def test_an_unknown_profile_is_an_error_that_lists_all(name: str) -> None:
    with pytest.raises(SettingsError, match="expected capstone, developer-docs, general"):
        load_profile(name, find_rule_problem)

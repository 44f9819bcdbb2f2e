"""Gate files: what is accepted, what is refused and with which message."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.gates.gate_files import load_gate, load_profile, read_gate_fields, read_profile_text
from assay.gates.rules import find_rule_problem
from assay.records.errors import InputError
from assay.records.release_gates import Gate, Rule


@pytest.fixture
def gate_file(tmp_path: Path) -> Path:
    return tmp_path / "gate.yaml"


def gate_of(path: Path, text: str) -> Gate:
    path.write_text(text, encoding="utf-8")
    return load_gate(path, find_rule_problem)


def refused(path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        gate_of(path, text)
    return str(caught.value).replace(f"{path}:", "gate.yaml:")


# ── what is accepted ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_gate_file_holds_rules_and_the_other_fields_of_a_gate(gate_file: Path) -> None:
    text = """
name: release
configs: [candidate]
zero_tolerance_tags: []
rules:
  - {metric: recall@10, at_least: 0.90, slice: "tag=hr", severity: warn, min_coverage: .9, basis: bound}
  - metric: visibility_leaks   # a whole number is a number
    at_most: 0
"""
    expected = Gate(
        name="release",
        configs=("candidate",),
        zero_tolerance_tags=(),
        rules=(
            Rule("recall@10", at_least=0.9, slice="tag=hr", severity="warn", min_coverage=0.9, basis="bound"),
            Rule("visibility_leaks", at_most=0.0),
        ),
    )
    assert expected == gate_of(gate_file, text)


def test_a_fragment_of_the_settings_is_accepted(gate_file: Path) -> None:
    text = "golden: handbook.jsonl\ngate:\n  rules:\n    - {metric: recall@10, at_least: 0.9}\n"
    assert gate_of(gate_file, text).rules == (Rule("recall@10", at_least=0.9),)


def test_a_profile_is_the_base_and_rules_replace_those_of_the_same_metric_and_slice(gate_file: Path) -> None:
    base = load_profile("support", find_rule_problem)
    text = """
profile: support
name: mine
rules:
  - {metric: recall@10, at_least: 0.95}
  - {metric: recall@10, at_least: 0.99, slice: tag=vip}
"""
    gate = gate_of(gate_file, text)
    profile_rules = [rule for rule in base.rules if rule.metric != "recall@10"]
    file_rules = [Rule("recall@10", at_least=0.95), Rule("recall@10", at_least=0.99, slice="tag=vip")]
    assert [*profile_rules, *file_rules] == list(gate.rules)
    assert (gate.name, gate.description) == ("mine", base.description)


def test_a_profile_alone_is_a_gate(gate_file: Path) -> None:
    assert gate_of(gate_file, "gate: {profile: capstone}") == load_profile("capstone", find_rule_problem)


def test_blocking_tags_alone_are_a_gate(gate_file: Path) -> None:
    assert gate_of(gate_file, "blocking_tags: [acl]").blocking_tags == ("acl",)


def test_a_byte_order_mark_windows_lines_and_vietnamese_text_are_fine(gate_file: Path) -> None:
    text = "\ufeffname: Cổng phát hành\r\nrules:\r\n- {metric: recall@10, at_least: 0.9, reason: không bỏ sót}\r\n"
    gate_file.write_bytes(text.encode())
    gate = load_gate(gate_file, find_rule_problem)
    assert (gate.name, gate.rules[0].reason) == ("Cổng phát hành", "không bỏ sót")


# ── what is refused; the YAML itself is tested with its reader ─────────────────────────────

RULE = "rules: [{metric: recall@10, at_least: 0.9}]\n"
AT_LEAST = "rules: [{{metric: recall@10, at_least: {}}}]"

REFUSED = {
    "nothing": ("", "gate.yaml:1: E_TYPE not a gate (got nothing; expected a mapping with rules), at column 1"),
    "only a comment": ("# later\n", "got nothing"),
    "a list": ("- a\n", "got ['a']"),
    "no rule": ("rules: []\n", "gate.yaml:1: E_EMPTY a gate without rules decides nothing"),
    "only a name": ("name: x\n", "E_EMPTY"),
    "an empty fragment": ("gate:\n", "gate.yaml:1: gate: E_TYPE not a gate (got nothing"),
    "a number in quotes": (
        AT_LEAST.format("'0.85'"),
        "gate.yaml:1: rules[0].at_least: E_TYPE wrong type (got '0.85'; expected a number), at column 39",
    ),
    "a percentage": (AT_LEAST.format("0.85%"), "E_TYPE wrong type (got '0.85%'; expected a number)"),
    "a per cent figure": (AT_LEAST.format("85"), "(got 85; expected 0 to 1; did you mean 0.85?)"),
    "a negative threshold": (AT_LEAST.format("-0.1"), "(got -0.1; expected 0 to 1)"),
    "a truth value as threshold": (AT_LEAST.format("true"), "E_TYPE wrong type (got True; expected a number)"),
    "no threshold": (AT_LEAST.format(""), "expected exactly one of at_least, at_most, max_regression (got none)"),
    "both thresholds": ("rules: [{metric: ap, at_least: 0.1, at_most: 0.9}]", "(got at_least and at_most)"),
    "a decimal comma": (
        "rules:\n- metric: ap\n  at_least: 0,85\n",
        "E_TYPE wrong type (got '0,85'; expected a number)",
    ),
    "a number as truth value": (
        "rules: [{metric: ap, at_least: 1.0, zero_event: 1}]",
        "(got 1; expected true or false)",
    ),
    "a number as name": ("name: 12\n" + RULE, "name: E_TYPE wrong type (got 12; expected a string)"),
    "k of zero": ("rules: [{metric: recall@0, at_least: 0.9}]", "cannot read 'recall@0': k must be at least 1"),
    "a negative k": ("rules: [{metric: recall@-1, at_least: 0.9}]", "cannot read 'recall@-1'"),
    "a k with decimals": ("rules: [{metric: recall@10.0, at_least: 0.9}]", "cannot read 'recall@10.0'"),
    "coverage above 1": ("rules: [{metric: ap, at_least: 0.9, min_coverage: 95}]", "rules[0].min_coverage: E_RANGE"),
    "an unknown severity": (
        "rules: [{metric: ap, at_least: 0.9, severity: blok}]",
        "E_ENUM unknown value (got 'blok'; expected one of block, warn)",
    ),
    "a text as a list": (
        "configs: candidate\n" + RULE,
        "configs: E_TYPE wrong type (got 'candidate'; expected a list, each item a string)",
    ),
    "a rule that is a text": ("rules: [recall@10 >= 0.9]\n", "rules[0]: E_TYPE not a rule (got 'recall@10 >= 0.9'"),
    "rules that are a mapping": (
        "rules: {recall@10: 0.9}\n",
        "rules: E_TYPE wrong type (got {'recall@10': 0.9}; expected a list of rules)",
    ),
    "an unknown metric": (
        "rules:\n- at_least: 0.9\n  metric: recal@10\n",
        "gate.yaml:2: rules[0]: E_RULE 'recal@10': no such metric; did you mean recall",
    ),
    "an open instrument": (
        "rules: [{metric: faithfulness, at_least: 0.9}]",
        "faithfulness(by=rules) or faithfulness(by=judge)",
    ),
    "a metric without its cut": ("rules: [{metric: precision, at_least: 0.9}]", "needs a cut-off, as in precision@5"),
    "no metric": ("rules: [{at_least: 0.9}]", "rules[0].metric: E_MISSING"),
    "not a slice": ("rules: [{metric: ap, at_least: 0.9, slice: hr}]", "not a slice (got 'hr'; expected key=value"),
    "the wrong side for latency": (
        "rules: [{metric: latency_ms, at_least: 6000}]",
        "latency_ms is better low (got at_least; expected at_most)",
    ),
    "the wrong side for recall": (
        "rules: [{metric: recall@10, at_most: 0.9}]",
        "recall@10 is better high (got at_most; expected at_least)",
    ),
    # what a rule cannot mean
    "events of a threshold": (
        "rules: [{metric: ap, at_least: 0.9, zero_event: true}]",
        "zero_event is for a mean, rate or total that must be perfect",
    ),
    "the bound of a percentile": (
        "rules: [{metric: latency_ms(stat=p95), at_most: 9, basis: bound}]",
        "basis: bound is for means and rates",
    ),
    "the bound of perfection": (
        "rules: [{metric: visibility_leaks, at_most: 0, basis: bound}]",
        "basis: bound can never show a perfect score",
    ),
    "the same rule twice": (
        "rules: [{metric: ap, at_least: 0.9}, {metric: ap, at_least: 0.8}]",
        "rules[1]: E_RULE_TWICE",
    ),
    # names
    "a misspelt key": (
        "ruels: []\n" + RULE,
        "gate.yaml:1: ruels: E_UNKNOWN_FIELD unknown key (got 'ruels'; did you mean 'rules'?",
    ),
    "a misspelt key of a rule": (
        "rules: [{metric: ap, atleast: 0.9}]",
        "rules[0].atleast: E_UNKNOWN_FIELD unknown key (got 'atleast'; did you mean 'at_least'?",
    ),
    "a key as other tools call it": (
        "rules: [{metric: ap, min: 0.9}]",
        "rules[0].min: E_UNKNOWN_FIELD unknown key (got 'min'; did you mean 'at_least'?",
    ),
    "a misspelt profile": (
        "profile: suport\n",
        "gate.yaml:1: profile: E_PROFILE unknown profile (got 'suport'; did you mean 'support'?",
    ),
    "a profile that is a list": ("profile: [support]\n", "profile: E_TYPE wrong type"),
    "a misspelt settings key": (
        "gate: {profile: support}\ngoldn: x\n",
        "goldn: E_UNKNOWN_FIELD unknown key (got 'goldn'; did you mean 'golden'?",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_could_be_misread_is_refused(name: str, gate_file: Path) -> None:
    text, expected = REFUSED[name]
    message = refused(gate_file, text)
    assert expected in message
    assert message.startswith("gate.yaml:")


def test_everything_wrong_with_the_rules_is_said_at_once(gate_file: Path) -> None:
    text = """
rules:
  - {metric: recal@10, at_least: 0.9}
  - {metric: recall@10, at_least: "0.9", severty: warn}
  - {metric: latency_ms, at_least: 5}
"""
    lines = refused(gate_file, text).splitlines()
    assert [line.split(":")[1] for line in lines] == ["3", "4", "4", "5"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"name: \xff\n", "E_ENCODING not UTF-8 (got byte 0xff at byte offset 6"),
        ("name: x".encode("utf-16"), "E_ENCODING"),
        (b"#" * 2**20 + b"#", "E_TOO_LARGE"),
    ],
)
def test_bytes_that_are_no_small_text_are_refused(data: bytes, expected: str, gate_file: Path) -> None:
    gate_file.write_bytes(data)
    with pytest.raises(InputError, match=r"gate\.yaml") as caught:
        load_gate(gate_file, find_rule_problem)
    assert expected in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.yaml"):
        load_gate(tmp_path / "absent.yaml", find_rule_problem)


@pytest.mark.parametrize(
    ("text", "place"),
    [("rule:\n  - metric: mrr\n", ":1: rule: "), ("rules:\n  - metric: mrr\n    at_leest:\n      0.5\n", ":3: ")],
)
def test_a_misspelt_key_is_named_where_it_stands_and_not_where_its_value_does(
    text: str, place: str, gate_file: Path
) -> None:
    gate_file.write_text(text)
    with pytest.raises(InputError) as failure:
        load_gate(gate_file, find_rule_problem)
    assert place in str(failure.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("80", "correctness: E_RANGE out of range (got 80; expected a number above 0, at most 1; did you mean 0.8?)"),
        ("0", "correctness: E_RANGE out of range (got 0; expected a number above 0, at most 1)"),
        ("800", "correctness: E_RANGE out of range (got 800; expected a number above 0, at most 1)"),
    ],
)
def test_a_share_out_of_range_is_refused_with_its_range_and_what_a_percentage_means(
    value: str, expected: str, gate_file: Path
) -> None:
    gate_file.write_text(f"correctness: {value}\n")
    with pytest.raises(InputError) as failure:
        load_gate(gate_file, find_rule_problem)
    assert expected in str(failure.value)


def test_everything_that_is_wrong_with_waivers_is_said_at_once(gate_file: Path) -> None:
    text = """
rules: [{metric: recall@10, at_least: 0.9}]
waivers:
  - {metric: recall@10, expires: 2026-13-31, reason: trial}
  - {metric: failed, owner: "", expires: soon, reason: trial}
"""
    message = refused(gate_file, text)
    for part in (
        "waivers[0].owner: E_MISSING",
        "waivers[0]: E_WAIVER expires is not a day (got '2026-13-31'",
        "waivers[1]: E_WAIVER expires is not a day (got 'soon'",
        "waivers[1]: E_WAIVER no rule is for failed on all cases",
        "waivers[1]: E_WAIVER a waiver needs an owner and a reason (got an empty owner)",
    ):
        assert part in message


def test_a_waiver_of_a_rule_that_cannot_be_read_is_not_said_to_waive_none(gate_file: Path) -> None:
    text = """
rules: [{metric: recall@10, at_most: 0.9}]
waivers: [{metric: recall@10, owner: Lan, expires: 2026-03-31, reason: trial}]
"""
    message = refused(gate_file, text)
    assert "recall@10 is better high" in message
    assert "no rule is for" not in message


# ── a profile that was changed does not keep its name ──────────────────────────────────────

LOOSER = """
profile: general
zero_tolerance_tags: []
rules:
  - {metric: correct_answer, max_regression: 0.10}
  - {metric: recall@10, max_regression: 0.10}
  - {metric: behaviour, max_regression: 0.10}
  - {metric: faithfulness(by=judge), at_least: 0.9, if_unmeasured: ignore}
  - {metric: answer_relevance(by=judge), at_least: 0.88, if_unmeasured: ignore}
  - {metric: critical_hallucinations(by=judge), at_most: 0, if_unmeasured: ignore}
"""


def test_a_changed_profile_is_named_by_its_file_with_what_it_changed(gate_file: Path) -> None:
    name = f"{gate_file.name} (general, changed: 3 rules added, 3 relaxed, zero tolerance off)"
    assert name == gate_of(gate_file, LOOSER).name
    changed = "general, changed: 1 rule relaxed"
    fields = {"profile": "general", "rules": [{"metric": "recall@10", "at_least": 0.5}]}
    assert changed == read_gate_fields(fields, find_rule_problem).name


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("profile: general\nrules: [{metric: recall@10, at_least: 0.95}]", "1 rule tightened"),
        ("profile: general\nrules: [{metric: recall@10, at_least: 0.9, severity: warn}]", "1 rule changed"),
        ("profile: general\ncorrectness: 0.6", "correctness 0.8 → 0.6"),
        ("profile: general\nzero_tolerance_tags: [acl]", "zero tolerance for acl"),
        ("profile: general\nblocking_tags: [vip]", "blocking tags for vip"),
        ("profile: general\nconfigs: [hybrid]", "only for hybrid"),
        ("name: general\ncorrectness: 0.8\nrules: [{metric: recall@10, at_least: 0.85}]", "10 rules removed"),
    ],
)
def test_what_a_gate_changed_of_a_profile_is_told_exactly(gate_file: Path, text: str, changes: str) -> None:
    assert f"{gate_file.name} (general, changed: {changes})" == gate_of(gate_file, text).name


@pytest.mark.parametrize("text", ["profile: general\napprover: An", f"# as it is\n{read_profile_text('general')}"])
def test_a_profile_that_decides_as_it_is_shipped_keeps_its_name(gate_file: Path, text: str) -> None:
    assert "general" == gate_of(gate_file, text).name

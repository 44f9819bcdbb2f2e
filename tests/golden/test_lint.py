"""`golden lint` and `golden coverage`: each rule on a case that breaks it, and on one that nearly does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import golden
from assay.cli import main
from assay.golden.check_golden import load_coverage_targets
from assay.golden.coverage_matrix import compare_traffic
from assay.golden.lint_finding import LINT_RULES, LintReport
from assay.records.errors import InputError
from assay.records.golden_set import Case

HANDBOOK = Path("examples/handbook/golden/handbook.jsonl")
CORPUS = Path("examples/handbook/corpus/chunks.jsonl")

CHUNKS = [
    {"chunk_id": "leave:v2:1", "document": "leave", "text": "Staff have 12 days of leave a year.", "tenant": "a"},
    {"chunk_id": "leave:v2:2", "document": "leave", "text": "Sick notes are due after 3 days of illness."},
    {"chunk_id": "leave:v1:1", "document": "leave", "text": "Staff had 10 days.", "valid_to": "2026-01-01"},
    {"chunk_id": "pay:v1:1", "document": "pay", "text": "The salary of grade E5 is 900 dollars.", "roles": ["finance"]},
    {"chunk_id": "faq:v1:1", "document": "faq", "text": "How much leave? Staff have 12 days of leave a year, says HR."},
    {"chunk_id": "car:v1:1", "document": "car", "text": "The company car lease subsidy ends in May."},
]
GOOD: dict[str, Any] = {
    "id": "q",
    "question": "How many days of leave do staff have?",
    "reference": "12 days",
    "evidence": [{"any_of": [{"chunk_id": "leave:v2:1"}, {"chunk_id": "faq:v1:1"}]}],
    "user": {"tenant": "a"},
    "language": "en",
}


def lint_cases(folder: Path, *cases: dict[str, Any], header: dict[str, Any] | None = None) -> LintReport:
    """Lint cases against `CHUNKS`, with no coverage asked for."""
    rows = [{"golden_set": header}] if header is not None else []
    lines = [json.dumps(row) for row in [*rows, *cases]]
    (folder / "golden.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, CHUNKS)), encoding="utf-8")
    (folder / "targets.yaml").write_text("exact: {cases: 0}\n", encoding="utf-8")
    report = golden.lint(
        str(folder / "golden.jsonl"), corpus=str(folder / "corpus.jsonl"), targets=str(folder / "targets.yaml")
    )
    assert isinstance(report, LintReport)
    return report


def rules(report: LintReport) -> list[str]:
    return [finding.rule for finding in report.findings if not finding.rule.startswith("no-")]


BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("multi-hop-one-chunk", {"tags": ["multi-hop"]}),
    (
        "multi-hop-untagged",
        {"evidence": [*GOOD["evidence"], {"any_of": [{"chunk_id": "leave:v2:2"}]}], "reference": "12 days, 3 days"},
    ),
    ("tag-contradicts", {"tags": ["no-answer"]}),
    ("tag-contradicts", {"tags": ["acl"], "user": None}),
    ("tag-contradicts", {"tags": ["no-diacritic"], "question": "Ngày phép là bao nhiêu?", "language": "vi"}),
    ("denied-visible", {"behaviour": "permission_denied", "reference": "You may not see this."}),
    ("answer-invisible", {"evidence": [{"any_of": [{"chunk_id": "pay:v1:1"}]}], "reference": "900 dollars"}),
    (
        "abstain-answerable",
        {
            "behaviour": "abstain",
            "evidence": [],
            "question": "When does the company car lease subsidy end?",
            "reference": None,
        },
    ),
    (
        "answer-in-question",
        {"rubric": {"correct_keywords": ["12 days"]}, "question": "Do staff have 12 days of leave?"},
    ),
    ("answer-in-question", {"must_have": ["12 days"], "question": "Is it true that staff have 12 days of leave?"}),
    ("keyword-in-incorrect", {"rubric": {"correct_keywords": ["12 days"], "incorrect_patterns": ["12 days a month"]}}),
    ("reference-fails", {"must_have": ["13 days"]}),
    ("reference-fails", {"rubric": {"correct_keywords": ["12 days", "13 days"], "match": "all"}}),
    ("reference-open", {"must_have": ["12 days"], "reference": "12 days or 13 days."}),
    ("reference-open", {"rubric": {"correct_keywords": ["14 days", "12 days"]}, "reference": "12 days or 13 days."}),
    ("keyword-common", {"rubric": {"correct_keywords": ["days"]}, "question": "How much leave do staff have?"}),
    ("reference-unsupported", {"reference": "14 days"}),
    ("reference-unsupported", {"reference": "Penguins swim across frozen oceans hunting squid."}),
    ("evidence-missing", {"evidence": [{"any_of": [{"chunk_id": "gone:1"}]}]}),
    ("evidence-missing", {"forbidden": [{"chunk_id": "gone:1"}]}),
    ("source-missing", {"must_cite": ["gone"], "evidence": [{"any_of": [{"quote": "12 days"}]}]}),
    ("evidence-changed", {"evidence": [{"any_of": [{"chunk_id": "leave:v2:1"}], "quote": "15 days of leave"}]}),
    ("evidence-changed", {"evidence": [{"any_of": [{"chunk_id": "leave:v2:1"}], "text_hash": "sha256:" + "0" * 64}]}),
    (
        "evidence-superseded",
        {
            "evidence": [{"any_of": [{"chunk_id": "leave:v1:1"}]}],
            "reference": "10 days",
            "user": {"tenant": "a", "as_of": "2026-03-01"},
        },
    ),
    ("unlabelled-alternative", {"evidence": [{"any_of": [{"chunk_id": "leave:v2:1"}]}]}),
    ("language-mismatch", {"language": "vi"}),
    ("language-mismatch", {"user": {"tenant": "a", "locale": "vi-VN"}}),
]


def test_a_good_case_has_no_finding(tmp_path: Path) -> None:
    header = {"owner": "team", "version": "1", "changelog": ["first"]}
    assert () == lint_cases(tmp_path, GOOD, header=header).findings


@pytest.mark.parametrize(("ends", "is_found"), [("2026-05-31", True), ("2026-06-01", False)])
def test_a_last_valid_day_before_the_next_version_is_found(tmp_path: Path, ends: str, is_found: bool) -> None:
    chunks = [
        {"chunk_id": "toll:1", "text": "4 EUR", "document": "toll", "version": "1", "valid_to": ends},
        {"chunk_id": "toll:2", "text": "5 EUR", "document": "toll", "version": "2", "valid_from": "2026-06-01"},
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "CHUNKS", [*CHUNKS, *chunks])
        report = lint_cases(tmp_path, GOOD)
    found = [finding.message for finding in report.findings if finding.rule == "validity-gap"]
    assert len(found) == is_found
    assert all("'toll'" in message and "write valid_to 2026-06-01" in message for message in found)


@pytest.mark.parametrize(("rule", "changes"), BROKEN)
def test_a_broken_case_is_found_by_its_rule(tmp_path: Path, rule: str, changes: dict[str, Any]) -> None:
    case = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    report = lint_cases(tmp_path, case)
    assert rule in rules(report)
    finding = next(finding for finding in report.findings if finding.rule == rule)
    assert (1, LINT_RULES[rule].level) == (finding.line, finding.level)
    assert finding.remedy


@pytest.mark.parametrize(
    "changes",
    [
        {"must_have": ["12 days"]},
        {"rubric": {"correct_keywords": ["13 days", "12 days"]}},
        {"must_have": ["13 days"], "reference": None},
    ],
)
def test_a_reference_that_passes_its_own_case_has_no_finding(tmp_path: Path, changes: dict[str, Any]) -> None:
    case = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    assert not {"reference-fails", "reference-open"} & set(rules(lint_cases(tmp_path, case)))


def test_check_names_a_case_that_its_own_reference_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint_cases(
        tmp_path,
        {**GOOD, "must_have": ["13 days"]},
        {
            **GOOD,
            "id": "open",
            "question": "How long is leave?",
            "must_have": ["12 days"],
            "reference": "12 or 13 days.",
        },
    )
    assert 0 == main(["golden", "check", str(tmp_path / "golden.jsonl")])
    printed = capsys.readouterr()
    assert "golden.jsonl:1: must_have: E_REFERENCE_FAILS" in printed.err
    assert "E_REFERENCE_OPEN 1 case" in printed.err
    assert "2 warnings" in printed.out


def test_errors_come_first_and_who_keeps_the_set_last(tmp_path: Path) -> None:
    hop = {**GOOD, "tags": ["multi-hop"], "evidence": [{"any_of": [{"chunk_id": "leave:v2:1"}]}]}
    missing = {**GOOD, "id": "r", "question": "Who pays?", "evidence": [{"any_of": [{"chunk_id": "leave:v9:9"}]}]}
    report = lint_cases(tmp_path, hop, missing)
    levels = [finding.level for finding in report.findings]
    assert levels == sorted(levels)  # error, warning
    assert "evidence-missing" == report.findings[0].rule
    assert "if its document was deleted, golden freeze --retire" in LINT_RULES["evidence-missing"].remedy
    names = [finding.rule for finding in report.findings]
    assert ["no-owner", "no-version", "no-changelog"] == names[-3:]
    assert 1 <= names.index("multi-hop-one-chunk") < len(names) - 3


def test_a_keyword_inside_a_longer_number_is_no_part_of_it(tmp_path: Path) -> None:
    case = {**GOOD, "rubric": {"correct_keywords": ["2 days"], "incorrect_patterns": ["12 days"]}}
    assert "keyword-in-incorrect" not in rules(lint_cases(tmp_path, case))


def test_reworded_questions_are_one_group(tmp_path: Path) -> None:
    pairs = (
        ("May I take 10 days in a row?", "may i take ten days in a row"),
        ("Ngày phép còn lại được chuyển không?", "ngay phep con lai duoc chuyen khong"),
    )
    for first, second in pairs:
        cases = [{**GOOD, "id": "a", "question": first}, {**GOOD, "id": "b", "question": second}]
        report = lint_cases(tmp_path, *[{k: v for k, v in case.items() if k != "language"} for case in cases])
        (finding,) = [finding for finding in report.findings if finding.rule == "near-duplicate"]
        assert ("a", "b") == finding.cases


def test_confusable_ids_are_found(tmp_path: Path) -> None:
    other = {**GOOD, "question": "When is the sick note due?", "reference": "3 days"}
    other["evidence"] = [{"any_of": [{"chunk_id": "leave:v2:2"}]}]
    assert "confusable-id" in rules(lint_cases(tmp_path, {**GOOD, "id": "q_l1"}, {**other, "id": "q-11"}))
    assert "confusable-id" not in rules(lint_cases(tmp_path, {**GOOD, "id": "q1"}, {**other, "id": "q2"}))


def test_a_rule_is_silenced_with_a_reason_and_an_unused_silence_is_found(tmp_path: Path) -> None:
    silenced = [
        {"rule": "multi-hop-one-chunk", "cases": ["q"], "reason": "two sentences of one chunk"},
        {"rule": "keyword-common", "reason": "all chunks are about days"},
        {"rule": "no-such-rule", "reason": "?"},
    ]
    report = lint_cases(tmp_path, {**GOOD, "tags": ["multi-hop"]}, header={"silenced": silenced})
    assert 1 == report.silenced
    assert ["unused-silence", "unused-silence"] == rules(report)


def test_silencing_needs_a_reason_and_leaves_the_digest_as_it_is(tmp_path: Path) -> None:
    from assay.formats.golden_files import load_golden

    lint_cases(tmp_path, GOOD, header={})
    digest = load_golden(tmp_path / "golden.jsonl").digest
    lint_cases(tmp_path, GOOD, header={"silenced": [{"rule": "keyword-common", "reason": "known"}]})
    assert digest == load_golden(tmp_path / "golden.jsonl").digest
    with pytest.raises(InputError, match="reason"):
        lint_cases(tmp_path, GOOD, header={"silenced": [{"rule": "keyword-common", "reason": ""}]})


def test_fix_writes_clusters_and_keeps_every_other_line(tmp_path: Path) -> None:
    lint_cases(tmp_path, GOOD, {**GOOD, "id": "r", "question": "how many days of leave do STAFF have"}, header={})
    path = tmp_path / "golden.jsonl"
    before = path.read_text(encoding="utf-8").splitlines()
    assert 0 == main(["golden", "lint", str(path), "--fix"])
    after = path.read_text(encoding="utf-8").splitlines()
    assert before[0] == after[0]
    assert ["q", "q"] == [json.loads(line)["cluster"] for line in after[1:]]
    assert "near-duplicate" not in rules(golden.lint(str(path)))


def test_the_known_gaps_of_the_handbook_are_exactly_the_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["golden", "lint", str(HANDBOOK), "--corpus", str(CORPUS), "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    found = [(row["rule"], row.get("case", row["message"])) for row in findings]
    gaps = [message for rule, message in ((row["rule"], row["message"]) for row in findings) if rule == "coverage-gap"]
    assert gaps == [
        "exact: 1 of 6 marked so (tag exact)",
        "paraphrase: 0 of 5 marked so (tag paraphrase)",
        "no-diacritic: 2 of 4 marked so (tag no-diacritic)",
        "acronym-or-code: 2 of 4 marked so (tag acronym or code or error-code or product-code or sku)",
        "access: 3 of 4 marked so (tag access or acl or permission-denied or tenant, or behaviour permission_denied)",
    ]
    assert [pair for pair in found if pair[0].startswith("multi-hop")] == [
        ("multi-hop-one-chunk", "remote_002"),
        ("multi-hop-untagged", "security_005"),
        ("multi-hop-one-chunk", "sla_003"),
        ("multi-hop-one-chunk", "sales_002"),
    ]
    others = [pair for pair in found if pair[0] not in ("coverage-gap", "no-owner", "no-version", "no-changelog")]
    assert {rule for rule, _ in others} == {
        *("multi-hop-one-chunk", "multi-hop-untagged", "keyword-in-incorrect", "reference-open"),
    }


def test_errors_exit_with_1_and_bad_files_with_2(tmp_path: Path) -> None:
    lint_cases(tmp_path, {**GOOD, "evidence": [{"any_of": [{"chunk_id": "gone"}]}]})
    path, corpus = str(tmp_path / "golden.jsonl"), str(tmp_path / "corpus.jsonl")
    assert 1 == main(["golden", "lint", path, "--corpus", corpus])
    assert 0 == main(["golden", "lint", path])
    assert 2 == main(["golden", "lint", str(tmp_path / "none.jsonl")])
    assert 2 == main(["golden", "coverage", path, "--targets", corpus])


def test_coverage_lists_documents_nobody_asks_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == main(["golden", "coverage", str(HANDBOOK), "--corpus", str(CORPUS), "--format", "json", "--strict"])
    measured = json.loads(capsys.readouterr().out)
    assert ["company_b_leave_policy"] == measured["unasked_documents"]
    assert 4 == measured["counts"]["behaviour"]["abstain"]
    assert {"exact", "injection"} <= {cell["kind"] for cell in measured["cells"]}


def test_targets_that_are_no_targets_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "targets.yaml"
    path.write_text("exact: {cases: 1}\nother: {cases: -1, behaviours: [laugh]}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_coverage_targets(str(path))
    assert 2 == len(caught.value.problems)
    assert all(problem.line == 2 for problem in caught.value.problems)


def test_traffic_is_split_into_head_and_tail() -> None:
    cases = [Case("a", "How many days of annual leave do I have?")]
    traffic = {"how many days of annual leave do I have": 6, "Where is the canteen?": 3, "Who repairs my laptop?": 1}
    head, tail = compare_traffic(cases, traffic)
    assert (1, 6, 6) == (head.questions, head.requests, head.covered_requests)
    assert (2, 4, 0) == (tail.questions, tail.requests, tail.covered_requests)
    assert "Where is the canteen?" == tail.examples[0]


def test_a_file_of_questions_is_read_as_lines_or_objects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "questions.txt"
    path.write_text('PTO là gì?\n\n{"question": "What is the VPN?", "count": 3}\n', encoding="utf-8")
    assert 0 == main(["golden", "coverage", str(HANDBOOK), "--questions", str(path), "--format", "json"])
    measured = msgspec.json.decode(capsys.readouterr().out)
    assert 4 == measured["head"]["requests"] + measured["tail"]["requests"]
    path.write_text('{"question": 3}\n', encoding="utf-8")
    assert 2 == main(["golden", "coverage", str(HANDBOOK), "--questions", str(path)])


def vary(case: dict[str, Any], kind: str, question: str, **fields: Any) -> dict[str, Any]:
    """Return a variant of a case."""
    name = case["id"]
    labels = {"variant_of": name, "variant": kind, "cluster": name}
    return {**case, "id": f"{name}~{kind}", "question": question, **labels, **fields}


def test_what_variants_inherit_is_said_once_and_what_is_theirs_of_them(tmp_path: Path) -> None:
    case = {**GOOD, "tags": ["multi-hop"]}
    variants = [vary(case, kind, f"hey {GOOD['question']}") for kind in ("typos", "case", "polite-filler")]
    own = vary(case, "other-language", "Nhân viên được nghỉ phép bao nhiêu ngày?")
    report = lint_cases(tmp_path, case, *variants, own)
    named = [(finding.rule, finding.case) for finding in report.findings if not finding.rule.startswith("no-")]
    assert named == [("multi-hop-one-chunk", "q"), ("language-mismatch", "q~other-language")]


def test_of_variants_whose_case_is_elsewhere_the_first_says_what_they_share(tmp_path: Path) -> None:
    case = {**GOOD, "tags": ["multi-hop"]}
    variants = [vary(case, kind, f"hey {GOOD['question']}") for kind in ("typos", "case")]
    found = [
        finding.case for finding in lint_cases(tmp_path, *variants).findings if finding.rule == "multi-hop-one-chunk"
    ]
    assert found == ["q~typos"]


def test_a_cluster_that_is_suggested_for_a_case_is_given_to_its_variants(tmp_path: Path) -> None:
    twin = {**GOOD, "id": "r", "question": "How many days of leave do the staff have?"}
    path = tmp_path / "golden.jsonl"
    rows = [GOOD, vary(GOOD, "typos", "How many dyas?"), twin, vary(twin, "typos", "How mnay?")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (finding,) = (one for one in golden.lint(str(path)).findings if one.rule == "near-duplicate")
    assert finding.cases == ("q", "r")
    golden.lint(str(path), fix=True)
    clusters = {row["id"]: row["cluster"] for row in map(json.loads, path.read_text().splitlines())}
    assert clusters == dict.fromkeys(("q", "q~typos", "r", "r~typos"), "q")


def test_variants_are_no_cases_of_coverage(tmp_path: Path) -> None:
    case = {**GOOD, "tags": ["exact"]}
    path, both = tmp_path / "one.jsonl", tmp_path / "both.jsonl"
    path.write_text(json.dumps(case) + "\n")
    rows = [case, vary(case, "typos", "How mnay?"), vary(case, "case", "how many?")]
    both.write_text("".join(json.dumps(row) + "\n" for row in rows))
    alone, with_variants = golden.coverage(str(path)), golden.coverage(str(both))
    assert with_variants.variants == {"case": 1, "typos": 1} and alone.variants == {}
    assert msgspec.structs.replace(with_variants, variants={}) == alone

"""Variants of cases: what rules draft, what they leave alone, and what they leave to people."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.golden_files import load_golden, write_golden
from assay.golden.lint_finding import LintedSet
from assay.golden.twin_cases.draft_twins import TwinRequest, draft_twin_file
from assay.golden.twin_cases.twin_draft import TwinDrafter
from assay.golden.twin_cases.twin_rules import ALIKE_RULES, QuestionToVary, find_long_forms, make_typos
from assay.records.errors import InputError
from assay.records.golden_set import ALIKE_KINDS, Case, Corpus, CorpusChunk, Evidence, GoldenSet, Rubric, User

PLANS = "| Plan | Price | Seats |\n|---|---|---|\n| Basic | 9 USD | 3 |\n| Team | 40 USD | 12 |\n"
CORPUS = Corpus(
    {
        "plans:1": CorpusChunk("plans:1", PLANS, document="plans", tenant="acme"),
        "pay:1": CorpusChunk("pay:1", "Band 7 earns 45 million a month.", tenant="acme", roles=("hr",)),
        "leave:1": CorpusChunk(
            "leave:1",
            "Staff get 12 days of paid time off (PTO).",
            document="leave",
            valid_from="2026-01-01",
            valid_to="2027-01-01",
        ),
        "error:1": CorpusChunk("error:1", "ERR-404 means that the page is gone.", document="errors"),
        "other:1": CorpusChunk("other:1", "The canteen opens at noon.", tenant="beta"),
    }
)
STAFF = User("acme", ("staff",))


def cite(chunk_id: str) -> tuple[Evidence, ...]:
    """Return one required unit of evidence."""
    return (Evidence(({"chunk_id": chunk_id},)),)


CASES = (
    Case("plan", "What is the price of the Basic plan?", must_have=("9 USD",), evidence=cite("plans:1"), user=STAFF),
    Case(
        "pay",
        "How much does band 7 earn?",
        must_have=("45 million",),
        evidence=cite("pay:1"),
        user=User("acme", ("hr",)),
    ),
    Case("pto", "How many days of PTO do staff get?", must_have=("12 days",), evidence=cite("leave:1")),
    Case("error", "What does ERR-404 mean for the visitors?", reference="The page is gone.", evidence=cite("error:1")),
    Case("phep", "Nhân viên được nghỉ phép bao nhiêu ngày?", must_have=("12",), language="vi"),
)


def draft(*cases: Case, seed: int = 0) -> dict[str, Case]:
    """Return the variants of some cases by id."""
    drafted = TwinDrafter(LintedSet(GoldenSet(cases), CORPUS), seed).draft_all()
    return {case.id: case for case in drafted.variants}


def test_every_variant_names_its_case_and_is_in_its_cluster() -> None:
    variants = draft(*CASES)
    assert {"pto~acronym", "pto~typos", "pto~case", "pto~polite-filler", "phep~no-diacritic"} <= variants.keys()
    for variant in variants.values():
        base = next(case for case in CASES if case.id == variant.variant_of)
        assert variant.id == f"{base.id}~{variant.variant}" and variant.cluster == base.id
        assert (variant.question, variant.user) != (base.question, base.user)


def test_alike_variants_keep_all_that_is_expected() -> None:
    for variant in draft(*CASES).values():
        if variant.variant in ALIKE_KINDS:
            base = next(case for case in CASES if case.id == variant.variant_of)
            assert (variant.behaviour, variant.must_have, variant.reference) == (
                base.behaviour,
                base.must_have,
                base.reference,
            )
            assert (variant.evidence, variant.user) == (base.evidence, base.user)


def test_an_acronym_is_written_out_by_what_the_corpus_says() -> None:
    assert draft(*CASES)["pto~acronym"].question == "How many days of paid time off do staff get?"
    assert find_long_forms(["personal time off (PTO)", "paid time off (PTO)"]) == {}
    assert find_long_forms(["some other words (PTO)"]) == {}


def test_an_acronym_is_not_written_out_where_its_words_are_the_answer() -> None:
    asked = Case("pto", "What does PTO stand for?", must_have=("paid time off",), language="en")
    assert "pto~acronym" not in draft(asked) and "pto~case" in draft(asked)
    other = Case("pto", "How many days of PTO do staff have?", must_have=("12 days",), language="en")
    assert "pto~acronym" in draft(other)


def test_another_row_of_the_table_has_the_answer_of_that_row() -> None:
    variant = draft(*CASES)["plan~entity-swapped"]
    assert variant.question == "What is the price of the Team plan?"
    assert variant.must_have == ("40 USD",) and variant.behaviour == "answer"
    assert "40 USD" in (variant.evidence[0].quote or "")


def test_another_row_is_asked_about_only_where_no_case_or_variant_asks_about_it() -> None:
    table = "| Trail | Length | Climb |\n|---|---|---|\n| Ridge | 9 km | 300 m |\n| Gorge | 14 km | 520 m |\n"
    corpus = Corpus({"t": CorpusChunk("t", table + "| Lake | 4 km | 60 m |\n", document="t")})

    def ask(name: str, length: str) -> Case:
        return Case(name, f"How long is the {name} trail?", must_have=(length,), evidence=cite("t"), language="en")

    def list_swapped(*cases: Case) -> dict[str, str]:
        drafted = TwinDrafter(LintedSet(GoldenSet(cases), corpus)).draft_all()
        return {case.id: case.question for case in drafted.variants if case.variant == "entity-swapped"}

    ridge, gorge, lake = ask("Ridge", "9 km"), ask("Gorge", "14 km"), ask("Lake", "4 km")
    assert {"Ridge~entity-swapped": "How long is the Gorge trail?"} == list_swapped(ridge)
    assert {"Ridge~entity-swapped": "How long is the Lake trail?"} == list_swapped(ridge, gorge)
    assert {} == list_swapped(ridge, gorge, lake)


def test_a_code_that_the_corpus_lacks_has_no_answer() -> None:
    variant = draft(*CASES)["error~entity-swapped"]
    assert variant.question == "What does ERR-515 mean for the visitors?"
    assert variant.behaviour == "abstain" and variant.evidence == () and variant.reference is None


def test_who_may_not_see_the_evidence_is_denied() -> None:
    variants = draft(*CASES)
    assert variants["pay~other-user"].user == User("acme", ("staff",))
    assert variants["pay~other-tenant"].user == User("beta", ("hr",))
    for name in ("pay~other-user", "pay~other-tenant", "plan~other-tenant"):
        assert variants[name].behaviour == "permission_denied" and variants[name].must_have == ()
    assert "plan~other-user" not in variants  # no role restricts the plans


def test_before_the_evidence_was_in_force_there_is_no_answer() -> None:
    variant = draft(*CASES)["pto~other-date"]
    assert variant.user == User(as_of="2025-12-31") and variant.behaviour == "abstain"


@pytest.mark.parametrize(
    ("fields", "others", "is_drafted"),
    [
        ({}, (), False),
        ({}, (CorpusChunk("room:1", "The hall has 40 seats.", document="room", valid_from="2026-01-01"),), False),
        ({}, (CorpusChunk("mri:2", "Bring your card.", document="mri", valid_from="2026-01-01"),), False),
        ({"valid_to": "2026-09-01"}, (), True),
        ({"version": "1"}, (CorpusChunk("mri:3", "It takes 30 minutes.", document="mri", version="2"),), True),
        ({}, (CorpusChunk("mri:3", "It takes 30 minutes.", document="mri", valid_from="2026-08-01"),), True),
    ],
)
def test_the_first_day_of_a_corpus_alone_makes_no_other_day(
    fields: dict[str, Any], others: tuple[CorpusChunk, ...], is_drafted: bool
) -> None:
    """A corpus that was imported on a day says nothing of what held on the day before."""
    mri = CorpusChunk("mri:1", "A knee MRI takes 25 minutes.", document="mri", valid_from="2026-01-01", **fields)
    corpus = Corpus({chunk.chunk_id: chunk for chunk in (mri, *others)})
    case = Case("mri", "How many minutes does a knee MRI take?", must_have=("25 minutes",), evidence=cite("mri:1"))
    drafted = TwinDrafter(LintedSet(GoldenSet((case,)), corpus), kinds=["other-date"]).draft_all()
    assert is_drafted == bool(drafted.variants or drafted.left_out)


VERSIONS = Corpus(
    {
        "it:2": CorpusChunk(
            "it:2",
            "Passwords of type B have at least 14 characters. Badges are worn.\n\n"
            "| Level | Report within |\n|---|---|\n| S1 | 1 hour |\n| S2 | 2 days |\n",
            document="it",
            version="2",
            valid_from="2026-02-01",
        ),
        "it:1": CorpusChunk(
            "it:1",
            "Passwords of type A have at least 10 characters. They change every 90 days. Badges are worn.\n\n"
            "| Level | Report within |\n|---|---|\n| S1 | 4 hours |\n| S2 | 2 days |\n",
            document="it",
            version="1",
            valid_from="2025-07-01",
            valid_to="2026-02-01",
        ),
    }
)


def vary_day(question: str, *facts: str, rubric: Rubric | None = None) -> tuple[list[Case], list[str]]:
    """Return the variants of another day of a question about the later version, and why others are left out."""
    case = Case("x", question, must_have=facts, rubric=rubric, evidence=cite("it:2"))
    drafted = TwinDrafter(LintedSet(GoldenSet((case,)), VERSIONS), kinds=["other-date"]).draft_all()
    return list(drafted.variants), [variant.reason for variant in drafted.left_out]


@pytest.mark.parametrize(
    ("question", "fact", "earlier"),
    [
        ("How many characters do passwords have?", "14 characters", "10 characters"),
        ("Within what time is S1 reported?", "1 hour", "4 hours"),
    ],
)
def test_on_a_day_of_the_earlier_version_what_that_said_is_right(question: str, fact: str, earlier: str) -> None:
    for facts, rubric in (((fact,), None), ((), Rubric(correct_keywords=(fact,)))):
        (variant,), left = vary_day(question, *facts, rubric=rubric)
        assert (variant.user, variant.must_have, variant.behaviour, left) == (
            User(as_of="2026-01-31"),
            (earlier,),
            "answer",
            [],
        )
        right, later = variant.evidence
        assert right.any_of == ({"chunk_id": "it:1"},) and earlier in (right.quote or "")
        assert later.any_of == ({"chunk_id": "it:2"},) and (later.grade, later.required) == (0, False)


@pytest.mark.parametrize(
    ("question", "facts", "left"),
    [
        ("Within what time is S2 reported?", ("2 days",), []),  # the same answer: not a variant of another one
        ("How many characters do passwords of class B2 have?", ("14 characters",), ["undecided"]),
        ("What is worn?", ("Badges",), ["undecided"]),
        ("What does the policy say?", ("14 characters", "Badges"), ["undecided"]),
    ],
)
def test_a_day_of_which_the_earlier_version_decides_nothing_is_left_to_people(
    question: str, facts: tuple[str, ...], left: list[str]
) -> None:
    assert vary_day(question, *facts) == ([], left)


def test_a_case_that_another_document_may_answer_is_left_to_people() -> None:
    copy = CorpusChunk("copy:1", "Band 7 of beta: how much they earn, 30 million.", tenant="acme", roles=("staff",))
    corpus = Corpus({**CORPUS.chunks, "copy:1": copy})
    drafted = TwinDrafter(LintedSet(GoldenSet(CASES), corpus)).draft_all()
    left = {variant.case.id: variant for variant in drafted.left_out}
    assert left["pay~other-user"].reason == "undecided" and "copy:1" in left["pay~other-user"].detail
    assert "pay~other-user" not in {case.id for case in drafted.variants}


def test_two_codes_in_a_question_are_left_to_people() -> None:
    case = Case("both", "Do ERR-404 and ERR-511 mean the same?", reference="No.", evidence=cite("error:1"))
    drafted = TwinDrafter(LintedSet(GoldenSet((case,)), CORPUS)).draft_all()
    assert [variant.reason for variant in drafted.left_out if variant.case.variant == "entity-swapped"] == ["undecided"]


def test_a_variant_that_is_its_case_is_dropped_with_the_reason() -> None:
    case = Case("x", "so ngay phep la bao nhieu", must_have=("12",), language="vi")
    drafted = TwinDrafter(LintedSet(GoldenSet((case,)))).draft_all()
    unchanged = {variant.case.variant for variant in drafted.left_out if variant.reason == "unchanged"}
    assert unchanged == {"no-diacritic", "case"}


def test_variants_are_not_varied_again_and_not_drafted_twice() -> None:
    first = TwinDrafter(LintedSet(GoldenSet(CASES), CORPUS)).draft_all()
    again = TwinDrafter(LintedSet(GoldenSet((*CASES, *first.variants)), CORPUS)).draft_all()
    assert again.variants == ()
    assert {variant.reason for variant in again.left_out} <= {"id-taken", "unchanged", "undecided"}


WORDS = (
    "vacation",
    "INC-2024-011",
    "P1",
    "45.000",
    "policy",
    "“Basic plan”",
    "VPN",
    "employees",
    "3kg",
    "Delft",
    "phép",
)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9), st.integers())
def test_typos_never_touch_codes_numbers_names_and_quotations(words: list[str], seed: int) -> None:
    question = "please tell " + " ".join(words) + "?"
    slipped = make_typos(QuestionToVary(question, "en", str(seed))).question
    for word in words:
        if word not in ("vacation", "policy", "employees", "phép"):
            assert slipped.count(word) == question.count(word), (question, slipped)


@given(st.text(max_size=80), st.sampled_from(["en", "vi"]), st.integers())
def test_no_rule_breaks_on_any_text_and_the_seed_decides(question: str, language: str, seed: int) -> None:
    asked = QuestionToVary(question, language, str(seed), (), {"PTO": "paid time off"})  # type: ignore[arg-type]  # en or vi
    for rule in ALIKE_RULES.values():
        first = rule(asked)
        assert rule(asked) == first


def test_the_file_of_variants_is_a_golden_set_and_the_same_every_time(tmp_path: Path) -> None:
    write_golden(GoldenSet(CASES, name="plans"), str(tmp_path / "golden.jsonl"))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        "\n".join(
            json.dumps(
                {"chunk_id": chunk.chunk_id, "text": chunk.text, "tenant": chunk.tenant, "roles": list(chunk.roles)}
            )
            for chunk in CORPUS.chunks.values()
        )
    )
    written = []
    for name in ("a.jsonl", "b.jsonl"):
        out, left = tmp_path / name, tmp_path / f"left-{name}"
        draft_twin_file(TwinRequest(str(tmp_path / "golden.jsonl"), str(corpus), str(out), str(left), seed=3))
        written.append((out.read_bytes(), left.read_bytes()))
    assert written[0] == written[1]
    loaded = load_golden(str(tmp_path / "a.jsonl"))
    assert len(loaded.golden.cases) > len(CASES)
    assert any(warning.code == "E_VARIANT" for warning in loaded.warnings)  # their cases are in another file


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"variant_of": "a"}, "variant_of"),
        ({"variant": "typos"}, "variant"),
        ({"variant_of": "a", "variant": "shouting"}, "variant"),
        ({"variant_of": "v", "variant": "typos"}, "variant_of"),
        ({"variant_of": "b", "variant": "typos"}, "variant_of"),
    ],
)
def test_a_variant_that_cannot_be_one_is_refused(row: dict[str, str], field: str, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "How many?", "reference": "12"},
        {"id": "v", "question": "how many", "reference": "12", "variant_of": "a", "variant": "case", "cluster": "a"},
        {"id": "b", "question": "How many, please?", "reference": "12", **row},
    ]
    path = tmp_path / "golden.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError) as raised:
        load_golden(str(path), "assay")
    assert [problem.field for problem in raised.value.problems] == [field]


def test_an_unknown_kind_and_a_set_without_cases_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "golden.jsonl")
    write_golden(GoldenSet(CASES), path)
    with pytest.raises(InputError, match="no such kind of variant"):
        draft_twin_file(TwinRequest(path, kinds=["shouting"]))
    variant = Case("v", "how?", reference="so", variant_of="a", variant="case")
    write_golden(GoldenSet((variant,)), path)
    with pytest.raises(InputError, match="no case to vary"):
        draft_twin_file(TwinRequest(path))


def test_no_empty_set_is_written_where_nothing_can_be_varied(tmp_path: Path) -> None:
    path, out = tmp_path / "golden.jsonl", tmp_path / "out.jsonl"
    write_golden(GoldenSet((Case("a", "((((", reference="y", language="en"),)), str(path))
    drafted = draft_twin_file(TwinRequest(str(path), out=str(out), kinds=["typos", "question-order"]))
    assert drafted.variants == () and drafted.unvaried == ("a",) and not out.exists()


def test_a_tenant_with_a_document_of_its_own_on_the_subject_is_left_to_people() -> None:
    own = CorpusChunk("b:1", "Băng 7 nhận 30 triệu.", document="beta_pay_policy", tenant="beta", roles=("hr",))
    evidence = CorpusChunk("pay:1", "Band 7 earns 45 million a month.", document="pay", tenant="acme", roles=("hr",))
    corpus = Corpus({**CORPUS.chunks, "pay:1": evidence, "b:1": own})
    drafted = TwinDrafter(LintedSet(GoldenSet(CASES), corpus)).draft_all()
    left = {variant.case.id: variant for variant in drafted.left_out}
    assert left["pay~other-tenant"].reason == "undecided" and "b:1" in left["pay~other-tenant"].detail

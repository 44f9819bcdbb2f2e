"""Support by rules: properties of every claim, and cases with numbers, dates and diacritics."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.claims.source_support import SourceSupport
from assay.text.tokens import DocumentFrequencies

NO_IDF = DocumentFrequencies.from_texts([])
LEAVE = "Full-time staff get 12 days of annual leave. Up to 5 days carry over if the manager approves."
PHEP = "Nhân viên toàn thời gian được nghỉ 12 ngày phép năm. Tối đa 5 ngày được chuyển sang năm sau."
TEXT = """
    staff leave manager Finance Security laptop policy report customers contract nhân viên quản lý phê duyệt bảo mật
    khách hàng hợp đồng of the and with không được
"""
sentence = st.lists(st.sampled_from(TEXT.split()), min_size=3, max_size=12).map(" ".join)


def of(claim: str, *texts: str, idf: DocumentFrequencies = NO_IDF) -> SourceSupport:
    return score_support(claim, IndexedSources([(f"s{i}", text) for i, text in enumerate(texts)], idf))


@pytest.mark.slow
@given(st.text(max_size=80), st.lists(st.text(max_size=120), max_size=3))
def test_scores_are_between_zero_and_one_for_any_text(claim: str, texts: list[str]) -> None:
    support = of(claim, *texts)
    assert 0 <= support.score <= 1
    assert all(0 <= value <= 1 for value in (support.c4,))
    assert support.logp <= 0
    assert min(support.fact, support.dig) >= 0


@pytest.mark.slow
@given(st.lists(sentence, min_size=2, max_size=5), sentence)
def test_scores_rise_with_z(claims: list[str], text: str) -> None:
    result = sorted((of(claim, text) for claim in claims), key=lambda scored: scored.z)
    assert [scored.score for scored in result] == sorted(scored.score for scored in result)


@pytest.mark.slow
@given(st.lists(sentence, min_size=1, max_size=6), st.data())
def test_a_claim_that_a_source_contains_verbatim_is_supported(sentences: list[str], data: st.DataObject) -> None:
    claim = data.draw(st.sampled_from(sentences))
    support = of(claim + ".", "Nothing here.", ". ".join(sentences) + ".")
    assert ("supported", ()) == (support.verdict, support.missing_facts)
    assert "s1" == support.source


@pytest.mark.slow
@given(st.lists(sentence, min_size=1, max_size=4), st.integers(13, 97), st.integers(100, 999))
def test_a_changed_number_lowers_the_score_and_is_missing(sentences: list[str], number: int, changed: int) -> None:
    text = ". ".join([*sentences, f"staff get {number} boxes of paper"])
    right, wrong = (of(f"staff get {value} boxes of paper", text) for value in (number, changed))
    assert (str(changed),) == wrong.missing_facts
    assert wrong.score < right.score
    assert 1 == wrong.dig


@given(st.permutations([("a", LEAVE), ("b", PHEP), ("c", "Finance pays $1.4M."), ("d", LEAVE)]))
def test_the_order_of_sources_changes_nothing(chunks: list[tuple[str, str]]) -> None:
    claim = "Staff get 15 days of leave and Finance pays $1.4M."
    ordered = score_support(claim, IndexedSources(sorted(chunks), NO_IDF))
    assert repr(ordered) == repr(score_support(claim, IndexedSources(chunks, NO_IDF)))


def test_composition_of_characters_changes_nothing() -> None:
    claim = "Nhân viên được nghỉ 15 ngày phép."
    apart = unicodedata.normalize("NFD", claim)
    assert repr(of(claim, PHEP)) == repr(of(apart, unicodedata.normalize("NFD", PHEP)))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It has 26,000 members.", "It has 26, 000 members."),
        ("It has 26.000 members.", "It has 26,000 members."),
        ("It has 26k members.", "The club has 26,000 members."),
        ("It costs 1.4 million dollars.", "It costs $1,400,000."),
        ("Sales rose 12%.", "Sales rose 12 percent."),
        ("Sales rose 98.7 per cent.", "Sales rose 98. 7 per cent."),
        ("It opened on 31 December 2026.", "It opened on 31/12/2026."),
        ("It opened in 2026.", "It opened on 2026-12-31."),
        ("He finished third.", "He finished 3rd."),
        ("Nghỉ mười hai ngày.", "Nghỉ 12 ngày."),
        ("Giá 1,5 triệu đồng.", "Giá 1.500.000 đồng."),
        ("About 26,000 people came.", "26,040 people came."),
        ("員工有12天年假。", "根據手冊，員工有12天年假。"),
        ("القاعدة 12 يوما", "القاعدة ١٢ يوما"),
    ],
)
def test_numbers_and_dates_agree_in_any_spelling(claim: str, text: str) -> None:
    support = of(claim, text)
    assert () == support.missing_facts
    assert 0 == support.dig


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("Leave is 12 months.", "Leave is 12 days.", ("12 months",)),
        ("Leave is 1.4 days.", "Leave is 21.4 days.", ("1.4 days",)),
        ("It was in 2000.", "It was in 1998.", ("2000",)),
        ("Raise ERR-403.", "Raise ERR-429.", ("ERR-403",)),
        ("It opened on 31/12/2026.", "It opened on 30/12/2026.", ("31/12/2026",)),
        ("It is run by Lan.", "It is run by Minh.", ("Lan",)),
        ("Nghỉ 15 ngày.", "Nghỉ 12 ngày.", ("15 ngày",)),
    ],
)
def test_missing_facts_are_reported_as_written(claim: str, text: str, missing: tuple[str, ...]) -> None:
    assert missing == of(claim, text).missing_facts


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        (
            "It digs at most 30 feet.",
            "The drill digs at most 30 metres.",
            'at most 30 feet (a source has "at most 30 metres")',
        ),
        ("The crate holds 9 pounds.", "The crate holds 9 kg.", '9 pounds (a source has "9 kg")'),
        ("A locker is $7.", "A locker is 7 euros.", '$7 (a source has "7 euros")'),
        (
            "The pump moves 15 litres per hour.",
            "The pump moves 15 litres per day.",
            '15 litres per hour (a source has "15 litres per day")',
        ),
        ("A bag is 14 pounds.", "A bag is 19 euros.", "14 pounds"),
    ],
)
def test_a_number_that_a_source_has_with_another_unit_is_named_with_both(claim: str, text: str, missing: str) -> None:
    support = of(claim, text)
    assert ((), [missing]) == (support.contradictions, support.describe_missing())


def test_a_contradiction_says_alone_what_the_source_has_instead_of_a_missing_value() -> None:
    support = of("One charge of the cart lasts about 65 miles.", "One charge of the cart lasts about 65 km.")
    assert ('"about 65 miles" where the source has "about 65 km"',) == support.contradictions
    assert ["about 65 miles"] == support.describe_missing() == list(support.missing_facts)


def test_the_right_wording_with_a_wrong_number_is_contradicted() -> None:
    support = of("Full-time staff get 15 days of annual leave.", LEAVE)
    assert ("contradicted", ("15 days",)) == (support.verdict, support.missing_facts)
    assert ('"15 days" where the source has "12 days"',) == support.contradictions
    assert "Full-time staff get 12 days of annual leave" == LEAVE[support.start : support.end]


def test_the_evidence_is_the_sentence_that_says_it() -> None:
    support = of("Five days may be carried over when a manager approves", "Nothing here.", LEAVE)
    assert ("s1", "Up to 5 days carry over if the manager approves") == (
        support.source,
        LEAVE[support.start : support.end],
    )
    assert (support.source, support.start, support.end) == support.evidence[0]


def test_diacritics_tell_words_apart_where_the_text_has_them() -> None:
    right, wrong = (of(f"Nhân viên {word} xe máy cũ", "Nhân viên bán xe máy cũ") for word in ("bán", "bạn"))
    assert ("supported", "unknown") == (right.verdict, wrong.verdict)
    assert "supported" == of("nhan vien ban xe may cu", "Nhân viên bán xe máy cũ").verdict


def test_a_claim_in_another_language_is_unknown_rather_than_not_found() -> None:
    claim = "Anyone who loses a laptop must tell the security team at once"
    assert ("unknown", "not_found") == (of(claim, PHEP).verdict, of(claim, LEAVE).verdict)


def test_a_claim_can_be_compared_with_one_source_or_several() -> None:
    claim = "Staff get 12 days and Finance pays them monthly."
    sources = IndexedSources([("a", "Staff get 12 days of leave."), ("b", "Finance pays salaries monthly.")], NO_IDF)
    both, single_source, other_source = (
        score_support(claim, sources.select_sources(ids)).score for ids in (("a", "b"), ("a",), ("b",))
    )
    assert both == score_support(claim, sources).score
    assert both > max(single_source, other_source)


def test_names_and_numbers_among_other_words_are_misplaced() -> None:
    apart = "The fee is 40 dollars for members. " + "Nothing else is said here at all. " * 9 + "Visitors wait outside."
    assert (0.0, 1.0) == tuple(of(f"{who} 40 dollars", apart).fact for who in ("Members pay", "Visitors outside pay"))


def test_a_reversed_claim_loses_as_much_as_a_wrong_number() -> None:
    right, turned = (of(f"Staff {may} work from home", "All staff may work from home.") for may in ("may", "may not"))
    assert (0.0, 1.0, "contradicted") == (right.turn, turned.turn, turned.verdict)
    assert right.z - turned.z > 1


def test_empty_claims_and_empty_sources_are_scored() -> None:
    assert ("unknown", 0.5, None) == (of("…", LEAVE).verdict, of("…", LEAVE).score, of("", LEAVE).source)
    for texts in ((), ("",), ("\n",)):
        assert ("not_found", None, ("12",)) == (
            of("Lan gets 12", *texts).verdict,
            of("Lan gets 12", *texts).source,
            of("Lan gets 12", *texts).missing_facts,
        )


@pytest.mark.slow
def test_huge_claims_and_sources_are_scored() -> None:
    huge = "staff get 12 days " * 20_000
    assert of(huge, LEAVE).score < 1
    assert "supported" == of("staff get 12 days", huge).verdict
    assert "not_found" == of("Visitors wait outside the main hall", "x" * 300_000).verdict


def test_document_frequencies_are_immutable_and_have_a_digest() -> None:
    table, same, same_table = (
        DocumentFrequencies.from_texts(["b a", "a c", "a"]),
        DocumentFrequencies(3, {"c": 1, "a": 3, "b": 1}),
        DocumentFrequencies.from_texts(["a"]),
    )
    assert table.digest == same.digest != same_table.digest
    assert table.idf_weight("b") == table.idf_weight("unheard") > table.idf_weight("a") > 0
    assert 1.0 == same_table.idf_weight("a")
    with pytest.raises(TypeError):
        table.counts["a"] = 5  # type: ignore[index]


def test_rarity_decides_which_words_count() -> None:
    idf = DocumentFrequencies.from_texts(["the staff"] * 30 + ["quorum staff"])
    text = "staff assemble here"
    assert of("quorum staff", text, idf=idf).c4 < of("quorum staff", text).c4


def test_selected_sources_score_as_if_indexed_alone() -> None:
    chunks = [("a", LEAVE), ("b", PHEP), ("c", "Full-time staff get 12 days. " * 300)]
    together = IndexedSources(chunks, DocumentFrequencies.from_texts([LEAVE, PHEP, "staff"]))
    for ids in (["a"], ["b", "c"], ["a", "b", "c"], []):
        alone = IndexedSources([chunk for chunk in chunks if chunk[0] in ids], together.idf)
        for claim in ("Full-time staff get 12 days", "Nhân viên được nghỉ 12 ngày", "Visitors wait outside"):
            assert score_support(claim, alone) == score_support(claim, together.select_sources(ids))


def test_round_numbers_agree_with_the_same_numbers_in_dates() -> None:
    """Regression: 20 and 2020 were stored as 2E+1 and 2.02E+3 and matched no date."""
    support = of("It closed in 2020, on the 20th", "The office closed on December 20, 2020.")
    assert (0.0, ()) == (support.dig, support.missing_facts)

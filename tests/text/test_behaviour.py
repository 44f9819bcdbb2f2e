"""Detected behaviour of labelled answers in every spelling; the phrase filter never excludes a refusal."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.text.behaviour_cases import HELD_OUT, TUNED, Labelled

from assay.text.normalisation import fold_text
from assay.text.refusals.behaviour import detect_behaviour, detect_phrases
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates, mark_answers_open_to_model
from assay.text.refusals.detected_behaviour import NO_BEHAVIOUR, DetectedBehaviour
from assay.text.refusals.lexicons_in_use import load_rules
from assay.text.refusals.refusal_lexicon import expand_template
from assay.text.refusals.refusal_rules import MOST_UNFILTERED_CHARACTERS, LexiconGroup, RefusalRules

ALL = (*TUNED, *HELD_OUT)
PHRASES = sorted(load_rules("common").by_phrase)


def _bare(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text).replace("đ", "d").replace("Đ", "D")
    return "".join(c for c in decomposed if not unicodedata.combining(c))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "capitals": str.upper,
    "no diacritics": _bare,
    "curly apostrophes": lambda text: text.replace("'", "’"),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "line breaks": lambda text: re.sub(r"(?<=\w) (?=[^\W\d])", "\n", text),
}


@pytest.mark.parametrize("case", TUNED, ids=lambda case: case.text[:40])
def test_every_answer_the_rules_were_made_on_is_seen_right(case: Labelled) -> None:
    assert case.behaviour == detect_behaviour(case.text).behaviour


def test_answers_the_rules_were_not_made_on_are_seen_right_at_least_95_times_in_100() -> None:
    right = sum(case.behaviour == detect_behaviour(case.text).behaviour for case in HELD_OUT)
    assert right / len(HELD_OUT) >= 0.95


def test_the_labelled_answers_are_enough_and_of_every_kind() -> None:
    for part in (TUNED, HELD_OUT):
        counts = {case.behaviour: 0 for case in part}
        for case in part:
            counts[case.behaviour] += 1
        assert {"answer", "abstain", "permission_denied", "escalate", ""} == set(counts)
        assert min(counts.values()) >= 3
    assert len(ALL) >= 150
    assert len(ALL) == len({case.text for case in ALL})


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_spelling_makes_no_difference(spelling: str) -> None:
    differ = [
        case.text
        for case in ALL
        if detect_behaviour(case.text).behaviour != detect_behaviour(SPELLINGS[spelling](case.text)).behaviour
    ]
    assert [] == differ


def test_every_answer_that_is_not_plain_is_a_candidate() -> None:
    for spelling in SPELLINGS.values():
        texts = [spelling(case.text) for case in ALL]
        plain = [detect_phrases(text) == detect_phrases("12 days") for text in texts]
        assert not [
            text
            for text, candidate_mask, same in zip(texts, find_behaviour_candidates(texts), plain, strict=True)
            if not (candidate_mask or same)
        ]


@pytest.mark.parametrize(
    "phrase",
    ["không đủ thông tin", "không tìm thấy thông tin", "không có thông tin", "không thể xác định", "không có quyền"],
)
def test_the_five_phrases_of_the_brief_are_refusals(phrase: str) -> None:
    """Alone, in a sentence, decomposed, and without diacritics; the last one is a denial and not an abstention."""
    expected = "permission_denied" if phrase == "không có quyền" else "abstain"
    for text in (
        phrase,
        f"Xin lỗi, tôi {phrase}.",
        f"{phrase.upper()}!",
        unicodedata.normalize("NFD", phrase),
        _bare(phrase),
    ):
        assert expected == detect_behaviour(text).behaviour
        assert detect_behaviour(text).has_refusal


def test_a_refusal_followed_by_a_claim_is_an_answer_that_keeps_its_flag() -> None:
    detected = detect_behaviour("I don't have enough information, but the limit is 600 per minute.")
    assert DetectedBehaviour("answer", True, True, True, "not have enough information", False) == detected


def test_a_leak_after_a_denial_is_an_answer() -> None:
    detected = detect_behaviour("Bạn không có quyền xem, nhưng dải lương bậc E5 là 45 triệu đồng.")
    assert ("answer", True) == (detected.behaviour, detected.has_refusal)


def test_a_quoted_refusal_is_seen_and_does_not_count() -> None:
    detected = detect_behaviour("ERR-403 means 'không có quyền'.")
    assert ("answer", False, True) == (detected.behaviour, detected.has_refusal, detected.has_quoted_phrase)


def test_advice_to_contact_someone_alone_is_left_to_the_targets_own_word() -> None:
    detected = detect_behaviour("Please contact the Legal department.")
    assert ("escalate", False) == (detected.behaviour, detected.is_decided_by_text)


@pytest.mark.parametrize("text", ["", " \n\t", "🙂👩‍💻", "\u200b", "…", "\x00\x07"])
def test_a_text_without_words_to_read_is_undecided_and_no_refusal(text: str) -> None:
    assert NO_BEHAVIOUR == detect_behaviour(text)
    assert find_behaviour_candidates([text])[0]


def test_a_short_value_is_an_answer() -> None:
    for text in ("600", "14", "E5", "Có.", "No."):
        detected = detect_behaviour(text)
        assert ("answer", True) == (detected.behaviour, detected.is_decided_by_text)


def test_the_same_phrase_counts_by_who_says_it() -> None:
    assert "abstain" == detect_phrases("I do not have enough information.").behaviour
    assert "answer" == detect_phrases("Customers do not have enough information.").behaviour
    assert "permission_denied" == detect_phrases("Bạn không có quyền xem.").behaviour
    assert "answer" == detect_phrases("Nhân viên không có quyền xem.").behaviour
    assert "answer" == detect_phrases("Nếu bạn không có quyền xem, hãy xin quyền.").behaviour


def test_the_first_phrase_is_reported_for_every_hash_seed() -> None:
    text = "I don't know. I can't find any details. There is no information about it."
    assert "not know" == detect_behaviour(text).phrase


WORDS = st.text(alphabet=st.characters(codec="utf-8"), max_size=30)


@given(st.text())
@example("0\N{MICRO SIGN}")
@example("0\N{LEFT-POINTING ANGLE BRACKET}")
def test_a_text_that_is_not_marked_is_a_plain_answer(text: str) -> None:
    assert find_behaviour_candidates([text])[0] or detect_phrases(text) == detect_phrases("12 days")
    is_marked = find_behaviour_candidates([text])[0] or mark_answers_open_to_model([text])[0]
    assert is_marked or detect_behaviour(text) == detect_phrases("12 days")


@given(
    before=WORDS,
    phrase=st.sampled_from(PHRASES),
    after=WORDS,
    contracted=st.booleans(),
    spelling=st.sampled_from(sorted(SPELLINGS)),
    space=st.sampled_from([" ", "\n", "\u00a0 "]),
)
def test_a_phrase_in_any_text_and_spelling_is_marked(
    before: str, phrase: str, after: str, contracted: bool, spelling: str, space: str
) -> None:
    """Advice to contact someone is searched for only in short texts; these are short."""
    written = SPELLINGS[spelling](re.sub(r"(?:^| )not\b", "n't", phrase) if contracted else phrase)
    assert find_behaviour_candidates([f"{before} {written.replace(' ', space)} {after}"])[0]


def test_every_phrase_is_folded_text_of_two_words_or_more_and_long_enough_to_look_up() -> None:
    for phrase in PHRASES:
        assert fold_text(phrase) == phrase
        assert len(phrase.split(" ")) >= 2
        assert len(re.sub(r"[^a-z0-9]", "", re.sub(r"\bnot\b", "nt", phrase))) >= 6


def test_templates_expand_to_all_their_choices() -> None:
    assert ["a x", "a y", "b x", "b y", "x", "y"] == expand_template("{a,b,} {x,y}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "khong co quyen ",
        "neu khong co quyen ",
        "i do not have permission, ",
        '"i do not know" ',
        "not ",
        "'a ",
        "but ",
        "- \n",
        "i can not share it. ",
    ],
)
def test_a_million_characters_are_read_in_under_a_second(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000] + "!"
    start = time.process_time()
    detect_behaviour(text)
    find_behaviour_candidates([text])
    assert time.process_time() - start < 1


@given(st.lists(st.text(), max_size=4))
def test_texts_of_a_small_run_are_examined_without_building_the_filters(texts: list[str]) -> None:
    rules = RefusalRules(load_rules("common").lexicons)
    assert not rules.is_filter_worthwhile(texts)
    assert "strong_filter" not in vars(rules)
    assert rules.is_filter_worthwhile(["a" * MOST_UNFILTERED_CHARACTERS])
    assert rules.is_filter_worthwhile(["12 days"])  # once it pays, it goes on paying


def test_phrases_are_grouped_by_their_first_two_tokens_however_they_are_written() -> None:
    rules = load_rules("common")
    by_tokens: dict[tuple[str, str], set[int]] = {}
    for phrase in rules.by_phrase:
        first, second = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", phrase)[:2]
        by_tokens.setdefault((first, second), set()).add(len(phrase))
    for (first, second), lengths in by_tokens.items():
        assert tuple(sorted(lengths, reverse=True)) == rules.list_phrases(f"{first} {second}").lengths


@pytest.mark.parametrize("group", ["common", "latin"])
def test_phrases_by_their_first_words_are_those_of_the_lexicons(group: LexiconGroup) -> None:
    rules = load_rules(group)
    starts = {start for lexicon in rules.lexicons.values() for row in lexicon.rows for start in row.starts}
    cues = {phrase: meant for start in starts for phrase, meant in rules.list_phrases(start).cues.items()}
    assert rules.by_phrase == cues
    assert rules.list_phrases("no such").cues == {}


@pytest.mark.parametrize(
    ("question", "answer", "behaviour"),
    [
        ("Where do I pick up my order?", "Please ask at the counter.", "answer"),
        ("Who handles refunds?", "Please contact Mia in room 4.", "answer"),
        ("How can I reach support?", "Please contact help@cannot.example.", "answer"),
        ("Who signed the lease?", "Please contact the registry.", "escalate"),
        ("How do I get my money back?", "Please contact support.", "escalate"),
        ("", "Please contact support.", "escalate"),
    ],
)
def test_naming_someone_answers_a_question_whom_to_contact(question: str, answer: str, behaviour: str) -> None:
    assert behaviour == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize(
    ("answer", "behaviour"),
    [
        ("Connecting you with an agent now.", "escalate"),
        ("That looks serious. Passing you to the fraud desk now.", "escalate"),
        ("Your letter has been referred to the conservation department.", "escalate"),
        ("The lease, as produced to us, does not mention subletting.", "abstain"),
        ("The call was transferred to billing at 10:42.", "answer"),
    ],
)
def test_hand_overs_and_subjects_are_read_by_structure(answer: str, behaviour: str) -> None:
    assert behaviour == detect_phrases(answer).behaviour

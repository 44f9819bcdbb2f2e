"""What an answer does, by its wording: the models that ship, what they learned from, and what they make of answers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks.refusals import UNSEEN_SETS, LabelledAnswer, count_verdicts, read_set
from benchmarks.train_refusal_model import (
    FOLDER,
    TrainingAnswer,
    choose_freedom,
    digest_training_set,
    format_parameters,
    make_signs,
    make_training_set,
    read_answers,
    read_records,
    train_model,
)
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.text.normalisation import fold_case, fold_text, normalise_nfc
from assay.text.refusals.behaviour import detect_behaviour, detect_phrases, select_lexicons
from assay.text.refusals.behaviour_candidates import find_behaviour_candidates, mark_answers_open_to_model
from assay.text.refusals.detected_behaviour import PLAIN_ANSWER, UNKNOWN
from assay.text.refusals.refusal_model import (
    ACTS,
    HEADS,
    LONGEST_READ,
    ActScores,
    AnswerAct,
    RefusalModel,
    compare_scores,
)
from assay.text.refusals.refusal_model_file import MODEL_FOLDER, MODEL_LANGUAGES, load_model
from assay.text.refusals.weighed_wording import weigh_wording
from assay.text.refusals.wording_features import GROUPS, mark_words, prepare_wording, read_features
from assay.text.refusals.wording_reasons import explain_refusal, explain_wording

REFUSALS = ("abstain", "permission_denied", "escalate")
QUICKEST = "fr"  # of few answers, so that a test can train its model again


@pytest.fixture
def _shipped_lexicons() -> Iterator[None]:
    yield
    select_lexicons(())


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_every_model_learned_from_the_committed_answers(language: str) -> None:
    recorded = json.loads(MODEL_FOLDER.joinpath(f"{language}.json").read_text("utf-8"))["learned_from"]
    assert recorded == digest_training_set(language)


def test_the_committed_answers_give_the_shipped_bytes(tmp_path: Path) -> None:
    model = train_model(QUICKEST)
    np.save(tmp_path / "weights.npy", model.table)
    assert (tmp_path / "weights.npy").read_bytes() == MODEL_FOLDER.joinpath(f"{QUICKEST}.npy").read_bytes()
    assert format_parameters(QUICKEST, model) == MODEL_FOLDER.joinpath(f"{QUICKEST}.json").read_text("utf-8")


@pytest.mark.parametrize("language", MODEL_LANGUAGES)
def test_many_authors_wrote_what_a_model_learns_from(language: str) -> None:
    answers = read_answers(language)
    assert len({answer.author for answer in answers}) >= 5
    assert sum(answer.act == "answer" for answer in answers) >= 0.3 * len(answers)


def test_no_model_learned_from_an_unseen_set() -> None:
    unseen = {answer.text for name in UNSEEN_SETS for answer in read_records(FOLDER / f"{name}.jsonl")}
    for language in MODEL_LANGUAGES:
        shared = {answer.text for answer in read_answers(language) if len(answer.text) > 60} & unseen
        assert not shared


UNSEEN_FLOORS = {"en": (0.90, 0.96, 0.8), "vi": (0.91, 0.97, 0.8), "six": (0.84, 0.91, 0.65)}
"""Least recall and precision, and least share of partial refusals that are told, over all sets."""


def test_answers_by_authors_that_no_model_saw_are_told() -> None:
    answers_by_part: dict[str, list[LabelledAnswer]] = {}
    for name in UNSEEN_SETS:
        for part, answers in read_set(name).items():
            answers_by_part.setdefault(part, []).extend(answers)
    for part, (least_recall, least_precision, least_partial) in UNSEEN_FLOORS.items():
        counts = count_verdicts(answers_by_part[part])
        assert counts.recall >= least_recall, part
        assert counts.precision >= least_precision, part
        assert counts.partial_told >= least_partial * counts.partials, part
        assert counts.asked_back >= 0.9 * counts.questions_back, part


@pytest.mark.parametrize(
    ("answer", "question", "expected"),
    [
        ("That one's locked in the vault, I can't share it.", "What is in the will?", "refusal"),
        ("You are not allowed to see this price.", "What does item 5 cost?", "refusal"),
        ("My notes say nothing about the warranty.", "How long is the warranty?", "refusal"),
        ("Ghi chú của tôi không nhắc đến chuyện bảo hành.", "Bảo hành bao lâu?", "refusal"),
        ("Ghi chu cua toi khong nhac den chuyen bao hanh.", "Bao hanh bao lau?", "refusal"),
        ("Über den Preis schweigt sich das Heft aus.", "Was kostet die Karte?", "refusal"),
        ("资料里没有写闭馆时间。", "博物馆几点闭馆?", "refusal"),
        ("There is no evidence to suggest that goat milk produces mucus.", "Does goat milk produce mucus?", "answer"),
        ("No, there is no fee for early repayment.", "Is there a fee for early repayment?", "answer"),
        ("Không, trả nợ trước hạn không mất phí.", "Trả nợ trước hạn có mất phí không?", "answer"),
        ("Nein, Hunde dürfen nicht mit.", "Dürfen Hunde mit?", "answer"),
    ],
)
def test_free_wording_is_read_by_what_it_means(answer: str, question: str, expected: str) -> None:
    behaviour = detect_behaviour(answer, question=question).behaviour
    assert behaviour in (REFUSALS if expected == "refusal" else ("answer",))


def test_the_scores_are_the_sums_of_what_runs_and_measures_weigh() -> None:
    model = load_model("en")
    text, question = "no price is named in the leaflet. it lists rooms.", "what is the price?"
    features = read_features(text, question, "en", model.parameters.denials, ["phrases answer"])
    assert features.denies
    weight_of = {int(row["key"]): row["weights"].tolist() for row in model.table}
    counts = np.bincount(features.groups, minlength=len(GROUPS)).tolist()
    lengths = (1.4, 1.0, 1.0, 0.5, 0.6, 0.5, 0.8)
    for head, name in enumerate(HEADS):
        total = math.fsum(
            lengths[group] / math.sqrt(counts[group]) * weight_of[key][head] * model.parameters.scales[head]
            for key, group in zip(features.keys.tolist(), features.groups.tolist(), strict=True)
            if key in weight_of
        )
        total += math.fsum(value * model.parameters.measures[name][head] for name, value in features.measures)
        assert model.score_features(features)[name] == pytest.approx(total)


def test_the_highest_score_counts_and_the_margin_is_to_the_next() -> None:
    scores: dict[str, float] = dict(zip(HEADS, (0.1, -0.2, 0.8, -1.0, 0.2, 0.3, 0.1), strict=True))
    compared = compare_scores(scores)
    assert ("partial", "permission_denied") == (compared.act, compared.kind)
    assert compared.margin == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("language", "yes_or_no", "others"),
    [
        ("en", ("is it open?", "can i swim?"), ("who dug it?", "how many boats are there?", "boats")),
        ("vi", ("có mở cửa không?", "co mo cua khong?"), ("ai đào hồ?", "có bao nhiêu thuyền?", "thuyền")),
    ],
)
def test_the_first_words_count_by_what_is_asked_for(
    language: str, yes_or_no: tuple[str, str], others: tuple[str, ...]
) -> None:
    group = GROUPS.index("opening")

    def list_opening(question: str) -> set[int]:
        features = read_features("no lake.", question, language)
        return set(features.keys[features.groups == group].tolist())

    first, second = map(list_opening, yes_or_no)
    assert first
    assert first == second
    openings = [first, *map(list_opening, others)]
    assert len(set[int]().union(*openings)) == sum(map(len, openings))  # none is shared
    assert not list_opening("")


@pytest.mark.parametrize(
    ("language", "answer_score", "expected"),
    [("en", 0.25, UNKNOWN), ("en", 0.05, "abstain"), ("vi", 0.25, UNKNOWN), ("vi", 0.15, "abstain")],
)
def test_a_refusal_must_lead_by_the_margin_of_its_language(language: str, answer_score: float, expected: str) -> None:
    class ScoredModel(RefusalModel):
        def score_text(self, text: str, question: str = "", cues: Sequence[str] = ()) -> ActScores:
            scores: dict[str, float] = dict(zip(HEADS, (answer_score, 0.47, -1.0, -1.0, 0.5, 0.0, 0.0), strict=True))
            return replace(compare_scores(scores), denies=True)

    shipped = load_model(language)
    model = ScoredModel(language, shipped.table, shipped.parameters)
    assert expected == weigh_wording(PLAIN_ANSWER, "Not here.", "Where is it?", model).behaviour


def test_a_part_that_denies_weighs_the_same_behind_a_long_report() -> None:
    denials = frozenset(("not say", "say"))
    short = read_features("it does not say.", "", "en", denials)
    long = read_features("the plan shows two halls: one large. " * 9 + "it does not say.", "", "en", denials)
    group = GROUPS.index("denying")
    shared = set(short.keys[short.groups == group].tolist())
    assert shared == set(long.keys[long.groups == group].tolist())
    assert shared
    assert not read_features("the plan shows two halls.", "", "en", denials).denies


def test_a_run_may_weigh_the_more_freely_the_more_one_sided_its_answers_are() -> None:
    texts: list[tuple[AnswerAct, str]] = [("refuse", "zzz yyy"), ("answer", "zzz xxx")] * 4
    answers = [
        TrainingAnswer("de", act, "", text, "", f"file {place}", f"author {place}")
        for place, (act, text) in enumerate(texts)
    ]
    training = make_training_set(answers)
    freedom = choose_freedom(training, make_signs(training.answers, ("refuse",), "act"), range(len(answers)))[:, 0]
    of_both = np.intersect1d(training.columns[0], training.columns[1])
    shared = of_both[of_both < len(training.keys)]
    one_sided = np.setdiff1d(training.columns[0], of_both)
    assert freedom[shared].max() < 1.0 < freedom[one_sided].min()
    assert np.all(freedom[len(training.keys) :] == 1.0)


def test_a_model_of_vietnamese_reads_diacritics() -> None:
    assert ("chưa có", "chua co") == (prepare_wording("Chưa có", "vi"), prepare_wording("Chưa có", "fr"))
    # a question typed without diacritics names the same thing
    assert ["chưa", "Q", "."] == mark_words("chưa giao hàng.", "giao hang", "vi")


@given(st.text(max_size=200))
def test_folding_case_alone_and_then_diacritics_is_folding(text: str) -> None:
    assert fold_text(fold_case(text)) == fold_text(normalise_nfc(text))


def test_what_the_question_named_is_one_mark() -> None:
    assert ["the", "map", "has", "no", "Q", "."] == mark_words("the map has no wells.", "how many wells?", "en")
    assert ["Q", "不", "明", "."] == mark_words("价格不明.", "价格是多少", "zh")
    assert ["#q", "or", "#n"] == mark_words("12 or 13", "why 12?", "en")


@given(st.text(max_size=200), st.text(max_size=80), st.sampled_from(MODEL_LANGUAGES))
def test_any_text_has_an_act(text: str, question: str, language: str) -> None:
    prepared = prepare_wording(text, language), prepare_wording(question, language)
    scored = load_model(language).score_text(*prepared)
    assert scored.act in ACTS
    assert scored.margin >= 0.0
    assert scored == load_model(language).score_text(*prepared)


def test_what_phrases_leave_undecided_stays_so_without_a_question() -> None:
    answer = "Please contact the Legal department."
    assert not detect_behaviour(answer).is_decided_by_text
    assert detect_phrases(answer) == detect_behaviour(answer)


def test_without_a_question_phrases_decide() -> None:
    answer = "The passages do not mention the price. They say that 12 stalls sold lamps in 1931."
    assert detect_phrases(answer) == detect_behaviour(answer)


def test_a_very_long_answer_is_left_to_the_phrases() -> None:
    answer = "My notes say nothing about the warranty. " + "The shop is near the old market. " * 100
    assert len(answer) > LONGEST_READ
    assert detect_phrases(answer) == detect_behaviour(answer, question="How long is the warranty?")


@pytest.mark.usefixtures("_shipped_lexicons")
def test_a_language_whose_lexicon_the_user_replaced_has_no_model(tmp_path: Path) -> None:
    answer = "That one's locked in the vault, I can't share it."
    assert detect_behaviour(answer).behaviour in REFUSALS
    lexicon = tmp_path / "en.yaml"
    lexicon.write_text(
        "language: en\ncommon: [the, it, that]\nsubjects: {speaker: [i]}\nphrases: {abstain: ['{i do not know}']}\n",
        "utf-8",
    )
    select_lexicons([str(lexicon)])
    assert "answer" == detect_behaviour(answer).behaviour


def test_a_text_without_a_phrase_is_weighed_as_if_phrases_had_been_looked_for() -> None:
    texts = [answer.text for answer in read_records(FOLDER / f"{UNSEEN_SETS[0]}.jsonl")]
    may_hold_phrase = find_behaviour_candidates(texts).tolist()
    assert not all(may_hold_phrase)
    for text, is_marked in zip(texts, may_hold_phrase, strict=True):
        detected = detect_behaviour(text, question="What is the price?", may_hold_phrase=is_marked)
        assert detected == detect_behaviour(text, question="What is the price?")


def test_what_a_model_reads_is_marked_whatever_its_words() -> None:
    texts = ["Floor plans stop at level five.", "Mòng biển.", "x" * LONGEST_READ, "x" * (LONGEST_READ + 1), ""]
    assert mark_answers_open_to_model(texts).tolist() == [True, True, True, False, False]


def test_reasons_name_runs_that_others_wrote_too() -> None:
    reasons = explain_wording("Sorry, my Orion 7 notes are blank on this.", "Who owns the Orion?")
    assert reasons.counting_for
    named = " ".join(reasons.counting_for + reasons.counting_against)
    assert "orion" not in named
    assert not any(map(str.isdigit, named))
    explained = explain_refusal("Sorry, my Orion 7 notes are blank on this.", "Who owns the Orion?")
    assert not any("orion" in item.phrase for item in explained)
    weights = [abs(item.weight) for item in explained]
    assert weights == sorted(weights, reverse=True)
    assert ((), ()) == explain_wording("")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who handles complaints?", "Complaints go to Mia."),
        ("How tall is the mast?", "The mast is about 77 metres tall."),
        ("What must I do?", "Please bring your passport."),
        ("Which data are secret?", "Names and pay are kept secret."),
        ("", "I've changed the font to Arial."),
        ("", "Hope this helps!"),
        ("", "The processor of the computer is a Corvus 7700."),
    ],
)
def test_a_statement_is_no_refusal(question: str, answer: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour in ("answer", "unknown")

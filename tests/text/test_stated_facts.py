"""Whether an answer states a fact in other words, denies it, lacks it or leaves it open."""

from __future__ import annotations

import pytest
from benchmarks.facts import assess_answer, read_answers
from tests.support.read_texts import score_keywords

from assay import score
from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case, GoldenSet, Rubric
from assay.records.observations import Observation
from assay.text.facts.fact_judgments import combine_states
from assay.text.facts.presence.mentioned_values import mentions_fact
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.stated_quantities import judge_quantities


def judge(answer: str, fact: str, question: str = "") -> str:
    return judge_facts(answer, [fact], question)[0].state


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("Approval by the finance director is needed.", "finance director approves"),
        ("At rest, data is encrypted using AES-256.", "AES-256 encryption"),
        ("Batteries are covered for two years.", "24 months"),
        ("Many guess Sydney, but the capital is Canberra.", "Canberra"),
        ("There's a warranty of 24 months, not 12.", "24 months"),
        ("No, aspirin doesn't cure colds.", "does not cure a cold"),
        ("Mỗi năm có sáu ngày nghỉ.", "nghỉ 6 ngày"),
        ("It is a myth that it is 10 days; in fact it is 12 days.", "12 days"),
    ],
)
def test_a_fact_in_other_words_is_stated(answer: str, fact: str) -> None:
    assert "stated" == judge(answer, fact)


@pytest.mark.parametrize(
    "answer",
    [
        "None of the staff get 12 days.",
        "Staff do not get 12 days.",
        "It is a myth that staff get 12 days.",
        "Staff get less than 12 days.",
        "Staff get more than 12 days.",
        "Hardly anyone gets 12 days.",
        "Không ai được nghỉ 12 ngày.",
    ],
)
def test_a_fact_that_is_undone_is_denied(answer: str) -> None:
    assert "denied" == judge(answer, "12 days")


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Maybe 12 days.", ""),
        ("12 or 14 days.", ""),
        ("Is it 12 days?", ""),
        ("Previously 12 days, now 10.", ""),
        ("Only some of them get 12 days.", ""),
        ("In Da Nang it is 12 days.", "How long is it in Hanoi?"),
        ("The library grants 12 days.", "How many days does the museum grant?"),
        ("In 2004 it was 12 days.", "How long was it in 1896?"),
    ],
)
def test_a_fact_in_doubt_or_about_something_else_is_unknown(answer: str, question: str) -> None:
    assert "unknown" == judge(answer, "12 days", question)


@pytest.mark.parametrize(
    ("answer", "fact", "state"),
    [
        ("The roof costs 7 450 euros.", "7 450 euros", "stated"),
        ("The roof costs 7,450 euros.", "7 450 euros", "stated"),
        ("The roof costs 7 480 euros.", "7 450 euros", "missing"),
        ("The roof costs 8 450 euros.", "7 450 euros", "missing"),
        ("The depot holds 31 220 crates.", "31 640 crates", "missing"),
        ("Ring 0384 661 207.", "0384 661 270", "missing"),
    ],
)
def test_a_number_written_in_groups_is_stated_as_a_whole(answer: str, fact: str, state: str) -> None:
    """Regression: each half of "7 480" counted as a reading of it, so that 7 480 and 7 450 agreed in the 7."""
    assert state == judge_facts(answer, [fact], "What is it?")[0].state


def test_numbers_and_names_must_be_there_and_other_words_may_be_others() -> None:
    assert "missing" == judge("Staff get a lot of paid leave.", "12 days of leave")
    assert "missing" == judge("The trial was written by Max Brod.", "Franz Kafka")
    assert "unknown" == judge("The manager has to sign it.", "manager approves")
    assert "missing" == judge("Nobody has to sign it.", "manager approves")


def test_an_employer_is_no_employee() -> None:
    assert "stated" != judge("The employer pays.", "employee pays")


def test_quantities_of_a_reference_are_judged_one_by_one() -> None:
    states = [judged.state for judged in judge_quantities("It costs $5. Maybe $7, not $9.", "$5, $7, $9 and $11")]
    assert ["stated", "unknown", "denied", "missing"] == states


def test_an_answer_is_as_good_as_its_worst_fact() -> None:
    assert combine_states(["stated", "stated"]) is True
    assert combine_states(["stated", "unknown"]) is None
    assert combine_states(["unknown", "denied"]) is False


def test_what_is_unknown_is_neither_right_nor_wrong() -> None:
    case = Case("a", "How much leave?", must_have=("12 days",))
    quality = assess_answer_text(case, "Maybe 12 days.")
    assert quality is not None
    assert (None, (), ('12 days (the answer is not sure of this ("maybe"))',)) == (
        quality.good,
        quality.missing,
        quality.unknown,
    )
    run = score(
        GoldenSet((case,)),
        [Observation("a", "c", answer="Maybe 12 days.")],
        metrics="correct_answer, completeness(by=rules), correct_answer_unknown",
    )
    summary = run.summary("c")
    assert 1.0 == summary["correct_answer_unknown"].value
    assert [None, None] == [summary[name].value for name in ("correct_answer", "completeness(by=rules)")]


def test_a_keyword_in_other_words_counts_and_one_in_doubt_is_flagged() -> None:
    grade = score_keywords("Approval by the manager is needed.", ["manager approves"])
    assert (1.0, ("manager approves",)) == (grade.score, grade.matched)
    assert score_keywords("None of the staff get 12 days.", ["12 days"]).negated
    grade = score_keywords("The manager signs.", ["manager approves"])
    assert (None, ("manager approves",)) == (grade.score, grade.unknown)


def test_any_keyword_decides_although_others_are_unknown() -> None:
    rubric = Rubric(correct_keywords=("manager approves", "14 days"))
    quality = assess_answer_text(Case("a", "?", rubric=rubric), "The manager signs within 14 days.")
    assert quality is not None
    assert quality.good


FLOORS = {
    "forms": (0.9, 0.75),
    "quantities": (0.9, 0.85),
    "statements": (0.85, 0.85),
    "ferry": (0.95, 0.95),
    "clinic": (0.9, 0.9),
    "worlds": (0.85, 0.9),
    "worlds-vi": (0.85, 0.95),
    "marathon": (0.95, 0.79),
    "reception": (0.9, 0.9),
    "reception-vi": (0.9, 0.85),
    "clubhouse": (0.9, 0.85),
    "bulletins": (0.95, 0.86),
    "terms": (0.95, 0.85),
}
"""Least share of right answers that do not fail and of wrong ones that do not pass, of each half."""


@pytest.mark.parametrize("name", FLOORS)
@pytest.mark.parametrize("half", ["development", "untouched"])
def test_right_answers_do_not_fail_and_wrong_ones_do_not_pass(name: str, half: str) -> None:
    outcomes: dict[bool, list[str]] = {True: [], False: []}
    for answer in read_answers(name)[half]:
        outcomes[answer.is_right].append(assess_answer(answer))
    least_right, least_wrong = FLOORS[name]
    assert outcomes[True].count("failed") <= (1 - least_right) * len(outcomes[True])
    assert outcomes[False].count("passed") <= (1 - least_wrong) * len(outcomes[False])


def test_answers_that_touch_the_words_of_rules_are_not_judged_worse() -> None:
    """Its right answers use the words for which rules on denials, lists, thresholds and former values look."""
    outcomes: dict[bool, list[str]] = {True: [], False: []}
    for answer in read_answers("reviewed")["development"]:
        outcomes[answer.is_right].append(assess_answer(answer))
    assert (548, 94) == (len(outcomes[True]), len(outcomes[False]))
    assert outcomes[True].count("passed") >= 420
    assert outcomes[True].count("failed") <= 15
    assert outcomes[False].count("passed") <= 20


def test_an_alternative_to_what_is_negated_is_open() -> None:
    answer = "401: chưa xác thực hoặc token sai, hết hạn; 403: đã xác thực nhưng không có quyền."
    assert ["stated", "stated", "unknown"] == [judged.state for judged in judge_facts(answer, ("401", "403", "token"))]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The pump must not run dry for more than 20 seconds.", "stated"),
        ("The pump is not allowed to run dry for more than 20 seconds.", "stated"),
        ("The pump runs dry for more than 20 seconds.", "denied"),
        ("The pump is not forbidden to run dry for more than 20 seconds.", "denied"),
    ],
)
def test_the_end_of_a_forbidden_excess_is_stated(answer: str, state: str) -> None:
    (judged,) = judge_facts(answer, ["20 seconds"], "For how many seconds may the pump run dry?", "20 seconds at most.")
    assert state == judged.state


def test_a_number_of_a_name_in_the_question_is_no_value() -> None:
    question = "What is the rated flow of the Kestrel 40?"
    answers = ("For the Kestrel 40, the head is 18 metres.", "For the Kestrel 40, it is 40 litres per minute.")
    judged = [judge_quantities(answer, "It moves 40 l/min.", question=question)[0].state for answer in answers]
    assert ["missing", "stated"] == judged


@pytest.mark.parametrize(
    ("answer", "fact", "state"),
    [
        ("90 cubic metres per hour", "90 m3/h", "stated"),
        ("1.5 cubic metres per minute", "90 m3/h", "stated"),
        ("40 millilitres per minute", "40 l/min", "denied"),
        ("1690 Norwegian kroner", "1,690 EUR", "missing"),
        ("44 hertz", "44 dB", "missing"),
        ("2 bar", "200 kPa", "stated"),
    ],
)
def test_flows_pressures_sounds_and_currencies_are_units(answer: str, fact: str, state: str) -> None:
    assert state == judge_facts(f"It is {answer}.", [fact])[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Below what water content is honey harvested?", "18 percent", "It is harvested below 18 percent.", "stated"),
        ("What water content has honey?", "18 percent", "It is harvested below 18 percent.", "denied"),
        ("Dưới bao nhiêu phần trăm nước?", "18%", "Mật ong được thu hoạch dưới 18% nước.", "stated"),
        ("At how many degrees are suits washed?", "40 degrees", "They are washed at 40 degrees Celsius.", "stated"),
        ("At which temperatures?", "15 to 29 degrees", "At 15 to 29 °C.", "stated"),
        ("At which temperature?", "40 degrees Celsius", "At 40 degrees Fahrenheit.", "missing"),
    ],
)
def test_bounds_that_are_asked_for_and_degrees_without_a_scale(
    question: str, fact: str, answer: str, state: str
) -> None:
    assert [state] == [judgment.state for judgment in judge_facts(answer, [fact], question)]


@pytest.mark.parametrize(
    ("answer", "facts", "states"),
    [
        ("It opens from 10am to 4pm.", ["10am", "4pm"], ["stated", "stated"]),
        ("Mở cửa từ 8 giờ đến 17 giờ.", ["8 giờ", "17 giờ"], ["stated", "stated"]),
        ("It opens from 10am to 4pm.", ["11am"], ["missing"]),
        ("It takes 3 to 5 days.", ["3 days", "5 days"], ["stated", "stated"]),
        ("It takes 3 to 5 days.", ["5 days"], ["missing"]),
        ("Leave was raised last year from 10 to 12 days.", ["12 days"], ["stated"]),
        ("Số ngày phép tăng từ 10 lên 12 ngày.", ["12 ngày"], ["stated"]),
        ("It takes 3 to 5 days.", ["4 days"], ["missing"]),
        ("It opens at 10am and closes at 4pm.", ["10am to 4pm"], ["unknown"]),
    ],
)
def test_a_range_of_times_states_its_ends_and_another_range_does_not(
    answer: str, facts: list[str], states: list[str]
) -> None:
    assert [judged.state for judged in judge_facts(answer, facts)] == states


def test_a_range_instead_of_its_end_is_named() -> None:
    assert (
        'the answer gives the range "3 to 5 days", not 5 days'
        == judge_facts("It takes 3 to 5 days.", ["5 days"])[0].reason
    )


@pytest.mark.parametrize("marker", ["[1]", "[hours:2]", "[hours-v2026-01#2]", "【4†source】", "[^2]"])
def test_the_numbers_of_a_citation_marker_state_nothing(marker: str) -> None:
    answer = f"It opens at 10am {marker}."
    assert ["stated"] == [judged.state for judged in judge_facts(answer, ["10am"])]
    assert ["missing"] * 2 == [judged.state for judged in judge_facts(answer, ["1", "2"])]


def test_an_identifier_in_brackets_may_be_what_was_asked_for() -> None:
    assert ["stated"] == [judged.state for judged in judge_facts("The ticket is [INC-2024-001].", ["INC-2024-001"])]


# ── whose value it is, and of what ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("How much is a locker?", "$2 per hour", "A locker is $2 per day.", "denied"),
        ("How much is a locker?", "$2 per hour", "It's $2 an hour.", "stated"),
        ("How much is a locker?", "$2 per hour", "Every hour costs you two dollars.", "stated"),
        ("What does a print cost?", "$2 per page", "Prints are $2 per file.", "unknown"),
        ("Which days are you open?", "Monday", "Every day except Monday.", "denied"),
        ("May I bring a guest?", "carer", "Guests are not allowed, except a carer.", "stated"),
        ("Who gets a refund?", "full refund", "Everyone gets a full refund, apart from members.", "stated"),
        ("Do members get a refund?", "full refund", "Everyone gets a full refund, apart from members.", "denied"),
        ("What is the maximum length?", "3 m", "It has to be at least 3 m long.", "denied"),
        ("What is the maximum length?", "3 m", "Anything longer than 3 m is refused.", "stated"),
        ("When does the gym close?", "8 pm", "The gym opens at 8 pm.", "denied"),
        ("When does the gym close?", "8 pm", "It is open until 8 pm.", "stated"),
        ("How many seats has the Opal room?", "40", "The Ruby room seats 40 and the Opal room 12.", "unknown"),
        ("What does the Opal room cost?", "$90", "The Ruby room is $60, and the Opal room is $90.", "stated"),
        ("When is it open on Friday?", "5 pm", "It closes at 5 pm on Mondays and at 3 pm on Fridays.", "denied"),
        ("How many pens do I get?", "two pens", "You get two books and five pens.", "denied"),
        ("Is it heated?", "heated", "Some say it is heated, but it is not.", "denied"),
        ("When are you open?", "1 pm", "We're open 1–5 pm.", "stated"),
        ("What does it cost?", "$1.50", "It's a dollar fifty.", "stated"),
        ("When is lunch?", "1:15 pm", "From 12:30 to 1:15.", "stated"),
        ("When do you close?", "4 pm", "We close at four.", "unknown"),
        ("Do we pay?", "no fines", "You don't pay anything, so don't worry.", "stated"),
        ("Is a permit needed?", "permit", "No permit is needed.", "denied"),
        ("Giá vé là bao nhiêu?", "5.000 đồng mỗi giờ", "Giá là 5.000 đồng mỗi ngày.", "denied"),
        ("Thẻ dùng bao lâu?", "12 tháng", "Thẻ dùng được một năm.", "stated"),
        ("Mở ngày nào?", "thứ Hai", "Tất cả các ngày trừ thứ Hai.", "denied"),
        ("Máy mở lúc mấy giờ?", "7 giờ 30", "Máy mở từ 7 giờ đến 11 giờ 30.", "missing"),
    ],
)
def test_rates_exceptions_limits_events_and_owners_of_a_value_are_read(
    question: str, fact: str, answer: str, state: str
) -> None:
    judged = judge_facts(answer, [fact], question)[0]
    assert (state, state == "stated") == (judged.state, judged.reason == "")


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("I lost my badge. What does it cost?", "$3", "Sorry to hear that! A new badge is $3."),
        ("Where is the tap?", "every floor", "There's one on every floor."),
        (
            "How long do you keep my data?",
            "30 days",
            "We delete it 30 days after you leave, unless you ask us to keep it.",
        ),
        ("Which deposit do I leave?", "$50", "You'd leave a $50 deposit."),
        ("What do I need?", "photo ID", "Bring a photo ID and something to write with."),
        (
            "How long is it lent?",
            "14 days",
            "| Item | Loan |\n|---|---|\n| Board game | **14 days** |\n| Ukulele | 28 weeks |",
        ),
    ],
)
def test_a_fact_that_occurs_word_for_word_without_a_rival_is_stated(question: str, fact: str, answer: str) -> None:
    assert "stated" == judge(answer, fact, question)


def test_an_answer_that_affirms_what_its_reference_forbids_is_unknown_and_not_right() -> None:
    case = Case("a", "How long may I keep it?", reference="14 days; it cannot be renewed.", must_have=("14 days",))
    quality = assess_answer_text(case, "Keep it for 14 days and renew it up to twice.")
    assert quality is not None
    assert (None, ('cannot be renewed (the answer says "renew" without denying it)',)) == (
        quality.good,
        quality.unknown,
    )
    right = assess_answer_text(case, "Keep it for 14 days. You can't renew it.")
    assert right is not None
    assert right.good


def test_a_denied_fact_is_named_as_denied() -> None:
    case = Case("a", "What do we need?", must_have=("permit", "ten days"))
    quality = assess_answer_text(case, "No permit is needed, just tell us ten days before.")
    assert quality is not None
    assert (False, ("permit",), ("permit",)) == (quality.good, quality.missing, quality.denied)
    assert quality.denials == ("permit (the answer says that this is not so)",)


@pytest.mark.parametrize(
    ("text", "fact"), [("Friday | 11:00 am | 4:00 pm", "4 pm"), ("$0.25 for each day", "$0.25 a day")]
)
def test_evidence_mentions_a_quantity_in_any_form(text: str, fact: str) -> None:
    assert mentions_fact(text, fact)
    assert not mentions_fact(text, "5 pm")


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("Where is remote work not allowed?", "Peru", "Remote work is not allowed in Peru.", "stated"),
        ("Where is remote work not allowed?", "Peru", "In Peru.", "stated"),
        ("Where is remote work not allowed?", "Peru", "It is forbidden in Peru.", "stated"),
        ("Where is remote work not allowed?", "Peru", "It is allowed everywhere except Peru.", "stated"),
        ("Where is remote work not allowed?", "Peru", "It is allowed in Peru.", "denied"),
        ("Which days are not bookable?", "Sunday", "You cannot book Sundays.", "stated"),
        ("Which days are not bookable?", "Sunday", "Only Sundays are bookable.", "denied"),
        ("Who may not enter the lab?", "visitors", "Visitors may not enter the lab.", "stated"),
        ("Who may not enter the lab?", "visitors", "Visitors may enter the lab.", "denied"),
        ("What isn't covered?", "batteries", "The warranty does not cover batteries or water damage.", "stated"),
        ("Why can't I log in?", "the password expired", "You can't log in because the password expired.", "stated"),
        ("Why can't I log in?", "the password expired", "Log in again, since the password expired.", "unknown"),
        ("What if I do not pay?", "the account is closed", "If you do not pay, the account is not closed.", "denied"),
        ("Khi nào không được nghỉ phép?", "tháng 12", "Không được nghỉ phép vào tháng 12.", "stated"),
        ("Ai không được vào kho?", "khách", "Khách không được vào kho.", "stated"),
        ("Ai không được vào kho?", "khách", "Khách được vào kho.", "denied"),
    ],
)
def test_an_answer_denies_what_its_question_denies(question: str, fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, (fact,), question, "")[0].state == state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("every day", "Daily.", "stated"),
        ("every day", "They are turned once a day.", "stated"),
        ("every day", "Every second day.", "denied"),
        ("every day", "Not every day.", "unknown"),
        ("every day", "They are turned daily and brushed every week.", "unknown"),
        ("every day", "They are turned.", "missing"),
        ("twice a week", "Twice weekly.", "stated"),
        ("every two days", "Every other day.", "stated"),
        ("hằng ngày", "Mỗi ngày một lần.", "stated"),
        ("hằng ngày", "Hằng tuần.", "denied"),
    ],
)
def test_frequencies_are_compared_in_whatever_words(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, (fact,), "How often are the wheels turned?", "")[0].state == state


def test_a_word_of_doubt_that_the_question_has_too_doubts_nothing() -> None:
    question, answer = "How many people may be in a cave?", "At most 3 people may be in a cave."
    assert judge_facts(answer, ("at most 3 people",), question, "")[0].state == "stated"
    assert judge_facts(answer, ("at most 3 people",), "How many people fit?", "")[0].state == "unknown"


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("Thursday", "Donnerstags, ab acht.", "stated"),
        ("Thursday", "Le jeudi.", "stated"),
        ("Thursday", "Los jueves.", "stated"),
        ("Donnerstag", "Donnerstags.", "stated"),
        ("Thursday", "Freitags.", "missing"),
        ("twice a week", "2x a week", "stated"),
        ("twice a week", "2×/week", "stated"),
        ("once a week", "1x per week", "stated"),
        ("twice a week", "2x a month", "denied"),
        ("15 rooms", "१५ rooms", "stated"),
        ("15 rooms", "१६ rooms", "missing"),
    ],
)
def test_days_and_digits_of_other_languages_and_counts_with_an_x_are_read(fact: str, answer: str, state: str) -> None:
    (judgment,) = judge_facts(answer, [fact])
    assert judgment.state == state

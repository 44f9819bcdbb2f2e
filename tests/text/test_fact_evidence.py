"""A fact is failed on positive evidence only: what other words or forms may say is open, what says otherwise is not."""

from __future__ import annotations

import pytest
from benchmarks.facts import assess_answer, list_answers

from assay.metrics.answers.expected_text import assess_answer_text
from assay.records.golden_set import Case
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.measures import find_measures


def judge(question: str, fact: str, reference: str, answer: str) -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("Who can collect it?", "anyone with a written authorisation", "A neighbour, with a note that you've signed."),
        ("May I bring my dog?", "only on a leash", "Sure, as long as he stays by your side."),
        ("Do I need to book?", "no booking needed", "You can simply walk in."),
        ("Is smoking allowed?", "not allowed", "It's a smoke-free building."),
        ("Who is the contact?", "Dr. Anna Berg", "Ask for Anna."),
        ("Who deals with it?", "HR", "The human resources department deals with it."),
        ("Where do I go?", "Reception", "Go to the counter at the door."),
        ("When is the desk staffed?", "Monday, Tuesday", "On weekdays."),
        ("When is it closed?", "Friday", "We're here from Monday to Thursday, the rest of the time it's shut."),
        ("At what scale is it drawn?", "1:25,000", "1 to 25,000."),
        ("Ai ký đơn?", "trưởng phòng", "Sếp trực tiếp của bạn."),
        ("Which database is used?", "PostgreSQL", "Postgres."),
        ("When is it on?", "Wednesday", "Each Wed, see you there."),
        ("Kho mở ngày nào?", "thứ Hai đến thứ Bảy", "Chủ nhật đóng cửa thôi."),
    ],
)
def test_words_that_other_words_may_stand_for_leave_a_fact_open(question: str, fact: str, answer: str) -> None:
    reference = "Go to the reception." if fact == "Reception" else ""
    assert "unknown" == judge(question, fact, reference, answer)


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer", "state"),
    [
        ("Who approves it?", "Anna Berg", "", "Peter Holm does.", "missing"),
        ("Who approves it?", "Dr. Anna Berg", "", "Ask Anna Holm or Peter Holm.", "missing"),
        ("Who deals with it?", "HR", "", "The IT department deals with it.", "missing"),
        ("When is the course?", "Monday", "", "On Tuesday.", "missing"),
        ("Who approves it?", "HR and Legal", "", "HR does.", "missing"),
        ("Who approves leave?", "the manager", "", "The documents do not say who approves leave.", "missing"),
        ("Who approves leave?", "the manager", "", "Leave is approved.", "missing"),
        ("Who approves leave?", "the manager", "", "The amount is 987654 bananas.", "missing"),
        ("", "the manager", "", "Bananas.", "missing"),
        ("Do I have to pay?", "yes, at the desk", "Yes, at the desk.", "No, nobody has to.", "denied"),
        ("Do I have to pay?", "at the desk", "Yes, at the desk.", "No, nobody has to.", "denied"),
        ("What does it cost?", "euro", "", "It is 12 Norwegian kroner.", "denied"),
        ("What does it cost?", "euro", "", "It is 12 euros.", "unknown"),
        ("Is it online?", "online", "", "It is offline.", "denied"),
        ("Is it online?", "online", "", "It isn't offline.", "unknown"),
    ],
)
def test_an_answer_that_says_otherwise_fails_a_fact(
    question: str, fact: str, reference: str, answer: str, state: str
) -> None:
    assert state == judge(question, fact, reference, answer)


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("How old must I be?", "at least 12 years", "Anyone who has turned twelve can come."),
        ("How old must I be?", "at least 12 years", "Sorry, we don't take under-12s."),
        ("How old must I be?", "at least 18 years", "You have to be of age."),
        ("How old must I be?", "from 12 years", "Children under 12 have to come with somebody."),
        ("How hot may it be?", "at most 40 °C", "Anything above 40 degrees ruins it."),
        ("How many do we have to be?", "at least 10 people", "Nine would still pay the full price."),
        ("Who travels free?", "children under 6", "Little ones up to five."),
        ("What discount is there?", "10%", "You pay 90% of the price."),
        ("What do I save?", "€5", "You pay 20 instead of 25 euros."),
        ("How much is it?", "€120 a year", "Ten euros a month."),
        ("How long does it take?", "3 working days", "Give it until the third working day."),
        ("How many seats are there?", "48", "Twelve rows of four."),
        ("How long may I keep it?", "4 hours", "From noon to 4 pm."),
        ("How long may I keep it?", "30 days", "You have a month."),
        ("How many may I bring?", "2 guests", "A couple of friends may come along."),
        ("When is it due?", "30 June", "At the end of June."),
        ("When does it leave?", "7:15", "Be there at 7.15."),
        ("When does the technician come?", "between 8 and 12", "Between 8 and 12 in the morning."),
        ("Is it free?", "free", "It's on the house."),
        ("Một bàn mấy bạn?", "5 bạn", "Năm bạn một bàn."),
        ("How is late return charged?", "200%", "It is charged double."),
        ("Trả trễ tính thế nào?", "200%", "Tính gấp đôi ạ."),
        ("How many absences are reported?", "5 absences", "Whoever has been away five times."),
        ("Phòng mấy người?", "6 người", "Sáu bạn một phòng."),
        ("Bao lâu?", "2 tuần", "Nửa tháng."),
        ("Bao lâu có hàng?", "24 giờ", "Trong ngày là có."),
    ],
)
def test_a_quantity_in_a_form_that_is_not_compared_is_open(question: str, fact: str, answer: str) -> None:
    assert "unknown" == judge(question, fact, "", answer)


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        ("How old must I be?", "at least 12 years", "At least 16 years."),
        ("How hot may it be?", "at most 40 °C", "More than 40 °C."),
        ("What discount is there?", "10%", "You pay 80% of the price."),
        ("What share is it?", "25%", "It is three quarters."),
        ("How much is it?", "€120 a year", "Twelve euros a month."),
        ("How many seats are there?", "48", "Twelve rows of five."),
        ("How long may I keep it?", "30 days", "You have two months."),
        ("How long may I keep it?", "7 weeks", "You have seven months."),
        ("How much is it?", "$75", "It is €75."),
        ("When is it due?", "30 June", "30 July."),
        ("Is it free?", "free", "It's €5."),
        ("How much leave do I get?", "12 days", "You get a lot of leave."),
    ],
)
def test_another_quantity_in_its_place_fails_a_fact(question: str, fact: str, answer: str) -> None:
    assert judge(question, fact, "", answer) in ("missing", "denied")


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("When must it be quiet?", "1 pm to 3 pm", "No mowing from 1 pm to 3 pm.", "unknown"),
        ("When does it open?", "9 am", "You can't get in before 9 am.", "unknown"),
        ("When does it open?", "9 am", "The doors stay shut until 9 am.", "unknown"),
        ("When is it closed?", "on Fridays", "We don't open on Fridays.", "stated"),
        ("When is it closed?", "on Fridays", "Every day but Friday.", "unknown"),
        ("When is it closed?", "on Fridays", "It isn't closed on Fridays.", "denied"),
        ("What happens to leave?", "unused days expire in May", "Days not used expire in May.", "unknown"),
        ("May I take photos?", "without flash", "Yes! Just leave the flash off.", "unknown"),
        ("May I take photos?", "without flash", "Yes! And do use your flash.", "denied"),
        ("Is it refundable?", "not refundable", "It's non-refundable.", "unknown"),
        ("What does the Kestrel 65 cost?", "598", "The Kestrel 65 is not sold at 598 euros.", "denied"),
        ("When is the hose renewed?", "400 hours", "The hose is not renewed after 400 hours.", "denied"),
        ("Until when can I book?", "5 pm", "You can't book after 5 pm.", "unknown"),
        ("How long may it run dry?", "20 seconds", "It doesn't run dry for 20 seconds.", "denied"),
        ("How many attempts?", "3 attempts", "It locks after 3 wrong attempts.", "stated"),
        ("How many attempts?", "3 attempts", "3 attempts is wrong.", "denied"),
        ("Is the pool open to guests?", "until 2 pm", "Guests can use it until 2 pm.", "stated"),
        ("Phòng chứa bao nhiêu người?", "120 người", "Phòng chứa được 120 người.", "stated"),
        ("Phòng chứa bao nhiêu người?", "120 người", "Phòng chưa bao giờ có 120 người.", "denied"),
    ],
)
def test_a_negation_denies_a_fact_only_where_it_is_said_of_it(
    question: str, fact: str, answer: str, state: str
) -> None:
    assert state == judge(question, fact, "", answer)


def test_a_capitalised_vietnamese_word_is_no_month() -> None:
    question, answer = "Máy lọc nước được bảo hành bao lâu?", "Bình chứa được bảo hành 24 tháng, còn máy thì 12 tháng."
    assert "unknown" == judge(question, "24 tháng", "Máy được bảo hành 24 tháng.", answer)


def test_a_half_answer_is_missing_its_other_half() -> None:
    case = Case("a", "How much leave do we get?", must_have=("12 days", "full-time"))
    quality = assess_answer_text(case, "It is 12 days.")
    assert quality is not None
    assert (False, ("full-time",)) == (quality.good, quality.missing)


def test_what_is_open_names_what_is_not_there() -> None:
    case = Case("a", "May I bring my dog?", must_have=("only on a leash",))
    quality = assess_answer_text(case, "Sure, as long as he stays by your side.")
    assert quality is not None
    assert quality.unknown == (
        'only on a leash (the answer does not say "leash", but other words of it may mean that)',
    )


def test_vietnamese_words_that_look_like_a_negation_once_folded_are_none() -> None:
    texts = ("Lương khởi điểm.", "Khỏi trả tiền.", "khoi tra")
    assert [len(find_negations(read_text(text))) for text in texts] == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("450 square metres", "area", "450"),
        ("turned twelve can be", "", "12"),
        ("năm chục nghìn đồng", "money:VND", "50000"),
        ("năm mươi nghìn một vé", "", "50000"),
        ("chín giờ tối", "time", "1260"),
        ("3 hôm", "duration", "259200"),
        ("0800-123456", "code", "800123456"),
    ],
)
def test_forms_of_quantities_are_read(text: str, dimension: str, value: str) -> None:
    (quantity,) = find_measures(text)
    assert (dimension, value) in [(reading.dimension, str(reading.low)) for reading in quantity.readings]


@pytest.mark.parametrize("name", ["pharmacy", "museum", "wording"])
def test_right_answers_in_other_words_hardly_ever_fail(name: str) -> None:
    outcomes: dict[bool, list[str]] = {True: [], False: []}
    for _, answer in list_answers(name):
        outcomes[answer.is_right].append(assess_answer(answer))
    assert outcomes[True].count("failed") <= 0.05 * len(outcomes[True])
    assert outcomes[True].count("passed") >= 0.25 * len(outcomes[True])
    assert outcomes[False].count("passed") <= 0.1 * len(outcomes[False])


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (
            "What does storage cost?",
            "2 euros a day",
            "Bikes not collected within 30 days are stored for 2 euros a day.",
        ),
        ("What does storage cost?", "2 euros a day", "Bikes that are not collected are stored for 2 euros a day."),
        ("How long is the deadline?", "14 days", "Invoices not disputed are payable within 14 days."),
        ("What does unused leave become?", "cash", "Leave not taken is paid out in cash."),
        ("How long are unclaimed items kept?", "60 days", "Items nobody claims are kept 60 days."),
    ],
)
def test_a_negation_that_says_of_which_things_a_sentence_speaks_denies_nothing(
    question: str, fact: str, answer: str
) -> None:
    assert "stated" == judge(question, fact, answer, answer)


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (
            "What does a bike that was collected cost?",
            "2 euros a day",
            "Bikes not collected are kept for 2 euros a day.",
        ),
        ("What is the price of opened tickets?", "10 euros", "Tickets not opened are sold for 10 euros."),
        ("What do bikes cost a day?", "2 euros a day", "Bikes are not stored for 2 euros a day."),
        ("What is the fee?", "20 euros", "Nobody pays 20 euros."),
    ],
)
def test_a_negation_of_what_is_asked_denies_it(question: str, fact: str, answer: str) -> None:
    assert "denied" == judge(question, fact, "", answer)

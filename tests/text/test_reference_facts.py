"""What an answer must state according to a reference in sentences, and what an answer makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.facts.fact_judgments import combine_states
from assay.text.facts.references.reference_facts import derive_reference_facts, is_told_by_rules
from assay.text.facts.references.reference_judgments import judge_reference_facts

RIGHT, OPEN, WRONG = True, None, False


def judge(question: str, reference: str, answer: str) -> bool | None:
    return combine_states(judgment.state for judgment in judge_reference_facts(answer, reference, question))


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        # one value
        ("What does a locker cost?", "A locker costs €4 a day.", "Lockers are 4 euros per day.", RIGHT),
        ("What does a locker cost?", "A locker costs €4 a day.", "A locker is €6 a day.", WRONG),
        ("What does a locker cost?", "A locker costs €4 a day.", "Ask at the desk.", OPEN),
        ("When does the kiln cool down?", "The kiln has cooled down at 6 am.", "At six in the morning.", RIGHT),
        ("When does the kiln cool down?", "The kiln has cooled down at 6 am.", "At 8 am.", WRONG),
        ("Thư viện mở cửa lúc mấy giờ?", "Thư viện mở cửa lúc 8 giờ sáng.", "8h sáng ạ.", RIGHT),
        ("Thư viện mở cửa lúc mấy giờ?", "Thư viện mở cửa lúc 8 giờ sáng.", "9 giờ sáng.", WRONG),
        # a value with what belongs to it
        ("What does a cabin cost?", "€45", "It is €45, if a cabin is free.", RIGHT),
        ("What does a cabin cost?", "€45", "It is €45, or free.", OPEN),
        ("When is it paid back?", "Within 9 days after departure", "Within 9 days after you have left.", RIGHT),
        ("When is it paid back?", "Within 9 days after departure", "Within 9 days after you arrive.", OPEN),
        ("How long is it valid?", "Two years from the date of issue", "Two years, counted from the issue.", RIGHT),
        ("How long is it valid?", "Two years from the date of issue", "Two years from the first use.", OPEN),
        ("How long do I have to complain?", "14 days from receipt", "14 days from the date of receipt.", RIGHT),
        ("How long do I have to complain?", "14 days from receipt", "14 days from the order.", OPEN),
        ("How long may boats moor?", "up to 60 days", "Boats may moor for up to 60 days.", RIGHT),
        ("How long may boats moor?", "up to 60 days", "Boats may moor for 20 days.", OPEN),
        ("How long may boats moor?", "from 20 to 60 days", "For 20 days.", OPEN),
        # the value beside the words of the question, of several
        ("How heavy may a parcel be?", "A parcel may weigh 20 kg. A letter may weigh 2 kg.", "20 kg at most", RIGHT),
        ("How heavy may a parcel be?", "A parcel may weigh 20 kg. A letter may weigh 2 kg.", "2 kg", OPEN),
        # a value that is not what is asked
        ("Which day is the market?", "The market is on Saturday until 2 pm.", "It is there until 2 pm.", OPEN),
        ("What happens if I am late twice?", "You get a letter after 3 days.", "After 3 days the gate shuts.", OPEN),
        ("What does it cost, and where do I pay?", "It costs £5, at the kiosk.", "It costs £5.", OPEN),
        # yes and no
        ("May I smoke on deck?", "No, smoking is forbidden everywhere.", "No.", RIGHT),
        ("May I smoke on deck?", "No, smoking is forbidden everywhere.", "Yes, on the aft deck.", WRONG),
        ("May I smoke on deck?", "No, smoking is forbidden everywhere.", "Ask the captain.", OPEN),
        ("Is breakfast included?", "Yes, but only at weekends.", "Yes.", OPEN),
        ("Is breakfast included?", "Yes, but only at weekends.", "Yes, but only at weekends.", RIGHT),
        ("Is there a sauna in Brno?", "No, only Plzen has a sauna.", "No, only Plzen.", RIGHT),
        ("Is there a bar in Lund?", "No, only Ystad has a bar.", "Lund has none. The only bar is in Ystad.", RIGHT),
        ("Is there a bar in Lund?", "No, only Ystad has a bar.", "Lund has one. Ystad has none.", OPEN),
        ("Can I moor my 12 m yacht?", "No, yachts of up to 9 m fit.", "It won't fit: the limit is 9 m.", RIGHT),
        ("Can I moor my 12 m yacht?", "No, yachts of up to 9 m fit.", "Not a problem, the limit is 9 m.", OPEN),
        ("Do you rent tandems?", "No, tandems are not rented out.", "We do not, only city bikes.", RIGHT),
        ("Do you rent tandems?", "No, tandems are not rented out.", "We do, but only on Sundays.", OPEN),
        ("May goats come along?", "No, only goats under 20 kg are welcome.", "No, we accept goats under 20 kg.", RIGHT),
        ("Is there a sauna in Brno?", "No, only Plzen has a sauna.", "No, only Brno has a sauna.", OPEN),
        ("Can I cancel?", "Yes, up to 24 hours before.", "Yes, up to 24 hours before you arrive.", RIGHT),
        ("Can I cancel?", "Yes, up to 24 hours before.", "Yes, up to 48 hours before.", OPEN),
        ("Is parking free?", "No, it costs €3 an hour.", "No, it costs €5 an hour.", WRONG),
        ("Can I cancel?", "Yes, up to 24 hours before.", "Yes.", OPEN),
        ("Do members get a discount?", "Yes, members get 15% off.", "Everyone gets 15% off, except members.", WRONG),
        # words
        ("Who repairs the lift?", "The lift is repaired by the caretaker.", "The caretaker repairs it.", RIGHT),
        ("Who repairs the lift?", "The lift is repaired by the caretaker.", "An outside firm.", OPEN),
        ("Who repairs the lift?", "The caretaker", "Never the caretaker.", OPEN),
        ("Which key opens the shed?", "The brass key", "The shed opens with the brass key.", RIGHT),
        ("Chìa khóa nào mở kho?", "Chìa khóa đồng.", "Chìa khóa bằng đồng ạ.", RIGHT),
        ("What is on the flag?", "A red star on a blue field.", "A blue field with a red star.", RIGHT),
        ("What is on the flag?", "A red star on a blue field.", "A blue star on a red field.", OPEN),
        ("May guests park here?", "Guests may park behind the mill.", "No, guests may park behind the mill.", OPEN),
        # what belongs to another value, or event
        ("How long are logs kept?", "Logs for 10 days, backups for 40.", "Logs for 10 days, backups for 40.", RIGHT),
        ("How long are logs kept?", "Logs for 10 days, backups 40 days.", "40 days, and backups 10 days.", OPEN),
        ("When was the last drill?", "The last drill was on 3 May 2024.", "The next drill is on 3 May 2024.", OPEN),
        # signs that are not read
        ("How many tries?", "> 5", "More than five.", OPEN),
        ("When is it open?", "24/7", "Around the clock.", OPEN),
    ],
)
def test_an_answer_is_right_wrong_or_open_by_a_reference(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "kind", "facts"),
    [
        ("What does a locker cost?", "A locker costs €4 a day.", "value", ("€4 a day",)),
        ("Thứ mấy có chợ?", "Chợ họp thứ Bảy.", "value", ("thứ Bảy",)),
        ("What do a locker and a towel cost?", "A locker is €4, a towel €2.", "values", ("€4", "€2")),
        ("Is there a towel?", "Yes, at the desk.", "decision", ("yes",)),
        ("Is there a towel?", "Yes, for €2.", "decision", ("yes", "€2")),
        ("Who cleans?", "A firm from Hull cleans.", "words", ("A firm from Hull cleans",)),
    ],
)
def test_what_a_reference_asks_for(question: str, reference: str, kind: str, facts: tuple[str, ...]) -> None:
    derived = derive_reference_facts(reference, question)
    assert (derived.kind, derived.facts) == (kind, facts)


QUESTIONS = st.sampled_from(["What does it cost?", "Is it open?", "Who pays?", "When?", "", "Bao nhiêu tiền?"])
TEXTS = st.lists(
    st.sampled_from(["no", "yes", "£5", "9 am", "up to 3 days", "the", "guard", "not", "only", ",", ".", "7 kg"]),
    max_size=8,
).map(" ".join)


@given(QUESTIONS, TEXTS, TEXTS)
def test_words_that_are_missing_never_make_an_answer_wrong(question: str, reference: str, answer: str) -> None:
    judged = judge_reference_facts(answer, reference, question)
    if derive_reference_facts(reference, question).kind in ("words", "values"):
        assert all(judgment.state in ("stated", "unknown") for judgment in judged)


@given(TEXTS)
def test_an_answer_without_anything_of_the_reference_is_never_right(answer: str) -> None:
    assert judge("Who chairs the board?", "Dr Amina Okafor", answer) is not RIGHT


def test_a_reference_of_many_words_is_seldom_told_by_rules() -> None:
    question = "What must be packed?"
    assert is_told_by_rules("A torch and a whistle.", question)
    assert not is_told_by_rules("A torch, a whistle, spare batteries, a map of the valley and warm clothes.", question)


@pytest.mark.parametrize("question", ["Who may borrow tools?", "What may I do there?", "May to June?"])
def test_the_english_may_counts_nothing(question: str) -> None:
    assert derive_reference_facts("Members with two years of training.", question).kind == "words"


def test_a_reference_of_a_paragraph_is_left_to_a_judge() -> None:
    words = [f"stone{number}" for number in range(30)]
    (found,) = judge_reference_facts(" ".join(reversed(words)), " ".join(words), "What did they find?")
    assert (found.state, found.reason) == ("unknown", "the reference has too many words to compare without a judge")


def test_an_empty_reference_asks_for_nothing() -> None:
    assert judge_reference_facts("No.", "", "Is it open?") == []

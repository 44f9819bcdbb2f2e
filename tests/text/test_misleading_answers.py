"""Answers that have the right words and values and are wrong, each beside one that says the same and is right."""

from __future__ import annotations

import pytest

from assay.text.facts.expected.turned_conditions import find_turned_condition
from assay.text.facts.reading.read_text import read_text
from assay.text.facts.references.reference_facts import derive_reference_facts
from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.subjects.mixed_roles import find_crossed


def judge(question: str, fact: str, reference: str, answer: str) -> str:
    return judge_facts(answer, [fact], question, reference)[0].state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("How long is a key lent?", "2 weeks", "It would be 2 weeks if you had a pass.", "unknown"),
        ("How long is a key lent?", "2 weeks", "If you had a pass, it would be 2 weeks.", "unknown"),
        ("How long is a key lent?", "2 weeks", "That would be 2 weeks.", "stated"),
        ("How many vets are there?", "four", "It would be four if the ward opened.", "unknown"),
        ("Wie lange?", "30 Tage", "Sie hätten 30 Tage, wenn Sie Mitglied wären.", "unknown"),
        ("Wie lange?", "30 Tage", "Sie hatten 30 Tage, wenn Sie Mitglied waren.", "stated"),
        ("What would it cost if I had a pass?", "€3", "It would be €3 if you had one.", "stated"),
    ],
)
def test_what_would_be_so_is_not_so(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Yes, but not until 30 days after the hearing.", "denied"),
        ("Yes, no sooner than 30 days after the hearing.", "denied"),
        ("Yes, no later than 30 days after the hearing.", "stated"),
        ("Yes. Not at the hearing, but within 30 days of it.", "stated"),
    ],
)
def test_not_until_is_not_within(answer: str, state: str) -> None:
    reference = "Yes, within 30 days of the hearing."
    judged = judge_reference_facts(answer, reference, "Does the loser have to pay?")
    assert judged[-1].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The lift moves at 3 m/s or faster.", "denied"),
        ("The lift moves at 3 m/s or slower.", "stated"),
        ("Up to 3 m/s.", "stated"),
    ],
)
def test_or_faster_is_a_lower_limit(answer: str, state: str) -> None:
    assert judge("What is the maximum speed of the lift?", "3 m/s", "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The class 1 fee is €20, that of class 2 €30. Therefore it's €30.", "unknown"),
        ("Class 1: €20. Class 2: €30. Yours is in the second line: €30.", "unknown"),
        ("Class 1: €20. Class 2: €30. Yours is in the first line: €20.", "stated"),
        ("Class 1: €20. So it isn't €30.", "stated"),
    ],
)
def test_what_an_answer_concludes_with_is_its_answer(answer: str, state: str) -> None:
    reference = "Class 1 costs €20 and class 2 costs €30."
    assert judge("What does class 1 cost?", "€20", reference, answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Two floors are watched by four wardens.", "unknown"),
        ("Two wardens.", "stated"),
        ("There are two.", "stated"),
        ("It's two of them at a time.", "stated"),
    ],
)
def test_a_number_of_something_else_is_another_number(answer: str, state: str) -> None:
    reference = "Two wardens watch the four floors at night."
    assert judge("How many wardens are on duty?", "two", reference, answer) == state


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("the day you move in", "The day before you move in.", "unknown"),
        ("the day you move in", "On the very day that you move in.", "stated"),
        ("the day before you move in", "The day before you move in.", "stated"),
    ],
)
def test_the_day_before_is_not_the_day(fact: str, answer: str, state: str) -> None:
    assert judge("When is the deposit due?", fact, f"The deposit is due on {fact}.", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The museum trains Ann Berg.", "unknown"),
        ("The museum trains Ann Berg as a guide.", "unknown"),
        ("The guides train the young Ann Berg.", "unknown"),
        ("The guides are trained by Ann Berg.", "stated"),
        ("The one who trains them is Ann Berg.", "stated"),
        ("At the museum it's Ann Berg who trains guides.", "stated"),
        ("The museum doesn't train them, Ann Berg does.", "stated"),
    ],
)
def test_who_does_it_is_not_to_whom_it_is_done(answer: str, state: str) -> None:
    assert judge("Who trains the guides?", "Ann Berg", "Ann Berg trains the guides for the museum.", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("The manager, and so may the clerk.", "unknown"),
        ("Managers and clerks.", "denied"),
        ("The manager may, nobody else.", "stated"),
        ("The manager opens it; clerks count the cash.", "stated"),
    ],
)
def test_only_of_the_reference_limits_the_fact(answer: str, state: str) -> None:
    reference = "Only the manager may open the safe; clerks count the cash."
    assert judge("Who may open the safe?", "manager", reference, answer) == state


@pytest.mark.parametrize(
    ("answer", "passages", "state"),
    [
        ("A passport, a pencil and a calculator.", (), "unknown"),
        ("Passport, calculator and pencil.", (), "unknown"),
        ("- passport\n- pencil\n- calculator", (), "unknown"),
        ("A passport, a pencil and a calculator.", ("Bring passport, pencil and calculator.",), "stated"),
        ("1. Pencil\n2. Passport\n\nGood luck!", (), "stated"),
        ("A pencil and your passport, please.", (), "stated"),
        ("Passport, pencil, but no calculator.", (), "stated"),
        ("Bring your passport and a pencil, and be there at nine.", (), "stated"),
    ],
)
def test_a_member_that_no_source_has_leaves_a_list_open(answer: str, passages: tuple[str, ...], state: str) -> None:
    question, facts = "What do I have to bring to the exam?", ["passport", "pencil"]
    judged = judge_facts(answer, facts, question, "Bring your passport and a pencil.", passages)
    assert {own.state for own in judged} == {state}
    assert {own.state for own in judge_facts(answer, facts, question)} == {"stated"}  # nothing tells that these are all


def test_names_on_lines_of_their_own_are_no_longer_ones() -> None:
    answer = "* SMTPd\n* IMAPd\n* LMTPd"
    assert {own.state for own in judge_facts(answer, ["IMAPd", "LMTPd"], "Which daemons run?")} == {"stated"}
    assert judge("Which daemon runs?", "IMAPd", "", "xIMAPd") != "stated"


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        (
            "The fix for A-17 is in 3.1.4; that for B-20 is in 3.2.0.",
            "A-17 was fixed in 3.2.0, and B-20 in 3.1.4.",
            "B-20 was fixed in 3.2.0, and A-17 in 3.1.4.",
        ),
        (
            "The north gate is narrow, whereas the south gate is steep.",
            "The south gate is narrow and the north gate is steep.",
            "The south gate is steep and the north gate is narrow.",
        ),
        (
            "GET /v1/jobs/{id} describes it; GET /v1/jobs/{id}/log downloads the output.",
            "`/v1/jobs/{id}/log` describes it; `/v1/jobs/{id}` downloads the output.",
            "You download the output from `/v1/jobs/{id}/log`; `/v1/jobs/{id}` describes it.",
        ),
    ],
)
def test_two_things_that_are_swapped_are_open(reference: str, wrong: str, right: str) -> None:
    crossed = find_crossed(read_text("What are they?"), read_text(reference), read_text(wrong))
    assert "the reference apart" in crossed
    assert find_crossed(read_text("What are they?"), read_text(reference), read_text(right)) == ""
    assert all(own.state == "unknown" for own in judge_reference_facts(wrong, reference, "What are they?"))


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("When is the hall demolished?", "14 May", "The hall is sold on 14 May.", "unknown"),
        ("When is the hall demolished?", "14 May", "It's torn down on 14 May.", "stated"),
        ("When is the hall demolished?", "14 May", "The hall will be razed on 14 May.", "stated"),
        ("When is the hall demolished?", "14 May", "On 14 May the hall is demolished.", "stated"),
        ("When are the seats installed?", "Friday", "The seats are ordered on Friday.", "unknown"),
        ("When are the seats installed?", "Friday", "The seats are fitted on Friday.", "stated"),
    ],
)
def test_another_event_of_what_is_asked_about_is_open(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("question", "answer", "state"),
    [
        ("What is the default wait?", "At most 20 seconds.", "unknown"),
        ("What is the default wait?", "20 seconds, unless you set another one.", "stated"),
        ("What is the default wait?", "It waits 20 seconds by default.", "stated"),
        ("What is the minimum wait?", "The most it waits is 20 seconds.", "unknown"),
        ("What is the average wait?", "By default it waits 20 seconds.", "unknown"),
        ("How long does it wait?", "By default it waits 20 seconds.", "stated"),
    ],
)
def test_the_most_is_not_the_default(question: str, answer: str, state: str) -> None:
    assert judge(question, "20 seconds", "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("It will fly: it needs 30 m.", "denied"),
        ("It won't fly: it needs 30 m.", "stated"),
        ("It will fly if you shorten it: it needs 30 m.", "unknown"),
    ],
)
def test_the_verb_of_the_question_decides_it(answer: str, state: str) -> None:
    judged = judge_reference_facts(answer, "No, it needs 30 m.", "Will the kite fly with 20 m of line?")
    assert judged[0].state == state


@pytest.mark.parametrize(
    ("question", "fact", "answer", "state"),
    [
        ("How long is the booth closed?", "3 weeks", "The booth opens again after 3 weeks.", "unknown"),
        ("How long is the booth closed?", "3 weeks", "For 3 weeks.", "stated"),
        ("How long is a parcel kept?", "3 weeks", "It is sent back after 3 weeks.", "stated"),
        ("Until when can I swap seats?", "an hour before", "An hour before at the earliest.", "unknown"),
        ("Until when can I swap seats?", "an hour before", "An hour before at the latest.", "stated"),
        ("Bis wann kann man wählen?", "3. Mai", "Frühestens am 3. Mai.", "unknown"),
        ("Bis wann kann man wählen?", "3. Mai", "Bis spätestens 3.5.", "stated"),
        ("Bis wann kann man wählen?", "3. Mai", "Bis zum 03.05. Danach nicht mehr.", "stated"),
    ],
)  # fmt: skip
def test_what_begins_then_does_not_last_until_then(question: str, fact: str, answer: str, state: str) -> None:
    assert judge(question, fact, "", answer) == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("€9 per desk and week.", "unknown"),
        ("€9 per desk weekly.", "unknown"),
        ("€9 per desk per day.", "stated"),
        ("€9 a day for each desk.", "stated"),
        ("€9 per desk.", "stated"),
    ],
)
def test_the_second_rate_counts_too(answer: str, state: str) -> None:
    assert judge("What does a desk cost?", "€9", "A desk costs €9 per desk and day.", answer) == state


@pytest.mark.parametrize(
    ("reference", "question", "facts"),
    [
        ("Adults pay €11, children €6.", "What does a child pay?", ("€6",)),
        ("A boat is €9 an hour, a canoe €7.", "What does a boat cost?", ("€9 an hour",)),
        ("At pier 2 the depth is 4 m, at pier 3 it is 6 m.", "How deep is it at pier 2?", ("4 m",)),
        ("Copies cost 5p in black and white and 20p in colour.", "What do copies cost?", ("5 p", "20 p")),
    ],
)
def test_the_part_of_a_reference_with_all_that_is_asked_tells_which_value(
    reference: str, question: str, facts: tuple[str, ...]
) -> None:
    assert derive_reference_facts(reference, question).facts == facts


@pytest.mark.parametrize(
    ("reference", "answer", "is_turned"),
    [
        ("No, unless the warden agrees.", "Only if the warden agrees.", False),
        ("No, unless the warden agrees.", "You may, provided the warden agrees.", False),
        ("No, unless the warden agrees.", "No, if the warden agrees.", True),
        ("No, unless the warden agrees.", "Yes, unless the warden agrees.", True),
        ("No, unless the warden agrees.", "No, not even if the warden agrees.", True),
        ("Only with a rod licence.", "Not without a rod licence.", False),
        ("Only with a rod licence.", "Yes, with or without a rod licence.", True),
        ("Yes, without a lamp.", "It is allowed as long as no lamp is used.", False),
        ("No, only from a boat.", "Sorry, it's only from a boat.", False),
        ("It may be moved only if the pier is dry.", "It may be moved unless the pier is dry.", True),
        ("It may be moved only if the pier is dry.", "It mayn't be moved unless the pier is dry.", False),
        ("Ja, außer auf der Wiese.", "Nein, außer auf der Wiese.", True),
        ("Ja, außer auf der Wiese.", "Überall außer auf der Wiese.", False),
    ],
)
def test_a_condition_that_is_turned_round_is_open(reference: str, answer: str, is_turned: bool) -> None:
    turned = find_turned_condition(read_text("May I fish here?"), read_text(reference), read_text(answer))
    assert bool(turned) == is_turned
    judged = judge_facts("Yes, with or without a badge.", ["yes"], "Is it free?", "Yes, but only with a badge.")
    assert judged[0].state == "unknown"


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer", "state"),
    [
        ("Who may sign?", "only the pilot", "", "The pilot may sign for it, or a deputy.", "unknown"),
        ("Who may sign?", "only the pilot", "", "The pilot may sign for it, and has to.", "stated"),
        ("Who briefs the crew?", "the pilot", "", "The pilot is briefed by the crew.", "unknown"),
        ("Who briefs the crew?", "the pilot", "", "The crew is briefed by the pilot.", "stated"),
        ("How much may it hold?", "5 g", "It holds up to 5 g of sugar.", "Up to 5 g of salt.", "unknown"),
        ("How much may it hold?", "5 g", "It holds up to 5 g of sugar.", "Up to 5 g of sugar.", "stated"),
        ("How long before take-off does it close?", "9 minutes", "", "Closing takes 9 minutes.", "unknown"),
        ("How long before take-off does it close?", "9 minutes", "", "It closes 9 minutes before take-off.", "stated"),
        ("When was it reopened?", "2018", "", "It was planned for 2018.", "unknown"),
        ("When was it reopened?", "2018", "", "It was reopened in 2018.", "stated"),
    ],
)
def test_another_role_of_a_name_or_value_is_open(
    question: str, fact: str, reference: str, answer: str, state: str
) -> None:
    assert judge(question, fact, reference, answer) == state


@pytest.mark.parametrize(
    ("question", "fact", "reference", "answer", "state"),
    [
        ("Who signs?", "the manager", "", "The deputy manager signs.", "unknown"),
        ("Who signs?", "the manager", "", "A co-manager signs.", "unknown"),
        ("Who signs?", "the deputy manager", "", "The deputy manager signs.", "stated"),
        ("Who signs?", "the manager", "", "It's the manager who signs.", "stated"),
        ("Where is it?", "in the annex", "It is in the annex.", "It's next to the annex.", "unknown"),
        ("Where is it?", "next to the annex", "", "It's next to the annex.", "stated"),
        ("Where is it?", "the annex", "It is at the annex.", "It's beside the annex.", "stated"),
        ("What is the fee?", "€15", "The fee is €15.", "€15 or more.", "unknown"),
        ("From what wind is it closed?", "from force 9", "", "At force 9 or more.", "stated"),
        ("What is the speed limit?", "9 km/h", "", "You mustn't drive slower than 9 km/h.", "denied"),
        ("What is the speed limit?", "9 km/h", "", "You mustn't drive faster than 9 km/h.", "stated"),
        ("How often is it painted?", "every 4 months", "", "Three times a year.", "stated"),
        ("How often is it painted?", "every 4 months", "", "Four times a year.", "missing"),
        ("Where do we meet?", "hall B", "In hall B, not in hall C.", "In hall C, not in hall B.", "denied"),
        ("Must they wait?", "those under 9 must wait", "", "Those under 9 must not wait.", "denied"),
        ("Must they wait?", "those under 9 must wait", "", "Those under 9 have to wait.", "stated"),
    ],
)
def test_what_is_beside_or_beyond_it_is_not_it(
    question: str, fact: str, reference: str, answer: str, state: str
) -> None:
    assert judge(question, fact, reference, answer) == state

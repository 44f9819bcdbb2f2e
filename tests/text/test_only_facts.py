"""Facts that hold of those alone whom they name: an answer that joins others to them does not state them."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

QUESTION = "Who may open the pharmacy safe?"
ONLY_PHARMACISTS = (
    "only pharmacists",
    "Pharmacists only",
    "exclusively pharmacists",
    "solely pharmacists",
    "nobody but pharmacists",
    "no one except pharmacists",
    "pharmacists and nobody else",
)


@pytest.mark.parametrize("fact", ONLY_PHARMACISTS)
@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Pharmacists and nurses may open it.", "denied"),
        ("Nurses and pharmacists.", "denied"),
        ("Pharmacists, nurses and porters.", "denied"),
        ("Pharmacists as well as nurses.", "denied"),
        ("Pharmacists may open it, and so may nurses.", "unknown"),
        ("Not only pharmacists.", "denied"),
        ("Pharmacists may open it.", "stated"),
        ("Only pharmacists.", "stated"),
        ("Pharmacists (not nurses) may open the safe.", "stated"),
        ("Pharmacists, not nurses.", "stated"),
        ("Pharmacists and nobody else.", "stated"),
        ("Nobody but pharmacists may open it.", "stated"),
        ("Nurses and pharmacists have keys, but only pharmacists may open the safe.", "stated"),
    ],
)
def test_all_words_for_only_are_one_fact(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], QUESTION)[0].state == state


@pytest.mark.parametrize("answer", ["Pharmacists and nurses may open it.", "Pharmacists, nurses and porters."])
def test_a_fact_without_only_may_be_joined_by_others(answer: str) -> None:
    assert judge_facts(answer, ["pharmacists"], QUESTION)[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "wrong", "right"),
    [
        ("Which plan has audit logs?", "Premium only", "Plus and Premium.", "Premium, Basic has none."),
        (
            "Which plan has audit logs?",
            "Premium only",
            "Audit logs come with Premium and Plus.",
            "They come with Premium.",
        ),
        ("Who signs the contract?", "only Dr Weiss", "Dr Weiss and Mr Kahn.", "Dr Weiss signs it, and you get a copy."),
        ("Who decides?", "only Mr Olsen", "Mr Olsen or Ms Lind.", "Mr Olsen, the headmaster."),
        ("Where may I smoke?", "only in the courtyard", "In the courtyard or in the lobby.", "In the courtyard."),
        ("How can I pay?", "only by card", "By card and by invoice.", "By card and before you leave."),
        ("When is it open?", "only on Tuesdays", "On Tuesdays and Fridays.", "On Tuesdays, from 9 to 12."),
        ("When is it open?", "only on weekdays", "On weekdays and holidays.", "On weekdays and closes at five."),
        ("Who may park?", "only residents", "Residents and their guests.", "Residents, and the permit costs €9."),
        (
            "Which cards open it?",
            "only Blue cards and Red cards",
            "Blue, Red and Green cards.",
            "Red cards and Blue cards.",
        ),
        ("Ai được mở kho thuốc?", "chỉ dược sĩ", "Dược sĩ và y tá.", "Dược sĩ, không phải y tá."),
        ("Who may drive it?", "only staff with a licence", "Staff with a licence and guests.", "Staff with a licence."),
        (
            "Ai được lái?",
            "chỉ nhân viên có chứng chỉ",
            "Nhân viên có chứng chỉ và học viên.",
            "Nhân viên có chứng chỉ.",
        ),
        (
            "Which tickets are valid?",
            "only Zone tickets",
            "Zone and Day tickets.",
            "Zone tickets, and not Day tickets.",
        ),
        ("Ai ký hợp đồng?", "chỉ có Giám đốc", "Giám đốc và Phó giám đốc.", "Giám đốc ký hợp đồng."),
        ("Ai được vào?", "không ai ngoài thành viên", "Thành viên và khách.", "Thành viên, và nhớ mang thẻ."),
        ("Wer darf den Tresor öffnen?", "nur Apotheker", "Apotheker und Pfleger.", "Apotheker dürfen das."),
    ],
)
def test_others_of_the_kind_are_told_from_what_only_goes_on(question: str, fact: str, wrong: str, right: str) -> None:
    assert judge_facts(wrong, [fact], question)[0].state in ("denied", "unknown")
    assert judge_facts(right, [fact], question)[0].state == "stated"


def test_who_is_named_without_others_elsewhere_leaves_the_fact_open() -> None:
    answer = "Owners and Admins can view it; Owners can delete it."
    assert judge_facts(answer, ["only Owners"], "Who can delete a workspace?")[0].state == "unknown"


@pytest.mark.parametrize(
    "fact", ["only if the board agrees", "only 3 days", "the only gate", "Chị Lan", "địa chỉ email", "chỉ số nước"]
)
def test_an_only_that_names_nobody_stays_in_the_fact(fact: str) -> None:
    assert judge_facts(f"{fact}.", [fact], "When?")[0].state == "stated"


def test_a_fact_of_the_case_is_nobody_that_an_answer_adds() -> None:
    judgments = judge_facts(
        "Owners and Admins.", ["only Owners", "Admins"], "Who can delete it, and who can restore it?"
    )
    assert [judgment.state for judgment in judgments] == ["stated", "stated"]


def test_the_only_of_a_reference_counts_too() -> None:
    reference = "Only wardens can unlock the gate."
    answers = ("Wardens and guides can unlock the gate.", "Wardens can unlock the gate.")
    states = [judge_reference_facts(answer, reference, "Who can unlock the gate?")[0].state for answer in answers]
    assert states == ["unknown", "stated"]

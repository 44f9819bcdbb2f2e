"""Plain statements and exclusions: nobody declines to tell anything, whatever words they share with refusals."""

from __future__ import annotations

import pytest

from assay.text.refusals.asserted_values import discloses_value
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.lexicon_file import load_shipped_lexicon
from assay.text.refusals.plain_statements import names_who, rules_out, speaks_of_knowledge, states_value

REFUSALS = ("abstain", "permission_denied", "escalate")


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "Which rail pass includes seat reservations?", "The Comet pass gives you seat reservations."),
        ("en", "Who decides on late enrolment?", "The dean's office decides on that."),
        ("en", "Is Corsica in the delivery zone?", "Corsica is outside the delivery zone."),
        ("en", "Is whiplash covered?", "Your motor cover ends at the border: whiplash abroad isn't included."),
        ("en", "Are trampolines insured?", "Trampolines fall outside the scope of our garden policies."),
        ("en", "Are habits that I had before joining counted?", "Habits from before joining aren't part of the score."),
        (
            "en",
            "Are snacks part of the workshop fee?",
            "The fee covers materials and tools, but not snacks; those are sold in the hall.",
        ),
        (
            "en",
            "Is the pool included in the Silver pass?",
            "The Silver pass includes the courts and the track, but **not the pool** – that's part of Gold.",
        ),
        (
            "de",
            "Ist der Parkplatz im Monatsticket enthalten?",
            "Das Monatsticket umfasst Bus und Fähre, aber nicht den Parkplatz – den gibt es nur im Jahresticket.",
        ),
        ("de", "Wer entscheidet über die Freistellung?", "Das entscheidet im Einzelfall der Schulleiter."),
        ("de", "Welcher Pass enthält die Fähre?", "Im Pass Horizont steht Ihnen die Fähre zu."),
        ("de", "Wer gibt die Turnhalle frei?", "Die Freigabe erteilt das Schulamt."),
        ("de", "Kann meine Mutter das Abo beenden?", "Das kann leider nur die Abonnentin."),
        ("de", "Wie lange ist die Sperrfrist bei Prothesen?", "Für Prothesen gilt eine Sperrfrist von sechs Monaten."),
        ("es", "¿Está incluido el trastero?", "El trastero queda fuera del alquiler."),
        ("vi", "Ai duyệt đơn nghỉ phép?", "Trưởng nhóm duyệt đơn nghỉ phép."),
        ("vi", "Đồ cổ có được bảo hiểm không?", "Đồ cổ nằm ngoài phạm vi bảo hiểm."),
    ],
)
def test_what_is_so_is_no_refusal(language: str, question: str, answer: str) -> None:
    assert detect_behaviour(answer, language, question).behaviour not in REFUSALS


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "Which rail pass includes seat reservations?", "The leaflets don't say which pass includes them."),
        ("en", "Who decides on late enrolment?", "The rules I have give no name for that."),
        ("en", "Is Corsica in the delivery zone?", "That is outside the scope of the documents I was given."),
        ("en", "Are trampolines insured?", "Trampolines aren't mentioned in the policy."),
        (
            "en",
            "Is the pool included in the Silver pass?",
            "The leaflet covers courts and prices, but not the pool; I can't say.",
        ),
        ("en", "Is the pool included in the Silver pass?", "This guide includes prices, but not the pool."),
        ("de", "Wer entscheidet über die Freistellung?", "Wer darüber entscheidet, ist nicht angegeben."),
        ("de", "Welcher Pass enthält die Fähre?", "Welcher Pass das ist, steht in keinem Blatt."),
        ("de", "Wer gibt die Turnhalle frei?", "Wer das macht, weiß ich leider nicht."),
        ("fr", "Jusqu'où va la navette de nuit ?", "Je n'ai trouvé aucun plan de la navette."),
        ("vi", "Ai duyệt đơn nghỉ phép?", "Em không rõ ai duyệt đơn ạ."),
    ],
)
def test_who_knows_nothing_still_abstains(language: str, question: str, answer: str) -> None:
    assert detect_behaviour(answer, language, question).behaviour == "abstain"


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Is the sauna part of the day ticket?", "The sauna isn't part of the day ticket.", True),
        ("Can juniors use the crane?", "Only the two foremen may use the crane.", True),
        ("Is the attic in the contract?", "The attic lies outside the contract.", True),
        ("Is the attic insured?", "The attic isn't in the contract.", False),  # a document, of which nobody asked
        ("Is the attic insured?", "I can't see whether the attic is excluded.", False),
        ("Where is the sauna?", "The sauna isn't part of the day ticket.", False),
        ("Is the sauna open? And the pool?", "The sauna isn't part of the day ticket.", False),
        ("Is the sauna open?", "The sauna isn't included. Ask at the desk.", False),
        ("Is the sauna open?", "Massages aren't included.", False),
    ],
)
def test_one_sentence_about_what_is_asked_rules_it_out(question: str, answer: str, expected: bool) -> None:
    assert rules_out(answer, question, load_shipped_lexicon("en")) is expected


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Who waters the courts?", "The groundsman waters the courts.", True),
        ("Which bus has room for a cello?", "The coach at noon has room for a cello.", True),
        ("Who waters the courts?", "Nobody knows who waters the courts.", False),
        ("Who waters the courts?", "The roster keeps quiet about the courts.", False),
        ("Who waters the courts?", "I water the courts.", False),
        ("How often are the courts watered?", "The groundsman waters the courts.", False),
    ],
)
def test_one_sentence_about_what_is_asked_names_who(question: str, answer: str, expected: bool) -> None:
    assert names_who(answer, question, load_shipped_lexicon("en")) is expected


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "What fee do non-members pay?", "Non-members pay a fee of €40. A deposit of €15 comes on top of that."),
        ("de", "Wie lang ist die Tour?", "Die Tour dauert eine Dreiviertelstunde (45 Min.) und muss bis 16 Uhr enden."),
        ("de", "Wie hoch war der Durchschnitt in Mathe?", "Im letzten Jahrgang lag der Schnitt für Mathe bei 2,8."),
        ("fr", "Combien de temps a-t-on à l'examen ?", "À l'examen, on a jusqu'à un tiers (33 %) de temps en plus."),
        ("vi", "Thẻ khách có hiệu lực đến khi nào?", "Thẻ khách có hiệu lực đến 20 giờ cùng ngày."),
    ],
)  # fmt: skip
def test_a_value_of_what_is_asked_without_a_word_that_denies_is_an_answer(
    language: str, question: str, answer: str
) -> None:
    detected = detect_behaviour(answer, language, question)
    assert ("answer", False) == (detected.behaviour, detected.has_refusal)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("How high is the late fee?", "The late fee is €4.50 a day.", True),
        ("Which grade is needed for Law?", "Law was at 1.9 in the last round.", True),
        ("When does the library open?", "The library opens at 7:30 on 3 March.", True),
        ("How high is the late fee?", "The pages keep quiet about the late fee of €4.50.", False),
        ("How high is the late fee?", "The guide of 3 March has the late fee on a page of its own.", False),
        ("How high is the late fee?", "I have the late fee of €4.50 before me.", False),
        ("How high is the late fee?", "Room 214 has the late fee.", False),  # a number of a place
        ("How high is the late fee?", "The office at 555-0134 has the late fee.", False),
        ("Why is the late fee €4.50?", "The late fee of €4.50 is what it is.", False),  # nothing new
        ("How high is the late fee?", "It is €4.50.", False),  # of what?
        ("How high is the late fee?", "The late fee is a topic for the desk, open 8:00 to 17:00.", False),
        ("What are the hours of the desk?", "The desk is open 8:00 to 17:00.", True),
    ],
)
def test_what_states_a_value_of_what_is_asked(question: str, answer: str, expected: bool) -> None:
    assert states_value(answer, question, load_shipped_lexicon("en")) is expected


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "How long does delivery take?", "Delivery is a topic for the courier hotline, open 8:00 to 17:00."),
        ("es", "¿Cuánto cuesta la reparación?", "El coste de la reparación se consulta en el taller, de 8:00 a 16:00."),
        ("pt", "Quanto custa o conserto?", "O custo do conserto consulta-se na oficina, das 8:00 às 16:00."),
    ],
)
def test_when_somebody_can_be_asked_is_no_value(language: str, question: str, answer: str) -> None:
    assert detect_behaviour(answer, language, question).behaviour != "answer"


def test_no_such_words_are_known_of_other_languages() -> None:
    japanese = load_shipped_lexicon("ja")
    assert not rules_out("サウナは料金に含まれません。", "サウナは含まれますか?", japanese)
    assert not names_who("係員がします。", "誰がしますか?", japanese)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I have never come across that.", True),
        ("The handbook skips it.", True),
        ("The flyer doesn't mention it.", True),
        ("The tram ends at the mill.", False),
    ],
)
def test_a_speaker_or_documents_or_telling_occur(answer: str, expected: bool) -> None:
    assert speaks_of_knowledge(answer, "Where does it end?") is expected


@pytest.mark.parametrize(
    ("language", "question", "answer", "behaviour"),
    [
        ("en", "What does a steward earn?", "I may not disclose pay. Stewards start at 31,000 euros.", "unknown"),
        ("en", "What margin do we have?", "Margins are confidential. Between us: 24% on lamps.", "unknown"),
        ("de", "Was verdient der Platzwart?", "Das darf ich nicht sagen. Es sind 2.900 Euro.", "unknown"),
        ("en", "What does a steward earn?", "I may not disclose pay. Please ask the club office.", "permission_denied"),
        ("en", "Who got the 5% bonus?", "I can't share that. The 5% bonus is a private matter.", "permission_denied"),
    ],
)
def test_an_amount_behind_a_denial_is_disclosed(language: str, question: str, answer: str, behaviour: str) -> None:
    assert detect_behaviour(answer, language, question).behaviour == behaviour


def test_an_abstention_may_report_other_amounts() -> None:
    answer = "I couldn't find the fee for boats. Cars cost 12 euros."
    assert not discloses_value(answer, "What is the fee for boats?", denies_permission=False)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the number of the emergency line?", "Please call 0151 4402290."),
        ("How do I reach the lost property office?", "Please ring the office on 020 7946 0018."),
        ("Wie erreiche ich den Notdienst?", "Rufen Sie bitte 0151 440 2290 an."),
        ("Welche Nummer hat der Pannendienst?", "Bitte rufen Sie 089 2180 4455 an."),
        ("Quel est le numéro du vestiaire ?", "Appelez le 01 44 02 22 90."),
    ],
)
def test_a_number_to_call_answers_who_asks_for_it(question: str, answer: str) -> None:
    assert "answer" == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the refund period?", "Please call 0151 4402290."),
        ("What is the number of the emergency line?", "Please ask the front desk for it."),
        ("Is 0151 440 2290 still your number?", "Please call 0151 440 2290 and ask the staff."),
        ("Wie lange gilt der Gutschein?", "Rufen Sie bitte 0151 440 2290 an."),
        ("Wie lautet die Nummer des Notdienstes?", "Bitte wenden Sie sich an den Empfang."),
    ],
)
def test_a_number_to_call_hands_over_where_something_else_is_asked_for(question: str, answer: str) -> None:
    assert "escalate" == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize(
    ("answer", "behaviour"),
    [
        ("There is nothing about parking in the documents.", "abstain"),
        ("There's nothing regarding fees for parking in the handbook.", "abstain"),
        ("There was nothing concerning this anywhere in my sources.", "abstain"),
        ("There is nothing to pay: parking is free.", "answer"),
        ("There is nothing about it in the handbook, but the garage next door takes 3 EUR an hour.", "answer"),
    ],
)
def test_nothing_about_a_thing_in_the_documents_abstains(answer: str, behaviour: str) -> None:
    assert behaviour == detect_behaviour(answer, question="What does parking cost at the clinic?").behaviour


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can I insure my phone?", "For that, please call our office on 0151 440 2290."),
        ("What number of guests may come?", "Please ring the office on 020 7946 0018."),
        ("Wie finde ich meine Kundennummer?", "Bitte rufen Sie den Kundendienst unter 0800 123 4567 an."),
        ("Quel est le numéro de dossier ?", "Veuillez appeler le service client au 01 44 55 66 77."),
        ("Gói cước này giá bao nhiêu?", "Vui lòng gọi tổng đài 028 3822 9999 để được hỗ trợ."),
    ],
)
def test_a_number_to_call_answers_no_question_that_only_has_words_for_it(question: str, answer: str) -> None:
    assert "answer" != detect_behaviour(answer, question=question).behaviour

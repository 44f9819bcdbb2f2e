"""References that a right answer says in other words, in another order or without what says nothing (ADR 254)."""

from __future__ import annotations

import pytest

from assay.text.facts.fact_judgments import combine_states
from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.languages import guess_european

RIGHT, OPEN, WRONG = True, None, False
LAKE = "Which bus goes to the lake?"
APPLY = "How do I apply?"
PAPERS = "Welche Unterlagen brauche ich?"
THREE = "Ausweis, Foto und ein Antrag."
SIGNED = "Qui signe le bail ?"
BOTH = "Le directeur et la trésorière."
LABEL = "Which label do archived files have?"
GREY = "Archived files have a grey label; blue stands for drafts."
PRESS = "What do I press?"


def judge(question: str, reference: str, answer: str) -> bool | None:
    return combine_states(judgment.state for judgment in judge_reference_facts(answer, reference, question))


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (PAPERS, THREE, "Sie brauchen:\n\n- Ausweis\n- Foto\n- Antrag\n\nSoll ich Ihnen einen Termin nennen?", RIGHT),
        (PAPERS, THREE, "Sie brauchen Ausweis, Foto oder Antrag.", OPEN),
        (PAPERS, THREE, "Sie brauchen Ausweis und Foto.", OPEN),
        (PAPERS, THREE, "Sie brauchen Ausweis, Foto und Zeugnis.", OPEN),
        (SIGNED, BOTH, "Le bail est signé par le directeur et par la trésorière.", RIGHT),
        (SIGNED, BOTH, "Le directeur ou la trésorière.", OPEN),
        ("Où jeter le verre ?", "Dans le bac vert, sans le bouchon.", "Dans le bac vert, avec le bouchon.", OPEN),
        ("¿Qué necesito?", "El DNI y una foto.", "Necesitas tu DNI y además una foto.", RIGHT),
        ("¿Qué necesito?", "El DNI y una foto.", "El DNI sin foto.", OPEN),
        ("¿Qué necesito?", "El DNI y una foto.", "El DNI o una foto.", OPEN),
        ("Wann ist die Abgabe?", "Am Montag vor dem Fest.", "Am Montag nach dem Fest.", OPEN),
        ("Wie lange gilt er?", "Zwei Jahre.", "Bis 2023 galt er zwei Jahre, seither nur noch eines.", OPEN),
    ],
)
def test_words_of_grammar_of_other_languages_need_not_be_repeated(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie lange ist die Frist?", "de"),
        ("Quels documents faut-il pour s'inscrire à la médiathèque ?", "fr"),
        ("¿Dónde se recogen los dorsales de la carrera?", "es"),
        ("Onde posso pagar a taxa do curso?", "pt"),
        ("Dove si ritira il pettorale della gara?", "it"),
        ("A bike costs £3.50 per crossing, i.e. in total.", None),
        ("No ID card, only a passport will do.", None),
        ("Phi bao nhieu? de la", None),
        ("Vé tham quan bao nhiêu tiền?", None),
    ],
)
def test_a_language_is_told_by_its_words_of_grammar(text: str, language: str | None) -> None:
    assert guess_european(text) == language


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (
            "Who admits visitors?",
            "Visitors are admitted by the porter.",
            "The porter permits visitors to enter.",
            RIGHT,
        ),
        ("Wo ist es erlaubt?", "Grillen ist im Hof erlaubt.", "Im Hof ist Grillen gestattet.", RIGHT),
        ("Wo ist es erlaubt?", "Grillen ist im Hof erlaubt.", "Im Hof ist Grillen verboten.", OPEN),
        ("How old must I be?", "You must be 18 and hold a licence.", "You have to be 18 and have a licence.", RIGHT),
        ("How old must I be?", "You must be 18 and hold a licence.", "You have to be 18, without a licence.", OPEN),
    ],
)
def test_words_of_one_sense_stand_for_one_another(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (LAKE, "Take bus 14 to the lake.", "Bus 14 (stop: the lake).", RIGHT),
        (LAKE, "Take bus 14 to the lake.", "Avoid bus 14, it does not stop at the lake.", OPEN),
        (
            APPLY,
            "Send the form to the office and pay the fee.",
            "Send the form to the office and refund the fee.",
            OPEN,
        ),
        ("What is needed?", "Members need a badge and a key.", "You need a badge and a key.", RIGHT),
        ("What is needed?", "Members need a badge and a key.", "Guests need a badge and a key.", OPEN),
        ("Cần gì?", "Sinh viên cần thẻ và ảnh.", "Bạn cần thẻ và ảnh.", RIGHT),
        ("Ai được mượn sách?", "Sinh viên được mượn sách.", "Bạn là giảng viên thì được mượn sách.", OPEN),
    ],
)
def test_an_everyday_verb_and_who_is_addressed_may_be_left_out(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (LABEL, GREY, "Archived files are marked with a grey label.", RIGHT),
        (LABEL, GREY, "Archived files have a blue label, drafts a grey one.", OPEN),
        (LABEL, GREY, "A grey label means that a file is a draft.", OPEN),
        ("Which version fixes it?", "It is fixed in 4.1.2; the crash in 4.1.3.", "It was fixed in 4.1.3.", OPEN),
        ("Where do I pay?", "At desk 3. Cards are not accepted.", "At desk 3, by card.", OPEN),
        ("What should I do?", "Leave the hall. Then call 112.", "Leave the hall.", OPEN),
    ],
)
def test_what_a_reference_says_of_another_thing_is_not_asked_for(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (
            "How do I pay?",
            "By credit card or bank transfer; cash is not accepted.",
            "You can pay by credit card or via bank transfer. Please note that cash payments aren't accepted.",
            RIGHT,
        ),
        (
            "Which two fuels does the generator run on?",
            "The generator runs on diesel and HVO.",
            "Diesel and natural gas; a trial with HVO was called off.",
            OPEN,
        ),
        (
            "What is the last day of the show?",
            "The last day of the show is 15 March.",
            "The show opens on March 15th and says goodbye on the last day of June.",
            OPEN,
        ),
        (
            "Which players may touch the ball?",
            "Only the goalkeeper, and only inside the penalty area.",
            "Only the goalkeeper is allowed to handle the ball, and only within their own penalty area.",
            RIGHT,
        ),
        (
            "Số ngày phép được tính thế nào?",
            "Theo tỷ lệ số tháng đủ điều kiện.",
            "Tháng đủ điều kiện là tháng có mặt trên bảng lương ít nhất một nửa số ngày làm việc.",
            OPEN,
        ),
        (PRESS, "Press the red button and hold the lever.", "Press the red lever and hold the button.", OPEN),
        (
            "What does E4 mean?",
            "The cover is open or the tray is empty.",
            "Either the cover is open or the tray is empty.",
            RIGHT,
        ),
        (
            "What does E4 mean?",
            "The cover is open or the tray is empty.",
            "Either the cover is open or the tray is full.",
            OPEN,
        ),
    ],
)
def test_each_clause_of_a_reference_may_be_stated_by_itself(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        ("Wer darf parken?", "Mieter und ihre Gäste.", "Mieter bzw. deren Gäste dürfen parken.", RIGHT),
        ("Wer zahlt weniger?", "Schüler und Rentner.", "Weniger zahlen Schülerinnen und Schüler sowie Rentner.", RIGHT),
        ("Was brauche ich?", "Ausweis und Foto.", "Sie brauchen z. B. Ausweis und Foto.", RIGHT),
        ("How do I cancel?", "By e-mail or letter.", "You can cancel by email or letter.", RIGHT),
        ("What is in the kit?", "A sensor, two bolts and a mount.", "- 1 sensor\n- 2 bolts\n- 1 mount", RIGHT),
        ("What may I take?", "One suitcase of 20 kg and one bag.", "Two suitcases of 20 kg plus one bag.", OPEN),
    ],
)
def test_short_forms_and_a_count_of_one_are_read(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        (
            "Can guests come at weekends?",
            "No. Guests are only admitted on weekdays between 8 am and 6 pm.",
            "No, guests can't come at weekends. Guest access is limited to weekdays from 8 a.m. to 6 p.m.",
            RIGHT,
        ),
        (
            "Can children take part in the hike?",
            "No. The hike is for adults from 18.",
            "No, children can't take part. The hike is only open to adults aged 18 and over.",
            RIGHT,
        ),
        (
            "How can I pay for lunch?",
            "With the chip card or the app, not in cash.",
            "Lunch is paid for with the chip card or via the app. Cash isn't accepted.",
            RIGHT,
        ),
        (
            "How can I pay for lunch?",
            "With the chip card or the app, not in cash.",
            "Lunch is paid for with the chip card, via the app, or in cash.",
            OPEN,
        ),
        (
            "Who can apply for the grant?",
            "Owners of houses built before 1950.",
            "The grant is open to owners whose houses were built before 1950.",
            RIGHT,
        ),
        (
            "Who can apply for the grant?",
            "Owners of houses built before 1950.",
            "The grant is open to tenants whose houses were built before 1950.",
            OPEN,
        ),
        (
            "Where do I charge the car?",
            "There are six charging points on level 2.",
            "You can charge the car at one of the six charging points on level 2.",
            RIGHT,
        ),
        (
            "Why is the trail closed?",
            "A landslide destroyed the bridge.",
            "The trail is closed because the bridge was destroyed by a landslide.",
            RIGHT,
        ),
        (
            "Que faire en cas de perte ?",
            "Déclarer la perte en ligne ; une carte est envoyée sous 5 jours pour 8 €.",
            "En cas de perte, déclarez la perte en ligne. Une carte vous sera envoyée dans les 5 jours, pour 8 €.",
            RIGHT,
        ),
        (
            "What refund do I get a week before?",
            "Half of the fee.",
            "If you cancel a week before the start you get the whole fee back; later, half.",
            OPEN,
        ),
        (
            "Peut-on annuler ?",
            "Oui, gratuitement jusqu'à 48 heures avant l'arrivée.",
            "Oui, vous pouvez annuler sans frais jusqu'à 48 heures avant votre arrivée.",
            RIGHT,
        ),
        (
            "Darf ich das Rad mitnehmen?",
            "Ja, außerhalb der Hauptzeiten mit einer Fahrradkarte.",
            "Ja, Sie dürfen das Rad jederzeit und ohne Fahrradkarte mitnehmen.",
            OPEN,
        ),
    ],
)
def test_what_only_repeats_question_or_reference_raises_no_doubt(
    question: str, reference: str, answer: str, expected: bool | None
) -> None:
    assert judge(question, reference, answer) is expected


@pytest.mark.parametrize(
    ("question", "reference", "answer", "expected"),
    [
        ("Wann ist offen?", "Samstags von 9 bis 18 Uhr.", "Samstags von 9:00 bis 18:00 Uhr.", RIGHT),
        ("Wann ist offen?", "Samstags von 9 bis 18 Uhr.", "Samstags von 8:00 bis 18:00 Uhr.", OPEN),
        ("¿Cuándo abre?", "El sábado de 10 a 14 h.", "Abre el sábado, de 10:00 a 14:00.", RIGHT),
        ("Quand est-ce ouvert ?", "Le samedi de 9 à 12 h.", "Le samedi, de 9h à 12h.", RIGHT),
        ("Quand est-ce ouvert ?", "Le samedi de 9 à 12 h.", "Le samedi, de 9h à 13h.", OPEN),
    ],
)
def test_two_hours_of_the_day_share_one_sign(question: str, reference: str, answer: str, expected: bool | None) -> None:
    assert judge(question, reference, answer) is expected

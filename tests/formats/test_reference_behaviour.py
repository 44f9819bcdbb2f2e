"""References that say what the system should do, or who alone may know: what is expected of answers to their rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.foreign.reference_behaviour import read_reference_behaviour
from assay.runs.import_rows import import_rows


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("How do I get to the lab?", "The assistant should ask which campus is meant."),
        ("How much is parking?", "It depends on the site. The bot should ask which one."),
        ("Can I return it?", "Should ask what was bought."),
        ("How long is the warranty?", "Needs clarification: which product?"),
        ("What does the card cost?", "Ask the user which card they mean."),
        ("When do you open?", "A follow-up question is expected (which branch?)."),
        ("Wie lange ist geöffnet?", "Der Assistent soll nachfragen, welche Filiale gemeint ist."),
        ("Bis wann muss ich zahlen?", "Hier muss zurückgefragt werden, welche Rechnung."),
        ("Was kostet das Ticket?", "Rückfrage nötig: Einzelfahrt oder Monatskarte?"),
        ("Phí là bao nhiêu?", "Trợ lý nên hỏi lại loại phí nào."),
        ("Mấy giờ mở cửa?", "Cần hỏi lại: chi nhánh nào?"),
        ("Combien ça coûte ?", "L'assistant doit demander de quel billet il s’agit."),
        ("Quand ferme-t-il ?", "Il faut demander quel magasin."),
        ("¿Cuánto cuesta?", "El asistente debe preguntar qué billete."),
        ("¿Cuándo abre?", "Hay que preguntar qué tienda."),
    ],
)
def test_a_reference_that_describes_a_question_back_expects_one(question: str, reference: str) -> None:
    assert ("clarify", (), "describes asking") == read_reference_behaviour(reference, question)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("What does a director earn?", "Restricted to HR."),
        ("What is the door code of the vault?", "For authorised staff only."),
        ("Who filed the complaint?", "Only members of the board may see it."),
        ("What was agreed with the supplier?", "The assistant must not disclose this."),
        ("When is the takeover announced?", "Internal; the bot should refuse."),
        ("How much did the audit find?", "This is for the board only; do not tell."),
        ("Was kam bei der Prüfung heraus?", "Der Prüfbericht ist vertraulich."),
        ("Wie viel verdient der Dekan?", "Nur für die Personalabteilung."),
        ("Wie oft wird der Tresor geprüft?", "Diese Information ist Mitarbeitern vorbehalten."),
        ("Wann wird die Fusion verkündet?", "Das darf der Assistent nicht sagen."),
        ("Lương giám đốc là bao nhiêu?", "Chỉ dành cho phòng nhân sự."),
        ("Khi nào công bố sáp nhập?", "Trợ lý không được tiết lộ."),
        ("Combien gagne le doyen ?", "Réservé au personnel."),
        ("¿Qué ofertas hay?", "Las ofertas son confidenciales."),
    ],
)
def test_a_reference_that_restricts_or_forbids_expects_a_refusal(question: str, reference: str) -> None:
    assert ("abstain", ("permission_denied",), "describes refusing") == read_reference_behaviour(reference, question)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("Who may use the staff garage?", "Restricted to staff."),
        ("Can guests use the sauna?", "Only members may use it."),
        ("What must I do before I leave?", "You should ask your manager."),
        ("How do I get a key?", "Ask the caretaker for it."),
        ("What does the clerk ask for?", "The clerk should ask for an ID."),
        ("How are exam drafts classified?", "Exam drafts are confidential."),
        ("Is the wage list public?", "Confidential."),
        ("What is the ground floor for?", "Reserved for deliveries."),
        ("Which lift is for the kitchen?", "The rear lift; it is for kitchen staff only."),
        ("How much does the pass cost for staff?", "€12, for staff only."),
        ("When may the pool be used?", "On Mondays for members only."),
        ("When does the archive open?", "It is confidential until 2031."),
        ("Wer darf den Tresor öffnen?", "Nur für Mitarbeiter."),
        ("Was muss ich vor dem Antrag tun?", "Sie müssen im Sekretariat nachfragen."),
        ("Ai được vào kho?", "Chỉ dành cho nhân viên."),
        ("Que faire en cas de perte ?", "Il faut demander un duplicata."),
        ("¿Qué hago si pierdo la llave?", "Hay que preguntar en recepción."),
    ],
)
def test_who_may_and_whom_to_ask_are_answers(question: str, reference: str) -> None:
    assert ("answer", (), "answers") == read_reference_behaviour(reference, question)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("What should the dental assistant do first?", "The assistant should ask whether the patient has eaten."),
        ("How does the bot react to a short query?", "The bot should ask a follow-up question."),
        ("What should we do with unclear tickets?", "Ask the user for more details."),
        ("What must the model not do?", "The model must not disclose wages."),
        ("Where may I park?", "Restricted to staff."),
        ("How long is the notice?", "3 months; for managers the assistant should ask which contract."),
    ],
)
def test_where_both_readings_fit_an_answer_is_expected_and_that_is_said(question: str, reference: str) -> None:
    assert ("answer", (), "may describe") == read_reference_behaviour(reference, question)


def test_the_import_says_how_references_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    lab = {"id": "lab", "question": "How do I get to the lab?", "reference": "The assistant should ask which campus."}
    rows = [
        lab,
        {**lab, "id": "stated", "expected_behavior": "answer"},
        {
            "id": "pay",
            "question": "What does a dean earn?",
            "reference": "For staff only; the assistant must not tell.",
        },
        {"id": "park", "question": "Where may I park?", "reference": "Restricted to staff."},
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    notes = import_rows(str(path), str(tmp_path)).notes
    to_correct = "if that is not meant, state expected_behavior: answer in the row"
    assert f"expected to ask back, because the reference says that the system should: lab ({to_correct})" in notes
    assert any("who alone may know or that nothing is to be told: pay (" in note for note in notes)
    assert any(note.startswith("the reference is taken for the answer") and ": park (" in note for note in notes)
    assert not any("expected to abstain, because the reference does" in note for note in notes)
    assert ["clarify", "answer", "abstain", "answer"] == [
        case.behaviour for case in load_foreign_file(path).golden.cases
    ]

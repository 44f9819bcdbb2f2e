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
        ("What does the treasurer earn?", "Restricted."),
        ("What does the treasurer earn?", "Insufficient permissions."),
        ("Was verdient die Schatzmeisterin?", "Keine Freigabe."),
        ("Was verdient die Schatzmeisterin?", "Nur für den internen Gebrauch."),
        ("Combien gagne la trésorière ?", "Accès refusé."),
        ("Combien gagne la trésorière ?", "Non autorisé."),
        ("¿Cuánto gana la tesorera?", "Sin permiso."),
        ("Lương của thủ quỹ là bao nhiêu?", "Không có quyền xem."),
    ],
)
def test_a_reference_that_is_a_denial_alone_expects_a_refusal(question: str, reference: str) -> None:
    assert ("abstain", ("permission_denied",), "denies") == read_reference_behaviour(reference, question)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("Which rating has the audit report?", "Restricted."),
        ("What does the badge reader show?", "Access denied"),
        ("Was zeigt das Lesegerät?", "Zugriff verweigert."),
        ("Wird die Stelle intern oder extern besetzt?", "Intern."),
        ("Le poste est-il pourvu en interne ou en externe ?", "Interne."),
    ],
)
def test_the_words_of_a_denial_may_be_what_is_asked(question: str, reference: str) -> None:
    assert "answer" == read_reference_behaviour(reference, question).behaviour


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


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("How much is it and how do I pay?", "Cash only."),
        ("Which meals are included?", "Breakfast only."),
        ("How many dogs are allowed?", "One dog only."),
        ("How long does the offer last?", "Only for a limited time."),
        ("What does bit 7 do?", "Reserved for future use."),
        ("How large is the comet?", "Visible to the naked eye."),
        ("What happened to the report?", "Available for download."),
        ("What is the use of the siren?", "Limited to emergencies."),
        ("How will prices develop?", "Should decline in spring."),
        ("What speech problem did the boy have?", "Cannot say 'r'."),
        ("When are cards refused?", "The system must refuse cards that expired."),
        ("Which commissions are banned?", "An agent may not share commission with the buyer."),
        ("What kind of gym is it?", "Women only."),
        ("What type of school is St Mary's?", "Private"),
        ("What was the outcome of my appeal?", "Denied."),
        ("What is the code name of the operation?", "Secret."),
        ("How are medical records classified?", "Confidential."),
        ("What does the sign on the gate say?", "No access."),
        ("What does 'verboten' mean?", "Forbidden"),
        ("What are the rules for the roof terrace?", "Restricted to staff."),
        ("What is the library like?", "Open to members."),
        ("What time is lunch?", "Lunch is served from noon. Ask which dishes are left."),
        ("What does the protocol require of ambiguous orders?", "A clarifying question is required."),
        ("Was ist bei unklaren Anträgen zu tun?", "Es muss nachgefragt werden."),
        ("Wie lange gilt das Angebot?", "Nur für kurze Zeit."),
        ("Was ist mit der Straße los?", "Gesperrt."),
        ("Quand utiliser ce numéro ?", "Uniquement pour les urgences."),
        ("Quel est le titre du film ?", "Confidentiel"),
        ("Khi nào dùng số này?", "Chỉ dành cho trường hợp khẩn cấp."),
        # Not looked at before the rules were finished.
        ("What does the gift card cover?", "Books only."),
        ("What languages are on offer?", "English only."),
        ("What is the bursary for?", "Limited to tuition."),
        ("Wofür gilt der Gutschein?", "Nur für Bücher."),
        ("Phiếu này dùng cho gì?", "Chỉ dành cho sách."),
        ("À quoi sert le bon ?", "Uniquement pour les livres."),
        ("¿Para qué sirve el vale?", "Solo para libros."),
        ("What does the machine do without coins?", "Should refuse to start."),
    ],
)
def test_what_only_has_words_of_asking_or_restriction_is_an_answer(question: str, reference: str) -> None:
    assert read_reference_behaviour(reference, question).behaviour == "answer"


@pytest.mark.parametrize(
    ("question", "reference"),
    [  # not looked at before the rules were finished
        ("What was the Q3 loss?", "Restricted to the finance department."),
        ("What did the auditors find?", "Strictly confidential."),
        ("Who got the contract?", "The model should refuse to answer."),
        ("What is the master password?", "Agent should decline."),
        ("What are the merger terms?", "The agent must not disclose the terms of the merger."),
        ("What is the strategy for 2027?", "Management only."),
        ("Wie hoch war der Verlust?", "Ausschließlich für die Geschäftsleitung."),
        ("Mật khẩu két là gì?", "Chỉ dành cho ban giám đốc."),
        ("¿Cuál es el código?", "Solo para el personal autorizado."),
    ],
)
def test_what_is_reserved_to_those_of_a_house_is_to_be_refused(question: str, reference: str) -> None:
    assert read_reference_behaviour(reference, question).reading in ("describes refusing", "denies")

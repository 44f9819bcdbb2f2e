"""Offers behind an answer: no question back, unless nothing was stated before them, or they ask for a choice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.closing_offers import leave_out_offers, leave_out_questions
from assay.text.refusals.lexicons_in_use import list_lexicons

ANSWERED = [
    ("When does the pool open?", "The pool opens at 07:00 on weekdays. Would you like me to book a lane for you?"),
    ("What does the annual pass cost?", "The annual pass is €390. Want me to send you the order form?"),
    (
        "Is parking free for guests?",
        "Yes, guests park free of charge on level 2. Is there something else you'd like to know about your stay?",
    ),
    ("How long is the warranty?", "**24 months** from delivery. Need help with a claim?"),
    ("Can I bring my dog?", "No, dogs are not admitted. May I suggest the kennel next door?"),
    ("How do I reset my PIN?", "Open **Settings > Security** and tap *Reset PIN*. Was that helpful?"),
    ("Do you ship to Norway?", "Yes, we do, for €12. Would you like to know about delivery times as well?"),
    ("When is check-out?", "At 11:00. Could I help you with late check-out?"),
    ("Wann öffnet das Bad?", "Das Bad öffnet um 7 Uhr. Möchten Sie, dass ich eine Bahn reserviere?"),
    ("Wer unterschreibt den Antrag?", "Ihre Führungskraft unterschreibt ihn. Kann ich Ihnen sonst noch helfen?"),
    ("Darf ich meinen Hund mitbringen?", "Nein, Hunde sind nicht erlaubt. Brauchst du noch etwas?"),
    ("Hồ bơi mở cửa lúc mấy giờ?", "Hồ bơi mở cửa lúc 7 giờ ạ. Anh/chị có muốn em đặt chỗ luôn không ạ?"),
    ("Ai ký đơn nghỉ phép?", "Quản lý trực tiếp ký đơn ạ. Em có thể hỗ trợ gì thêm cho anh/chị không ạ?"),
    ("Có được mang chó theo không?", "Không, khách sạn không nhận chó ạ. Chị cần em giúp gì nữa không ạ?"),
    ("Combien coûte l'abonnement annuel ?", "L'abonnement annuel coûte 390 €. Avez-vous d'autres questions ?"),
    ("¿Cuándo abre la piscina?", "La piscina abre a las 7. ¿Quiere que le reserve una calle?"),
    ("Quando abre a piscina?", "A piscina abre às 7h. Posso ajudar em mais alguma coisa?"),
    ("プールは何時に開きますか。", "プールは7時に開きます。ほかにご質問はありますか。"),
    ("泳池几点开门？", "泳池早上7点开门。请问还有什么可以帮您的吗？"),
    ("How much is the joining fee?", "There's a one-off joining fee of £25. Is that what you were looking for?"),
    ("How much is a croissant?", "£1.80. Can I get you anything else?"),
    ("Phòng tập mở cửa mấy giờ?", "Phòng tập mở từ 6 giờ đến 22 giờ. Mình cần tư vấn thêm gói nào không ạ?"),
    ("¿Cuándo abre el gimnasio?", "De 6 a 22 h. ¿Te interesa alguna clase?"),
]
ASKED_BACK = [
    ("How high is the fee?", "That depends on your membership. Would you like me to look yours up?"),
    ("How high is the fee?", "It depends on the tariff. Which one do you have?"),
    ("Can I cancel?", "I can help you with that. Do you want to cancel the whole order or one item?"),
    (
        "When does the train leave?",
        "There are several trains to Bern. Would you like the direct one or the one via Olten?",
    ),
    ("What's my limit?", "Sure! Could you tell me which card you have?"),
    ("How do I install it?", "Happy to help. Are you on Windows or macOS?"),
    ("How much is a ticket?", "Do you mean a single or a return ticket?"),
    ("What is the limit?", "Would you like to know the limit for the household or the travel policy?"),
    ("What does it cost?", "Prices differ by season. May I ask when you'd like to come?"),
    ("Is it in stock?", "To check that, could I have the article number?"),
    ("Wie hoch ist die Gebühr?", "Das kommt auf Ihren Tarif an. Welchen haben Sie?"),
    ("Wann fährt der Zug?", "Möchten Sie den direkten Zug oder den über Olten?"),
    ("Wie hoch ist mein Limit?", "Gern! Können Sie mir sagen, welche Karte Sie haben?"),
    ("Phí là bao nhiêu?", "Phí còn tùy gói của anh/chị. Anh/chị đang dùng gói nào ạ?"),
    ("Tàu chạy lúc mấy giờ?", "Anh/chị muốn hỏi tàu đi thẳng hay tàu qua Vinh ạ?"),
    ("Quels sont les frais ?", "Cela dépend de votre formule. Laquelle avez-vous ?"),
    ("Quand part le train ?", "Voulez-vous le train direct ou celui qui passe par Olten ?"),
    ("¿Cuánto es la tasa?", "Depende de su tarifa. ¿Cuál tiene?"),
    ("Qual é a taxa?", "Depende do seu plano. Qual é o seu?"),
    ("费用是多少？", "这取决于您的套餐。您用的是哪个套餐？"),
    ("How much is the tax?", "It depends on your income. Would you like to tell me how much you earned?"),
    ("When is my appointment?", "Sure, I can look that up. What's your date of birth?"),
    ("Which contract do I have?", "I'd need your customer number for that. Could you send it to me?"),
    ("How much is the fee?", "The basic fee is 20 euros. What is your age group?"),
]
REFUSED = [
    (
        "What is the cancellation fee?",
        "I couldn't find a cancellation fee in the terms. Is there anything else I can help you with?",
        "abstain",
    ),
    (
        "What does Mr Holm earn?",
        "I'm not allowed to share salaries. Would you like to know anything else?",
        "permission_denied",
    ),
    (
        "Wie hoch ist die Stornogebühr?",
        "Dazu habe ich in den Unterlagen leider nichts gefunden. Kann ich Ihnen sonst noch helfen?",
        "abstain",
    ),
    (
        "Phí hủy là bao nhiêu?",
        "Em không tìm thấy thông tin về phí hủy trong tài liệu ạ. Anh/chị cần hỗ trợ gì thêm không ạ?",
        "abstain",
    ),
    (
        "Quels sont les frais d'annulation ?",
        "Je n'ai rien trouvé à ce sujet dans les documents. Puis-je vous aider pour autre chose ?",
        "abstain",
    ),
]
OFFERS = (
    "Is there anything else I can help you with?",
    "Shall I send you the form?",
    "Does that answer your question?",
    "Soll ich Ihnen das Formular schicken?",
    "Anh/chị cần em hỗ trợ thêm gì không ạ?",
    "Puis-je vous aider pour autre chose ?",
)


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
def test_an_offer_behind_an_answer_is_no_question_back(question: str, answer: str) -> None:
    assert "answer" == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize(("question", "answer"), ASKED_BACK)
def test_a_question_that_must_be_answered_first_stays_one(question: str, answer: str) -> None:
    assert "clarify" == detect_behaviour(answer, question=question).behaviour


@pytest.mark.parametrize(("question", "answer", "behaviour"), REFUSED)
def test_a_refusal_stays_one_with_an_offer_behind_it(question: str, answer: str, behaviour: str) -> None:
    assert behaviour == detect_behaviour(answer, question=question).behaviour


@given(st.sampled_from(OFFERS), st.sampled_from(["", " ", "\n\n"]), st.booleans())
def test_an_offer_is_left_out_wherever_it_is_and_nothing_else(offer: str, gap: str, is_bold: bool) -> None:
    statement = "**12 days** a year." if is_bold else "Staff get 12 days a year."
    answer = f"{statement} {gap}{offer}"
    assert statement == leave_out_offers(answer, "", list_lexicons(answer))
    assert offer == leave_out_offers(offer, "", list_lexicons(offer))


@given(st.text(max_size=200))
def test_what_is_left_is_the_beginning_of_the_answer(answer: str) -> None:
    assert answer.startswith(leave_out_offers(answer, "", list_lexicons(answer)))
    assert answer.startswith(leave_out_questions(answer))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("You may carry two bags. By the way, what colour is yours?", "passed"),
        ("You may carry three bags. By the way, what colour is yours?", "failed"),
        ("Do you mean the two bags of Basic, and what colour is yours?", "failed"),
        ("You may carry two bags. Would you like to add a third?", "passed"),
        ("You may carry three bags. Would you like to add a fourth?", "failed"),
    ],
)
def test_a_question_behind_all_facts_is_an_answer(answer: str, verdict: str) -> None:
    case = {"id": "bags", "question": "How many bags may I carry?", "must_have": ["two bags"]}
    result = assay.score([case], [{"case_id": "bags", "config_id": "air", "answer": answer}])
    assert (verdict == "failed") == bool(result.failed)
    assert not result.unknown


def test_a_wrong_value_with_an_offer_is_not_accepted_as_a_question_back() -> None:
    case = {"id": "a", "question": "How long do I wait?", "must_have": ["30 days"], "also_accept": ["clarify"]}
    answers = ("You wait 90 days. Is there anything else I can help you with?", "Which tariff do you have?")
    cases = [case, {**case, "id": "b"}]
    outputs = [{"case_id": name, "config_id": "x", "answer": text} for name, text in zip("ab", answers, strict=True)]
    assert ["a"] == [failed.id for failed in assay.score(cases, outputs).failed]

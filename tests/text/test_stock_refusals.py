"""Refusals that nearly every system gives stay refusals, whatever was asked and whatever the models learn next."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour

REFUSALS = ("abstain", "permission_denied", "escalate")
ENGLISH = """
I don't know.
I'm not sure.
I do not have that information.
I don't have enough information to answer that.
The documents do not say.
The documents do not mention this.
The provided context does not contain the answer.
The context doesn't specify this.
There is no information about that in the sources.
No information was found.
I could not find anything about this in the documents.
I can't find that in the handbook.
I was unable to find an answer.
Sorry, I can't help with that.
I'm sorry, but I cannot answer this question.
I cannot answer that based on the given passages.
That is outside the scope of this assistant.
This is not covered by the policy documents.
The handbook is silent on this.
That is not stated anywhere in the text.
It is not clear from the passages.
The answer is not given in the passage.
You do not have permission to see this.
You are not authorised to view this document.
You are not allowed to see this.
Access denied.
This information is confidential.
I can't share that with you.
I'm not able to disclose this.
That is restricted to managers.
You don't have access to this.
Please contact HR for this.
Please ask your manager.
I will pass this on to a colleague.
Let me connect you with an agent.
The service is not available right now.
The search returned no results.
No results found.
""".strip().splitlines()
VIETNAMESE = """
Tôi không biết.
Tôi không có thông tin đó.
Tôi không tìm thấy thông tin này.
Tài liệu không đề cập đến điều này.
Tài liệu không nói rõ.
Không có thông tin về việc này trong tài liệu.
Không tìm thấy kết quả nào.
Tôi không thể trả lời câu hỏi này.
Xin lỗi, tôi không thể giúp việc này.
Câu hỏi này nằm ngoài phạm vi hỗ trợ.
Bạn không có quyền xem thông tin này.
Bạn không được phép xem tài liệu này.
Thông tin này là bảo mật.
Tôi không thể chia sẻ thông tin này.
Hệ thống đang gặp lỗi.
Tai lieu khong de cap den dieu nay.
Toi khong tim thay thong tin nay.
Ban khong co quyen xem thong tin nay.
""".strip().splitlines()
ENGLISH_QUESTIONS = ("What does item 5 cost?", "How many days of leave do I have?", "Who leads the team?", "")
VIETNAMESE_QUESTIONS = ("Tôi có bao nhiêu ngày phép?", "Phí gửi xe là bao nhiêu?", "Chủ nhật có mở cửa không?", "")


@pytest.mark.parametrize("question", ENGLISH_QUESTIONS)
@pytest.mark.parametrize("answer", ENGLISH)
def test_an_english_stock_refusal_refuses(answer: str, question: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour in REFUSALS


@pytest.mark.parametrize("question", VIETNAMESE_QUESTIONS)
@pytest.mark.parametrize("answer", VIETNAMESE)
def test_a_vietnamese_stock_refusal_refuses(answer: str, question: str) -> None:
    assert detect_behaviour(answer, question=question).behaviour in REFUSALS


@pytest.mark.parametrize(
    "answer",
    [
        "Hmm, no clue.",
        "Sorry, no info.",
        "Dunno, try the front desk.",
        "No info, sorry.",
        "Not a clue, please ask Ann.",
    ],
)
def test_a_bare_refusal_stays_one_with_courtesies_and_advice_around_it(answer: str) -> None:
    assert detect_behaviour(answer, question="When does the gym open?").behaviour == "abstain"


@pytest.mark.parametrize(
    "answer", ["Sorry, closed.", "No dogs. Ask at the desk.", "Unknown, try 12 euros.", "Hi, 7 am."]
)
def test_an_answer_with_courtesies_and_advice_around_it_is_no_refusal(answer: str) -> None:
    assert detect_behaviour(answer, question="When does the gym open?").behaviour == "answer"

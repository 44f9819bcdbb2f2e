"""An answer with advice on whom to ask answers, and one that leaves the value asked for unnamed declines."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour


@pytest.mark.parametrize(
    ("question", "answer", "behaviour"),
    [
        # the answer, and whom to ask besides
        (
            "Where are found keys kept?",
            "Found keys are taken to the town hall each Friday, so please ask there.",
            "answer",
        ),
        (
            "How do I rent a slip?",
            "Slips are let by the boatyard from May on; please ask at the boatyard office.",
            "answer",
        ),
        ("Where is my parcel?", "Parcels that nobody collects go to the depot, so see the caretaker.", "answer"),
        ("Where is my parcel?", "Parcels are dealt with by the depot, so please ask the depot.", "escalate"),
        ("Where is my parcel?", "I don't know where it is, so please ask the depot.", "abstain"),
        ("What is my bonus?", "Bonuses are set once a year, so please ask HR.", "escalate"),
        # there is no more to say
        ("Who opens the weir?", "Above 3 m the weir keeper opens it; I cannot say more than that.", "answer"),
        ("Who opens the weir?", "The weir keeper opens it. That's all I can tell you.", "answer"),
        ("Who opens the weir?", "I cannot say more than that.", "abstain"),
        # none of it
        ("Where may I fish?", "Nowhere.", "answer"),
        ("Where may I fish?", "Unfortunately nowhere.", "answer"),
        ("Where may I fish?", "Nowhere, I'm afraid.", "answer"),
        ("Where may I fish?", "I'm afraid I don't know.", "abstain"),
        (
            "Chìa khóa thất lạc để ở đâu?",
            "Chìa khóa thất lạc được gửi về nhà ga phía Nam, anh vui lòng hỏi nhà ga.",
            "answer",
        ),
        ("Lương của tôi là bao nhiêu?", "Lương được tính mỗi tháng, anh vui lòng hỏi phòng nhân sự.", "escalate"),
        ("Ai mở cửa đập?", "Trạm trưởng mở cửa đập; tôi không thể nói gì thêm.", "answer"),
        ("Mức phạt vứt rác là bao nhiêu?", "Vứt rác bị cấm quanh năm; nội quy không nêu mức phạt.", "abstain"),
        ("Mức phạt vứt rác là bao nhiêu?", "Mức phạt là 200.000 đồng; nội quy không nêu mức phạt khác.", "answer"),
        # the value asked for is not named
        ("How high is the toll for trikes?", "Trikes may cross at night; the rules don't name a toll.", "abstain"),
        (
            "What is the penalty for late books?",
            "Late books are noted, and the by-laws do not fix any penalty.",
            "abstain",
        ),
        ("How high is the toll for trikes?", "The toll is €4; the rules don't name a toll for bikes.", "answer"),
        ("May trikes cross at night?", "Trikes may cross at night; the rules don't name a toll.", "answer"),
        ("How high is the toll for trikes?", "Trikes may cross at night; the rules don't name a bridge.", "answer"),
        ("What does status 503 mean?", "You are not allowed to use the service now.", "answer"),
        ("What does the code E-77 stand for?", "You don't have the right to print.", "answer"),
        ("What does the contract say?", "You are not allowed to read the contract.", "permission_denied"),
        ("Lỗi 505 nghĩa là gì?", "Bạn không có quyền in tệp này.", "answer"),
    ],
)
def test_what_an_answer_does_is_read_by_what_is_asked(question: str, answer: str, behaviour: str) -> None:
    assert behaviour == detect_behaviour(answer, "", question).behaviour

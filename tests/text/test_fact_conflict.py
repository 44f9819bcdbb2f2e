"""An answer that holds a fact and says something that cannot hold together with it, or what the fact is instead."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("question", "facts", "answer"),
    [
        (
            "How many dogs may I bring?",
            ["one dog per passenger"],
            "No dogs are allowed; one dog per passenger is the rule on ferries.",
        ),
        ("Mỗi khách mang mấy thùng?", ["mỗi khách một thùng"], "Không mang thùng nào; mỗi khách một thùng là xe đêm."),
        ("How can I text the office?", ["555-010-4477"], "You can't; 555-010-4477 is for calls."),
        ("How much is a key?", ["£4.50"], "£4.50 is the deposit."),
        ("From what age can I donate?", ["18"], "18 is the age at which you can donate platelets."),
        ("Which languages are taught?", ["Polish", "Slovak"], "Polish. Slovak was dropped last year."),
        ("Trung tâm dạy tiếng gì?", ["tiếng Hàn", "tiếng Trung"], "Tiếng Hàn. Tiếng Trung đã ngừng từ hè."),
        ("Who signs the results?", ["Dr Amara Osei"], "Dr Amara Osei wrote them, and Dr Lind signs the results."),
        ("Who chairs the club?", ["Professor Lin"], "Professor Lin's deputy chairs it."),
        ("Ai chấm bài thi?", ["thầy Lê Minh"], "Vợ thầy Lê Minh chấm."),
        ("Ai chấm bài thi?", ["thầy Lê Minh"], "Học trò của thầy Lê Minh chấm."),
        ("What must I pack?", ["tent", "stove"], "A tent or a stove."),
        ("What must I pack?", ["tent", "stove"], "A tent. The stove stays at home."),
        ("Which rooms have a balcony?", ["all rooms"], "All rooms on the top floor."),
        ("Which rooms have a balcony?", ["all rooms"], "Nearly all rooms."),
        ("Học viên nào được chứng chỉ?", ["mọi học viên"], "Mọi học viên trừ lớp buổi tối."),
        ("Khi nào được đậu xe?", ["ngày thường sau 18 giờ"], "Sau 18 giờ cuối tuần, ngày thường thì không."),
        ("Bao nhiêu bến có nhà chờ?", ["không bến nào có nhà chờ"], "Chỉ bến số 3 là không có nhà chờ."),
        ("How many guests?", ["at most 2 guests"], "At least 2 guests."),
        ("Được mấy khách?", ["tối đa 2 khách"], "Từ 2 khách trở lên."),
        (
            "May dogs come along?",
            ["dogs on a lead are allowed"],
            "Dogs on a lead are allowed; indoors they aren't.",
        ),
        ("Who may use the pool?", ["residents"], "Residents' guests may."),
        ("Which gate is accessible?", ["west gate"], "The west gate has steps, so it isn't accessible."),
        ("Cho cá ăn gì?", ["tôm khô"], "Tôm khô là cho rùa ăn."),
        ("Đổi hàng trong mấy ngày?", ["7 ngày"], "Sau 7 ngày mới đổi được."),
        ("Xuất xe trong bao lâu?", ["1 phút"], "Cần 1 phút để mặc đồ, rồi 2 phút nữa xe mới ra."),
    ],
)
def test_a_fact_that_the_answer_contradicts_does_not_pass(question: str, facts: list[str], answer: str) -> None:
    assert any(judgment.state != "stated" for judgment in judge_facts(answer, facts, question))


@pytest.mark.parametrize(
    ("question", "facts", "answer"),
    [
        ("How much is a key?", ["£4.50"], "£4.50 is the price."),
        ("Until when can I leave?", ["11 am"], "11 am is the latest."),
        ("Mấy giờ nhận phòng?", ["14 giờ"], "2h chiều là mình nhận phòng được rồi nha."),
        ("Who chairs the club?", ["Professor Lin"], "Prof. Lin chairs it."),
        ("Who signs the form?", ["parent"], "It must carry the signature of a parent."),
        ("What must I pack?", ["tent", "stove"], "A tent. You also need a stove."),
        ("Which members of the club get one?", ["all members"], "All members of the club."),
        ("Thành viên nào được mượn sách?", ["tất cả thành viên"], "Thành viên nào cũng được mượn."),
        ("Chai vỡ bỏ đâu?", ["không bỏ vào rác thường"], "Đừng bỏ vào rác thường nhé."),
        ("Where is the office?", ["14 Mill Street"], "At 14 Mill St., next to the bakery."),
        ("Where is the choir?", ["St Anne's Hall"], "In Saint Anne's Hall."),
        ("Who leads the tour?", ["Ms Ingrid Halvorsen"], "Ingrid Halvorsen does."),
        ("Ai ký giấy?", ["bác sĩ Trần Thu Hà"], "BS. Trần Thu Hà ký nhé."),
        ("How much does the library charge for a late return?", ["free"], "Nothing – there's no charge."),
        ("Is the museum open on Mondays?", ["closed on Mondays"], "Unfortunately it's closed on Mondays and Tuesdays."),
        ("When does the bar stop serving?", ["11 pm"], "Final rounds for guests are poured at 11 pm."),
    ],
)
def test_a_right_answer_in_a_like_form_passes(question: str, facts: list[str], answer: str) -> None:
    assert ["stated"] * len(facts) == [judgment.state for judgment in judge_facts(answer, facts, question)]


def test_an_answer_may_begin_with_the_no_that_its_reference_begins_with() -> None:
    question, answer = "May I promise it, and what must I do?", "No, you can't. Legal has to agree."
    (with_reference,) = judge_facts(answer, ["Legal"], question, "You can't. Legal must agree.")
    (without,) = judge_facts("You can't. Legal has to agree.", ["Legal"], question)
    assert ("stated", "unknown") == (with_reference.state, without.state)

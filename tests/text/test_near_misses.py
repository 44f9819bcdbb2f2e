"""Answers with the words or the value of a fact that say something else of it, each next to a right answer."""

from __future__ import annotations

import pytest

from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.stated_facts import judge_facts
from assay.text.facts.values.reversed_events import find_asked_end
from assay.text.quantities.measures import find_measures

COLD_STORE = ("Ai được vào kho lạnh?", "thủ kho", "Chỉ thủ kho được vào kho lạnh.")
REPORT = ("Ai phải nộp báo cáo?", "trưởng nhóm", "Trưởng nhóm phải nộp báo cáo.")
MEETING = ("Cuộc họp tổ chức ở đâu?", "phòng 302", "Cuộc họp tổ chức ở phòng 302.")
DELIVERY = ("Phí giao hàng nội thành bao nhiêu?", "25.000 đồng", "Giao nội thành 25.000 đồng, ngoại thành 40.000 đồng.")
OVERTIME = ("Who signs off overtime?", "team lead", "The team lead signs off overtime.")
ROOM = ("Phí phòng họp một giờ bao nhiêu?", "200.000 đồng", "200.000 đồng một giờ.")
APPLICATION = ("Nộp đơn trước ngày nào?", "15 tháng 3", "Nộp đơn trước ngày 15 tháng 3.")
TOUR = ("What does a tour cost per person?", "€12", "A tour is €12 per person.")
BALCONY = ("Có được hút thuốc ở ban công không?", "không được hút thuốc", "Không được hút thuốc ở ban công.")
TRIAL = ("Nhân viên thử việc hưởng bao nhiêu lương?", "85%", "Nhân viên thử việc hưởng 85% lương.")

NOT_STATED = [
    ("exempt", *COLD_STORE, "Thủ kho đâu có được vào kho lạnh."),
    ("exempt", *COLD_STORE, "Bảo vệ được vào kho lạnh, thủ kho thì không."),
    ("exempt", *REPORT, "Trưởng nhóm được miễn nộp báo cáo."),
    ("exempt", *OVERTIME, "The team lead is exempt, HR signs off overtime."),
    ("or", *REPORT, "Trưởng nhóm hoặc thư ký, ai nộp cũng được."),
    ("or", *OVERTIME, "The team lead or somebody from accounting signs off overtime."),
    ("recipient", *REPORT, "Báo cáo nộp cho trưởng nhóm."),
    ("recipient", *REPORT, "Thư ký thay trưởng nhóm nộp báo cáo."),
    ("recipient", *OVERTIME, "Overtime is sent to the team lead and signed off by HR."),
    ("moved", *MEETING, "Cuộc họp dời từ phòng 302 sang hội trường."),
    ("moved", "Where is the workshop?", "room 12", "It is in room 12.", "The workshop moved from room 12 to the hall."),
    ("opposite", *MEETING, "Cuộc họp ở phòng đối diện phòng 302."),
    ("compared", "Ai được ưu tiên?", "người cao tuổi", "", "Trẻ em được ưu tiên hơn người cao tuổi."),
    (
        "relative",
        "Who keeps the key?",
        "Ann",
        "Ann keeps the key.",
        "The key is kept by the trainee whom Ann supervises.",
    ),
    ("relative", "Ai giữ chìa khóa?", "chị Hạnh", "", "Chìa khóa do bạn thực tập mà chị Hạnh kèm giữ nhé."),
    ("or not", "Ai được đón bé?", "người có thẻ", "Chỉ người có thẻ.", "Người có thẻ hay không đều đón bé được."),
    (
        "value of another",
        "Gói nào có 20 GB?",
        "Gói Plus",
        "Gói Plus.",
        "Gói Max có 20 GB, còn Gói Plus thì 10 GB thôi ạ.",
    ),
    ("one syllable", *DELIVERY, "Giao ngoại thành 25.000 đồng."),
    ("difference", *DELIVERY, "Đơn nội thành được giảm 25.000 đồng phí giao."),
    ("difference", "How much is the deposit?", "€50", "", "The rent is reduced by €50 if you pay a deposit."),
    ("difference", *ROOM, "Rẻ hơn phòng lớn 200.000 đồng một giờ ạ."),
    ("notice", "Nghỉ cưới bao nhiêu ngày?", "3 ngày", "Nghỉ cưới 3 ngày.", "Nghỉ cưới thì phải báo trước 3 ngày."),
    ("period", *ROOM, "Mỗi buổi 200.000 đồng ạ."),
    ("period", "Thuê phòng một tháng bao nhiêu?", "850.000 đồng", "", "Mỗi học kỳ đóng 850.000 đồng tiền phòng."),
    ("period", *TOUR, "Each group pays €12."),
    ("period", "Gói có bao nhiêu GB mỗi ngày?", "2 GB mỗi ngày", "", "Gói có 2 GB cho cả chu kỳ 30 ngày."),
    ("lower limit", "Nhận bé mấy tháng?", "từ 18 tháng", "Nhận bé từ 18 tháng.", "Nhận bé 18 tháng trở xuống."),
    (
        "lower limit",
        "Who may open one?",
        "7 years",
        "Children from 7 years.",
        "Children of 7 years or younger may open one.",
    ),
    ("side", *APPLICATION, "Nộp đơn từ ngày 15/3 trở đi."),
    ("relation", "Đổi địa chỉ khi nào?", "trước khi hàng rời kho", "", "Đổi được cả sau khi hàng rời kho."),
    ("relation", "When can I change it?", "before it leaves", "", "You can change it even after it leaves."),
    ("relation", "Khám ngoài giờ bao nhiêu?", "500.000 đồng", "", "Khám 350.000 đồng, trong giờ là 500.000 đồng."),
    ("other end", "Cắt nước đến mấy giờ?", "17 giờ", "Từ 8 giờ đến 17 giờ.", "Cắt nước từ 17h tới 22h."),
    ("other end", "When does the sale end?", "6 pm", "It runs from 9 am to 6 pm.", "The sale runs from 6 pm to 11 pm."),
    ("event", "Tàu rời ga lúc mấy giờ?", "19 giờ 30", "Tàu rời ga lúc 19 giờ 30.", "Tàu đến ga lúc 19 giờ 30."),
    ("present count", "Lớp có tối thiểu mấy người?", "8 người", "Tối thiểu 8 người.", "Lớp hiện có 8 người đăng ký."),
    (
        "addition",
        "SIM bị khóa sau bao lâu?",
        "60 ngày",
        "SIM bị khóa sau 60 ngày.",
        "Sau khi khóa, 60 ngày nữa thì thu SIM.",
    ),
    ("decided beside", *BALCONY, "Trong phòng không được hút thuốc, ban công thì được."),
    ("first word", *TRIAL, "Nhân viên chính thức nghỉ ốm hưởng 85% lương."),
    ("route", "Tuyến 5 chạy từ đâu?", "từ bến Thành đến chợ Lớn", "", "Tuyến 5 chạy từ chợ Lớn đến bến Thành."),
    ("object", "Ai hướng dẫn thực tập sinh?", "chị Mai", "", "Thực tập sinh hướng dẫn chị Mai dùng phần mềm."),
    (
        "object",
        "Who trains the interns?",
        "Mai",
        "Mai trains the interns.",
        "The interns train Mai on the new software.",
    ),
    ("asked", "Who trains the interns?", "Mai", "Mai trains the interns.", "Ask Mai who trains the interns."),
    ("former", "Ai hướng dẫn?", "chị Mai", "Chị Mai hướng dẫn.", "Trước là chị Mai, nay chuyển cho anh Tuấn."),
    ("counted noun", "Mấy viên một lần?", "2 viên", "2 viên một lần.", "Uống cách nhau 2 tiếng, mỗi lần một viên."),
    ("period", "Mấy viên một lần?", "2 viên", "2 viên một lần.", "Mỗi ngày 2 viên, chia hai lần uống."),
    ("negated topic", "Mở nắp rồi để bao lâu?", "6 tháng", "", "Để được 6 tháng nếu chưa mở nắp."),
    ("negated topic", "How long does it keep once opened?", "6 months", "", "It keeps 6 months unopened."),
    ("not only", "Is the sauna for all?", "only adults", "Only adults.", "Not only adults, children may use it too."),
    ("present count", "How many can enter at once?", "12 people", "", "There are 12 people inside at the moment."),
    ("title", "Who leads it?", "Mr. Vale", "Mr. Vale leads it.", "Mr. Vale takes bookings, and Ms. Kay leads it."),
]
STATED = [
    (*COLD_STORE, "Trừ thủ kho, không ai được vào kho lạnh."),
    (*COLD_STORE, "Dạ chỉ có thủ kho thôi ạ."),
    (*REPORT, "Báo cáo do trưởng nhóm nộp."),
    (*MEETING, "Họp ở phòng 302 nha mọi người."),
    (*DELIVERY, "Ship nội thành 25k nha chị"),
    (*OVERTIME, "Your team lead does."),
    (*ROOM, "Thuê theo giờ là 200k nha, chưa gồm nước uống."),
    (*APPLICATION, "Hạn chót là 15/3 nha."),
    (*APPLICATION, "Sau 15/3 là không nhận nữa."),
    (*TOUR, "Each guest pays €12."),
    (*BALCONY, "Dạ không được hút thuốc ở ban công ạ."),
    (*TRIAL, "Thử việc thì nhận 85% lương chính thức."),
    ("Mang tối đa bao nhiêu kg?", "20 kg", "Mỗi khách mang tối đa 20 kg.", "Trên 20kg là không mang được."),
    ("Cắt nước đến mấy giờ?", "17 giờ", "Từ 8 giờ đến 17 giờ.", "cúp nước từ 8h tới 17h nha cả nhà"),
    ("Nhịn ăn mấy tiếng?", "ít nhất 8 tiếng", "", "Chị nhịn ăn từ 8 tiếng trở lên ạ."),
    ("Gói nào có 20 GB?", "Gói Plus", "Gói Plus.", "Gói Plus có 20 GB, còn Gói Max thì 50 GB."),
    ("Which documents do I need?", "passport", "A passport.", "Nothing but your passport."),
    ("Who leads it?", "Mr. Vale", "Mr. Vale leads it.", "Ms. Kay takes bookings, and Mr. Vale leads it."),
    ("How long does a filling take?", "2 hours", "", "It takes two hours before you can go home."),
    ("Ai hướng dẫn thực tập sinh?", "chị Mai", "", "Thực tập sinh được chị Mai hướng dẫn."),
    ("Who trains the interns?", "Mai", "Mai trains the interns.", "The interns are trained by Mai."),
    ("Mấy viên một lần?", "2 viên", "2 viên một lần.", "Mỗi lần hai viên sau ăn."),
    ("Tuyến 5 chạy từ đâu?", "từ bến Thành đến chợ Lớn", "", "Tuyến 5 đi từ bến Thành tới chợ Lớn nha."),
    ("Mở nắp rồi để bao lâu?", "6 tháng", "", "Mở nắp rồi thì nên dùng hết trong nửa năm."),
    ("Khi nào được hoàn tiền?", "khi hàng bị lỗi", "", "Hàng bị lỗi thì shop hoàn tiền ạ."),
]


@pytest.mark.parametrize(("rule", "question", "fact", "reference", "answer"), NOT_STATED)
def test_a_near_miss_does_not_state_a_fact(rule: str, question: str, fact: str, reference: str, answer: str) -> None:
    judgment = judge_facts(answer, [fact], question, reference)[0]

    assert judgment.state != "stated", rule
    assert judgment.reason


@pytest.mark.parametrize(("question", "fact", "reference", "answer"), STATED)
def test_a_right_answer_beside_a_near_miss_states_a_fact(question: str, fact: str, reference: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question, reference)[0] == FactJudgment(fact, "stated")


def test_until_and_evening_are_told_by_their_diacritics() -> None:
    spans = {text: [quantity.is_range for quantity in find_measures(text)] for text in ("8h tới 17h", "8h tối")}

    assert spans == {"8h tới 17h": [True], "8h tối": [False]}
    assert find_measures("8h toi 17h")[0].is_range


def test_a_question_asks_for_one_end_of_a_time_for_both_or_for_none() -> None:
    questions = ("cat nuoc den may gio?", "when does it start?", "when does it start and end?", "how big is it?")

    assert [find_asked_end(question) for question in questions] == ["end", "start", "", ""]

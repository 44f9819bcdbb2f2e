"""What a reference says of something else, said of the fact: left open."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts

SWAPPED = [
    (
        "Who records the hours?",
        "the foreman",
        "The foreman records the hours, payroll checks them.",
        "Payroll records the hours while the foreman checks them.",
    ),
    (
        "Which boats are moored at pier 2?",
        "trawlers",
        "Trawlers are moored at pier 2. Yachts anchor in the bay.",
        "Yachts are at pier 2, and the trawlers anchor there in the bay.",
    ),
    (
        "Ai ký hợp đồng thuê?",
        "trưởng ban",
        "Hợp đồng thuê do trưởng ban ký, thư ký lưu bản gốc.",
        "Hợp đồng thuê thì thư ký ký, còn trưởng ban lưu bản gốc.",
    ),
    (
        "Which locker has the oars?",
        "locker 4",
        "The oars are in locker 4; the sails hang in locker 9.",
        "The oars hang in locker 9; locker 4 is for the sails.",
    ),
    (
        "Which glaze is used for tiles?",
        "celadon",
        "Tiles are glazed with celadon. Bowls are dipped in tenmoku.",
        "Tiles are dipped in tenmoku, and celadon is kept as a spare.",
    ),
    (
        "When does the tannery open?",
        "8 am",
        "The tannery opens at 8 am, the dye house at 10 am.",
        "The tannery opens at 10 am, the dye house at 8 am.",
    ),
    (
        "Who tunes the organ?",
        "the sexton",
        "The sexton tunes the organ, the cantor plays it.",
        "That is for the cantor; the sexton rings the bells.",
    ),
    (
        "Ai ky hop dong thue?",
        "trưởng ban",
        "Hợp đồng thuê do trưởng ban ký. Thủ kho bảo quản con dấu.",
        "Thu kho ky hop dong, sau do truong ban bao quan con dau.",
    ),
]
KEPT = [
    (
        "Who records the hours?",
        "the foreman",
        "The foreman records the hours, payroll checks them.",
        "That is the foreman (payroll checks them).",
    ),
    (
        "When does the tannery open?",
        "8 am",
        "The tannery opens at 8 am, the dye house at 10 am.",
        "The dye house opens at 10 am, and the tannery at 8 am.",
    ),
    (
        "Which glaze is used for tiles?",
        "celadon",
        "After firing, celadon is used for tiles; for bowls, tenmoku is used.",
        "Bowls get tenmoku. For tiles we use celadon.",
    ),
    (
        "How long must the code be?",
        "9 signs",
        "At least 9 signs, or a sentence.",
        "The code has at least 9 signs or is a sentence.",
    ),
    (
        "I am leaving: whom do I tell?",
        "the porter",
        "The porter, before 9 pm.",
        "Guests who are leaving tell the porter before 9 pm.",
    ),
    (
        "Which length is in force?",
        "9 signs",
        "By the rules in force (v2031): at least 9 signs. The 7 signs of v2030 apply no more.",
        "The rules in force, v2031, ask for at least 9 signs. Those of v2030 apply no more.",
    ),
    (
        "When is the pass refused?",
        "torn",
        "It is refused if torn, faded; it is kept if stolen.",
        "It is refused if torn or faded.",
    ),
    (
        "What does a bicycle cost?",
        "£3.50",
        "Bicycles travel for £3.50 each way. Tandems cost £5.",
        "A bicycle costs £3.50.",
    ),
    (
        "Ai ký hợp đồng thuê?",
        "trưởng ban",
        "Hợp đồng thuê do trưởng ban ký, thư ký lưu bản gốc.",
        "Dạ trưởng ban ký ạ, thư ký thì lưu bản gốc.",
    ),
    (
        "Nhận kết quả ở đâu?",
        "quầy 4",
        "Kết quả trả tại quầy 4. Phim chụp nhận ở phòng 203.",
        "Bạn nhận kết quả ở quầy 4 nhé.",
    ),
]


@pytest.mark.parametrize(("question", "fact", "reference", "answer"), SWAPPED)
def test_a_fact_with_the_words_of_something_else_in_the_reference_is_open(
    question: str, fact: str, reference: str, answer: str
) -> None:
    judgment = judge_facts(answer, [fact], question, reference)[0]

    assert judgment.state == "unknown"
    assert judge_facts(reference, [fact], question, reference)[0].state == "stated"


@pytest.mark.parametrize(("question", "fact", "reference", "answer"), KEPT)
def test_a_fact_with_its_own_words_is_stated_next_to_those_of_something_else(
    question: str, fact: str, reference: str, answer: str
) -> None:
    assert judge_facts(answer, [fact], question, reference)[0].state == "stated"

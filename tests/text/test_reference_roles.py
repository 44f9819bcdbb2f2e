"""What a reference says of something else, said of the fact: left open."""

from __future__ import annotations

import pytest

from assay.text.stated_facts import judge_facts

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

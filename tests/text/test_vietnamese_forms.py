"""Vietnamese amounts, measures, days and hours in the forms that people write, and words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.facts.stated_facts import judge_facts
from assay.text.quantities.vietnamese_forms import write_vietnamese_forms


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("1.250.000 đồng", "1 triệu 250 nghìn."),
        ("1.200.000 đồng", "1tr2 nha."),
        ("1.500.000 đồng", "Triệu rưỡi ạ."),
        ("2,5 tỷ đồng", "hai tỉ rưỡi"),
        ("500.000 đồng", "nửa triệu"),
        ("2,5 kg", "hai ký rưỡi"),
        ("300 g", "ba lạng"),
        ("25.000 đồng", "hai lăm nghìn"),
        ("20 giờ 40", "8h40 tối"),
        ("13 giờ 30", "1g30 chiều"),
        ("14 giờ đến 17 giờ", "từ 2 tới 5 giờ chiều"),
        ("8 giờ đến 11 giờ 30", "Sáng: 8h – 11h30\nChiều: 2h – 5h"),
        ("5 kg", "năm cân"),
        ("1,65 m", "1m65"),
        ("1,2 m", "Trẻ cao 1m2"),
        ("45 mét vuông", "Căn hộ rộng 45m2."),
        ("45 square metres", "The flat is 45m2."),
        ("1,2 tấn", "1 tấn 2"),
        ("45 phút", "ba phần tư tiếng"),
        ("25%", "một phần tư"),
        ("7:30", "bảy giờ rưỡi"),
        ("14 giờ đến 17 giờ", "Chiều từ 2 giờ đến 5 giờ."),
        ("13:30 - 16:30", "Chiều: 1h30 - 4h30"),
        ("từ 13 giờ đến 15 giờ", "1 giờ đến 3 giờ chiều"),
        ("ngày 5 tháng 1", "mùng 5 tháng Giêng"),
        ("ngày 5 tháng 1", "05/01"),
        ("30/6", "30 tháng Sáu"),
        ("thứ Hai đến thứ Sáu", "T2-T6"),
        ("thứ Hai đến thứ Sáu", "từ thứ 2 tới thứ 6"),
        ("5 quyển", "Được năm quyển."),
        ("dưới 12 tuổi", "Chưa đủ 12 tuổi."),
        ("dưới 12 tuổi", "chưa đầy 12 tuổi"),
    ],
)
def test_a_vietnamese_form_states_its_value(fact: str, answer: str) -> None:
    assert "stated" == judge_facts(answer, [fact], "Bao nhiêu, khi nào?")[0].state


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("1.250.000 đồng", "1 triệu 520 nghìn."),
        ("1.200.000 đồng", "1tr3 nha."),
        ("2,5 kg", "ba ký rưỡi"),
        ("8 năm", "tám năm rưỡi"),
        ("14 giờ đến 17 giờ", "Sáng từ 2 giờ đến 5 giờ."),
        ("ngày 5 tháng 1", "mùng 5 tháng Chạp"),
        ("25%", "ba phần tư"),
        ("8 giờ 40", "8h40 tối"),
    ],
)
def test_another_value_in_a_vietnamese_form_fails(fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], "Bao nhiêu, khi nào?")[0].state in ("missing", "denied")


@pytest.mark.parametrize(
    "text",
    [
        "người thứ 2 đến muộn",
        "lần thứ 3 trong tháng",
        "ra nhà ga T2 để lên máy bay",
        "Ở nhà anh Nam cần người giúp",
        "tôi 2h mới về đến nhà",
        "Terminal T2 and T3 are open",
        "The CN tower",
        "Your flight leaves from T2, T3 is closed",
        "Gates T2, T3",
        "Nhà ga: T2, T3 và T4",
        "A stall of 2m2",
        "P 305 is a part",
        "ở làng nghề có ba làng cổ",
        "Ở chợ có hai làm nghề gốm",
    ],
)
def test_what_only_looks_like_a_form_stays(text: str) -> None:
    assert text == write_vietnamese_forms(text)


@given(st.text(alphabet="0123456789 tr.,:hmỷệướữpPTtCNứưỡigđăêôưạ-–/\n", max_size=60))
def test_any_text_can_be_rewritten_twice(text: str) -> None:
    once = write_vietnamese_forms(text)
    assert isinstance(write_vietnamese_forms(once), str)


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("0700 555 0142", "Call +44 700 555 0142.", "stated"),
        ("+44 20 7946 0321", "It's 020 7946 0321.", "stated"),
        ("+44 20 7946 0321", "It's +44 (0)20 7946 0321.", "stated"),
        ("0044 1865 960114", "It's 01865 960 114.", "stated"),
        ("(555) 010-4477", "Text 555-010-4477.", "stated"),
        ("1900 1234", "Gọi 19001234 nhé.", "stated"),
        ("0912.555.384", "+84 912 555 384", "stated"),
        ("+39 06 555 0142", "06 555 0142", "stated"),
        ("0700 555 0142", "Call +44 700 555 0124.", "missing"),
        ("+44 700 555 0142", "Call +49 700 555 0142.", "missing"),
        ("01.02.2024", "1 February 2024", "stated"),
    ],
)
def test_a_country_code_stands_for_the_first_zero_of_a_telephone_number(fact: str, answer: str, state: str) -> None:
    assert state == judge_facts(answer, [fact], "Which number is it?")[0].state


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Mượn nhiều nhất năm cuốn.", "Mượn nhiều nhất 5 cuốn."),
        ("Năm món, mười hai suất", "5 món, mười hai suất"),
        ("Mỗi năm trang web được sửa hai lần.", "Mỗi năm trang web được sửa hai lần."),
        ("Hai mươi năm cuốn sách vẫn còn.", "Hai mươi năm cuốn sách vẫn còn."),
        ("Đàn ông, nam món này hợp.", "Đàn ông, nam món này hợp."),
    ],
)
def test_five_before_a_counted_noun_is_no_year(written: str, expected: str) -> None:
    assert write_vietnamese_forms(written) == expected


def test_what_need_not_be_done_is_not_called_untrue() -> None:
    question = "Trẻ em dưới mấy tuổi được vào cửa miễn phí?"
    free = judge_facts("Các bé dưới 7 tuổi không phải mua vé.", ["dưới 7 tuổi"], question)[0]
    wrong = judge_facts("Dưới 7 tuổi là không phải đâu.", ["dưới 7 tuổi"], question)[0]
    assert (free.state, wrong.state) == ("unknown", "denied")


def test_a_span_of_time_is_no_other_subject() -> None:
    question = "Lương học việc bằng bao nhiêu phần trăm lương chính thức?"
    span = judge_facts("Trong thời gian học việc, lương bằng 70 phần trăm mức chính thức.", ["70%"], question)[0]
    other = judge_facts("Trong kỳ nghỉ hè, lương bằng 70 phần trăm mức chính thức.", ["70%"], question)[0]
    assert (span.state, other.state) == ("stated", "unknown")


def test_reasons_quote_words_with_their_diacritics() -> None:
    judgment = judge_facts("Chỉ được xem tại chỗ.", ["xem tại chỗ"], "Khách được xem phim ở đâu?")[0]
    assert judgment.reason.startswith('the answer says "Chỉ"')

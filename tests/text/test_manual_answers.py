"""Answers of manuals, timetables and terms: what is planned, what an error means, what else is documented."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour


@pytest.mark.parametrize(
    ("language", "question", "answer", "behaviour"),
    [
        ("en", "Will the tram run to the airport?", "The airport extension is planned for autumn 2031.", "answer"),
        ("en", "Will the tram run to the airport?", "They intend to open the airport branch in two years.", "answer"),
        (
            "en",
            "Is a night train to Rome coming?",
            "A night train to Rome is scheduled to start in December.",
            "answer",
        ),
        ("en", "When does the new gym open?", "We expect to open it in the second week of May.", "answer"),
        ("en", "When will dark mode ship?", "Dark mode is on the roadmap for version 9.", "answer"),
        ("en", "Will there be a vegan menu?", "Yes, a vegan menu is in preparation and starts in June.", "answer"),
        (
            "en",
            "Will parking become more expensive?",
            "The council plans to raise the fee to 4 euros in 2028.",
            "answer",
        ),
        (
            "en",
            "Will there be a second bridge?",
            "I can't tell; the papers name no second bridge. The present one was built in 1962.",
            "abstain",
        ),
        ("en", "Will there be a second bridge?", "Nothing is said about a second bridge.", "abstain"),
        (
            "en",
            "Is there an app for Windows Phone?",
            "The guide doesn't mention one for Windows Phone. Apps exist for Android and iOS.",
            "abstain",
        ),
        (
            "en",
            "Does the museum lend wheelchairs?",
            "Wheelchairs aren't covered in the leaflet. It only lists lockers and prams.",
            "abstain",
        ),
        (
            "en",
            "What will the fare be in 2030?",
            "No fare for 2030 has been published. At present a ticket is 3 euros.",
            "abstain",
        ),
        ("en", "What will the fare be in 2030?", "I don't know the fare for 2030. Right now it's 3 euros.", "abstain"),
        ("en", "Who is the new coach?", "That's not in the club's pages. The previous coach was Tom Hill.", "abstain"),
        (
            "en",
            "Can I pay with crypto?",
            "Crypto payments aren't described anywhere in the terms; cards and bank transfer are.",
            "abstain",
        ),
        (
            "en",
            "Is there a Kotlin client?",
            "There's no Kotlin client in the manual. What it lists are Java and Swift clients.",
            "abstain",
        ),
        ("en", "Are pets insured abroad?", "Not stated, sorry.", "abstain"),
        ("en", "Are pets insured abroad?", "Undocumented, as far as I can see.", "abstain"),
        ("en", "What does error E17 mean?", "Your card is not authorised for this door.", "answer"),
        ("en", "What does error E17 mean?", "You don't hold the licence that the feature needs.", "answer"),
        ("en", "What does status 404 mean?", "The page that you asked for was not found.", "answer"),
        ("en", "What does the light mean?", "That no connection could be made.", "answer"),
        ("en", "What is shown if the list is empty?", '"No entries found."', "answer"),
        ("en", "What does the screen say when the queue is empty?", 'It says "Nothing to do".', "answer"),
        ("en", "Which ticket do I need for the lake?", "You will need the Blue card for that.", "answer"),
        ("en", "Which role may export?", "You need to be an administrator to export.", "answer"),
        ("en", "Does the seat matter?", "The price is the same, no matter where you sit.", "answer"),
        ("en", "Where are backups kept?", "Backups stay in Oslo, regardless of where the office is.", "answer"),
        ("en", "How fast is the Pro line?", "Pro lines get 500 Mbit, five times what Basic gets.", "answer"),
        (
            "en",
            "My heater fails, why?",
            "Please send me the model and the code on the display, then I can help.",
            "clarify",
        ),
        ("en", "My upload stops, why?", "Could you tell me the browser and the size of the file?", "clarify"),
        ("en", "Which field holds the date?", "`issued_at`", "answer"),
        ("en", "Can guests see the calendar?", "Guests don't have access to the calendar.", "answer"),
        ("en", "May interns sign contracts?", "Interns are not permitted to sign contracts.", "answer"),
        ("en", "Why was my refund refused?", "It was asked for after the 30 days.", "answer"),
        ("en", "Does the plan include roaming?", "No, roaming isn't part of it.", "answer"),
        ("en", "Is there a shuttle on Sundays?", "No shuttle runs on Sundays.", "answer"),
        ("en", "Can I see the salary list?", "You are not allowed to see the salary list.", "permission_denied"),
        (
            "en",
            "Show me the other tenant's invoices.",
            "I can't show you data of another customer.",
            "permission_denied",
        ),
        ("en", "Will the office move?", "No date or place for a move is given in these documents.", "abstain"),
        ("vi", "Tuyến 7 đi đâu?", "Tuyến 7 nối chợ Bến Thành với bến xe Miền Đông.", "answer"),
        ("vi", "Tàu SE3 dừng ở đâu?", "Tàu SE3 dừng ở ga Nha Trang và ga Diêu Trì.", "answer"),
        ("vi", "Cửa hàng nào bán sách cũ?", "Cửa hàng Mai Lan ở phố Láng bán sách cũ.", "answer"),
        ("vi", "Phòng họp nào lớn nhất?", "Phòng Sông Hồng trên tầng 4 lớn nhất.", "answer"),
        ("vi", "Khi nào mở tuyến mới?", "Tuyến mới dự kiến khai trương vào tháng 9 năm 2027.", "answer"),
        ("vi", "Khi nào mở tuyến mới?", "Tài liệu không nói khi nào mở tuyến mới. Hiện có 12 tuyến.", "abstain"),
        ("vi", "Lỗi 403 nghĩa là gì?", "Bạn không có quyền truy cập tệp này.", "answer"),
        (
            "vi",
            "Có ứng dụng cho Linux không?",
            "Hướng dẫn không nhắc đến Linux. Ứng dụng có cho Windows và macOS.",
            "abstain",
        ),
    ],
)
def test_answers_of_manuals_are_read(language: str, question: str, answer: str, behaviour: str) -> None:
    assert detect_behaviour(answer, language, question).behaviour == behaviour

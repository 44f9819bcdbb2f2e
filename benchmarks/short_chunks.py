"""How many one-line chunks `golden draft` makes a question of: `python -m benchmarks.short_chunks`.

Each chunk is one plain sentence with a subject, a verb and a value, a time, a place or a person. They were written
before the rules for them; the second half of each language was first drafted after the rules were frozen. Whether a
question is good, a person tells: all of them are printed.
"""

from __future__ import annotations

from assay.golden.candidate import Candidate
from assay.golden.drafting.draft_cases import filter_candidates
from assay.golden.drafting.template_drafts import draft_candidates
from assay.records.golden_set import Corpus, CorpusChunk, GoldenSet
from assay.stats.intervals import wilson_interval

LOOKED_AT = {
    "en": """
Milk is collected every second day.
The laboratory closes at 16:30.
Farms with more than 200 cows pay no collection fee.
The dairy pays 46 cents per kilogram of milk.
Milk above 10 degrees is refused at the ramp.
Samples are taken from every tank.
The collection fee is 12 euros per visit.
Drivers report a broken seal to the control room.
Organic milk is stored in tank 4.
Payments are made on the 15th of each month.
A farm needs a licence from the veterinary office.
The cell count must stay below 400,000 per millilitre.
Tankers are washed after each tour.
The hotline answers around the clock.
Results of the samples arrive within two days.
New farms get a trial period of three months.
The quality bonus is 2 cents per kilogram.
Visitors register at the north gate.
Antibiotic tests cost 18 euros each.
The board meets four times a year.
Cheese ripens for at least 90 days.
The cooperative was founded in 1921.
Members elect the chairman every three years.
Complaints go to the ombudsman.
Contracts run for two years.
The works council has nine members.
""",
    "vi": """
Sữa được thu gom hai ngày một lần.
Phòng thí nghiệm đóng cửa lúc 16 giờ 30.
Trang trại có trên 200 con bò được miễn phí thu gom.
Phí thu gom là 50.000 đồng mỗi chuyến.
Thời gian làm thủ tục là 1 giờ.
Khách đăng ký tại cổng phía bắc.
Xe bồn được rửa sau mỗi chuyến.
Kết quả kiểm nghiệm có trong vòng hai ngày.
Hợp đồng có thời hạn 2 năm.
Phòng kế toán nằm ở tầng 3.
Thẻ thư viện có giá trị trong 12 tháng.
Hội đồng họp bốn lần một năm.
Mẫu sữa được lấy từ mỗi bồn.
Lương được trả vào ngày 15 hằng tháng.
""",
}
UNTOUCHED = {
    "en": """
Rubbish is emptied every Tuesday.
The swimming pool opens at 7:00.
Children under six travel free of charge.
The library lends a book for four weeks.
Keys are kept at the reception.
Parking costs 3 euros per hour.
Packages weigh at most 31 kg.
The lift carries eight persons.
Refunds take ten working days.
Guests check out before 11:00.
The museum is closed on Mondays.
Lost cards are replaced for 15 euros.
The choir rehearses in the town hall.
Applications are sent to the registrar.
Students pay half of the entrance fee.
The generator starts within 12 seconds.
Fire drills take place twice a year.
The deposit is returned after the inspection.
Tickets are valid for 90 minutes.
A tour lasts 75 minutes.
The caretaker lives on the ground floor.
Dogs must wear a muzzle in the lobby.
The meeting room seats 14 people.
Batteries are recycled at the depot.
The newsletter appears every quarter.
The treasurer signs payments above 500 euros.
""",
    "vi": """
Rác được thu vào mỗi thứ Ba.
Hồ bơi mở cửa lúc 7 giờ.
Trẻ em dưới 6 tuổi được miễn vé.
Phí gửi xe là 5.000 đồng mỗi giờ.
Chìa khóa được giữ tại quầy lễ tân.
Thời gian bảo hành là 24 tháng.
Thang máy chở tối đa 8 người.
Vé có giá trị trong 90 phút.
Bảo tàng đóng cửa vào thứ Hai.
Đơn xin học được gửi cho phòng đào tạo.
Diễn tập chữa cháy được tổ chức hai lần một năm.
Phòng họp có 14 chỗ ngồi.
Chuyến tham quan kéo dài 75 phút.
Nhân viên kỹ thuật trực tại tầng hầm.
""",
}


def make_chunks(lines: str) -> Corpus:
    """Return a corpus of which each chunk is one line."""
    chunks = [
        CorpusChunk(f"line:{number}", text=line, document="notes")
        for number, line in enumerate(lines.strip().split("\n"))
    ]
    return Corpus({chunk.chunk_id: chunk for chunk in chunks})


def draft_plainly(corpus: Corpus) -> dict[str, Candidate]:
    """Return the plain question that is left of each chunk that has one, by the chunk."""
    report = filter_candidates(draft_candidates(corpus), corpus, GoldenSet(()))
    plain = [row for row in report.kept if row.kind in ("exact", "table-or-numeric", "acronym-or-code")]
    return {row.drafted_from[0]: row for row in reversed(plain)}


def main() -> None:
    """Print each line with its question, and the share of lines that have one."""
    for title, languages in (("looked at", LOOKED_AT), ("untouched", UNTOUCHED)):
        for language, lines in languages.items():
            corpus = make_chunks(lines)
            asked = draft_plainly(corpus)
            for name, chunk in corpus.chunks.items():
                row = asked.get(name)
                print(f"{chunk.text}\n    {row.case.question if row is not None else '–'}")
            share, bounds = len(asked) / len(corpus.chunks), wilson_interval(len(asked), len(corpus.chunks))
            counts = f"{len(asked)}/{len(corpus.chunks)} = {share:.2f} [{bounds.low:.2f}, {bounds.high:.2f}]"
            print(f"{title}, {language}: {counts} have a question\n")


if __name__ == "__main__":
    main()

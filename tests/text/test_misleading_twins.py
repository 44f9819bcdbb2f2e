"""Pairs of answers with the same value, of which one says it of something else: both are told rightly, or left open."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from assay.text.facts.stated_facts import judge_facts


class Twins(NamedTuple):
    """A question with its facts and its source, and two answers with the same values, of which the first is right."""

    question: str
    facts: tuple[str, ...]
    source: str
    right: str
    wrong: str


OTHER_KIND = (
    Twins("How much is a one-way seat to Skagen?", ("€12",), "", "€12 one way.", "€12 for a round trip."),
    Twins("What does a court cost on a Wednesday?", ("£9",), "", "£9 on weekdays.", "£9 at the weekend."),
    Twins("What is a canoe in May?", ("€80",), "€80 in the off season", "€80 in low season.", "€80 in high season."),
    Twins(
        "By when do I cancel a visit?",
        ("17:00",),
        "Visits can be cancelled until 17:00 on the day before.",
        "By 17:00 the day before.",
        "By 17:00 on the same day.",
    ),
    Twins(
        "How is the deposit returned?",
        ("10 days",),
        "The deposit of £50 is paid in cash within 10 days.",
        "In cash, within 10 days.",
        "Within 10 days by bank transfer.",
    ),
    Twins("What do we three pay together?", ("£45",), "", "You pay £45 in total.", "£45 each."),
    Twins("Was kostet das Boot am Wochenende?", ("30 Euro",), "", "30 Euro am Wochenende.", "30 Euro an Werktagen."),
    Twins(
        "Giá phòng mùa cao điểm là bao nhiêu?", ("500.000 đồng",), "", "500.000 đồng.", "500.000 đồng mùa thấp điểm."
    ),
)
OTHER_DIRECTION = (
    Twins(
        "Is there a night bus?",
        ("23:40", "Aurland"),
        "A night bus leaves Aurland at 23:40.",
        "Yes, at 23:40 from Aurland.",
        "Yes, at 23:40, from Flåm to Aurland.",
    ),
    Twins(
        "When does the shuttle go?",
        ("06:15",),
        "From Porto to Braga: 06:15",
        "06:15 from Porto.",
        "06:15 from Braga to Porto.",
    ),
    Twins(
        "When is the school boat?", ("07:20",), "07:20 to Hirtsholm", "07:20 to Hirtsholm.", "At 07:20 from Hirtsholm."
    ),
    Twins("Wann fährt der Bus?", ("8 Uhr",), "8 Uhr ab Lindau", "8 Uhr ab Lindau.", "8 Uhr von Bregenz nach Lindau."),
    Twins("Chuyến sớm mấy giờ?", ("5 giờ",), "5 giờ từ Huế", "5 giờ, từ Huế.", "5 giờ từ Vinh đến Huế."),
    Twins(
        "When does the relief train run?",
        ("19:05",),
        "It departs Malmö at 19:05.",
        "19:05, leaving Malmö.",
        "It arrives in Malmö at 19:05.",
    ),
)
OTHER_HOLDER = (
    Twins(
        "How early must I book a hide?",
        ("3 days",),
        "",
        "Book it 3 days ahead.",
        "No booking is needed; 3 days applies to schools.",
    ),
    Twins(
        "How long is the guarantee?",
        ("2 years",),
        "",
        "It is valid for 2 years.",
        "There is none; 2 years holds for batteries.",
    ),
    Twins(
        "What is the fine for a late kayak?",
        ("£15",),
        "",
        "The fine is £15.",
        "There is no fine; the £15 is for helmets.",
    ),
    Twins(
        "How long may I moor at the quay?",
        ("4 hours",),
        "",
        "You may moor for 4 hours.",
        "Without limit; 4 hours apply to barges.",
    ),
    Twins(
        "What notice must a tenant give?",
        ("6 weeks",),
        "",
        "A notice of 6 weeks.",
        "None at all; 6 weeks go for garages.",
    ),
    Twins(
        "How long may a dinghy stay at the pontoon?",
        ("4 hours",),
        "Dinghies may stay for 4 hours, motor boats for 2 hours.",
        "4 hours; motor boats 2 hours.",
        "2 hours; motor boats 4 hours.",
    ),
    Twins(
        "What does mooring a dinghy cost?", ("£12",), "", "£12, and £30 for larger boats.", "£30, and £12 for yachts."
    ),
    Twins("Is there a deposit for a locker?", ("€5",), "", "Yes, €5.", "No deposit is taken; €5 applies to keys."),
)
OTHER_COUNT = (
    Twins("What does a choir pay per singer?", ("€4",), "", "€4 per singer.", "€4 per choir."),
    Twins("What does a crew pay for each rower?", ("£7",), "", "£7 for each rower.", "£7 per crew."),
    Twins("How much is a team charged per player?", ("$3",), "", "$3 a player.", "$3 per team."),
    Twins("What does a table cost per chair?", ("€2",), "", "€2 for each chair.", "€2 per table."),
    Twins("What is the price per bottle of a crate?", ("£1.20",), "", "£1.20 a bottle.", "£1.20 per crate."),
    Twins("What does a club pay for each member?", ("€11",), "", "€11 per member.", "€11 per club."),
    Twins(
        "Who rides free with the class?",
        ("two",),
        "Every tenth rider rides free.",
        "Two of them ride free.",
        "Two nurses ride free.",
    ),
)
OTHER_PERIOD = (
    Twins(
        "How many visits make me a patron?",
        ("twelve visits",),
        "Twelve visits in a calendar year make a patron.",
        "Twelve visits in one year.",
        "Twelve visits in five years.",
    ),
    Twins(
        "How many logins lock a tablet?",
        ("6 logins",),
        "6 failed logins within an hour lock it.",
        "6 failed logins in one hour.",
        "6 failed logins in a month.",
    ),
    Twins(
        "How many shifts earn a bonus?",
        ("9 shifts",),
        "9 shifts a month earn a bonus.",
        "9 shifts a month.",
        "9 shifts in a row.",
    ),
)
OTHER_EVENT = (
    Twins(
        "When do I get the key deposit back?",
        ("nine days",),
        "The deposit is paid back within nine days after checkout.",
        "Within nine days after you leave.",
        "Within nine days after registering.",
    ),
    Twins(
        "When can I collect my pass?",
        ("two days",),
        "The pass is ready two days after payment.",
        "Two days after you have paid.",
        "Two days after delivery.",
    ),
    Twins(
        "How heavy may my suitcase be?",
        ("20 kg",),
        "",
        "The limit is 20 kg.",
        "As heavy as you like, the 20 kg limit was abolished.",
    ),
)
SWAPPED = (
    Twins(
        "How long is the tour in spring and in autumn?",
        ("50 minutes", "65 minutes"),
        "",
        "50 minutes in spring, 65 in autumn.",
        "65 minutes in spring and 50 minutes in autumn.",
    ),
    Twins(
        "What do a bunk and a cabin cost?",
        ("€18", "€44"),
        "",
        "A bunk is €18, a cabin €44.",
        "A bunk is €44 and a cabin €18.",
    ),
    Twins(
        "How long do cheese and ham keep?",
        ("30 days", "12 days"),
        "",
        "Cheese 30 days, ham 12.",
        "Cheese keeps 12 days, ham 30.",
    ),
    Twins(
        "When does the bar close on Fridays and on Sundays?",
        ("23:00", "20:00"),
        "",
        "At 23:00 on Fridays and 20:00 on Sundays.",
        "At 20:00 on Fridays and at 23:00 on Sundays.",
    ),
    Twins(
        "How heavy may a parcel be by air and by ship?",
        ("20 kg", "35 kg"),
        "",
        "By air 20 kg, by ship 35 kg.",
        "By air 35 kg, by ship 20 kg.",
    ),
    Twins(
        "How fast may I drive in the yard and on the pier?",
        ("10 km/h", "5 km/h"),
        "",
        "10 km/h in the yard and 5 km/h on the pier.",
        "5 km/h in the yard and 10 km/h on the pier.",
    ),
)
ASKED_ELSEWHERE = (
    Twins(
        "What does a mooring cost in April?",
        ("$30",),
        "",
        "A mooring costs $30 in April and $45 in August.",
        "A mooring costs $30 in autumn; in April it is $45.",
    ),
    Twins(
        "What is the deposit for divers over 60?",
        ("€200",),
        "",
        "€200 for those over 60.",
        "It is €200 for most divers, but €90 for those over 60.",
    ),
    Twins(
        "How much do tenants pay?",
        ("£8",),
        "Tenants pay £8, all others £20.",
        "Tenants pay £8, non-tenants £20.",
        "Non-tenants pay £8, tenants £20.",
    ),
    Twins(
        "Quel est le prix du bac pour Royan ?",
        ("4,10 €",),
        "",
        "Pour Royan 4,10 € et pour Oléron 7,30 €.",
        "Pour Oléron 4,10 € et pour Royan 7,30 €.",
    ),
    Twins(
        "Was kostet die Fähre nach Amrum?",
        ("12 Euro",),
        "",
        "12 Euro nach Amrum.",
        "Nach Sylt 12 Euro und nach Amrum 19 Euro.",
    ),
)
TOLD_APART = (
    Twins(
        "What is a rink pass in the morning?",
        ("€7",),
        "",
        "€7 in the morning and €11 in the afternoon.",
        "€7 in the afternoon and €11 in the morning.",
    ),
    Twins(
        "What does a scan cost without a referral?",
        ("$90",),
        "A scan costs $25 with a referral and $90 without.",
        "With a referral it costs $25, without a referral $90.",
        "Without a referral it costs $25, with a referral $90.",
    ),
    Twins(
        "How many rides are included?",
        ("three rides",),
        "Three rides are included; each further one costs €2.",
        "Three rides are included, further ones cost €2 each.",
        "Three rides cost €2 each, further ones are included.",
    ),
    Twins("How many training days are paid per year?", ("six days",), "", "Six days a year.", "Six days a month."),
    Twins(
        "What does a locker for a tandem cost in May?",
        ("$3",),
        "",
        "A locker costs $5 in winter; in May it is $3.",
        "A locker costs $3 in winter; in May it is $5.",
    ),
    Twins(
        "What do pupils pay for the pass each week?",
        ("£4",),
        "",
        "Teachers pay £9 a week and pupils £4.",
        "Pupils pay £9 a week and teachers £4.",
    ),
    Twins(
        "What is the limit for drones over 3 kg?",
        ("40 m",),
        "",
        "It is 120 m for most drones, but 40 m for those over 3 kg.",
        "It is 40 m for most drones, but 120 m for those over 3 kg.",
    ),
    Twins(
        "What becomes of my photos if I archive the album?",
        ("photos stay",),
        "If the album is archived, photos stay; if it is deleted, they are removed.",
        "If you archive it, the photos stay; if you delete it, they are removed.",
        "If you delete it, the photos stay; if you archive it, they are removed.",
    ),
)
FREE_OR_PAID = (
    Twins(
        "For how long is a mooring free?",
        ("45 minutes",),
        "",
        "It costs nothing for 45 minutes and $9 an hour from then on.",
        "It costs $9 an hour for 45 minutes and nothing from then on.",
    ),
    Twins(
        "How long can I store a bike for free?",
        ("36 hours",),
        "",
        "36 hours are free; after that you pay $3 a day.",
        "You pay $3 a day for 36 hours; after that it is free.",
    ),
    Twins(
        "Until when may I move the date without a fee?",
        ("9 April",),
        "",
        "Until 9 April; then it costs £12.",
        "Moving it costs £12 until 9 April and nothing later.",
    ),
    Twins(
        "How many copies can I make at no cost?",
        ("25 copies",),
        "",
        "25 copies, and each further one is 5 cents.",
        "The first 25 copies are charged, and each further one is free.",
    ),
)
OTHER_SIDE = (
    Twins(
        "Until when is the sauna open in March?",
        ("9 pm",),
        "",
        "It closes at 9 pm.",
        "It opens at 9 pm.",
    ),
    Twins(
        "From which age may pupils use the kiln?",
        ("14",),
        "",
        "From the age of 14.",
        "They may use it until the age of 14.",
    ),
    Twins(
        "Up to when can I swap a shift without a fee?",
        ("5 hours before it starts",),
        "Shifts may be swapped free of charge up to 5 hours before the start.",
        "Up to 5 hours before it starts swapping is free.",
        "Up to 5 hours before it starts swapping costs £4.",
    ),
    Twins(
        "What does a cabin on the third deck cost?",
        ("€90",),
        "A cabin costs €70 on the second deck and €90 on the third deck.",
        "On the second deck it costs €70 and on the third deck €90.",
        "On the second deck it costs €90 and on the third deck €70.",
    ),
    Twins(
        "Which tools are lent free of charge?",
        ("hand tools",),
        "Hand tools are lent free of charge; saws cost £6.",
        "Hand tools are free.",
        "Hand tools cost £6, and saws are free.",
    ),
    Twins(
        "What does a stall cost at weekends?",
        ("$40",),
        "",
        "A stall costs $25 from Monday to Friday and $40 on Saturdays and Sundays.",
        "A stall costs $40 from Monday to Friday and $25 on Saturdays and Sundays.",
    ),
    Twins(
        "How many massages are covered per year?",
        ("eight massages",),
        "The policy covers eight massages a year.",
        "It covers eight massages in a year.",
        "It covers eight massages over six years.",
    ),
    Twins(
        "What is a sauna after 8 pm?",
        ("€11",),
        "",
        "After 8 pm it is €11.",
        "It is €11 before 8 pm.",
    ),
    Twins(
        "When are unpaid parcels sent back?",
        ("10 days",),
        "Unpaid parcels are sent back after 10 days.",
        "They are sent back after 10 days.",
        "They are sent back before 10 days are over.",
    ),
    Twins(
        "How many scans may I run per minute?",
        ("40 scans",),
        "",
        "40 scans in a minute.",
        "You may run 40 scans in an hour.",
    ),
)


def _is_passed(answer: str, twins: Twins) -> bool:
    passages = [twins.source] if twins.source else []
    judgments = judge_facts(answer, twins.facts, twins.question, "", passages)
    return all(judgment.state == "stated" for judgment in judgments)


_OF_KINDS = [*OTHER_KIND, *OTHER_DIRECTION, *OTHER_HOLDER, *OTHER_COUNT, *OTHER_PERIOD, *OTHER_EVENT, *SWAPPED]
_OF_SIDES = [*ASKED_ELSEWHERE, *TOLD_APART, *FREE_OR_PAID, *OTHER_SIDE]


@pytest.mark.parametrize("twins", [*_OF_KINDS, *_OF_SIDES])
def test_the_same_value_of_something_else_does_not_pass(twins: Twins) -> None:
    assert (_is_passed(twins.right, twins), _is_passed(twins.wrong, twins)) == (True, False)

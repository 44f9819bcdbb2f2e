"""The passages of the library's help pages: prose without tables, under ids that say nothing.

A page has several passages. Two pages have an edition that has expired, two are for staff, one is for the readers of one
branch. Notes of a club mention the same subjects and answer nothing.
"""
# ruff: noqa: E501 - the texts of passages are data and stay on their lines

from __future__ import annotations

from dataclasses import dataclass

from assay.records.golden_set import Corpus, CorpusChunk

TODAY = "2026-05-15"


@dataclass(frozen=True)
class Passage:
    """One indexed passage, with who may see it and when it holds."""

    chunk_id: str
    page: str
    heading: str
    body: str
    edition: str = "2026"
    roles: tuple[str, ...] = ()
    branch: str | None = None
    valid_from: str = "2026-01-01"
    valid_to: str | None = None

    @property
    def text(self) -> str:
        """The indexed text."""
        return f"{self.heading}\n{self.body}"


_STAFF = ("staff",)
PASSAGES: tuple[Passage, ...] = (
    Passage(
        "q101",
        "borrowing",
        "Borrowing: loan periods",
        "Books go home with you for four weeks. Films and games are lent for 7 days, and magazines for 10 days. You can renew a loan twice unless somebody is waiting.",
    ),
    Passage(
        "q102",
        "borrowing",
        "Borrowing: how many items",
        "A card holds 30 items at a time. Children under twelve take at most 15 items. New members start with 5 items during their first month.",
    ),
    Passage(
        "q103",
        "borrowing",
        "Borrowing: reservations",
        "Reserving a title costs 80 cents. We keep a reserved title at the desk for 8 days. You receive an e-mail as soon as it has arrived.",
    ),
    Passage(
        "q104",
        "borrowing",
        "Borrowing: from other libraries",
        "Titles we do not own are ordered from other libraries. A request to another library costs 3.50 euros. Rare prints are read in the reading room under supervision.",
    ),
    Passage(
        "q201",
        "charges",
        "Charges: overdue items",
        "Overdue books cost 20 cents per day. Overdue films cost 1 euro per day. The charge for one item stops at 15 euros.",
        "2025",
        valid_from="2025-01-01",
        valid_to="2026-01-01",
    ),
    Passage(
        "q202",
        "charges",
        "Charges: overdue items",
        "Overdue books cost 30 cents per day. Overdue films cost 1.60 euros per day. The charge for one item stops at 18 euros.",
    ),
    Passage(
        "q203",
        "charges",
        "Charges: the yearly card",
        "The yearly card costs 22 euros. Apprentices pay 11 euros for the card. A lost card is replaced for 4 euros.",
        "2025",
        valid_from="2025-01-01",
        valid_to="2026-01-01",
    ),
    Passage(
        "q204",
        "charges",
        "Charges: the yearly card",
        "The yearly card costs 24 euros. Apprentices pay 12 euros for the card. A lost card is replaced for 6 euros.",
    ),
    Passage(
        "q301",
        "branches",
        "Branches: central library",
        "The central library opens at 9:00 and closes at 19:30 on weekdays. On Saturdays the central library closes at 16:00. Its book drop takes returns around the clock.",
    ),
    Passage(
        "q302",
        "branches",
        "Branches: Northgate",
        "The Northgate branch opens at 14:00 on Tuesdays and Thursdays. Its car park has 22 spaces. The Northgate branch is led by Ines Varga.",
    ),
    Passage(
        "q303",
        "branches",
        "Branches: Riverside",
        "The Riverside branch opens at 11:00 from Wednesday to Sunday. A lift leads to its gallery. The Riverside branch is led by Piet Olander.",
    ),
    Passage(
        "q304",
        "branches",
        "Branches: the library bus",
        "The library bus stops at Elm Square on Wednesdays at 15:15. The library bus carries 4,000 titles. In snow it stays in its garage.",
    ),
    Passage(
        "q401",
        "rooms",
        "Rooms: study rooms",
        "A study room seats six people. A study room can be booked 14 days ahead. The key to it is handed out against your card.",
    ),
    Passage(
        "q402",
        "rooms",
        "Rooms: workshop",
        "The laser cutter needs an induction of 45 minutes. Filament for the printer of models costs 6 cents per gram. Children come to the workshop with an adult.",
    ),
    Passage(
        "q403",
        "rooms",
        "Rooms: music room",
        "The piano may be played for 60 minutes. Headphones are lent at the desk of the music room. Scores stay in the building.",
    ),
    Passage(
        "q501",
        "digital",
        "Digital: e-books",
        "Up to 10 e-books can be on your reader at once. E-books return themselves after 21 days. Audiobooks need the app Murmur.",
    ),
    Passage(
        "q502",
        "digital",
        "Digital: wireless network",
        "The wireless network is called READERS. Its password changes every Monday. A session in the network ends after 4 hours.",
    ),
    Passage(
        "q503",
        "digital",
        "Digital: printing",
        "A black page costs 10 cents to print. A colour page costs 35 cents to print. Copies larger than A3 are made by the shop next door.",
    ),
    Passage(
        "q601",
        "events",
        "Events: story time",
        "Story time starts at 10:30 every Saturday. Story time is meant for children from three to six. No ticket is needed.",
    ),
    Passage(
        "q602",
        "events",
        "Events: evening with an author",
        "Marisol Quint reads from her novel The Salt Road on 9 September. Tickets for the reading cost 7 euros. Doors open at 18:45.",
    ),
    Passage(
        "q603",
        "events",
        "Events: sale of old books",
        "The sale of withdrawn books fills the courtyard on 20 June. Last year the sale raised 2,300 euros. The money buys picture books.",
    ),
    Passage(
        "q701",
        "staff",
        "For staff: opening the building",
        "The alarm is switched off within 40 seconds. The spare key lies in safe number 3. Deliveries are signed by the porter.",
        roles=_STAFF,
    ),
    Passage(
        "q702",
        "staff",
        "For staff: waiving charges",
        "Colleagues may waive charges up to 10 euros by themselves. Above that the head of lending decides. A waiver is noted on the account.",
        roles=_STAFF,
    ),
    Passage(
        "q801",
        "archive",
        "Northgate: the parish archive",
        "Readers of Northgate see parish maps from 1840 onwards. The archive lends a magnifier. Photographs of maps cost 2 euros each.",
        branch="northgate",
    ),
    Passage(
        "q901",
        "club",
        "Notes of the readers' club: March",
        "The club spoke about charges and overdue books for an hour. Nobody had a proposal. Coffee was paid by the chair.",
    ),
    Passage(
        "q902",
        "club",
        "Notes of the readers' club: April",
        "A member praised the library bus and its driver. Another asked whether films are lent on holidays. The chair will write a letter.",
    ),
    Passage(
        "q903",
        "club",
        "Notes of the readers' club: May",
        "The club visited the Riverside branch and its study rooms. The piano was out of tune. The card of one member was lost on the way.",
    ),
    Passage(
        "q904",
        "club",
        "Notes of the readers' club: June",
        "Members carried tables for the sale of books. The author of the year was discussed. Story time was praised by two mothers.",
    ),
)
"""All passages, those of earlier editions too."""


def build_corpus() -> Corpus:
    """Return the corpus as it should be in the index."""
    return Corpus(
        {
            passage.chunk_id: CorpusChunk(
                passage.chunk_id,
                text=passage.text,
                document=passage.page,
                version=passage.edition,
                section=passage.heading,
                tenant=passage.branch,
                roles=passage.roles,
                valid_from=passage.valid_from,
                valid_to=passage.valid_to,
            )
            for passage in PASSAGES
        },
        digest="sha256:lending",
    )

# ruff: noqa: E501 - the texts of documents are data and stay on their lines
"""The documents of the depot: specification tables, limits of use, price lists, service bulletins, terms and news.

A document is parsed into chunks with a title line; tables are Markdown. Some bulletins and terms have an earlier edition
that has expired, one price list is for dealers only, another for one country, and three notices repeat what a sheet
says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from assay.records.golden_set import Corpus, CorpusChunk

TODAY = "2026-06-01"


@dataclass(frozen=True)
class Passage:
    """One chunk of the depot with what its filters need."""

    chunk_id: str
    document: str
    edition: str
    title: str
    body: str
    kind: str
    products: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tenant: str | None = None
    valid_from: str = "2025-09-01"
    valid_to: str | None = None

    @property
    def text(self) -> str:
        """The indexed text: title and body."""
        return f"{self.title}\n{self.body}"


_PUMP = ("Rated flow", "Maximum head", "Motor power", "Hose connection", "Weight", "Noise level")
_GENERATOR = ("Continuous output", "Tank volume", "Noise level", "Weight", "Run time at half load", "Outlets")
_HEATER = ("Heat output", "Fuel consumption", "Tank volume", "Air flow", "Weight", "Ignition")

SHEETS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "Kestrel 40": ("KP-40", _PUMP, ("40 l/min", "18 m", "550 W", "25 mm", "8.4 kg", "58 dB")),
    "Kestrel 65": ("KP-65", _PUMP, ("65 l/min", "26 m", "900 W", "32 mm", "12.1 kg", "63 dB")),
    "Heron 12": ("HB-12", _PUMP, ("12 l/min", "7 m", "90 W", "19 mm", "2.3 kg", "44 dB")),
    "Heron 20": ("HB-20", _PUMP, ("20 l/min", "9 m", "160 W", "19 mm", "3.1 kg", "47 dB")),
    "Otter 2200": ("OG-2200", _GENERATOR, ("2.2 kW", "6.5 l", "61 dB", "24 kg", "5 h", "two sockets")),
    "Otter 3600": ("OG-3600", _GENERATOR, ("3.6 kW", "11 l", "66 dB", "41 kg", "7 h", "three sockets")),
    "Marten 800": ("MG-800", _GENERATOR, ("800 W", "2.1 l", "53 dB", "13 kg", "4 h", "one socket")),
    "Lynx 5": ("LH-05", _HEATER, ("5 kW", "0.4 l/h", "9 l", "185 m3/h", "10.5 kg", "piezo")),
    "Lynx 15": ("LH-15", _HEATER, ("15 kW", "1.2 l/h", "17 l", "430 m3/h", "16 kg", "electronic")),
    "Stoat 2": ("SH-02", _HEATER, ("2 kW", "0.2 l/h", "4 l", "90 m3/h", "6.2 kg", "match")),
}
"""Code, row names and values of the specification table of each product."""

LIMITS: dict[str, str] = {
    "Kestrel 40": "The pump must never run dry for more than 20 seconds. Its impeller is due for renewal after 400 operating hours. "
    "Sea water is permitted if the housing is rinsed the same day.",
    "Kestrel 65": "Solids larger than 6 mm jam the rotor. The shaft seal is inspected every 250 operating hours. "
    "Operation is allowed up to a water temperature of 45 °C.",
    "Heron 12": "This bilge pump starts by itself once the water stands 55 mm high. The strainer is cleaned monthly. "
    "Fuel or solvents destroy the membrane and are forbidden.",
    "Heron 20": "The float switch reacts at a water level of 70 mm. The pump may lie on its side during transport. "
    "A fuse of 15 A is prescribed.",
    "Otter 2200": "Oil is changed after the first 20 operating hours and then every 100. Above 1500 m altitude the output falls by a tenth. "
    "Parallel operation with a second set needs the cable PX-2.",
    "Otter 3600": "The electric starter draws on a battery of 18 Ah. The spark plug gap is 0.7 mm. "
    "Indoor operation is forbidden without an exhaust hose.",
    "Marten 800": "Only unleaded petrol of 95 octane may be filled in. Storage longer than 60 days requires an empty carburettor. "
    "The set switches off by itself when oil runs short.",
    "Lynx 5": "A distance of 1.5 m from walls is kept on every side. The flame guard closes the valve within 30 seconds. "
    "Rooms with people in them need an opening of 250 cm2.",
    "Lynx 15": "The heater cools down for 3 minutes before it may be unplugged. Its nozzle is exchanged every 1200 operating hours. "
    "It is approved for building sites and not for homes.",
    "Stoat 2": "The cartridge lasts for 9 hours at the lowest setting. It tips off at an inclination of 25 degrees. "
    "Children under 14 must not operate it.",
}

PRICES = {
    "Kestrel 40": ("419 EUR", "4,890 NOK", "311 EUR"),
    "Kestrel 65": ("598 EUR", "6,990 NOK", "442 EUR"),
    "Heron 12": ("129 EUR", "1,490 NOK", "88 EUR"),
    "Otter 2200": ("1,149 EUR", "13,400 NOK", "871 EUR"),
    "Otter 3600": ("1,690 EUR", "19,700 NOK", "1,284 EUR"),
    "Lynx 15": ("745 EUR", "8,690 NOK", "539 EUR"),
}
"""List price in euros, list price in Norway, dealer price."""

NEWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "n01",
        "2025-10-06",
        "Plant in Narvik opens",
        "The assembly hall in Narvik went into service on 6 October. It employs 84 people and "
        "will build every generator from spring on. The state of Nordland paid 12 million NOK towards it.",
        (),
    ),
    (
        "n02",
        "2025-11-14",
        "Recall of cable PX-2",
        "Cables of the type PX-2 made before week 30 overheat at the plug. Owners send them "
        "back free of charge. Some 3,100 pieces were sold in four countries.",
        ("Otter 2200",),
    ),
    (
        "n03",
        "2025-12-02",
        "New head of service",
        "Ragnhild Aune takes over the service department on 1 January. She led the spare parts "
        "store in Bodø for nine years. Her predecessor Tor Vik retires.",
        (),
    ),
    (
        "n04",
        "2026-01-20",
        "Rescue boats choose Heron",
        "The coastal rescue society fits 46 boats with the Heron 20. Delivery begins in "
        "March. The order is worth 210,000 EUR.",
        ("Heron 20",),
    ),
    (
        "n05",
        "2026-02-11",
        "Quieter Otter",
        "A new silencer lowers the noise of the Otter 3600 from autumn on. Older sets can be refitted "
        "for 95 EUR. Workshops need about 40 minutes for it.",
        ("Otter 3600",),
    ),
    (
        "n06",
        "2026-03-03",
        "Results of the year",
        "Turnover rose to 61 million EUR, a gain of 8 percent. Heaters sold worse because of the mild "
        "winter. The dividend is 1.20 EUR a share.",
        (),
    ),
    (
        "n07",
        "2026-03-19",
        "Training dates",
        "Courses for dealers take place in Tromsø on 14 April and in Hamburg on 5 May. Each group has "
        "room for 16 participants. Registration closes ten days earlier.",
        (),
    ),
    (
        "n08",
        "2026-04-08",
        "Marten wins design award",
        "The Marten 800 received the Boreal Prize for portable tools. The jury praised the "
        "handle made of recycled nets. It is the second award after 2021.",
        ("Marten 800",),
    ),
    (
        "n09",
        "2026-04-27",
        "Spare parts by drone",
        "Islands off Lofoten receive spare parts by drone on trial. A flight carries 4 kg over 22 km. "
        "The trial ends in August.",
        (),
    ),
    (
        "n10",
        "2026-05-12",
        "Stoat leaves the range",
        "Production of the Stoat 2 ends on 30 September. Cartridges stay available until 2031. "
        "Its successor will be announced in winter.",
        ("Stoat 2",),
    ),
)
"""Id, date, headline, text and products of each news item."""

EDITIONS: tuple[tuple[str, str, str, str | None, str, str, str, tuple[str, ...]], ...] = (
    (
        "sb07",
        "e1",
        "2025-02-01",
        "2026-02-01",
        "Service bulletin 07: bearing grease",
        "bulletin",
        "The bearings of the Kestrel 65 take 12 g of grease of type L2. They are lubricated every 300 operating hours.",
        ("Kestrel 65",),
    ),
    (
        "sb07",
        "e2",
        "2026-02-01",
        None,
        "Service bulletin 07: bearing grease",
        "bulletin",
        "The bearings of the Kestrel 65 take 9 g of grease of type L4. They are lubricated every 500 operating hours.",
        ("Kestrel 65",),
    ),
    (
        "sb11",
        "e1",
        "2025-04-01",
        "2026-03-01",
        "Service bulletin 11: fuel hose",
        "bulletin",
        "The fuel hose of the Lynx 15 is exchanged after 2 years. The clamp is tightened with 3 Nm.",
        ("Lynx 15",),
    ),
    (
        "sb11",
        "e2",
        "2026-03-01",
        None,
        "Service bulletin 11: fuel hose",
        "bulletin",
        "The fuel hose of the Lynx 15 is exchanged after 4 years. The clamp is tightened with 5 Nm.",
        ("Lynx 15",),
    ),
    (
        "terms",
        "2025",
        "2025-01-01",
        "2026-01-01",
        "Terms of warranty",
        "terms",
        "The warranty lasts 24 months from purchase. Claims are reported within 30 days. Wearing parts are excluded.",
        (),
    ),
    (
        "terms",
        "2026",
        "2026-01-01",
        None,
        "Terms of warranty",
        "terms",
        "The warranty lasts 36 months from purchase. Claims are reported within 14 days. Wearing parts are excluded.",
        (),
    ),
    (
        "returns",
        "2026",
        "2026-01-01",
        None,
        "Terms of returns",
        "terms",
        "Unused goods may be returned within 21 days. The sender pays the freight above 30 kg. Opened fuel cans stay with the buyer.",
        (),
    ),
    (
        "hire",
        "2026",
        "2026-01-01",
        None,
        "Terms of hire",
        "terms",
        "The deposit for hired equipment is 150 EUR. A weekend counts as one and a half days. Cleaning costs 35 EUR.",
        (),
    ),
)
"""Document, edition, first day, last day, title, kind, text and products of what exists in editions."""

TWINS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "guide.kestrel-40",
        "Dealer guide: Kestrel 40",
        "The pump must never run dry for more than 20 seconds. Its impeller is due for renewal after 400 operating hours.",
        ("Kestrel 40",),
    ),
    (
        "guide.lynx-5",
        "Dealer guide: Lynx 5",
        "A distance of 1.5 m from walls is kept on every side. The flame guard closes the valve within 30 seconds.",
        ("Lynx 5",),
    ),
    (
        "guide.otter-2200",
        "Dealer guide: Otter 2200",
        "Oil is changed after the first 20 operating hours and then every 100. Above 1500 m altitude the output falls by a tenth.",
        ("Otter 2200",),
    ),
)
"""Notices that repeat a sheet: id, title, text and products."""


_TOWNS = ("Alta", "Bergen", "Kiel", "Ålesund", "Oulu")
_DIARY = (
    "A {name} ({code}) came in from {town}. Its owner found it after the flood and asked for a check.",
    "Two customers from {town} brought a {name}. One had dropped it, the other wanted new stickers.",
    "The {name} from {town} was collected on Friday. The invoice went to the town hall.",
    "Nobody picked up the {name} from {town}. A second letter was sent to the owner.",
)
"""What the workshop wrote about each product: it holds no answer and competes for every query that names the product."""


def make_slug(name: str) -> str:
    """Return a product's name as part of an id."""
    return name.lower().replace(" ", "-")


@cache
def list_passages() -> tuple[Passage, ...]:
    """Return all passages of the depot, those of earlier editions too."""
    return (*_list_sheets(), *_list_prices(), *_list_news(), *_list_editions(), *_list_twins(), *_list_diary())


def format_table(head: str, rows: tuple[tuple[str, str], ...]) -> str:
    """Return a Markdown table of two columns."""
    return "\n".join([head, "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _list_sheets() -> list[Passage]:
    passages = []
    for name, (code, rows, values) in SHEETS.items():
        slug = make_slug(name)
        table = format_table("| Property | Value |", tuple(zip(rows, values, strict=True)))
        passages.append(
            Passage(
                f"{slug}/spec",
                f"sheet.{slug}",
                "s1",
                f"{name} ({code}): technical data",
                table,
                "table",
                (name,),
            )
        )
        passages.append(
            Passage(
                f"{slug}/limits",
                f"sheet.{slug}",
                "s1",
                f"{name} ({code}): limits of use",
                LIMITS[name],
                "prose",
                (name,),
            )
        )
    return passages


def _list_prices() -> list[Passage]:
    passages = []
    for column, (list_id, title, roles, tenant) in enumerate(
        (
            ("prices.eu", "List prices in the euro area", (), None),
            ("prices.no", "List prices in Norway", (), "norway"),
            ("prices.dealer", "Dealer purchase prices, confidential", ("dealer",), None),
        )
    ):
        names = list(PRICES)
        for part, group in enumerate((names[:3], names[3:]), 1):
            table = format_table("| Product | Price |", tuple((name, PRICES[name][column]) for name in group))
            passages.append(
                Passage(f"{list_id}/{part}", list_id, "p1", title, table, "table", tuple(group), roles, tenant)
            )
    return passages


def _list_news() -> list[Passage]:
    return [
        Passage(f"news/{name}", f"news.{name}", day, f"News: {head}", text, "news", products, valid_from=day)
        for name, day, head, text, products in NEWS
    ]


def _list_editions() -> list[Passage]:
    return [
        Passage(
            f"{document}/{edition}",
            document,
            edition,
            title,
            text,
            kind,
            products,
            valid_from=start,
            valid_to=end,
        )
        for document, edition, start, end, title, kind, text, products in EDITIONS
    ]


def _list_twins() -> list[Passage]:
    return [Passage(name, name, "g1", title, text, "guide", products) for name, title, text, products in TWINS]


def _list_diary() -> list[Passage]:
    passages = []
    for number, (name, (code, _, _)) in enumerate(SHEETS.items()):
        for week, text in enumerate(_DIARY):
            town = _TOWNS[(number + week) % len(_TOWNS)]
            passages.append(
                Passage(
                    f"diary/{make_slug(name)}-{week + 1}",
                    f"diary.{make_slug(name)}",
                    "d1",
                    f"Workshop diary, week {10 + week}: {name}",
                    text.format(name=name, code=code, town=town),
                    "diary",
                    (name,),
                )
            )
    return passages


@cache
def build_corpus() -> Corpus:
    """Return the corpus as it should be in the index."""
    return Corpus(
        {
            passage.chunk_id: CorpusChunk(
                passage.chunk_id,
                text=passage.text,
                document=passage.document,
                version=passage.edition,
                section=passage.title,
                tenant=passage.tenant,
                roles=passage.roles,
                valid_from=passage.valid_from,
                valid_to=passage.valid_to,
                kind=passage.kind,
            )
            for passage in list_passages()
        },
        digest="sha256:depot",
    )

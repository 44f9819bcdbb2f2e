"""Replies that a judge could give to two claims (i1, i2) with two sources (s1, s2), and what each of them is worth.

Each row: what it is, the reply, and the code of `UNSCORED`, or None for a reply that counts.
"""

from __future__ import annotations

import json
from typing import Any

GOOD_1 = {
    "id": "i1",
    "reasoning": "The passage says so.",
    "source": "s1",
    "quote": "period of notice is 30 days",
    "label": "supported",
}
GOOD_2 = {"id": "i2", "reasoning": "Nothing is said.", "source": "", "quote": "", "label": "not_found"}


def text(*items: Any, **more: Any) -> str:
    """Return a reply with these items, and other fields than the usual ones."""
    return json.dumps({"items": list(items), "echo": "", **more}, ensure_ascii=False)


def first(**changed: Any) -> str:
    """Return a good reply in which the first item is changed; None takes a field away."""
    item = {key: value for key, value in {**GOOD_1, **changed}.items() if value is not None}
    return text(item, GOOD_2)


GOOD = text(GOOD_1, GOOD_2)
PARSE = "judge_parse"

REPLIES: tuple[tuple[str, Any, str | None], ...] = (
    # replies that count
    ("plain", GOOD, None),
    ("decoded arguments", json.loads(GOOD), None),
    ("white space around", f"\n\n  {GOOD}\t\n", None),
    ("in a fence", f"```json\n{GOOD}\n```", None),
    ("in a fence without a language", f"```\n{GOOD}\n```", None),
    ("after thinking", f"<think>i1 looks supported {{maybe}}</think>\n{GOOD}", None),
    ("other order of items", text(GOOD_2, GOOD_1), None),
    ("other order of fields", json.dumps({"echo": "", "items": [GOOD_1, GOOD_2]}), None),
    ("raw line break in a text", GOOD.replace("The passage", "The\npassage"), None),
    ("quote with other white space", first(quote="period  of\nnotice is 30 days"), None),
    ("quote with a soft hyphen", first(quote="period of no\u00adtice is 30 days"), None),
    ("label first", text({"label": "supported", **GOOD_1}, GOOD_2), None),
    ("a quote where none is needed", text(GOOD_1, {**GOOD_2, "quote": "whatever"}), None),
    # not JSON
    ("empty", "", PARSE),
    ("white space", " \n ", PARSE),
    ("null", "null", PARSE),
    ("no content", None, PARSE),
    ("a number", "1", PARSE),
    ("a bare label", "supported", PARSE),
    ("a label in quotes", '"supported"', PARSE),
    ("prose", "Both claims are supported.", PARSE),
    ("prose before", f"Here is my reply: {GOOD}", PARSE),
    ("prose after", f"{GOOD}\nI hope that this helps.", PARSE),
    ("prose around a fence", f"Here:\n```json\n{GOOD}\n```\nDone.", PARSE),
    ("cut short", GOOD[:-20], PARSE),
    ("cut within a text", GOOD[:40], PARSE),
    ("fence not closed", f"```json\n{GOOD}", PARSE),
    ("thinking not closed", f"<think>hm {GOOD}", PARSE),
    ("single quotes", GOOD.replace('"', "'"), PARSE),
    ("trailing comma", GOOD[:-1] + ",}", PARSE),
    ("comment", GOOD.replace("{", "{// the reply\n", 1), PARSE),
    ("Python words", GOOD.replace('""', "None"), PARSE),
    ("unquoted names", GOOD.replace('"items"', "items"), PARSE),
    ("XML", "<items><item id='i1'>supported</item></items>", PARSE),
    ("YAML", "items:\n  - id: i1\n    label: supported", PARSE),
    ("HTML error page", "<html><body>502 Bad Gateway</body></html>", PARSE),
    ("zero bytes", "\x00\x00", PARSE),
    ("too deep", "[" * 200_000, PARSE),
    ("a number of 5,000 digits", '{"items":' + "9" * 5_000 + ',"echo":""}', PARSE),
    ("too long", " " * 600_000 + GOOD, PARSE),
    # more than one
    ("two objects", f"{GOOD}\n{GOOD}", PARSE),
    ("two objects that disagree", f"{GOOD} {first(label='contradicted')}", PARSE),
    ("object then list", f"{GOOD}[1]", PARSE),
    ("items given twice", GOOD[:-1] + ', "items": []}', PARSE),
    ("label given twice", GOOD.replace('"label": "supported"', '"label": "not_found", "label": "supported"'), PARSE),
    ("id labelled twice", text(GOOD_1, GOOD_2, GOOD_2), PARSE),
    ("id labelled twice, otherwise", text(GOOD_1, GOOD_2, {**GOOD_2, "label": "supported"}), PARSE),
    # the wrong shape
    ("a list", json.dumps([GOOD_1, GOOD_2]), PARSE),
    ("one item bare", json.dumps(GOOD_1), PARSE),
    ("wrapped", json.dumps({"result": json.loads(GOOD)}), PARSE),
    ("arguments as text in text", json.dumps(GOOD), PARSE),
    ("no items", '{"echo": ""}', PARSE),
    ("items null", text(echo="", items=None), PARSE),
    ("items an object", json.dumps({"items": {"i1": GOOD_1, "i2": GOOD_2}, "echo": ""}), PARSE),
    ("items empty", text(), PARSE),
    ("item null", text(GOOD_1, None), PARSE),
    ("item a text", text("supported", "not_found"), PARSE),
    ("no echo", json.dumps({"items": [GOOD_1, GOOD_2]}), PARSE),
    ("something in echo", text(GOOD_1, GOOD_2, echo="done"), PARSE),
    ("echo null", text(GOOD_1, GOOD_2, echo=None), PARSE),
    ("a field more", text(GOOD_1, GOOD_2, confidence=0.9), PARSE),
    ("a field more in an item", first(score=1.0), PARSE),
    ("an item less", text(GOOD_1), PARSE),
    ("an item more", text(GOOD_1, GOOD_2, {**GOOD_2, "id": "i3"}), PARSE),
    ("the ids of the request", text({**GOOD_1, "id": "c1"}, {**GOOD_2, "id": "c2"}), PARSE),
    ("id in capitals", first(id="I1"), PARSE),
    ("id a number", first(id=1), PARSE),
    ("id a list", first(id=["i1"]), PARSE),
    ("no id", text({k: v for k, v in GOOD_1.items() if k != "id"}, GOOD_2), PARSE),
    ("no reasoning", text({k: v for k, v in GOOD_1.items() if k != "reasoning"}, GOOD_2), PARSE),
    ("reasoning empty", first(reasoning="  "), PARSE),
    ("reasoning a list", first(reasoning=["so"]), PARSE),
    ("reasoning with half a character", GOOD.replace("The passage", "\\ud800"), PARSE),
    ("no label", text({k: v for k, v in GOOD_1.items() if k != "label"}, GOOD_2), PARSE),
    ("label null", GOOD.replace('"label": "supported"', '"label": null'), PARSE),
    ("label true", first(label=True), PARSE),
    ("label 1", first(label=1), PARSE),
    ("label 0.83", first(label=0.83), PARSE),
    ("label -0.0", first(label=-0.0), PARSE),
    ("label NaN", GOOD.replace('"label": "supported"', '"label": NaN'), PARSE),
    ("label Infinity", GOOD.replace('"label": "supported"', '"label": Infinity'), PARSE),
    ("label 1e999", GOOD.replace('"label": "supported"', '"label": 1e999'), PARSE),
    ("label a list", first(label=["supported"]), PARSE),
    # labels that are not on the menu
    ("another word", first(label="entailed"), "off_menu"),
    ("capitals", first(label="Supported"), "off_menu"),
    ("a space", first(label="supported "), "off_menu"),
    ("two labels", first(label="supported|not_found"), "off_menu"),
    ("a number as text", first(label="0.8"), "off_menu"),
    ("eight of ten", first(label="8/10"), "off_menu"),
    ("empty label", first(label=""), "off_menu"),
    ("label of another rubric", first(label="fully_correct"), "off_menu"),
    ("look-alike letters", first(label="suppоrted"), "off_menu"),
    # quotes
    ("no quote", first(quote=""), "quote"),
    ("a quote of dots", first(quote="..."), "quote"),
    ("a quote of one letter", first(quote="a"), "quote"),
    ("made up", first(quote="notice is 60 days"), "quote"),
    ("paraphrased", first(quote="the notice period is thirty days"), "quote"),
    ("of the other source", first(source="s2"), "quote"),
    ("of the claim", first(quote="Notice is 30 days."), "quote"),
    ("with dots in the middle", first(quote="period … 30 days"), "quote"),
    ("of no source", first(source=""), "quote"),
    ("of an unknown source", first(source="s9"), "quote"),
    ("of the source's own id", first(source="hr#1"), "quote"),
    ("quote null", GOOD.replace('"quote": "period of notice is 30 days"', '"quote": null'), PARSE),
    ("quote a number", first(quote=30), PARSE),
)

"""Text of others is inert: no mention, no link to an issue, no hidden direction, no secret in another spelling."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote

import pytest

from assay.text.escaping import Redactor, escape_json_for_log, escape_markdown

SECRET = 'hunter2-sécret/+"key&'  # not a password of anything


@pytest.mark.parametrize(
    ("text", "active"),
    [
        ("@team", "@t"),
        ("by @org/team", "@o"),
        ("fixes #1", "#1"),
        ("(x)@team", "@t"),
        ("org/repo#12", "#1"),
        ("GH-7", "GH-7"),
        ("gh-7", "gh-7"),
        ("(x)@1team", "@1"),
        ("(x)@1-team", "@1"),
    ],
)
def test_github_finds_no_mention_and_no_issue(text: str, active: str) -> None:
    assert active not in escape_markdown(text)
    assert text == escape_markdown(text).replace("&#8203;", "")


def test_only_commands_of_assay_are_code() -> None:
    assert "run `assay judge` now" == escape_markdown("run `assay judge` now")
    assert "&#96;`assay judge`&#96;" == escape_markdown("``assay judge``")
    for text in ("`rm -rf`", "`assay <b>`", "`assay |`", "`assay judge", "assay`", "`assays`", "`assay\n`"):
        assert "`" not in escape_markdown(text)


@pytest.mark.parametrize(
    "sign", ["\x7f", "\x85", "\x9b", "\u061c", "\u200e", "\u202e", "\u2028", "\u2066", "\ufeff", "\U000e0041"]
)
def test_json_for_a_log_is_the_same_json_without_invisible_characters(sign: str) -> None:
    text = json.dumps({f"a{sign}": [f"{sign}b"]}, ensure_ascii=False, indent=1) + "\n"
    escaped = escape_json_for_log(text)
    assert sign not in escaped
    assert json.loads(text) == json.loads(escaped)
    assert text.count("\n") == escaped.count("\n")


@pytest.mark.parametrize("before", ["", "a", "bb", "ccc"])
@pytest.mark.parametrize("after", ["", "z", "zz"])
def test_a_secret_is_found_in_base64_at_every_offset(before: str, after: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = Redactor([SECRET]).redact_text(encode(f"{before}{SECRET}{after}".encode()).decode())
        assert "[redacted]" in text
        assert len(text) < len("[redacted]") + 16


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="!$&'()*+,;=:@/"),
        re.sub("%..", lambda escape: escape[0].lower(), quote(SECRET)),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        json.dumps(SECRET)[1:-1],
        json.dumps(json.dumps(SECRET))[3:-3],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(SECRET)[1:-1].replace("/", "\\/"),
        html.escape(SECRET),
        SECRET.replace("&", "&amp;"),
        repr(SECRET.encode())[2:-1],
    ],
)
def test_a_secret_is_found_in_keys_and_encodings(spelling: str) -> None:
    redactor = Redactor([SECRET])
    value = {"headers": [{f"x-{spelling}": 1, "y": f"is {spelling}!"}]}
    assert {"headers": [{"x-[redacted]": 1, "y": "is [redacted]!"}]} == redactor.redact_value(value)
    assert redactor.may_contain_secret(json.dumps(value, ensure_ascii=False).encode())


def test_keys_that_become_equal_keep_their_members() -> None:
    clean = Redactor([SECRET]).redact_value({SECRET: 1, quote(SECRET, safe=""): 2})
    assert [1, 2] == sorted(clean.values())

"""Label sheets: written blind as CSV, JSON Lines and a page, and read back with their key."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from assay.formats.labels.label_files import LabelScales
from assay.formats.labels.label_sheets import (
    SHEET_KEY_FORMAT,
    LabelledItem,
    SheetKey,
    SheetRow,
    build_label_page,
    encode_key,
    encode_sheet_csv,
    encode_sheet_jsonl,
    is_label_sheet,
    load_sheet,
    load_sheet_key,
)
from assay.records.errors import InputError
from assay.records.verdicts import Label

SCALES: LabelScales = {"correctness": {"correct": 1.0, "incorrect": 0.0}}
HOSTILE = "</script><img src=x onerror=alert(1)>\u2028=1+1"
ROW = SheetRow(
    "r0001", "correctness", HOSTILE, "=HYPERLINK(1)", "", "12", ("one", "two"), ("correct", "incorrect"), ("m1", "m2")
)
OTHER = SheetRow("r0002", "correctness", "q", "a", "", "", (), ("correct", "incorrect"), ("m1", "m2"))
KEY = SheetKey(SHEET_KEY_FORMAT, "g", 0, {
    "r0001": LabelledItem("c1", "correctness", "cfg", text="t", answer_hash="h"),
    "r0002": LabelledItem("c2", "correctness", "cfg"),
})  # fmt: skip


def written(folder: Path, text: str | bytes, name: str = "lan.csv") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_filled_csv_comes_back_with_the_identity_that_the_key_holds(tmp_path: Path) -> None:
    sheet = b"".join(encode_sheet_csv([ROW, OTHER])).decode().replace("\r\n", "\n")
    filled = sheet.replace('m2",,,\nr0002', 'm2",correct,because,\nr0002')
    assert filled != sheet
    labels, empty = load_sheet(written(tmp_path, filled), KEY, SCALES)
    expected = Label("c1", "correctness", "lan", "correct", config_id="cfg", text="t", answer_hash="h", note="because")
    assert ([expected], 1) == (labels, empty)


def test_what_the_page_saves_comes_back_with_its_rater(tmp_path: Path) -> None:
    saved = '{"row_id": "r0002", "label": "incorrect", "note": "", "rater": "Bình"}\n'
    labels, _ = load_sheet(written(tmp_path, saved, "x.jsonl"), KEY, SCALES, "nobody")
    assert [Label("c2", "correctness", "Bình", "incorrect", config_id="cfg")] == labels


def test_an_unfilled_sheet_in_json_lines_has_no_labels(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(encode_sheet_jsonl([ROW, OTHER])), "x.jsonl")
    assert ([], 2) == load_sheet(path, KEY, SCALES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "row_id,label\nr0009,correct\n",
            ":2: row_id: E_KEY not a row of this key (got 'r0009'; expected one of r0001 …",
        ),
        ("row_id,label\nr0001,corect\n", ":2: label: E_LABEL unknown label (got 'corect'; did you mean 'correct'?"),
        ("row_id,label\nr0001,correct\nr0001,incorrect\n", ":3: row_id: E_DUPLICATE_ID labelled twice by 'lan'"),
        ("row_id,labels\n", "labels: E_UNKNOWN_FIELD unknown field (got 'labels'; expected 'label'?)"),
    ],
)
def test_a_badly_filled_sheet_is_named_with_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_sheet(written(tmp_path, text), KEY, SCALES)
    assert message in str(caught.value)


def test_a_sheet_is_told_from_a_file_of_labels(tmp_path: Path) -> None:
    assert is_label_sheet(written(tmp_path, b"".join(encode_sheet_csv([ROW]))))
    assert is_label_sheet(written(tmp_path, b"".join(encode_sheet_jsonl([ROW]))))
    assert not is_label_sheet(written(tmp_path, "case_id,metric,rater,label\n"))
    assert not is_label_sheet(written(tmp_path, '{"case_id": "row_id"}'))
    assert not is_label_sheet(written(tmp_path, ""))


def test_a_key_comes_back_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert KEY == load_sheet_key(written(tmp_path, encode_key(KEY), "key.json"))
    for text, message in (
        ("[]", "not a key"),
        ("{}", "missing"),
        ('{"format": 9, "golden": "", "seed": 0, "rows": {}}', "another format"),
    ):
        with pytest.raises(InputError, match=message):
            load_sheet_key(written(tmp_path, text, "key.json"))


def test_formulas_in_a_sheet_do_not_act() -> None:
    assert b"'=HYPERLINK(1)" in b"".join(encode_sheet_csv([ROW]))


def test_the_page_holds_its_rows_as_data_and_runs_only_what_its_policy_names() -> None:
    page = build_label_page([ROW, OTHER], "vi").decode()
    island = re.search(r'<script type="application/json" id="rows">(.*?)</script>', page, re.DOTALL)
    assert island is not None
    assert HOSTILE == json.loads(island[1])[0]["question"]
    assert not re.search("[<>&\u2028]", island[1])
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert script is not None and style is not None
    for part in (script[1], style[1]):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in page
    assert "default-src 'none'" in page and "unsafe-inline" not in page
    assert '<html lang="vi"' in page


def test_the_page_asks_for_nothing_from_outside() -> None:
    page = build_label_page([OTHER]).decode()
    assert not re.search(r"https?:|\bsrc=|href=|fetch\(|XMLHttpRequest|import\(|innerHTML|eval\(", page)

"""Human labels: read strictly, written without active formulas, unchanged by a round trip."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

from assay.formats.labels.label_files import (
    compute_labels_digest,
    encode_labels_csv,
    encode_labels_jsonl,
    escape_formula,
    load_labels,
    unescape_formula,
)
from assay.records.digest import compute_answer_hash
from assay.records.errors import InputError
from assay.records.verdicts import Label

SCALES = {
    "faithfulness": {"supported": 1.0, "contradicted": 0.0, "not_found": 0.0},
    "grade": {"fully_correct": 1.0, "partially_correct": 0.5, "unsupported": 0.0, "wrong": 0.0},
}
LABELS = (
    Label("c1", "faithfulness", "Lan", "supported", config_id="a", item="1", text="Nghỉ 12 ngày.", note="=1+1"),
    Label("c1", "faithfulness", "Minh", "not_found", config_id="a", item="1", at="2026-03-01", note="hai\ndòng, \"x\""),
    Label("c1", "faithfulness(against=cited)", "Lan", value=0.25, source="ragas", answer_hash="sha256:1"),
)  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)


def written(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.parametrize(("name", "lines"), [("a.csv", encode_labels_csv), ("a.jsonl", encode_labels_jsonl)])
def test_labels_are_the_same_after_a_round_trip(
    tmp_path: Path, name: str, lines: Callable[[Iterable[Label]], Iterator[bytes]]
) -> None:
    path = written(tmp_path, name, b"".join(lines(LABELS)))
    assert LABELS == load_labels([path], SCALES)


@try_examples(60)
@given(texts, texts)
def test_any_text_of_a_claim_or_note_survives_csv(
    tmp_path_factory: pytest.TempPathFactory, text: str, note: str
) -> None:
    label = Label("c", "grade", "r", "wrong", text=text, note=note)
    path = written(tmp_path_factory.mktemp("labels"), "x.csv", b"".join(encode_labels_csv([label])))
    assert (label,) == load_labels([path], SCALES)


@given(texts)
def test_quoting_is_undone_exactly_and_leaves_no_formula(text: str) -> None:
    assert text == unescape_formula(escape_formula(text))
    assert not escape_formula(text).startswith(("=", "+", "-", "@"))


def test_a_formula_is_written_so_that_it_does_not_act_and_read_as_data(tmp_path: Path) -> None:
    assert b"'=1+1" in b"".join(encode_labels_csv(LABELS))
    path = written(tmp_path, "x.csv", "case_id,metric,rater,label,note\n=c,grade,+me,wrong,=HYPERLINK(1)\n")
    (label,) = load_labels([path], SCALES)
    assert ("=c", "+me", "=HYPERLINK(1)") == (label.case_id, label.rater, label.note)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("c,faithfulness,r,suported,", ":2: label: E_LABEL unknown label (got 'suported'; did you mean 'supported'?"),
        ("c,faithfulnes,r,supported,", ":2: metric: E_LABEL unknown metric (got 'faithfulnes'; did you mean 'faith"),
        ("c,grade,r,,", ":2: label: E_LABEL missing (got neither label nor value"),
        ("c,grade,r,,1.5", ":2: value: E_LABEL out of range (got 1.5"),
        ("c,grade,r,,nan", ":2: value: E_NUMBER not a number (got 'nan'"),
        ("c,grade,r,wrong,1", ":2: value: E_LABEL contradicts the label (got 1; expected 0 for wrong)"),
        (",grade,r,wrong,", ":2: case_id: E_MISSING missing"),
        ("c,grade,r", ":2: E_CELLS wrong number of cells (got 3; expected 5"),
        ('c,grade,r,"wrong,', ":2: E_CSV broken CSV"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_field(tmp_path: Path, row: str, message: str) -> None:
    path = written(tmp_path, "x.csv", f"case_id,metric,rater,label,value\n{row}\n")
    with pytest.raises(InputError) as caught:
        load_labels([path], SCALES)
    assert f"{path}{message}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("case_id,metric,rater,labell\n", "unknown field (got 'labell'; expected 'label'?)"),
        ("case_id,metric,label\n", "missing column (expected rater)"),
        ("case_id,metric,rater,rater\n", "column given twice"),
        ('{"case_id": "c", "metric": "grade", "rater": "r", "labl": "wrong"}', "labl: E_UNKNOWN_FIELD unknown field"),
        ('{"case_id": 1, "metric": "grade", "rater": "r", "label": "wrong"}', "case_id: E_TYPE wrong type (got 1"),
        ('{"case_id": "c", "metric": "grade", "rater": "r", "value": NaN}', "not a finite number"),
        ('{"case_id": "c", "metric": "grade", "rater": "r", "label": "wrong", "at": "now"}', "at: E_LABEL not a date"),
    ],
)
def test_files_that_hold_no_labels_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_labels([written(tmp_path, "x", text)], SCALES)
    assert message in str(caught.value)


def test_a_rater_labels_an_item_once_across_files_and_unicode_forms(tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "đợi-ổ") for form in ("NFC", "NFD"))
    assert composed != decomposed
    first = written(tmp_path, "a.csv", f"case_id,metric,rater,label\n{composed},grade,r,wrong\n")
    second = written(tmp_path, "b.csv", f"case_id,metric,rater,label\n{decomposed},grade,r,wrong\n")
    with pytest.raises(InputError, match="labelled twice") as caught:
        load_labels([first, second], SCALES)
    assert f"{second}:2: case_id" in str(caught.value)
    assert f"it is at {first}:2" in str(caught.value)


def test_another_rater_item_or_configuration_is_another_label(tmp_path: Path) -> None:
    rows = ["c,grade,r,wrong,,a", "c,grade,s,wrong,,a", "c,grade,r,wrong,1,a", "c,grade,r,wrong,,b"]
    path = written(tmp_path, "a.csv", "case_id,metric,rater,label,item,config_id\n" + "\n".join(rows))
    assert 4 == len(load_labels([path], SCALES))


def test_every_bad_row_of_every_file_is_reported_at_once(tmp_path: Path) -> None:
    bad = "case_id,metric,rater,label\nc,grade,r,bad\nd,grade,r,worse\n"
    paths = [written(tmp_path, name, bad) for name in ("a.csv", "b.csv")]
    with pytest.raises(InputError) as caught:
        load_labels(paths, SCALES)
    assert 4 == len(caught.value.problems)


def test_the_digest_of_labels_does_not_depend_on_their_order() -> None:
    assert compute_labels_digest(LABELS) == compute_labels_digest(reversed(LABELS))
    assert compute_labels_digest(LABELS) != compute_labels_digest(LABELS[:2])


def test_an_answer_has_one_hash_in_every_unicode_form() -> None:
    assert compute_answer_hash(unicodedata.normalize("NFD", "được")) == compute_answer_hash(
        unicodedata.normalize("NFC", "được")
    )
    assert compute_answer_hash("a") != compute_answer_hash("b")

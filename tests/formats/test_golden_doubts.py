"""What a golden set may hold although it looks odd: accepted as it is, with a warning where people could be misled."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from tests.formats.golden_rows import FIVE_ROWS, HR_LEAVE_001, QA_CSV, jsonl, row, saved

from assay.formats.golden_files import load_golden
from assay.records.errors import InputError


def codes(folder: Path, content: bytes) -> list[str]:
    return [warning.code for warning in load_golden(saved(folder, content)).warnings]


# ── rows 2, 4 and 5: one content, one identity ───────────────────────────────────────────────────────────────────

PLAIN = jsonl(*FIVE_ROWS)
SPELLINGS = {
    "byte-order mark": b"\xef\xbb\xbf" + PLAIN,
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "no final newline": PLAIN.rstrip(b"\n"),
    "blank lines": b"\n\n" + PLAIN.replace(b"\n", b"\n \r\n"),
    "row order": jsonl(*reversed(FIVE_ROWS)),
    "member order": jsonl(*[dict(reversed(each.items())) for each in FIVE_ROWS]),
    "ASCII escapes": "\n".join(json.dumps(each) for each in FIVE_ROWS).encode(),
    "spaces": "\n".join(" " + json.dumps(each, indent=None, separators=(" , ", " : ")) for each in FIVE_ROWS).encode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_digest_does_not_depend_on_how_the_file_spells_its_content(tmp_path: Path, spelling: str) -> None:
    expected = load_golden(saved(tmp_path, PLAIN))
    assert expected.digest == load_golden(saved(tmp_path, SPELLINGS[spelling])).digest


def test_the_digest_is_the_same_for_gzip_standard_input_and_csv_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_golden(saved(tmp_path, PLAIN)).digest
    assert expected == load_golden(saved(tmp_path, gzip.compress(PLAIN), "golden.jsonl.gz")).digest
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAIN)))
    assert expected == load_golden("-").digest
    windows = b"\xef\xbb\xbf" + QA_CSV.replace("\n", "\r\n").encode()
    expected = load_golden(saved(tmp_path, QA_CSV, "qa.csv")).digest
    assert expected == load_golden(saved(tmp_path, windows, "qa.csv")).digest


@pytest.mark.parametrize(
    "change",
    [{"question": "Else?"}, {"relevance": {"hr_leave_policy:003": 2}}, {"tags": []}, {"notes": ""}, {"x_by": "an"}],
)
def test_the_digest_changes_with_the_content(tmp_path: Path, change: dict[str, object]) -> None:
    before = load_golden(saved(tmp_path, jsonl(row())))
    assert before.digest != load_golden(saved(tmp_path, jsonl(row(**change)))).digest


def test_odd_separators_inside_strings_are_data(tmp_path: Path) -> None:
    question = "one\u2028two\u0085three\x7f?"
    (case,) = load_golden(saved(tmp_path, jsonl(row(question=question)))).golden.cases
    assert question == case.question


# ── rows 20 to 24: ids ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("other", ["HR_LEAVE_001", " hr_leave_001", "hr_leave_001\u00a0"])
def test_ids_that_differ_in_case_or_spaces_alone_are_doubtful(tmp_path: Path, other: str) -> None:
    content = jsonl(row(), row(id=other, question="Another?"))
    loaded = load_golden(saved(tmp_path, content))
    assert ["hr_leave_001", other] == [case.id for case in loaded.golden.cases]
    (warning,) = loaded.warnings
    assert (2, "id", "E_ID_CONFUSABLE") == (warning.line, warning.field, warning.code)
    assert f"got {other!r}; expected a clearer name than 'hr_leave_001' at" in warning.message


@pytest.mark.parametrize(
    "name", ["../etc/passwd", "a/b", "CON", "-rf", "<script>", "a|b", "`x`", "=cmd()", "#1", "{{id}}", "đ" * 128, "0"]
)
def test_any_printable_id_is_data(tmp_path: Path, name: str) -> None:
    loaded = load_golden(saved(tmp_path, jsonl(row(id=name, expected_chunk_ids=[name], relevance={}, must_cite=[]))))
    assert (name, ({"chunk_id": name},)) == (loaded.golden.cases[0].id, loaded.golden.cases[0].evidence[0].any_of)
    assert () == loaded.warnings


@pytest.mark.parametrize("name", ["a\u200bb", "a\u202eb", "\ufeffa", "p\u0430y"])
def test_invisible_and_mixed_letters_in_ids_are_doubtful_and_shown_escaped(tmp_path: Path, name: str) -> None:
    (warning,) = load_golden(saved(tmp_path, jsonl(row(id=name)))).warnings
    assert (1, "id", "E_ID_INVISIBLE") == (warning.line, warning.field, warning.code)
    assert ascii(name) in warning.message


def test_chunk_ids_are_compared_in_nfc_and_the_change_is_counted(tmp_path: Path) -> None:
    decomposed, composed = "nghi\u0309:1", "nghỉ:1"
    content = row(expected_chunk_ids=[composed], relevance={decomposed: 2}, must_cite=["nghi\u0309"])
    loaded = load_golden(saved(tmp_path, jsonl(content)))
    assert ({"chunk_id": composed},) == loaded.golden.cases[0].evidence[0].any_of
    assert ("nghỉ",) == loaded.golden.cases[0].must_cite
    (warning,) = loaded.warnings
    assert ("E_NFC", "names stored in NFC form (got 2 in another form; expected NFC)") == (
        warning.code,
        warning.message,
    )


# ── rows 36, 38 and 39 ───────────────────────────────────────────────────────────────────────────────────────────


def test_repeats_in_lists_are_dropped_with_a_warning(tmp_path: Path) -> None:
    content = row(tags=["hr", "b", "hr"], expected_chunk_ids=["x:1", "x:1"], relevance={}, must_cite=["x", "x"])
    loaded = load_golden(saved(tmp_path, jsonl(content)))
    (case,) = loaded.golden.cases
    assert (("hr", "b"), ("x",), 1) == (case.tags, case.must_cite, len(case.evidence))
    assert [("expected_chunk_ids", "E_REPEATED"), ("tags", "E_REPEATED"), ("must_cite", "E_REPEATED")] == [
        (warning.field, warning.code) for warning in loaded.warnings
    ]


@pytest.mark.parametrize(
    ("question", "reference", "leaks"),
    [
        ("Is it true that staff get twelve days of leave?", "Twelve days of leave.", True),
        ("Is the limit 600 requests?", "600", True),
        ("Is the limit 6000 requests?", "600", False),
        ("Có được nghỉ không?", "Có", False),
        ("Nghỉ phép năm bao nhiêu ngày?", "12 ngày", False),
        ("Có phải NGHI\u0309 PHÉP NĂM không?", "nghỉ phép năm", True),
    ],
)
def test_a_question_that_tells_its_answer_is_doubtful(
    tmp_path: Path, question: str, reference: str, leaks: bool
) -> None:
    found = codes(tmp_path, jsonl(row(question=question, expected_answer=reference)))
    assert (["E_LEAK"] if leaks else []) == found


def test_the_same_question_twice_is_doubtful_unless_users_or_clusters_tell_them_apart(tmp_path: Path) -> None:
    again = {"id": "b", "question": HR_LEAVE_001["question"].upper() + "  "}
    other_user = {"tenant_id": "company_b", "roles": ["employee"]}
    assert ["E_NEAR_DUPLICATE"] == codes(tmp_path, jsonl(row(), row(**again)))
    assert [] == codes(tmp_path, jsonl(row(), row(**again, user_context=other_user)))
    assert [] == codes(tmp_path, jsonl(row(cluster="c"), row(**again, cluster="c")))
    assert ["E_NEAR_DUPLICATE"] == codes(tmp_path, jsonl(row(cluster="c"), row(**again, cluster="d")))
    third = {**again, "id": "c", "user_context": other_user}
    found = load_golden(saved(tmp_path, jsonl(row(), row(**third), row(**{**third, "id": "d"}))))
    assert [(3, "E_NEAR_DUPLICATE")] == [(warning.line, warning.code) for warning in found.warnings]
    assert "the same cluster as 'c' at line 2" in found.warnings[0].message


# ── everything together ──────────────────────────────────────────────────────────────────────────────────────────


def test_one_habit_is_told_once_with_a_count_and_the_first_places(tmp_path: Path) -> None:
    rows = [row(id=f"c{i}", difficulty=i) for i in range(60)]
    rows[7] = row(id="c7", tags="hr")
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(*rows)))
    assert (60, 0) == (len(caught.value.problems), caught.value.more)
    difficulty, tags = str(caught.value).splitlines()
    assert "golden.jsonl:1: difficulty: E_" in difficulty
    assert difficulty.endswith("; 58 more of this kind: lines 2, 3, 4, 5, 6 …")
    assert "golden.jsonl:8: tags: E_TYPE" in tags


def test_a_habit_inside_one_line_is_told_once_too(tmp_path: Path) -> None:
    units = [{"shelf": f"s{number}"} for number in range(5)]
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl({"id": "a", "question": "Q?", "evidence": units})))
    (line,) = str(caught.value).splitlines()
    assert ":1: evidence[0]: E_EVIDENCE a unit without any_of (got {'shelf': 's0'}" in line
    assert line.endswith("; 4 more of this kind: line 1")


def test_three_of_a_kind_are_shown_with_their_values(tmp_path: Path) -> None:
    rows = [row(id=f"c{i}", difficulty=i) for i in range(3)]
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(*rows)))
    assert [f"got {number}" in line for number, line in enumerate(str(caught.value).splitlines())] == [True] * 3


def test_up_to_fifty_kinds_of_errors_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    rows = [row(id=f"c{i}", **{f"shelf{i}": 1}) for i in range(60)]
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(*rows)))
    assert 51 == len(str(caught.value).splitlines())
    assert str(caught.value).endswith("\n… and 10 more")


def test_at_most_a_thousand_errors_are_kept(tmp_path: Path) -> None:
    rows = [row(id=f"c{i}", difficulty=i) for i in range(1010)]
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(*rows)))
    assert (1000, 10) == (len(caught.value.problems), caught.value.more)
    assert str(caught.value).endswith(" …\n… and 10 more")


def test_errors_before_a_fault_that_stops_the_reading_are_kept(tmp_path: Path) -> None:
    content = jsonl(row(difficulty=3), row(id="b", tags="x")) + b'{"id": "' + b"x" * 2**24 + b'"}\n'
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, content))
    assert [(1, "E_TYPE"), (2, "E_TYPE"), (3, "E_LINE_TOO_LONG")] == [
        (problem.line, problem.code) for problem in caught.value.problems
    ]


def test_every_fault_of_a_row_is_reported(tmp_path: Path) -> None:
    bad = row(id=7, question=..., tags=["a", 1], relevance={"a": "x", "b": 20}, user_context={"roles": "hr"}, typo=1)
    with pytest.raises(InputError) as caught:
        load_golden(saved(tmp_path, jsonl(bad)))
    assert {"id", "question", "tags[1]", "relevance.a", "relevance.b", "user_context.roles", "typo"} == {
        problem.field for problem in caught.value.problems
    }


def test_warnings_of_a_kind_are_cut_short_and_counted(tmp_path: Path) -> None:
    rows = [row(id=f"c{i}", question=f"Q{i}?", tags=["a", "a"]) for i in range(25)]
    warnings = load_golden(saved(tmp_path, jsonl(*rows))).warnings
    assert (21, "5 more warnings of this kind") == (len(warnings), warnings[-1].message)


def test_a_header_comes_once_and_before_every_case(tmp_path: Path) -> None:
    header = {"golden_set": {"name": "x"}}
    for content in (jsonl(header, header, HR_LEAVE_001), jsonl(HR_LEAVE_001, header)):
        with pytest.raises(InputError, match=r"golden.jsonl:2: golden_set: E_HEADER .*before every case"):
            load_golden(saved(tmp_path, content))
    with pytest.raises(InputError, match=r"golden.jsonl:1: golden_set.owners: E_UNKNOWN_FIELD .*expected 'owner'\?"):
        load_golden(saved(tmp_path, jsonl({"golden_set": {"owners": "hr"}}, HR_LEAVE_001)))


def test_an_unknown_format_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got 'raggolden'; expected one of assay, rag-golden, rag-qrels"):
        load_golden(saved(tmp_path, PLAIN), "raggolden")


def test_a_named_format_wins_over_the_name_of_the_file(tmp_path: Path) -> None:
    assert "answer-csv" == load_golden(saved(tmp_path, QA_CSV, "qa.jsonl"), "answer-csv").format

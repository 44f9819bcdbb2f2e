"""The version after one of which documents changed: cases are updated, retired and added, and what was is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.formats.run_files.test_split_file import LookEntry, find_ledger, record_look
from assay.golden.candidate import FrozenSet
from assay.records.errors import InputError
from assay.records.golden_set import Case, GoldenSet, RetiredCase, UpdatedCase

AT = "2026-11-23T08:00:00+00:00"
LATER = "2026-12-01T08:00:00+00:00"
ROWS: list[dict[str, Any]] = [
    {"id": "ferry-fare", "question": "What does a crossing cost?", "reference": "It costs 14 EUR.", "cluster": "f"},
    {"id": "berth", "question": "Where does the night boat berth?", "reference": "At pier 3."},
    {"id": "bikes", "question": "Are bicycles carried free?", "reference": "Yes, on every boat."},
    {
        "id": "ferry-fare~lower",
        "question": "what does a crossing cost",
        "reference": "It costs 14 EUR.",
        "variant_of": "ferry-fare",
        "variant": "case",
    },
    {
        "id": "ferry-fare~before",
        "question": "What does a crossing cost?",
        "reference": "It costs 11 EUR.",
        "user": {"as_of": "2024-05-01"},
        "variant_of": "ferry-fare",
        "variant": "other-date",
    },
]


def write(path: Path, *rows: dict[str, Any], header: dict[str, Any] | None = None) -> str:
    lines = [{"golden_set": header}] if header is not None else []
    path.write_text("".join(json.dumps(row) + "\n" for row in (*lines, *rows)), encoding="utf-8")
    return str(path)


def change(name: str, **fields: Any) -> dict[str, Any]:
    return next({**row, **fields} for row in ROWS if row["id"] == name)


@pytest.fixture
def first(tmp_path: Path) -> str:
    """The first version, which ann and bob accepted, of 1 July."""
    candidates = write(tmp_path / "candidates.jsonl", *ROWS, header={"as_of": "2026-07-01"})
    said = [{"case": row["id"], "decision": "accept", "reviewer": person} for row in ROWS for person in ("ann", "bob")]
    decisions = tmp_path / "said.json"
    decisions.write_text(json.dumps(said), encoding="utf-8")
    out = str(tmp_path / "ferries.jsonl")
    golden.freeze(candidates, out, version="1", owner="lead", change="first", at=AT, decisions=[str(decisions)])
    return out


def follow(first: str, candidates: str | list[str] | None = None, **options: Any) -> FrozenSet:
    out = options.pop("out", str(Path(first).with_name("ferries-2.jsonl")))
    asked: dict[str, Any] = {"version": "2", "owner": "lead", "change": "new timetable", "at": LATER, **options}
    frozen = golden.freeze(candidates, out, base=first, **asked)
    assert isinstance(frozen, FrozenSet)
    return frozen


def load_second(first: str) -> GoldenSet:
    return load_golden(Path(first).with_name("ferries-2.jsonl")).golden


def accepted_by(case: Case) -> list[str]:
    people: list[str] = case.metadata["provenance"]["accepted_by"]
    return people


def test_a_case_is_replaced_only_where_somebody_says_so(first: str, tmp_path: Path) -> None:
    dearer = write(tmp_path / "new.jsonl", change("ferry-fare", reference="It costs 17 EUR.", must_have=["17 EUR"]))
    with pytest.raises(
        InputError, match=r"ferry-fare.*another reference, must_have \(expected --update if it replaces"
    ):
        follow(first, dearer, accept_all=True)
    assert not Path(first).with_name("ferries-2.jsonl").exists()
    frozen = follow(first, dearer, accept_all=True, update=True)
    fare, berth, bikes, lower, before = load_second(first).cases
    assert ("It costs 17 EUR.", ("17 EUR",)) == (fare.reference, fare.must_have)
    assert (["lead"], ["ann", "bob"], ["ann", "bob"]) == (accepted_by(fare), accepted_by(berth), accepted_by(bikes))
    (record,) = fare.metadata["provenance"]["updates"]
    assert ("2", ["reference", "must_have"], ["ann", "bob"]) == (
        record["version"],
        record["fields"],
        record["before"]["accepted_by"],
    )
    assert "It costs 14 EUR." == record["before"]["reference"]
    # The variant to be answered alike expects what its case does; that of another day has its own answer, and is named.
    assert ("It costs 17 EUR.", "It costs 11 EUR.") == (lower.reference, before.reference)
    assert ("ferry-fare~before",) == frozen.to_look_at
    assert frozen.change is not None and frozen.change.updated == (
        UpdatedCase("ferry-fare", ("reference", "must_have")),
        UpdatedCase("ferry-fare~lower", ("reference", "must_have")),
    )


def test_variants_follow_their_case_wherever_they_stand_among_the_candidates(first: str, tmp_path: Path) -> None:
    """The candidates are the whole set, with relinked labels, as `golden relink` writes it."""
    evidence = [{"any_of": [{"chunk_id": "fares:2"}]}]
    relinked = {"metadata": {"provenance": {"relinked": [{"field": "evidence[0]"}]}}, "evidence": evidence}
    rows = [{**row, **relinked} if row["id"].startswith("ferry-fare") else row for row in ROWS]
    said = [{"case": "ferry-fare", "decision": "edit", "reviewer": "eve", "edited": {"reference": "It costs 17 EUR."}}]
    decisions = tmp_path / "eve.json"
    decisions.write_text(json.dumps(said), encoding="utf-8")
    for number, candidates in enumerate((rows, rows[::-1])):
        path = write(tmp_path / f"relinked-{number}.jsonl", *candidates)
        out = str(tmp_path / f"out-{number}.jsonl")
        follow(first, path, decisions=[str(decisions)], update=True, out=out)
        cases = {case.id: case for case in load_golden(out).golden.cases}
        assert "It costs 17 EUR." == cases["ferry-fare~lower"].reference == cases["ferry-fare"].reference
        assert "It costs 11 EUR." == cases["ferry-fare~before"].reference
        assert {"fares:2"} == {
            str(cases[row["id"]].evidence[0].any_of[0]["chunk_id"]) for row in rows if "fare" in row["id"]
        }


def test_a_version_keeps_the_changelog_and_says_what_it_added_updated_and_retired(first: str, tmp_path: Path) -> None:
    rows = [
        change("bikes", reference="No, 4 EUR each.", behaviour="answer"),
        {"id": "dogs", "question": "May dogs come?", "reference": "On a lead."},
    ]
    follow(
        first,
        write(tmp_path / "new.jsonl", *rows),
        accept_all=True,
        update=True,
        retire={"ferry-fare": "the line was sold"},
        as_of="2026-12-01",
    )
    second = load_second(first)
    assert ["berth", "bikes", "dogs"] == [case.id for case in second.cases]
    assert [f"1 ({AT}): first", f"2 ({LATER}): new timetable"] == list(second.changelog)
    (made,) = second.lineage
    assert ("2", load_golden(first).digest, ("dogs",)) == (made.version, made.base, made.added)
    assert (UpdatedCase("bikes", ("reference",)),) == made.updated
    assert RetiredCase("ferry-fare", "the line was sold") == made.retired[0]
    assert {"ferry-fare~lower", "ferry-fare~before"} == {row.case for row in made.retired[1:]}
    assert "a variant of ferry-fare, which was retired: the line was sold" == made.retired[1].reason
    assert ("2026-12-01", "2026-12-01") == (second.as_of, made.as_of)
    assert second.frozen_digest == load_golden(Path(first).with_name("ferries-2.jsonl")).digest


def test_a_third_version_knows_both_before_it_and_the_first_is_as_it_was(first: str) -> None:
    untouched = Path(first).read_bytes()
    follow(first, retire={"berth": "the pier is closed"})
    second = str(Path(first).with_name("ferries-2.jsonl"))
    third = str(Path(first).with_name("ferries-3.jsonl"))
    follow(second, retire={"bikes": "no bikes any more"}, out=third, version="3")
    lineage = load_golden(third).golden.lineage
    assert [("2", "berth"), ("3", "bikes")] == [(row.version, row.retired[0].case) for row in lineage]
    assert load_golden(third).golden.ancestors == {load_golden(first).digest, load_golden(second).digest}
    assert untouched == Path(first).read_bytes()


def test_reviewers_update_and_retire_the_cases_of_a_set(first: str, tmp_path: Path) -> None:
    """The file of the review page of the set itself: an edit is an update, a rejection retires with its reason."""
    said = [
        {"case": "berth", "decision": "edit", "reviewer": "eve", "edited": {"reference": "At pier 9."}},
        {"case": "bikes", "decision": "reject", "reviewer": "eve", "reason": "nobody brings them"},
    ]
    decisions = tmp_path / "eve.json"
    decisions.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        follow(first, decisions=[str(decisions)])
    printed = str(refused.value)
    assert "berth: E_DUPLICATE_ID" in printed and "bikes: E_DECISION rejected, and a case of" in printed
    assert printed.count("--update") == 2
    follow(first, decisions=[str(decisions)], update=True)
    second = {case.id: case for case in load_second(first).cases}
    assert ("At pier 9.", ["eve"]) == (second["berth"].reference, accepted_by(second["berth"]))
    assert "bikes" not in second
    assert (RetiredCase("bikes", "nobody brings them"),) == load_second(first).lineage[0].retired
    assert ["ann", "bob"] == accepted_by(second["ferry-fare"])


def test_what_reviewers_decide_differently_about_a_case_of_the_set_is_settled_first(first: str, tmp_path: Path) -> None:
    for person, answer in (("eve", "At pier 9."), ("udo", "At pier 8.")):
        said = [{"case": "berth", "decision": "edit", "reviewer": person, "edited": {"reference": answer}}]
        (tmp_path / f"{person}.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(InputError, match=r"1 candidate decided differently and not settled \(berth\)"):
        follow(first, decisions=[str(tmp_path / "eve.json"), str(tmp_path / "udo.json")], update=True)


RETIREMENTS = (
    ("case,reason\nberth,closed for good\nbikes,\n", "gone.csv:3: reason: E_"),
    ("case,reason\nbirth,closed for good\n", r"gone.csv:2: case: E_ID no such case \(got 'birth'"),
    ("case,why\nberth,closed\n", "E_UNKNOWN_FIELD"),
    ('[{"case": "berth", "reason": "closed"}, {"case": "berth", "reason": "shut"}]', r"\[1\].case: E_DUPLICATE_ID"),
    ('[{"case": "berth", "reason": 7}]', r"\[0\].reason"),
    ("", "empty"),
)


@pytest.mark.parametrize(("text", "message"), RETIREMENTS)
def test_a_file_of_retired_cases_names_row_and_field_of_what_is_wrong(
    first: str, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "gone.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        follow(first, retire=[str(path)])


@pytest.mark.parametrize(
    "text", ["case,reason\nberth,closed\nbikes,no room\n", '[{"case": "berth", "reason": "closed"}]']
)
def test_cases_are_retired_by_a_table_or_a_list(first: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "gone"
    path.write_text(text, encoding="utf-8")
    frozen = follow(first, retire=[str(path)])
    assert frozen.change is not None and frozen.change.retired[0] == RetiredCase("berth", "closed")


def test_the_command_retires_moves_the_day_and_says_what_it_did(
    first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "ferries-2.jsonl")
    arguments = ["--base", first, "--out", out, "--version", "2", "--owner", "lead", "--change", "x", "--now", LATER]
    freeze = ["golden", "freeze", *arguments]
    assert 2 == main([*freeze, "--retire", "berth"])
    assert "expected berth=REASON" in capsys.readouterr().err
    assert 2 == main([*freeze, "--retire", "pier=closed"])
    assert "--retire: case: E_ID no such case (got 'pier=closed'" in capsys.readouterr().err
    assert 2 == main([*freeze, "--retire", "pier"])
    assert "neither a file nor a case (got 'pier'; expected FILE, or ID=REASON of" in capsys.readouterr().err
    assert 2 == main(freeze)
    assert "nothing is new (expected others, changed ones with --update" in capsys.readouterr().err
    assert 2 == main([*freeze, "--as-of", "2026-13-45"])
    assert "--as-of" in capsys.readouterr().err
    assert 2 == main(["golden", "freeze", *arguments[2:], "--retire", "berth=closed"])
    assert "no candidates given" in capsys.readouterr().err
    assert 0 == main([*freeze, "--retire", "berth=closed = for good", "--as-of", "2026-12-01"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "added 0 updated 0 retired 1 as of 2026-12-01" in printed
    assert "closed = for good" == load_golden(out).golden.lineage[0].retired[0].reason


def test_several_files_of_candidates_make_one_version(
    first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page of each file may have saved decisions: each names its file by the digest."""
    changed = write(tmp_path / "changed.jsonl", change("berth", reference="At pier 9."))
    new = write(tmp_path / "new.jsonl", {"id": "dogs", "question": "May dogs come?", "reference": "On a lead."})
    saved = []
    for name, path in (("berth", changed), ("dogs", new)):
        page = {"format": 1, "candidates": load_golden(path).digest, "reviewer": "eve", "settles": False}
        saved.append(str(tmp_path / f"{name}.json"))
        rows = [{"case": name, "decision": "accept"}]
        Path(saved[-1]).write_text(json.dumps({**page, "decisions": rows}), encoding="utf-8")
    frozen = follow(first, [changed, new], decisions=saved, update=True)
    assert frozen.change is not None and ("1 added, 1 updated, 0 retired", ()) == (
        frozen.change.describe(),
        frozen.undecided,
    )
    with pytest.raises(InputError, match="a review of other candidates"):
        follow(first, changed, decisions=saved, update=True, version="3", out=str(tmp_path / "3.jsonl"))
    out = ["--base", first, "--out", str(tmp_path / "3.jsonl"), "--version", "3", "--owner", "x", "--change", "x"]
    assert 0 == main(["golden", "freeze", changed, new, *out, "--update", "--accept-all"])
    capsys.readouterr()
    assert 2 == main(["golden", "freeze", changed, changed.replace("changed", "again"), *out, "--accept-all"])
    again = write(tmp_path / "again.jsonl", change("berth"))
    assert 2 == main(["golden", "freeze", changed, again, *out, "--accept-all"])
    assert f"again.jsonl:1: berth: E_DUPLICATE_ID in {changed} as well" in capsys.readouterr().err
    days = [
        write(tmp_path / f"{day}.jsonl", {"id": day, "question": f"{day}?", "reference": "x"}, header={"as_of": day})
        for day in ("2026-07-01", "2026-08-01")
    ]
    assert 2 == main(["golden", "freeze", *days, *out, "--accept-all"])
    assert "candidates of different days (got 2026-07-01, 2026-08-01; expected --as-of" in capsys.readouterr().err


def test_candidates_of_another_day_do_not_move_the_day_of_the_set_in_silence(first: str, tmp_path: Path) -> None:
    row = {"id": "dogs", "question": "May dogs come?", "reference": "On a lead."}
    dated = write(tmp_path / "new.jsonl", row, header={"as_of": "2026-12-01"})
    with pytest.raises(InputError, match=r"of another day than .*got 2026-12-01; expected 2026-07-01\): say --as-of"):
        follow(first, dated, accept_all=True)
    follow(first, dated, accept_all=True, as_of="2026-12-01")
    assert "2026-12-01" == load_second(first).as_of


def test_golden_check_tells_the_changes_of_each_version_and_lint_finds_what_contradicts_them(
    first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    rows = [
        change("bikes", reference="No, 4 EUR each."),
        {"id": "dogs", "question": "Dogs?", "reference": "On a lead."},
    ]
    new = write(tmp_path / "new.jsonl", *rows)
    follow(first, new, accept_all=True, update=True, retire={"berth": "the pier is closed"}, as_of="2026-12-01")
    second = tmp_path / "ferries-2.jsonl"
    assert 0 == main(["golden", "check", str(second)])
    printed = capsys.readouterr().out
    assert "version 2: 1 added, 1 updated, 1 retired; as of 2026-12-01" in printed
    assert "added: dogs; updated: bikes (reference); retired: berth (the pier is closed)" in printed
    lines = second.read_text(encoding="utf-8").splitlines()
    assert not any("lineage-contradicts" in line for line in _lint_out(second, capsys))
    berth = json.dumps(change("berth"))
    second.write_text("\n".join([*(line for line in lines if '"id":"dogs"' not in line), berth, ""]), encoding="utf-8")
    found = " ".join(line for line in _lint_out(second, capsys) if "lineage-contradicts" in line)
    assert "berth is a case, and was retired in version 2 (the pier is closed)" in found
    assert "dogs is no case, and was added in version 2" in found and "bikes" not in found


def _lint_out(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    main(["golden", "lint", str(path)])
    return capsys.readouterr().out.splitlines()


def test_looks_at_the_test_split_are_counted_over_all_versions(first: str) -> None:
    digest = load_golden(first).digest
    for outputs in ("sha256:1", "sha256:2"):
        record_look(first, LookEntry(AT, digest, outputs))
    follow(first, retire={"berth": "closed"})
    second = load_second(first)
    path = Path(first).with_name("ferries-2.jsonl")
    looks = record_look(path, LookEntry(LATER, second.frozen_digest, "sha256:3"), second.ancestors)
    assert 3 == looks.look
    # A set without this lineage does not count them.
    assert 1 == record_look(path, LookEntry(LATER, "sha256:other", "sha256:3")).look
    before = find_ledger(path).read_bytes()
    follow(first, retire={"berth": "closed"})  # the same bytes again
    assert before == find_ledger(path).read_bytes()


def test_a_set_that_is_no_version_of_another_has_the_header_that_it_had(first: str) -> None:
    assert "lineage" not in json.loads(Path(first).read_text(encoding="utf-8").splitlines()[0])["golden_set"]


CHUNKS = [
    {"chunk_id": "fares:1", "document": "fares", "text": "A crossing costs 17 EUR."},
    {"chunk_id": "bikes:1", "document": "bikes", "text": "Bicycles are carried free on every boat."},
    {"chunk_id": "pier:1", "document": "pier", "text": "The night boat berths at pier 3.", "valid_to": "2026-11-01"},
]


def label(chunk: str, quote: str) -> list[dict[str, Any]]:
    return [{"any_of": [{"chunk_id": chunk}], "quote": quote}]


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[str, str]:
    """A set with evidence, and the corpus of now: another fare, an expired berth, bicycles as before."""
    rows = [
        change("ferry-fare", evidence=label("fares:1", "A crossing costs 14 EUR.")),
        change("berth", evidence=label("pier:1", "berths at pier 3")),
        change("bikes", evidence=label("bikes:1", "carried free on every boat")),
    ]
    candidates = write(tmp_path / "candidates.jsonl", *rows, header={"as_of": "2026-07-01"})
    out = str(tmp_path / "ferries.jsonl")
    golden.freeze(candidates, out, version="1", owner="lead", change="first", at=AT, accept_all=True)
    return out, write(tmp_path / "corpus.jsonl", *CHUNKS)


def test_a_review_of_a_set_shows_the_cases_that_no_longer_fit_the_corpus_on_its_day(
    labelled: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    path, corpus = labelled
    assert 1 == golden.review(path, corpus=corpus, base=path).candidates
    assert 2 == golden.review(path, corpus=corpus, base=path, as_of="2026-12-01").candidates
    page, day = str(tmp_path / "review.html"), ["--as-of", "2026-12-01"]
    assert 0 == main(["golden", "review", path, "--base", path, "--corpus", corpus, "--out", page, *day])
    printed = capsys.readouterr().err
    assert (
        f"--base {path} --out {tmp_path}/ferries-2.jsonl --version 2 --owner lead --update --as-of 2026-12-01"
        in printed
    )
    assert "the quote 'A crossing costs 14 EUR.' is not in the text of fares:1" in Path(page).read_text().replace(
        "\\u0027", "'"
    )
    assert 2 == main(["golden", "review", path, "--base", path, "--out", page])
    assert "expected --corpus as well" in capsys.readouterr().err
    assert "evidence-superseded" not in _lint(path, corpus, capsys) and "evidence-superseded" in _lint(
        path, corpus, capsys, *day
    )


def _lint(path: str, corpus: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    capsys.readouterr()
    assert 1 == main(["golden", "lint", path, "--corpus", corpus, *more])
    return capsys.readouterr().out


def test_variants_with_the_evidence_of_a_stale_case_are_decided_with_it(tmp_path: Path) -> None:
    evidence = label("fares:1", "A crossing costs 14 EUR.")
    own = label("fares:1", "costs 12 EUR")
    rows = [{**row, "evidence": evidence} for row in ROWS if row["id"] in ("ferry-fare", "ferry-fare~lower")]
    rows += [change("ferry-fare~before", evidence=evidence), change("bikes", evidence=label("bikes:1", "carried free"))]
    rows.append({**change("ferry-fare~lower"), "id": "ferry-fare~own", "variant": "typos", "evidence": own})
    path, corpus = str(tmp_path / "set.jsonl"), write(tmp_path / "corpus.jsonl", *CHUNKS)
    golden.freeze(
        write(tmp_path / "c.jsonl", *rows), path, version="1", owner="lead", change="x", at=AT, accept_all=True
    )
    report = golden.review(path, corpus=corpus, base=path)
    assert ("ferry-fare", "ferry-fare~before", "ferry-fare~own") == report.undecided


def test_a_set_that_fits_the_corpus_needs_no_page(labelled: tuple[str, str], tmp_path: Path) -> None:
    path, _ = labelled
    same = [{**CHUNKS[0], "text": "A crossing costs 14 EUR."}, *CHUNKS[1:]]
    corpus = write(tmp_path / "same.jsonl", *same)
    with pytest.raises(InputError, match=r"nothing to decide .* every case is in .* and fits the corpus"):
        golden.review(path, corpus=corpus, base=path, out=str(tmp_path / "page.html"))
    assert 1 == golden.review(path, corpus=corpus, base=path, as_of="2026-12-01").candidates

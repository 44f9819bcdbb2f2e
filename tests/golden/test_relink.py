"""`golden relink`: where labels are after re-chunking, what is applied, and what is left to people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.relink import CHUNKINGS, judge, load_sources, measure

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.golden.candidate import FrozenSet
from assay.golden.relinking import Proposal, RelinkedLabel, Relinker
from assay.golden.suggest_commands import suggest_relinked_freeze
from assay.records.errors import InputError
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet

OLD = [
    {
        "chunk_id": "o1",
        "document": "leave",
        "text": "Staff have 12 days of leave. Sick notes are due after 3 days of illness.",
    },
    {"chunk_id": "o2", "document": "leave", "text": "Unused days expire in March of the next year."},
    {"chunk_id": "o3", "document": "pay", "text": "Grade E5 earns 900 dollars. Grade E6 earns 950 dollars."},
]
NEW = [
    {"chunk_id": "n1", "document": "leave", "text": "Staff have 12 days of leave."},
    {"chunk_id": "n2", "document": "leave", "text": "Sick notes are due after 3 days of illness."},
    {"chunk_id": "n3", "document": "leave", "text": "**Unused days** expire in March of the next year."},
    {"chunk_id": "n4", "document": "pay", "text": "Grade E5 earns 900 dollars."},
    {"chunk_id": "n5", "document": "pay", "text": "Grade E6 earns 950 dollars."},
    {"chunk_id": "n6", "document": "other", "text": "Staff have 12 days of leave."},
]


def case(case_id: str, chunk_id: str, reference: str, **unit: Any) -> dict[str, Any]:
    evidence = [{"any_of": [{"chunk_id": chunk_id}], **unit}]
    return {"id": case_id, "question": f"{case_id}?", "reference": reference, "evidence": evidence}


def write(folder: Path, *cases: dict[str, Any]) -> dict[str, str]:
    paths = {}
    for name, rows in (("golden", cases), ("old", OLD), ("new", NEW)):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        paths[name] = str(path)
    return paths


def relink(folder: Path, *cases: dict[str, Any]) -> Proposal:
    paths = write(folder, *cases)
    proposal = golden.relink(paths["golden"], paths["new"], old_corpus=paths["old"])
    assert isinstance(proposal, Proposal)
    return proposal


def test_a_label_is_found_by_text_quote_or_the_statement_of_its_reference(tmp_path: Path) -> None:
    proposal = relink(
        tmp_path,
        case("same text", "o2", "in March"),
        case("quote", "o1", "3 days", quote="Sick notes are due after 3 days of illness."),
        case("statement", "o1", "12 days of leave"),
    )
    assert [("same text", ("n3",)), ("quote", ("n2",)), ("statement", ("n1",))] == [
        (label.method, label.new) for label in proposal.labels
    ]
    assert 3 == len(proposal.applied)


def test_a_link_never_leaves_the_document_although_another_has_the_same_words(tmp_path: Path) -> None:
    (label,) = relink(tmp_path, case("q", "o1", "12 days", quote="Staff have 12 days of leave.")).labels
    assert ("n1",) == label.new


MOVED = "The lift is serviced on the first Tuesday of May."


@pytest.mark.parametrize(
    ("left", "text", "rights", "method"),
    [
        (True, MOVED, {}, "same text"),
        (True, f"Keys are at the desk. {MOVED} Ask Lan.", {}, "span"),
        (True, MOVED, {"roles": ["board"]}, "none"),
        (True, MOVED.replace("May", "June"), {}, "none"),
        (False, MOVED, {}, "same text"),
    ],
)
def test_a_text_that_another_document_has_word_for_word_is_proposed(
    left: bool, text: str, rights: dict[str, Any], method: str
) -> None:
    """While the document is still there nothing tells whether its text has moved or is copied, so that people look."""
    rest = CorpusChunk("house-2", text="Bicycles are kept in the yard.", document="house")
    old = Corpus({"house-1": CorpusChunk("house-1", text=MOVED, document="house"), "house-2": rest})
    moved = CorpusChunk("lift-1", text=text, document="lift", roles=tuple(rights.get("roles", ())))
    new = Corpus({"lift-1": moved} | ({"house-2": rest} if left else {}))
    unit = Evidence(({"chunk_id": "house-1"},))
    (label,) = Relinker(old, new).propose(GoldenSet((Case("a", "When?", evidence=(unit,)),))).labels
    assert method == label.method
    assert label.new == (() if method == "none" else ("lift-1",))
    assert label.is_applied == (not left)


def test_what_cannot_be_told_is_shown_with_both_texts_and_not_applied(tmp_path: Path) -> None:
    (label,) = relink(tmp_path, case("q", "o3", "It is enough")).labels
    assert not label.is_applied
    assert {"n4", "n5"} == set(label.new)
    assert (OLD[2]["text"], "Grade E5 earns 900 dollars.") == (label.passage, label.new_text)


def test_a_label_without_a_place_stays_and_is_listed(tmp_path: Path) -> None:
    paths = write(tmp_path, case("q", "gone", "12 days"))
    out = str(tmp_path / "out.jsonl")
    assert 1 == main(["golden", "relink", paths["golden"], "--corpus", paths["new"], "--out", out])
    assert load_golden(out).golden.cases == load_golden(paths["golden"]).golden.cases


def test_forbidden_text_is_linked_to_every_chunk_that_has_a_part_of_it(tmp_path: Path) -> None:
    denied = case("q", "o3", "You may not see this.")
    denied |= {"behaviour": "permission_denied", "user": {"roles": ["employee"]}}
    (label,) = relink(tmp_path, denied).labels
    assert {"n4", "n5"} == set(label.new)
    assert label.is_applied


def test_unchanged_labels_are_kept(tmp_path: Path) -> None:
    paths = write(tmp_path, case("q", "o1", "12 days"))
    proposal = golden.relink(paths["golden"], paths["old"], old_corpus=paths["old"])
    assert (1, ()) == (proposal.kept, proposal.labels)


def test_review_decides_and_a_review_of_another_set_is_refused(tmp_path: Path) -> None:
    paths = write(tmp_path, case("q", "o3", "It is enough"))
    proposal, out = str(tmp_path / "proposal.json"), str(tmp_path / "out.jsonl")
    arguments = ["golden", "relink", paths["golden"], "--corpus", paths["new"], "--old-corpus", paths["old"]]
    assert 1 == main([*arguments, "--proposal", proposal])
    rows = json.loads(Path(proposal).read_text(encoding="utf-8"))
    rows["labels"][0] |= {"accepted": True, "new": ["n5"]}
    reviewed = tmp_path / "reviewed.json"
    reviewed.write_text(json.dumps(rows), encoding="utf-8")
    assert 0 == main([*arguments, "--reviewed", str(reviewed), "--out", out])
    assert ({"chunk_id": "n5"},) == load_golden(out).golden.cases[0].evidence[0].any_of
    rows["labels"][0]["case"] = "another"
    reviewed.write_text(json.dumps(rows), encoding="utf-8")
    assert 2 == main([*arguments, "--reviewed", str(reviewed)])
    with pytest.raises(InputError, match="not a proposal"):
        golden.relink(paths["golden"], paths["new"], reviewed=paths["golden"])


@pytest.mark.slow
def test_applied_links_are_right_on_the_documents_of_the_project() -> None:
    outcomes = measure([source for source in load_sources() if source.collection in ("handbook", "depot")])
    applied = [outcome for outcome in outcomes if outcome.outcome in ("right", "wrong")]
    quoted = [outcome for outcome in outcomes if outcome.has_quote and outcome.outcome != "rightly held"]
    assert set(CHUNKINGS) == {outcome.chunking for outcome in applied}
    assert [] == [outcome for outcome in applied if outcome.outcome == "wrong"]
    assert sum(outcome.outcome == "right" for outcome in quoted) >= 0.97 * len(quoted)


def test_a_link_is_judged_by_all_of_its_chunks() -> None:
    assert ["right", "wrong", "review", "rightly held"] == [
        judge(True, {"a"}, {"a", "b"}),
        judge(True, {"a", "c"}, {"a"}),
        judge(False, {"a"}, {"a"}),
        judge(False, set(), set()),
    ]


def relink_reference(old_text: str, new_texts: list[str], reference: str) -> RelinkedLabel:
    """Return where a label without a quote is, whose chunk was cut into others."""
    old = Corpus({"o": CorpusChunk("o", old_text, document="d")})
    new = Corpus({f"n{number}": CorpusChunk(f"n{number}", text, document="d") for number, text in enumerate(new_texts)})
    case = Case("a", "What?", reference=reference, evidence=(Evidence(({"chunk_id": "o"},)),))
    return Relinker(old, new).propose(GoldenSet((case,))).labels[0]


BASIC, TEAM = "Basic rooms cost nine euros for each night.", "Team rooms for each night cost nine euros, Basic or not."


def test_of_rival_statements_the_one_in_the_order_of_the_reference_is_meant() -> None:
    label = relink_reference(f"{BASIC} {TEAM}", [BASIC, TEAM], "Basic rooms cost nine euros each night.")
    assert label.is_applied and label.new == ("n0",)


def test_a_chunk_that_holds_all_rival_statements_is_right_whichever_is_meant() -> None:
    both, apart = f"{BASIC} {TEAM}", "Nothing of this kind is said in here."
    label = relink_reference(f"{both} More.", [both, apart], "nine euros for each night, Basic")
    assert label.is_applied and label.new == ("n0",)
    split = relink_reference(f"{both} More.", [BASIC, TEAM], "nine euros for each night, Basic")
    assert not split.is_applied


def test_a_copied_reference_with_another_figure_is_not_applied() -> None:
    text = "Guests of the hostel pay 9 euros for a bed in winter."
    assert relink_reference(
        f"{text} Else.", [text, "Else."], "Guests of the hostel pay euros for a bed winter"
    ).is_applied
    other = relink_reference(f"{text} Else.", [text, "Else."], "Guests of the hostel pay 7 euros for a bed in winter")
    assert not other.is_applied


def test_a_relinked_set_is_frozen_as_the_next_version_of_the_one_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        case("same", "o2", "in March"),
        case("statement", "o1", "12 days of leave"),
        case("unclear", "o3", "dollars", quote="Grade E5 earns nothing of these dollars."),
    )
    paths = write(tmp_path, *rows)
    first, relinked, second = (str(tmp_path / f"{name}.jsonl") for name in ("set", "relinked", "set-2"))
    frozen: dict[str, Any] = {"owner": "ann", "at": "2026-03-01T00:00:00Z"}
    golden.freeze(paths["golden"], first, version="1", change="first", accept_all=True, **frozen)
    capsys.readouterr()
    arguments = ["golden", "relink", first, "--old-corpus", paths["old"], "--corpus", paths["new"], "--out", relinked]
    assert 1 == main(arguments)
    printed = capsys.readouterr().err
    assert f"assay golden review {relinked} --base {first} --corpus {paths['new']} --out review.html" in printed
    freezing = f"assay golden freeze {relinked} --base {first} --out {second} --version 2 --owner ann --change relinked"
    assert freezing == suggest_relinked_freeze(first, relinked)
    assert "frozen-edited" not in _lint(relinked, paths["new"], capsys)
    later: dict[str, Any] = {"owner": "bob", "at": "2026-04-01T00:00:00Z"}
    result = golden.freeze(relinked, second, version="2", change="relinked", base=first, **later)
    assert isinstance(result, FrozenSet) and (3, ()) == (result.cases, result.undecided)
    before, after = load_golden(first).golden, load_golden(second).golden
    assert [f"1 ({frozen['at']}): first", f"2 ({later['at']}): relinked"] == list(after.changelog)
    by_id = {row.id: row.metadata["provenance"] for row in after.cases}
    assert {("ann",)} == {tuple(row["accepted_by"]) for row in by_id.values()}
    (link,) = by_id["statement"]["relinked"]
    assert ("evidence[0]", ["o1"], ["n1"], "statement", "rules") == tuple(
        link[name] for name in ("field", "old", "new", "method", "by")
    )
    assert "relinked" not in by_id["unclear"] and before.cases[2] == after.cases[2]
    assert "frozen-edited" not in _lint(second, paths["new"], capsys)
    changed = [{**json.loads(line), "reference": "13"} for line in Path(relinked).read_text().splitlines()[2:3]]
    with pytest.raises(InputError, match=r"with another reference, evidence \(expected --update"):
        other = tmp_path / "other.jsonl"
        other.write_text("".join(json.dumps(row) + "\n" for row in changed))
        golden.freeze(str(other), second, version="3", change="x", base=first, accept_all=True, **later)


def _lint(path: str, corpus: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["golden", "lint", path, "--corpus", corpus])
    return capsys.readouterr().out


def test_new_chunks_are_in_the_order_of_the_corpus_and_the_closest_text_is_shown() -> None:
    words = [f"word{number}" for number in range(40)]
    old = Corpus({"o": CorpusChunk("o", " ".join(words), document="d")})
    parts = {"w1": words[:14], "w2": words[14:36], "w3": [*words[36:], *(f"other{number}" for number in range(9))]}
    new = Corpus({name: CorpusChunk(name, " ".join(part), document="d") for name, part in parts.items()})
    unit = Evidence(({"chunk_id": "o"},))
    (label,) = Relinker(old, new).propose(GoldenSet((Case("q", "?", evidence=(unit,)),))).labels
    assert sorted(label.new) == list(label.new)
    assert " ".join(parts["w2"]) == label.new_text


def test_of_a_chunk_that_is_gone_lint_does_not_say_that_another_one_has_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # tables of that width break no sentence
    quote = "Staff have 12 days of leave."
    unit = {"any_of": [{"chunk_id": "gone"}, {"quote": quote}], "quote": quote, "text_hash": "sha256:" + "0" * 64}
    paths = write(tmp_path, {"id": "q", "question": "How many days?", "reference": "12 days", "evidence": [unit]})
    said = " ".join(_lint(paths["golden"], paths["new"], capsys).split())
    assert "gone is not in the corpus any more" in said and "has changed" not in said

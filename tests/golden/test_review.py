"""`golden review`: bad files, agreement of reviewers, what is settled, and what the page shows of a candidate."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.golden.candidate import LeftOpen, ReviewDecision
from assay.golden.candidate_rows import build_review_content, mark_quote
from assay.golden.settlement import settle_cases, summarise_reviews
from assay.records.errors import InputError
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, User

AT = "2026-11-23T08:00:00+00:00"
CASES = [{"id": name, "question": f"What is {name}?", "reference": f"It is {name}."} for name in ("a", "b", "c")]


def write_candidates(folder: Path) -> tuple[str, str]:
    path = folder / "candidates.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in CASES), encoding="utf-8")
    return str(path), load_golden(path).digest


def write_review(folder: Path, reviewer: str, *rows: dict[str, Any], **members: Any) -> str:
    _, digest = write_candidates(folder)
    review = {"format": 1, "candidates": digest, "reviewer": reviewer, "decisions": list(rows)} | members
    path = folder / f"{reviewer or 'nobody'}{'-settled' if members.get('settles') else ''}.json"
    path.write_text(json.dumps(review), encoding="utf-8")
    return str(path)


def accept(case: str, **edited: Any) -> dict[str, Any]:
    return {"case": case, "decision": "accept", "edited": edited}


def reject(case: str, reason: str = "unclear") -> dict[str, Any]:
    return {"case": case, "decision": "reject", "reason": reason}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"decisions": [accept("x")]}, r"decisions\[0\].case: E_ID no such candidate \(got 'x'; expected an id of "),
    (
        {"decisions": [accept("a"), {"case": "b", "decision": "maybe"}]},
        r"decisions\[1\].decision: .*edit or reject",
    ),
    ({"decisions": [reject("a", " ")]}, r"decisions\[0\].reason: .*without a reason"),
    ({"decisions": [accept("a"), reject("a")]}, r"decisions\[1\].case: .*decided twice"),
    ({"decisions": [accept("a", behaviour="laugh")]}, r"decisions\[0\].edited.behaviour: .*unknown value"),
    ({"decisions": [accept("a", id="b")]}, r"decisions\[0\].edited.id: .*cannot be edited"),
    ({"decisions": [accept("a", question=" ")]}, r"decisions\[0\].edited.question: .*empty"),
    ({"decisions": [accept("a", evidence=[{"any_of": []}])]}, r"decisions\[0\].edited.evidence.*any_of"),
    ({"decisions": [accept("a", reference=None)]}, r"decisions\[0\].edited.*nothing to score"),
    ({"decisions": [reject("a") | {"edited": {"question": "x"}}]}, "rejected and edited"),
    ({"decisions": [accept("a")], "reviewer": " "}, "expected the name of a person"),
    ({"candidates": "sha256:0"}, "candidates: E_DIGEST a review of other candidates .*make the page again"),
    ({"format": 2}, "of another format"),
    ({"mood": "good"}, "mood: E_UNKNOWN_FIELD"),
    ({"decisions": 3}, "decisions: E_TYPE"),
]


@pytest.mark.parametrize(("members", "message"), BAD)
def test_a_bad_review_is_refused_with_its_place_and_a_remedy(
    members: dict[str, Any], message: str, tmp_path: Path
) -> None:
    candidates, _ = write_candidates(tmp_path)
    review = write_review(tmp_path, members.pop("reviewer", "ann"), **members)
    with pytest.raises(InputError, match=message):
        golden.review(candidates, decisions=[review])
    with pytest.raises(InputError, match=message):
        golden.freeze(
            candidates, str(tmp_path / "g.jsonl"), version="1", owner="o", change="c", at=AT, decisions=[review]
        )


@pytest.mark.parametrize("content", ["", "3", "{", "null", '"x"', "[[]]", "\ufeff[", '[{"case": "a"}]', "{" * 500])
def test_a_file_that_is_no_review_is_refused(content: str, tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    (tmp_path / "review.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"review\.json"):
        golden.review(candidates, decisions=[str(tmp_path / "review.json")])


def test_a_person_who_decided_in_two_ways_is_refused_and_the_same_file_twice_is_not(tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    first = write_review(tmp_path, "ann", accept("a"))
    other = tmp_path / "other.json"
    other.write_text(Path(first).read_text(encoding="utf-8").replace("accept", "reject").replace("{}", "{}"), "utf-8")
    other.write_text(json.dumps([reject("a") | {"reviewer": "ann"}]), encoding="utf-8")
    with pytest.raises(InputError, match="decided twice by 'ann'"):
        golden.review(candidates, decisions=[first, str(other)])
    assert 1 == golden.review(candidates, decisions=[first, first]).accepted


def test_two_reviewers_get_an_agreement_and_what_they_edit_differently_is_left_to_settle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    candidates, _ = write_candidates(tmp_path)
    ann = write_review(tmp_path, "ann", accept("a", reference="A."), reject("b"), accept("c"))
    bob = write_review(tmp_path, "bob", accept("a", reference="It's A."), reject("b", "dull"), accept("c"))
    arguments = ["golden", "review", candidates, "--decisions", ann, "--decisions", bob]
    assert 1 == main([*arguments, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert ["a"] == [case["case"] for case in report["disagreed"]]
    (pair,) = report["agreement"]
    assert (2 / 3, 3, ["accept", "edit", "reject", "edit 2"]) == (pair["raw"], pair["n"], pair["labels"])
    assert pair["kappa"]["value"] < 1.0
    assert 1 == main(arguments)
    shown = capsys.readouterr().out
    assert "accept with another reference" in shown and "reject" in shown
    with pytest.raises(InputError, match="decided differently"):
        golden.freeze(
            candidates, str(tmp_path / "g.jsonl"), version="1", owner="o", change="c", at=AT, decisions=[ann, bob]
        )
    settled = write_review(tmp_path, "cem", accept("a", reference="A."), settles=True)
    assert 0 == main([*arguments, "--decisions", settled])
    golden.freeze(
        candidates, str(tmp_path / "g.jsonl"), version="1", owner="o", change="c", at=AT, decisions=[ann, bob, settled]
    )
    case = load_golden(tmp_path / "g.jsonl").golden.cases[0]
    assert ("A.", ["cem"], {"reference": "It is a."}) == (
        case.reference,
        case.metadata["provenance"]["edited_by"],
        case.metadata["provenance"]["original"],
    )


def test_what_one_reviewer_left_open_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    candidates, _ = write_candidates(tmp_path)
    ann = write_review(tmp_path, "ann", accept("a"), reject("b"), accept("c"))
    bob = write_review(tmp_path, "bob", accept("a"))
    report = golden.review(candidates, decisions=[ann, bob])
    assert (LeftOpen("b", ("bob",)), LeftOpen("c", ("bob",))) == report.left_open
    assert 0 == main(["golden", "review", candidates, "--decisions", ann, "--decisions", bob])
    assert "b (bob), c (bob)" in " ".join(capsys.readouterr().out.split())
    assert () == golden.review(candidates, decisions=[ann]).left_open
    settled = write_review(tmp_path, "cem", reject("b"), accept("c"), settles=True)
    assert () == golden.review(candidates, decisions=[ann, bob, settled]).left_open


def test_with_nothing_to_settle_no_page_is_written(tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    with pytest.raises(InputError, match="nothing to settle"):
        golden.review(
            candidates, decisions=[write_review(tmp_path, "ann", accept("a"))], out=str(tmp_path / "page.html")
        )
    assert not (tmp_path / "page.html").exists()
    with pytest.raises(InputError, match="no such language"):
        golden.review(candidates, language="fr", out=str(tmp_path / "page.html"))


def test_the_same_files_give_the_same_page_and_no_input_is_overwritten(tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    pages = []
    for name in ("one.html", "two.html"):
        golden.review(candidates, out=str(tmp_path / name))
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    assert 2 == main(["golden", "review", candidates, "--out", candidates])


DECISIONS = st.builds(
    ReviewDecision,
    st.sampled_from("abc"),
    st.sampled_from(("accept", "reject")),
    st.sampled_from(("ann", "bob")),
    st.just("why"),
    st.just({}),
    st.booleans(),
)


@given(st.lists(DECISIONS, max_size=8, unique_by=lambda item: (item.case, item.reviewer, item.settles)))
def test_the_order_of_files_changes_nothing_and_every_candidate_has_one_state(decisions: list[ReviewDecision]) -> None:
    cases = [Case(name, "?") for name in "abc"]
    report = summarise_reviews(cases, decisions, "d")
    assert 3 == report.accepted + report.rejected + len(report.undecided) + len(report.disagreed)
    states = [settled.state for settled in settle_cases(cases, decisions)]
    assert states == [settled.state for settled in settle_cases(cases, decisions[::-1])]
    for settled in settle_cases(cases, decisions):
        assert len({decision.settles for decision in settled.decisions}) <= 1


# ── what the page shows ──────────────────────────────────────────────────────────────────────────────────────────────


def test_other_chunks_are_ranked_by_their_words_and_say_who_may_not_see_them() -> None:
    chunks = [
        CorpusChunk("own", text="Staff have 12 days of leave a year."),
        CorpusChunk("near", text="How many days of leave? Staff have 12."),
        CorpusChunk("old", text="Days of leave for staff: 10.", valid_to="2025-01-01"),
        CorpusChunk("hr", text="Leave days staff may sell.", roles=("hr",)),
        CorpusChunk("far", text="Cats."),
    ]
    corpus = Corpus({chunk.chunk_id: chunk for chunk in chunks})
    case = Case(
        "q", "How many days of leave do staff have?", evidence=(Evidence(({"chunk_id": "own"},)),), user=User("t")
    )
    (row,) = build_review_content([case], corpus, "d", "2026-01-01").rows
    assert {"near": (False, False), "old": (False, True), "hr": (True, False)} == {
        item.chunk: (item.is_hidden, item.is_expired) for item in row.nearby
    }
    assert "Days of leave for staff: 10." in [item.statement for item in row.nearby]


@given(st.text("aáb 😀\n", max_size=20), st.text("aáb 😀\n", max_size=20), st.text("aá😀", min_size=1, max_size=9))
def test_a_quote_is_marked_where_a_browser_finds_it(before: str, after: str, quote: str) -> None:
    text = f"{before} {quote} {after}"
    ((start, end),) = mark_quote(text, quote.upper())
    marked = text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
    assert len(quote) == len(marked)
    assert marked.replace("á", "a") == quote.replace("á", "a")


def test_an_edit_that_is_written_by_hand_is_an_acceptance_with_other_fields(tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    rows = [
        {"case": "a", "decision": "edit", "reviewer": "ann", "edited": {"question": "What is an a?"}},
        {"case": "b", "decision": "accept", "reviewer": "ann"},
        {"case": "c", "decision": "reject", "reviewer": "ann", "reason": "nobody asks this"},
    ]
    written = tmp_path / "written.json"
    written.write_text(json.dumps(rows), encoding="utf-8")
    report = golden.review(candidates, decisions=[str(written)])
    assert (2, 1) == (report.accepted, report.rejected)
    assert [(1, 1, 1)] == [(item.accepted, item.edited, item.rejected) for item in report.reviewers]


def test_an_edit_without_fields_says_what_is_missing(tmp_path: Path) -> None:
    candidates, _ = write_candidates(tmp_path)
    written = tmp_path / "written.json"
    written.write_text(json.dumps([{"case": "a", "decision": "edit", "reviewer": "ann"}]), encoding="utf-8")
    with pytest.raises(InputError, match=r"\[0\].edited: E_EDIT a: edits nothing \(expected the new fields"):
        golden.review(candidates, decisions=[str(written)])


def test_the_command_that_a_review_suggests_runs_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    candidates, _ = write_candidates(tmp_path)
    said = write_review(tmp_path, "ann", *(accept(row["id"]) for row in CASES))
    assert main(["golden", "review", candidates, "--out", str(tmp_path / "page.html")]) == 0
    suggested = capsys.readouterr().err.partition("next: assay ")[2].replace("REVIEW.json", said)
    words = shlex.split(suggested.replace("golden.jsonl", str(tmp_path / "golden.jsonl")))
    assert main(words) == 0 and len(load_golden(tmp_path / "golden.jsonl").golden.cases) == len(CASES)

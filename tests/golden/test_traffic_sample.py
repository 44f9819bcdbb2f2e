"""`audit sample`: which production questions become candidates, and what a candidate may not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import try_examples

import assay
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.golden.collect_traffic import TrafficSample
from assay.golden.traffic_sampling import TrafficChoice, choose_questions, read_traffic_question
from assay.records.audit_records import AuditRecord
from assay.records.errors import ExitCode, InputError
from assay.records.golden_set import Case, GoldenSet, User

KEY = "0123456789abcdef"
SECRET_TEXT = "The merger with Delft Medical closes on the ninth of June for forty million euros."


def make_store(folder: Path, records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("sqlalchemy", reason="needs the extra audit")
    monkeypatch.setenv("ASSAY_AUDIT_KEY", KEY)
    rows = [
        {"id": f"r{number}", "at": f"2026-03-{number % 27 + 1:02d}T08:00:00Z", **record}
        for number, record in enumerate(records)
    ]
    (folder / "traffic.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assay.audit.ingest(folder / "audit.sqlite", folder / "traffic.jsonl", format="audit", redact="none")
    return folder / "audit.sqlite"


def sample(store: Path, count: int = 40, **options: Any) -> TrafficSample:
    chosen = assay.audit.sample(store, count, **options)
    assert isinstance(chosen, TrafficSample)
    return chosen


def test_alike_questions_are_one_candidate_and_those_of_the_set_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        "How many days of annual leave do new employees get?",
        "how many days of ANNUAL leave do new employees get",
        "What does the bicycle plan reimburse per year?",
        "Who approves travel to Rotterdam?",
        "who approves travel to rotterdam?",
        "",
    ]
    store = make_store(tmp_path, [{"question": text, "answer": "It is so."} for text in asked], monkeypatch)
    golden = tmp_path / "golden.jsonl"
    case = {"id": "g", "question": "Who approves travel to Rotterdam?", "expected_answer": "Ann."}
    golden.write_text(json.dumps(case) + "\n", encoding="utf-8")
    chosen = sample(store, golden=golden)
    leave, bicycle = sorted(chosen.candidates, key=lambda case: case.question.lower())
    assert (2, 1) == tuple(case.metadata["provenance"]["alike"] for case in (leave, bicycle))
    assert (2, 1) == (chosen.known_questions, chosen.without_question)
    assert "only 2 groups of questions that the set lacks" in chosen.notes[-1]


def test_a_question_whose_language_is_not_read_is_of_the_language_that_its_record_states() -> None:
    record = AuditRecord(
        id="a", at="2026-03-02T08:00:00.000000Z", question="Wie wird das Wetter?", user=User(locale="de-AT")
    )
    assert "language=de" == read_traffic_question(record, 1, ["language"]).stratum
    assert (
        "language=not recorded"
        == read_traffic_question(AuditRecord(id="b", at="", question="?"), 2, ["language"]).stratum
    )


@pytest.mark.parametrize(
    ("feedback", "is_doubt"),
    [("wrong", True), ("👎", True), (0.2, True), ("up", False), ("too long", False), (None, False)],
)
def test_feedback_is_negative_as_the_monitor_counts_it(feedback: Any, is_doubt: bool) -> None:
    record = AuditRecord(id="a", at="2026-03-02T08:00:00.000000Z", question="Why?", answer="So.", feedback=feedback)
    assert is_doubt == ("negative feedback" in read_traffic_question(record, 1, ["tenant"]).doubts)


def test_what_reviewers_may_see_follows_the_corpus_of_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = [{"name": "context", "chunks": [{"chunk_id": "board-1", "text": SECRET_TEXT}]}]
    user = {"tenant": "acme", "roles": ["employee"]}
    row = {"answer": SECRET_TEXT, "stages": stages, "user": user, "citations": ["board-1"]}
    rows = [
        row | {"question": "When does the merger close?", "versions": {"index": "v1"}},
        row | {"question": "How much is paid for Delft?", "versions": {"index": "v2"}},
    ]
    store = make_store(tmp_path, rows, monkeypatch)
    corpora = []
    for version, roles in (("v1", ["board"]), ("v2", [])):
        path = tmp_path / f"{version}.jsonl"
        path.write_text(
            json.dumps({"chunk_id": "board-1", "text": SECRET_TEXT, "roles": roles}) + "\n", encoding="utf-8"
        )
        corpora.append(f"{version}={path}")
    restricted, public = sorted(sample(store, corpus=corpora).candidates, key=lambda case: case.question, reverse=True)
    assert "forty million" not in json.dumps(restricted.metadata)
    assert "forty million" in json.dumps(public.metadata)
    options = ["--store", str(store), "--out", str(tmp_path / "c.jsonl"), "--count", "2"]
    assert ExitCode.PASS == main(["audit", "sample", *options, "--corpus", corpora[0], "--corpus", corpora[1]])


@pytest.mark.parametrize("redact", ["none", None])
def test_a_question_with_the_address_of_who_asks_is_like_the_one_without(
    redact: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        "May I use loose chalk?",
        "May I use loose chalk? My mail is ann@gym.example, please answer there.",
        "Call me at +44 20 7946 0958. May I use loose chalk?",
        "May I bring a dog? My mail is ann@gym.example, please answer there.",
    ]
    pytest.importorskip("sqlalchemy", reason="needs the extra audit")
    monkeypatch.setenv("ASSAY_AUDIT_KEY", KEY)
    rows = [{"id": f"r{number}", "question": text, "answer": "Yes."} for number, text in enumerate(asked)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assay.audit.ingest(tmp_path / "s.sqlite", tmp_path / "t.jsonl", redact=redact)
    candidates = sample(tmp_path / "s.sqlite").candidates
    assert [1, 3] == sorted(case.metadata["provenance"]["alike"] for case in candidates)


def test_every_stratum_is_there_and_doubts_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records: list[dict[str, Any]] = [
        {"question": f"What about topic{number} and detail{number}?", "answer": "It is so.", "user": {"tenant": "a"}}
        for number in range(20)
    ]
    records[17]["feedback"] = "down"
    records.append({"question": "What about the reactor?", "answer": "It is so.", "user": {"tenant": "b"}})
    store = make_store(tmp_path, records, monkeypatch)
    chosen = sample(store, 2, by=("tenant",))
    assert {"tenant=a": 1, "tenant=b": 1} == {stratum.stratum: stratum.chosen for stratum in chosen.strata}
    questions = {case.question: case.metadata["provenance"] for case in chosen.candidates}
    assert ["negative feedback"] == questions["What about topic17 and detail17?"]["doubts"]
    assert "doubt" == questions["What about topic17 and detail17?"]["chosen_by"]
    by_chance = sample(store, 3, by=("tenant",), doubtful_share=0.0)
    assert {"chance"} == {case.metadata["provenance"]["chosen_by"] for case in by_chance.candidates}


def test_the_file_is_the_same_for_a_seed_goes_through_freeze_and_holds_no_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        {"question": f"What about topic{n}? Ask ann@example.org", "answer": "So.", "user_uid": "ann-the-user"}
        for n in range(12)
    ]
    store = make_store(tmp_path, records, monkeypatch)
    arguments = ["audit", "sample", "--store", str(store), "--count", "5", "--seed", "7", "--out"]
    assert ExitCode.PASS == main([*arguments, str(tmp_path / "one.jsonl")])
    assert ExitCode.PASS == main([*arguments, str(tmp_path / "two.jsonl")])
    text = (tmp_path / "one.jsonl").read_text(encoding="utf-8")
    assert text == (tmp_path / "two.jsonl").read_text(encoding="utf-8")
    assert "ann" not in text.replace("annual", "")
    assert "[email]" in text.lower()
    assert len(load_golden(tmp_path / "one.jsonl").golden.cases) == 5
    other = {case.id for case in sample(store, 5, seed=8).candidates}
    assert other != {case.id for case in sample(store, 5, seed=7).candidates}
    frozen = ["--version", "1", "--owner", "ann", "--change", "production", "--accept-all", "--out"]
    freeze = ["golden", "freeze", str(tmp_path / "one.jsonl"), *frozen, str(tmp_path / "set.jsonl")]
    capsys.readouterr()
    assert ExitCode.BAD_INPUT == main(freeze)
    assert capsys.readouterr().err.count("accepted without a reference or evidence") == 5
    labelled = text.replace('"tags"', '"reference":"It is so.","tags"')
    (tmp_path / "one.jsonl").write_text(labelled, encoding="utf-8")
    assert ExitCode.PASS == main(freeze)


def test_a_sampled_case_has_the_day_of_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"question": "What does a berth cost?", "answer": "41.", "user": {"tenant": "north", "roles": ["guest"]}}
    store = make_store(tmp_path, [{"question": "Who sews sails?", "answer": "Ove."}, asked], monkeypatch)
    users = {case.question: case.user for case in sample(store).candidates}
    user = users["What does a berth cost?"]
    assert user is not None and "2026-03-02" == user.as_of
    assert users["Who sews sails?"] is None


def test_text_that_the_user_may_not_see_is_masked_and_without_a_corpus_no_answer_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = {"chunk_id": "board", "text": SECRET_TEXT, "tenant": "board"}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(chunk) + "\n", encoding="utf-8")
    stage = {"name": "context", "chunks": [{"chunk_id": "board", "text": SECRET_TEXT}]}
    leaking = {"question": "What is new?", "answer": SECRET_TEXT, "user": {"tenant": "staff"}, "stages": [stage]}
    store = make_store(tmp_path, [leaking], monkeypatch)
    for corpus in (None, tmp_path / "corpus.jsonl"):
        chosen = sample(store, out=tmp_path / "out.jsonl", corpus=corpus)
        text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
        assert "Delft" not in text
        assert "forty million" not in text
        assert (corpus is None) == any("answers are left out" in note for note in chosen.notes)


def test_what_cannot_be_sampled_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path, [{"question": "Why?", "answer": "So."}], monkeypatch)
    with pytest.raises(InputError, match="no question is left"):
        sample(store, since="2027-01-01")
    with pytest.raises(InputError, match="no such stratum"):
        sample(store, by=("mood",))
    with pytest.raises(InputError, match="not a day or a time"):
        sample(store, since="yesterday")


QUESTIONS = [
    read_traffic_question(AuditRecord(id=f"r{n}", at="2026-03-01T00:00:00Z", question=f"topic{n} or thing{n}?",
                                      feedback="down" if n % 3 == 0 else None, config_id=f"c{n % 4}"), n, ("config",))
    for n in range(30)
]  # fmt: skip


def choose(order: list[int], count: int, seed: int, share: float) -> TrafficChoice:
    golden = GoldenSet((Case("g", "topic5 or thing5?"),))
    return choose_questions([QUESTIONS[n] for n in order], golden, count, seed=seed, doubtful_share=share)


@try_examples(30)
@given(st.permutations(range(30)), st.integers(1, 40), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_order_in_the_store_does_not_matter_and_strata_take_turns(
    order: list[int], count: int, seed: int, share: float
) -> None:
    choice = choose(order, count, seed, share)
    assert choice == choose(list(range(30)), count, seed, share)
    ids = [pick.question.record.id for pick in choice.picks]
    assert len(set(ids)) == len(ids) == min(count, 29)
    assert "r5" not in ids
    counts = sorted(stratum.chosen for stratum in choice.strata)
    assert counts[-1] - counts[0] <= 1 or count > 24  # until a stratum is used up


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("count", [7, 10, 24])
def test_the_share_of_doubts_holds_over_all_strata(share: float, count: int) -> None:
    """Of eight strata one has no doubts at all, and the others make up for it."""
    rows = []
    for number in range(80):
        feedback = "down" if number % 8 and number % 16 < 9 else None
        words = " ".join(f"{word}{number}" for word in ("alpha", "beta", "gamma"))
        user = User(tenant=f"t{number % 8}")
        record = AuditRecord(
            id=f"r{number}", at="2026-03-02T08:00:00Z", question=f"Which {words}?", answer="Blue.",
            user=user, feedback=feedback,
        )  # fmt: skip
        rows.append(read_traffic_question(record, number, ["tenant"]))
    picks = choose_questions(rows, GoldenSet(()), count, doubtful_share=share).picks
    by_doubt = sum(pick.chosen_by == "doubt" for pick in picks)
    assert len(picks) == count
    assert abs(by_doubt - share * count) <= 1

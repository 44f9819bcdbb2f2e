"""`golden pool`: what nobody judged, what it can change, and grades of people as evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.pooling.collect_pool import score_graded_rows
from assay.golden.pooling.pooled_chunks import ChunkGrade, Pool, index_evidence, merge_grades
from assay.records.errors import InputError
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage

AT = "2026-11-23T08:00:00+00:00"
CASES: list[dict[str, Any]] = [
    {"id": "one", "question": "How much leave?", "evidence": [{"any_of": [{"chunk_id": "a"}], "quote": "12 days"}]},
    {"id": "two", "question": "Who pays?", "evidence": [{"any_of": [{"chunk_id": n}]} for n in ("b", "c")]},
    {"id": "none", "question": "Who won?", "behaviour": "abstain"},
]
RANKED = {
    "x": {"one": ["u", "a", "v"], "two": ["b", "u"], "none": ["z"]},
    "y": {"one": ["u", "w", "a"], "two": ["u", "c", "b"], "none": []},
}


SAME: dict[str, str] = {}
"""Ids of chunks with the text of another one."""


def write_lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def make_run(
    folder: Path, name: str = "run", configs: tuple[str, ...] = ("x", "y"), golden_path: str = "", **header: Any
) -> str:
    rows = [{"golden_set": {"version": "1", "owner": "o"} | header}, *CASES] if header else CASES
    outputs = [
        {
            "case_id": case,
            "config_id": config,
            "stages": [
                {
                    "name": "retrieved",
                    "chunks": [{"chunk_id": chunk, "text": f"text of {SAME.get(chunk, chunk)}"} for chunk in chunks],
                }
            ],
            "answer": "12 days",
        }
        for config in configs
        for case, chunks in RANKED[config].items()
    ]
    files = [golden_path or write_lines(folder / "golden.jsonl", rows), write_lines(folder / f"{name}.jsonl", outputs)]
    run = str(folder / name)
    assert main(["score", "--golden", files[0], "--outputs", files[1], "--run-dir", run]) in (0, 1)
    return run


def write_grades(folder: Path, by: str, *grades: tuple[str, str, int], **members: Any) -> str:
    digest = load_golden(folder / "golden.jsonl").digest
    rows = [{"case": case, "chunk": chunk, "grade": grade} for case, chunk, grade in grades]
    path = folder / f"grades-{by.strip() or 'nobody'}.json"
    path.write_text(json.dumps({"format": 1, "golden": digest, "by": by, "grades": rows} | members), encoding="utf-8")
    return str(path)


def test_unjudged_chunks_are_pooled_and_say_what_they_can_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    capsys.readouterr()
    assert 0 == main(["golden", "pool", run, "--metric", "mrr@10,ndcg@10", "--at-least", "2", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert [("one", "u", {"x": 1, "y": 1}), ("two", "u", {"x": 2, "y": 1})] == [
        (row["case"], row["chunk"], row["ranks"]) for row in report["chunks"]
    ]
    by_config = {row["config"]: row for row in report["configs"]}
    assert ((5, 3), (6, 3)) == tuple((by_config[name]["ranked"], by_config[name]["unjudged"]) for name in "xy")
    metrics = {row["metric"]: row for row in by_config["x"]["metrics"]}
    assert ["rr@10", "ndcg@10"] == list(metrics)
    # As labelled the ranks are 2 and 1; `u` would be at rank 1 for the first case, and adds nothing to the second.
    assert (0.75, 1.0, 0.75) == tuple(metrics["rr@10"][key] for key in ("none_relevant", "all_relevant", "low"))
    assert metrics["ndcg@10"]["low"] <= metrics["ndcg@10"]["none_relevant"] < metrics["ndcg@10"]["high"]
    monkeypatch.setenv("COLUMNS", "250")
    assert 0 == main(["golden", "pool", run])
    shown = " ".join(capsys.readouterr().out.split())
    assert "3 of 5" in shown and "precision counts units of evidence, each once" in shown
    assert 0 == main(["golden", "pool", run, "--metric", "ndcg@10"])
    assert "precision counts" not in capsys.readouterr().out


def test_grades_become_evidence_with_their_source_and_the_scores_of_the_hypothesis(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    ann = write_grades(tmp_path, "ann", ("one", "u", 3), ("two", "u", 3), ("one", "v", 0), ("one", "a", 3))
    merged = str(tmp_path / "merged.jsonl")
    report = golden.pool(run, grades=[ann], merged=merged, version="2", at=AT)
    loaded = load_golden(merged).golden
    one, two, _ = loaded.cases
    assert [({"chunk_id": "a"}, {"chunk_id": "u"}), ({"chunk_id": "v"},)] == [unit.any_of for unit in one.evidence]
    assert [(3, True), (3, True), (3, False)] == [(unit.grade, unit.required) for unit in two.evidence]
    assert "person: ann" == one.evidence[1].reason and 0 == one.evidence[1].grade
    assert {"chunk": "u", "grade": 3, "by": "ann"} in one.metadata["provenance"]["grades"]
    assert 4 == report.merged and ("2", (f"2 ({AT}): 4 grades of pooled chunks by ann",)) == (
        loaded.version,
        loaded.changelog,
    )
    rescored = assay.score(assay.load_golden(merged), assay.load_observations(str(tmp_path / "run.jsonl")))
    assert 1.0 == rescored.summary("x")["rr@10"].value


def test_the_same_text_under_two_ids_is_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RANKED, "y", {"one": ["other:u"], "two": [], "none": []})
    monkeypatch.setitem(SAME, "other:u", "u")
    run = make_run(tmp_path)
    (item,) = [chunk for chunk in golden.pool(run).chunks if chunk.case == "one" and chunk.chunk == "u"]
    assert ({"x": 1, "y": 1}, ("other:u",)) == (item.ranks, item.same)
    grades = write_grades(tmp_path, "ann", ("one", "u", 3))
    merged = str(tmp_path / "merged.jsonl")
    golden.pool(run, grades=[grades], merged=merged, version="2")
    assert not [chunk for chunk in _pool_again(tmp_path, merged) if chunk.case == "one" and chunk.chunk.endswith("u")]


def _pool_again(folder: Path, merged: str) -> Any:
    return golden.pool(make_run(folder, "again", golden_path=merged)).chunks


def test_conflicts_name_both_grades_and_nothing_is_written(tmp_path: Path) -> None:
    run, merged = make_run(tmp_path), tmp_path / "merged.jsonl"
    ann = write_grades(tmp_path, "ann", ("one", "u", 3), ("one", "a", 1))
    bob = write_grades(tmp_path, "bob", ("one", "u", 2))
    with pytest.raises(InputError) as raised:
        golden.pool(run, grades=[ann, bob], merged=str(merged))
    assert "a: ann gave grade 1, the golden set has grade 3" in str(raised.value)
    assert "u: bob gave grade 2, ann gave grade 3" in str(raised.value)
    assert not merged.exists()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"golden": "sha256:0"}, "grades for another golden set .*make the page again"),
    ({"format": 2}, "of another format"),
    ({"by": " "}, "expected who gave the grades"),
    ({"grades": [{"case": "x", "chunk": "u", "grade": 1}]}, r"grades\[0\].case: .*no such answer case"),
    ({"grades": [{"case": "none", "chunk": "u", "grade": 1}]}, r"grades\[0\].case: .*no such answer case"),
    ({"grades": [{"case": "one", "chunk": " ", "grade": 1}]}, r"grades\[0\].chunk: .*no such chunk"),
    ({"grades": [{"case": "one", "chunk": "u", "grade": 4}]}, r"grades\[0\].grade: E_RANGE"),
    ({"grades": [{"case": "one", "chunk": "u", "grade": True}]}, r"grades\[0\].grade: E_TYPE"),
    ({"grades": [{"case": "one", "chunk": "u", "grade": 1}] * 2}, r"grades\[1\]: .*graded twice"),
]


@pytest.mark.parametrize(("members", "message"), BAD)
def test_bad_grades_are_refused_with_their_place(members: dict[str, Any], message: str, tmp_path: Path) -> None:
    run = make_run(tmp_path)
    path = write_grades(tmp_path, str(members.pop("by", "ann")), **members)
    with pytest.raises(InputError, match=message):
        golden.pool(run, grades=[path], merged=str(tmp_path / "merged.jsonl"))


def test_runs_of_other_sets_frozen_sets_and_inputs_are_protected(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (tmp_path / "other").mkdir()
    other = make_run(tmp_path / "other", owner="p")
    with pytest.raises(InputError, match="of another golden set"):
        golden.pool(run, other)
    with pytest.raises(InputError, match="nowhere to merge"):
        golden.pool(run, grades=[write_grades(tmp_path, "ann")])
    assert 2 == main(["golden", "pool", run, "--merged", str(Path(run) / "golden.jsonl")])
    frozen = tmp_path / "frozen"
    frozen.mkdir()
    candidates = write_lines(tmp_path / "candidates.jsonl", CASES)
    set_path = str(frozen / "golden.jsonl")
    golden.freeze(candidates, set_path, version="1", owner="o", change="c", at=AT, accept_all=True)
    frozen_run = make_run(frozen, golden_path=set_path)
    ann = write_grades(frozen, "ann", ("one", "u", 1))
    merged = str(tmp_path / "merged.jsonl")
    with pytest.raises(InputError, match="expected --version with another one"):
        golden.pool(frozen_run, grades=[ann], merged=merged)
    golden.pool(frozen_run, grades=[ann], merged=merged, version="2", at=AT)
    loaded = load_golden(merged)
    assert loaded.digest == loaded.golden.frozen_digest
    (made,) = loaded.golden.lineage
    assert (load_golden(set_path).digest, ("one",)) == (made.base, tuple(row.case for row in made.updated))


HAND_WRITTEN = (
    "case,chunk,grade,by,note\none,u,3,ann,says it\ntwo,u,1,,\n",
    '[{"case": "one", "chunk": "u", "grade": 3, "by": "ann"}, {"case": "two", "chunk": "u", "grade": 1}]',
    '{"case": "one", "chunk": "u", "grade": 3, "by": "ann"}\n{"case": "two", "chunk": "u", "grade": 1}\n',
)


@pytest.mark.parametrize("text", HAND_WRITTEN)
def test_grades_that_people_write_are_a_table_a_list_or_lines(tmp_path: Path, text: str) -> None:
    run, path = make_run(tmp_path), tmp_path / "grades"
    path.write_text(text, encoding="utf-8")
    report = golden.pool(run, grades=[str(path)], merged=str(tmp_path / "merged.jsonl"), version="2", at=AT)
    one, two, _ = load_golden(tmp_path / "merged.jsonl").golden.cases
    assert 2 == report.merged
    given = [row for case in (one, two) for row in case.metadata["provenance"]["grades"]]
    assert [("u", 3, "ann"), ("u", 1, "people")] == [(row["chunk"], row["grade"], row["by"]) for row in given]


BADLY_WRITTEN = (
    ("case,chunk,grade\none,u,three\n", ":2: grade: "),
    ("case,chunk,grade\none,u,4\n", ":2: grade: "),
    ("case,chunk,grade\none,u,2\nnone,u,2\n", ":3: case: E_ID no such answer case"),
    ("case,chunk,grade\none,u,2\none,u,2\n", ":3: chunk: E_DUPLICATE_ID graded twice"),
    ("case,chunk\none,u\n", ":1: grade: E_MISSING missing column"),
    ("case,piece,grade\none,u,1\n", ":1: piece: E_UNKNOWN_FIELD"),
    ('[{"case": "one", "chunk": "u", "grade": 1}, {"case": "one", "grade": 1}]', r"\[1\].*chunk"),
    ('[{"case": "one", "chunk": "u", "grade": "1?"}]', r"\[0\]\.grade"),
    ("[7]", r"\[0\]: .*not an object"),
    ('{"grades": []}', "format"),
)


@pytest.mark.parametrize(("text", "message"), BADLY_WRITTEN)
def test_what_is_wrong_with_a_written_grade_is_named_by_row_and_field(tmp_path: Path, text: str, message: str) -> None:
    run, path = make_run(tmp_path), tmp_path / "grades"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        golden.pool(run, grades=[str(path)], merged=str(tmp_path / "merged.jsonl"), version="2", at=AT)


def test_two_runs_are_pooled_together_and_chunks_without_an_id_are_counted(tmp_path: Path) -> None:
    run, again = make_run(tmp_path, "run", ("x",)), make_run(tmp_path, "again", ("x",))
    assert ["x", f"{again}:x"] == [share.config for share in golden.pool(run, again).configs]
    pool = Pool(GoldenSet((Case("one", "?"),)), None, 10, "retrieved")
    chunks = (Chunk("text:sha256:0", text="words"), Chunk("u"))
    assert (2, 2, 1) == pool.add_configuration("x", [Observation("one", stages=(Stage("retrieved", chunks),))])
    assert ["u"] == [item.chunk for item in pool.list_chunks()]


GRADES = st.lists(
    st.builds(ChunkGrade, st.just("one"), st.sampled_from("abcde"), st.integers(0, 3), st.sampled_from(("ann", "bob"))),
    max_size=6,
)


@given(GRADES, st.integers(0, 2))
def test_a_merged_grade_is_read_back_and_merging_twice_changes_no_evidence(
    grades: list[ChunkGrade], units: int
) -> None:
    case = Case("one", "?", evidence=tuple(Evidence(({"chunk_id": f"own{n}"},)) for n in range(units)))
    merged, conflicts = merge_grades(GoldenSet((case,)), grades, None)
    distinct = {(grade.chunk, grade.grade) for grade in grades}
    assert bool(conflicts) == (len(distinct) != len({chunk for chunk, _ in distinct}))
    if conflicts:
        return
    index = index_evidence(merged.cases[0], None)
    for grade in grades:
        (mask,) = index.unit_masks([Chunk(grade.chunk)])
        assert mask is not None and grade.grade == index.best_grade(mask)
    again, conflicts = merge_grades(merged, grades, None)
    assert not conflicts and again.cases[0].evidence == merged.cases[0].evidence
    assert msgspec.json.decode(msgspec.json.encode(again), type=GoldenSet) == again


def test_the_range_holds_what_chunks_of_another_system_alone_take_away(tmp_path: Path) -> None:
    """As labelled, and if all unjudged chunks had one grade, `a` is perfect; not if only those of `b` are good."""
    labelled = Case("q", "?", reference="x", evidence=(Evidence(({"chunk_id": "L"},)),))
    golden_set = GoldenSet((labelled,), judgments="partial")
    ranked = {"a": ["L", *(f"x{number}" for number in range(9))], "b": [f"y{number}" for number in range(9)]}
    rows = {
        config: [
            Observation("q", answer="x", config_id=config, stages=(Stage("retrieved", tuple(map(Chunk, chunks))),))
        ]
        for config, chunks in ranked.items()
    }
    write_golden(golden_set, str(tmp_path / "golden.jsonl"))
    lines = [msgspec.json.encode(row) + b"\n" for config in rows for row in rows[config]]
    (tmp_path / "outputs.jsonl").write_bytes(b"".join(lines))
    run = str(tmp_path / "run")
    words = ["score", "--golden", str(tmp_path / "golden.jsonl"), "--outputs", str(tmp_path / "outputs.jsonl")]
    main([*words, "--run-dir", run, "--no-history"])
    report = golden.pool(run)
    (ndcg,) = (row for row in report.configs[0].metrics if row.metric == "ndcg@10")
    assert (ndcg.none_relevant, ndcg.all_relevant, ndcg.all_background) == (1.0, 1.0, 1.0)
    truth = merge_grades(golden_set, [ChunkGrade("q", f"y{number}", 2, "truth") for number in range(9)], None)[0]
    true = score_graded_rows(truth, None, rows["a"], ["ndcg@10"])["ndcg@10"]["q"]
    assert true < 0.6 and ndcg.low is not None and ndcg.low <= true

"""`golden init`: a set to start from, from nothing or from a corpus, and nothing overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.golden.test_lint import CORPUS

from assay import golden
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.records.errors import InputError


def init(folder: Path, *options: str) -> int:
    paths = ["--out", str(folder / "g.jsonl"), "--targets", str(folder / "c.yaml")]
    return main(["golden", "init", "--owner", "search team", *paths, *options])


def test_a_set_from_nothing_has_an_owner_and_targets_that_coverage_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == init(tmp_path, "--name", "handbook", "--format", "json")
    written = json.loads(capsys.readouterr().out)
    loaded = load_golden(tmp_path / "g.jsonl")
    assert ("search team", "1", "handbook") == (loaded.golden.owner, loaded.golden.version, loaded.golden.name)
    assert written["digest"] == loaded.digest and written["examples"] == [case.id for case in loaded.golden.cases]
    assert all(case.notes for case in loaded.golden.cases)
    targets = str(tmp_path / "c.yaml")
    assert 1 == main(["golden", "lint", str(tmp_path / "g.jsonl"), "--targets", targets, "--format", "json"])
    errors = [row for row in json.loads(capsys.readouterr().out)["findings"] if row["level"] == "error"]
    assert [("placeholder", case) for case in written["examples"]] == [(row["rule"], row["case"]) for row in errors]
    assert 0 == main(["golden", "coverage", str(tmp_path / "g.jsonl"), "--targets", targets])


def test_it_has_the_cases_of_assay_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert 0 == main(["init"])
    assert 0 == init(tmp_path)
    assert load_golden("golden.jsonl").golden.cases == load_golden("g.jsonl").golden.cases


def test_examples_of_a_corpus_are_of_several_kinds_say_what_they_are_and_pass_lint(tmp_path: Path) -> None:
    starter = golden.init(
        str(tmp_path / "g.jsonl"), owner="o", targets=str(tmp_path / "c.yaml"), corpus=str(CORPUS), as_of="2026-03-15"
    )
    cases = load_golden(tmp_path / "g.jsonl").golden.cases
    assert len(starter.examples) == len(cases) == 6
    assert 4 <= len({case.metadata["provenance"]["kind"] for case in cases})
    assert all("drafted" in case.notes for case in cases)
    assert 0 == main(["golden", "lint", str(tmp_path / "g.jsonl"), "--corpus", str(CORPUS)])


@pytest.mark.parametrize("name", ["g.jsonl", "c.yaml"])
def test_an_existing_file_is_never_overwritten_and_the_other_one_not_written(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    assert 2 == init(tmp_path)
    assert [name] == [path.name for path in tmp_path.iterdir()]
    assert "mine" == (tmp_path / name).read_text(encoding="utf-8")


def test_what_cannot_be_a_set_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "g")
    (tmp_path / "corpus.jsonl").write_text('{"chunk_id": "a", "text": "Hello."}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"--owner: .*empty"):
        golden.init(path, owner=" ", targets=path + "c")
    with pytest.raises(InputError, match="expected two files"):
        golden.init(path, owner="o", targets=path)
    with pytest.raises(InputError, match="nothing to draft from"):
        golden.init(path, owner="o", targets=path + "c", corpus=str(tmp_path / "corpus.jsonl"))
    assert ["corpus.jsonl"] == [file.name for file in tmp_path.iterdir()]

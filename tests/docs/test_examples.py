"""The files and commands that the pages tell the reader to write load, run and give what the pages say."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.docs.pages import PAGES, ROOT, WALKTHROUGHS, CodeBlock, iter_blocks, iter_commands, write_files

from assay.cli import main
from assay.formats.corpus import load_corpus
from assay.formats.golden_files import GOLDEN_FORMATS as GOLDEN_FORMATS
from assay.formats.golden_files import load_golden
from assay.formats.outputs import OUTPUT_FORMATS as OUTPUT_FORMATS
from assay.formats.outputs import open_output_files, read_observations
from assay.gates.gate_files import load_gate
from assay.gates.rules import find_rule_problem

README = ROOT / "README.md"
FORMATS_PAGE = ROOT / "docs/formats.md"
GATES_PAGE = ROOT / "docs/gates.md"
TWINS_PAGE = ROOT / "docs/how-to/keep-a-golden-set.md"
PYTHON_PAGE = ROOT / "docs/how-to/python.md"
TREC_PAGE = ROOT / "docs/how-to/trec.md"


def collect_examples(kind: str) -> dict[str, list[CodeBlock]]:
    """The examples of the page of formats: `<!-- golden FORMAT: FILE -->` and the like, by format."""
    excerpts: dict[str, list[CodeBlock]] = {}
    for block in iter_blocks(FORMATS_PAGE):
        if block.mark[:1] == (kind,):
            excerpts.setdefault(block.mark[1].removesuffix(":"), []).append(block)
    return excerpts


def save_example(examples: list[CodeBlock], folder: Path) -> Path:
    """Write the files of one example; return the file, or the folder that holds several."""
    for block in examples:
        path = folder / block.mark[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    return folder / examples[0].mark[2].partition("/")[0]


# ── formats ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", GOLDEN_FORMATS)
def test_the_example_of_each_golden_format_loads_and_is_told_from_its_content(name: str, tmp_path: Path) -> None:
    loaded = load_golden(save_example(collect_examples("golden")[name], tmp_path))
    assert name == loaded.format
    assert len(loaded.golden.cases) > 0


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_the_example_of_each_output_format_loads_and_is_told_from_its_content(name: str, tmp_path: Path) -> None:
    path = save_example(collect_examples("outputs")[name], tmp_path)
    with open_output_files([str(path)], None) as files:
        assert [name] == [file.format for file in files]
        assert list(read_observations(files[0].path, files[0].name, name)) != []


def test_the_example_of_a_corpus_loads(tmp_path: Path) -> None:
    (block,) = [block for block in iter_blocks(FORMATS_PAGE) if block.mark[:1] == ("corpus:",)]
    path = tmp_path / block.mark[1]
    path.write_text(block.text, encoding="utf-8")
    corpus, doubts = load_corpus(path)
    assert ({"leave:v2:003", "pay:v1:002"}, ()) == (set(corpus.chunks), doubts)


def test_the_readme_lists_every_format() -> None:
    row = {
        line.split(" | ")[0]: line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    }
    assert all(f"`{name}`" in row["| golden set (`--golden`)"] for name in GOLDEN_FORMATS)
    assert all(f"`{name}`" in row["| outputs (`--outputs`)"] for name in OUTPUT_FORMATS)


# ── files to write and commands to run ───────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("page", [README, TREC_PAGE], ids=["README", "trec"])
def test_the_files_and_commands_of_a_page_score_without_an_error(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    runs = [words for block in iter_blocks(page) if block.mark == ("run",) for words in iter_commands(block.text)]
    assert len(runs) == 1
    assert 0 == main(runs[0]), capsys.readouterr().err
    assert ": NOT_GATED\n" in capsys.readouterr().out


def test_the_twins_of_the_page_on_golden_sets_are_told_apart_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(TWINS_PAGE, tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    score, explain = [
        words
        for block in iter_blocks(TWINS_PAGE)
        if block.mark == ("run", "twins")
        for words in iter_commands(block.text)
    ]
    assert 1 == main(score)
    printed = capsys.readouterr().out
    assert "1 of 2; 1 of 2 pairs" in printed and "the answer of its case" in printed
    assert 0 == main(explain)
    assert "0 of 1 as expected; leave~other-date" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_the_python_lines_of_the_readme_run() -> None:
    first, recorded = [block.text for block in iter_blocks(README) if block.kind == "python"]
    assert 5 >= sum(bool(line) for line in first.splitlines())
    printed = _run_python(first + recorded)
    assert printed.startswith("NOT_GATED: target, 1 case\n")
    assert "acl_001 under vector-only" in printed


@pytest.mark.slow
def test_the_python_lines_of_the_page_on_python_run(tmp_path: Path) -> None:
    blocks = [block.text for block in iter_blocks(PYTHON_PAGE) if block.kind == "python"]
    assert "NOT_GATED: ask, 1 case" in _run_python("".join(blocks), tmp_path)
    assert {"report.html", "junit.xml"} <= {path.name for path in tmp_path.iterdir()}


def _run_python(code: str, folder: Path = ROOT) -> str:
    """Return what code prints; it must end well and write nothing to standard error."""
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout


def test_the_cases_that_the_readme_and_pages_explain_exist() -> None:
    case_ids = {case.id for case in load_golden(ROOT / "examples/handbook/golden/handbook.jsonl").golden.cases}
    named = {
        words[1]
        for page in PAGES
        if str(page.relative_to(ROOT)) not in WALKTHROUGHS  # their golden sets are their own
        for block in iter_blocks(page)
        if block.mark != ("run", "twins")
        for words in iter_commands(block.text)
        if words[0] == "explain"
    }
    assert {"version_002", "hr_leave_002"} <= named <= case_ids


# ── gates and CI ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_gate_file_of_the_page_can_be_used(tmp_path: Path) -> None:
    (block,) = [block for block in iter_blocks(GATES_PAGE) if block.mark == ("gate",)]
    path = tmp_path / "gate.yaml"
    path.write_text(block.text, encoding="utf-8")
    assert ("candidate",) == load_gate(path, find_rule_problem).configs


def test_the_workflow_for_ci_gives_the_action_inputs_that_it_has() -> None:
    (text,) = [block.text for block in iter_blocks(GATES_PAGE) if block.text.startswith("name: rag-quality")]
    steps = yaml.safe_load(text)["jobs"]["score"]["steps"]
    (step,) = [step for step in steps if step.get("uses") == "./assay"]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    required = {name for name, options in inputs.items() if options.get("required")}
    assert required <= step["with"].keys() <= inputs.keys()


def jq_programs() -> list[str]:
    return [
        line.split("'")[1]
        for block in iter_blocks(GATES_PAGE)
        for line in block.text.splitlines()
        if line.startswith("jq ")
    ]


@pytest.mark.parametrize(
    ("value", "status"), [(0.01, 0), (0.9, 1), (None, 4)], ids=["within the bound", "beyond it", "never measured"]
)
def test_the_jq_example_fails_on_a_number_that_is_not_there(value: float | None, status: int) -> None:
    """In jq null is smaller than every number: without the guard, the last one would pass."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed: apt-get install jq")
    report = {"configs": {"candidate": {"summary": {"over_refusal": {"value": value}}}}}
    run = subprocess.run(["jq", "-e", jq_programs()[0]], input=json.dumps(report), capture_output=True, text=True)
    assert status == run.returncode


@pytest.mark.slow
def test_the_jq_examples_name_places_that_a_report_has(tmp_path: Path) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed: apt-get install jq")
    write_files(README, tmp_path)
    report = tmp_path / "report.json"
    main(
        [
            "score",
            "--golden",
            str(tmp_path / "golden.jsonl"),
            "--outputs",
            str(tmp_path / "outputs.jsonl"),
            "--by",
            "behaviour",
            "--json-report",
            str(report),
        ]
    )
    for program, slice_name in zip(jq_programs(), ("", "behaviour=answer", ""), strict=True):
        adapted = program.replace("candidate", "today").replace("tag=hr", slice_name)
        adapted = adapted.replace('"PASS"', '"NOT_GATED"')  # the example of the README has no gate
        run = subprocess.run(["jq", "-e", adapted, str(report)], capture_output=True, text=True)
        assert (0, "true\n") == (run.returncode, run.stdout), adapted

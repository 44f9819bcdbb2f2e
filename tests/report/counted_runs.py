"""Runs of several kinds through the command line, and every number that each of their outputs states."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from tests.report.html_islands import islands

from assay import ScoreResult
from assay.api import score
from assay.cli import main

TOPICS = ("leave", "pay", "gym", "badge", "laptop", "travel", "pension", "parking", "canteen", "phone", "visa", "bonus")
Row = dict[str, Any]


def make_case(number: int, kind: str) -> Row:
    """Return a golden case. What a case of a kind states decides whether anything tells of its answer."""
    topic = TOPICS[number % len(TOPICS)]
    case: Row = {
        "id": f"{topic}-{number}",
        "question": f"What is the rule on {topic} in building {number}?",
        "evidence": [{"any_of": [{"chunk_id": f"{topic}:1"}]}],
        "tags": ["hr"] if number % 2 else ["it", "office"],
        "difficulty": ("easy", "medium", "hard")[number % 3],
    }
    if kind in ("abstain", "invents"):
        return case | {"behaviour": "abstain", "evidence": []}
    if kind == "leak":
        return case | {"behaviour": "permission_denied", "user": {"tenant": "north", "roles": ["guest"]}}
    return case if kind in ("open", "hums") else case | {"must_have": [f"{number + 11} days"]}


ANSWERS = {
    "wrong": "The rule on {topic} grants {wrong} days.",
    "mute": "Perhaps something about it exists.",
    "vague": "The allowance for {topic} is {right} days.",
    "missed": "It is 99 days.",
    "refused": "I could not find this in the documents.",
    "abstain": "The documents do not say anything about this; I cannot answer.",
    "hums": "Hmm.",
}


def make_output(number: int, kind: str, config: str, repeat: int = 0) -> Row | None:
    """Return what a target answers, None where it is not asked."""
    topic = TOPICS[number % len(TOPICS)]
    row: Row = {"case_id": f"{topic}-{number}", "config_id": config, "repeat": repeat}
    if kind == "missing":
        return None
    if kind in ("error", "crash"):
        code, text = ("E_HTTP", f"HTTP 503: no shard for req-{number}")
        if kind == "crash":
            code, text = "E_PROGRAM", f"the program of {topic} stopped"
        return row | {"error": {"code": code, "message": text}, "answer": None}
    found = "misc" if kind == "missed" else topic
    text = f"The rule on {topic} grants {number + 11} days." if found == topic else "Nothing of use."
    chunks = [{"chunk_id": f"{found}:1", "text": text}]
    stages = [{"name": "retrieved", "chunks": [*chunks, {"chunk_id": "misc:2"}]}, {"name": "context", "chunks": chunks}]
    answer = ANSWERS.get(kind, "The rule on {topic} grants {right} days.")
    row["answer"] = answer.format(topic=topic, right=number + 11, wrong=number + 40)
    cited = [] if kind in ("refused", "abstain") else [f"{found}:1"]
    return row | {"stages": stages, "citations": cited}


MIXED = (
    "good", "wrong", "open", "open", "mute", "error", "missed", "refused", "good", "abstain", "hums", "missing",
)  # fmt: skip
BETTER = ("good", "good", "open", "open", "mute", "good", "good", "refused", "wrong", "abstain", "open", "good")
ERRORS = ("error", "error", "crash", "good", "wrong", "good", "good", "good", "good", "good", "good", "good")


class Recipe(NamedTuple):
    """What a run is made of: kinds of answers by configuration, rules of its gate, its baseline, further options."""

    kinds: Mapping[str, Sequence[str]]
    rules: tuple[str, ...] = ()
    baseline: Sequence[str] = ()
    repeats: Sequence[Sequence[str]] = ()
    options: tuple[str, ...] = ()


RECIPES = {
    "all good": Recipe({"plain": ("good",) * 12}),
    "failures": Recipe({"plain": ("wrong",) * 7 + ("good",) * 5}),
    "unknown and failed": Recipe({"plain": MIXED}),
    "one checked": Recipe({"plain": ("good", *("open",) * 9)}),
    "one unknown to the metric": Recipe({"plain": ("good", "vague", "good", "wrong", "vague", "open")}),
    "target errors": Recipe({"plain": ERRORS}),
    "nothing but errors": Recipe({"plain": ("error", "crash", "missing", "error")}),
    "many error texts": Recipe({"plain": ("crash",) * 6 + ("good",) * 6}),
    "not applicable": Recipe({"plain": ("abstain", "abstain", "invents", "abstain")}),
    "leaks": Recipe({"plain": ("leak", "good", "leak", "open")}),
    "two configurations": Recipe({"north": MIXED, "south": BETTER}),
    "a baseline": Recipe({"plain": BETTER}, baseline=MIXED),
    "a worse one": Recipe({"plain": MIXED}, ("recall@10, max_regression: 0.05",), baseline=BETTER),
    "repeats": Recipe({"plain": MIXED}, repeats=(MIXED, BETTER)),
    "a part": Recipe({"plain": MIXED}, options=("--limit", "5")),
    "slices": Recipe({"plain": MIXED}, options=("--by", "tag,difficulty")),
    "passes": Recipe({"plain": ("good",) * 12}, ("recall@10, at_least: 0.5", "correct_answer, at_least: 0.5")),
    "fails": Recipe({"plain": BETTER}, ("recall@10, at_least: 0.5", "failed, at_most: 0.01")),
    "passes with risk": Recipe(
        {"plain": ("good", "good", "vague", "good")}, ("correct_answer, at_least: 0.8", "recall@10, at_least: 0.9")
    ),
    "incomplete": Recipe({"plain": MIXED}, ("recall@10, at_least: 0.5",)),
    "gated apart": Recipe({"north": MIXED, "south": ("good",) * 12}, ("recall@10, at_least: 0.5",)),
}


@dataclass(frozen=True)
class Outputs:
    """The texts of every output of one run, and the same run in Python."""

    recipe: Recipe
    screen: str
    verbose: str
    markdown: str
    html_file: Path
    junit: ElementTree.Element
    report: Row
    csv: str
    job_summary: str
    annotations: str
    runs: str
    result: ScoreResult

    @property
    def configs(self) -> list[str]:
        """The configurations, by name."""
        return sorted(self.report["configs"])

    @property
    def page(self) -> Row:
        """What the page has of the first screen."""
        summary: Row = islands(self.html_file.read_text("utf-8"))["report"]
        return summary


def write_lines(path: Path, rows: Iterable[Row | None]) -> None:
    """Write rows as JSON lines, without those that are None."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row is not None), encoding="utf-8")


def write_inputs(folder: Path, recipe: Recipe) -> dict[str, Any]:
    """Write golden set, outputs and gate, and return the arguments of `assay.score`."""
    kinds = next(iter(recipe.kinds.values()))
    cases = [make_case(number, kind) for number, kind in enumerate(kinds)]
    write_lines(folder / "golden.jsonl", [{"golden_set": {"name": "office", "version": "1"}}, *cases])
    rows: list[Row | None] = []
    for config, answers in recipe.kinds.items():
        for repeat, repeated in enumerate(recipe.repeats or (answers,)):
            rows += [make_output(number, kind, config, repeat) for number, kind in enumerate(repeated)]
    write_lines(folder / "outputs.jsonl", rows)
    named: dict[str, Any] = {"golden": folder / "golden.jsonl", "observations": folder / "outputs.jsonl"}
    if recipe.rules:
        gate = "name: house\nrules:\n" + "".join(f"  - {{metric: {rule}}}\n" for rule in recipe.rules)
        (folder / "gate.yaml").write_text(gate, encoding="utf-8")
        named["gate"] = folder / "gate.yaml"
    return named


def run_command(*arguments: str) -> str:
    """Return what a command prints."""
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(StringIO()):
        main(list(arguments))
    return printed.getvalue()


def make_outputs(folder: Path, recipe: Recipe) -> Outputs:
    """Score a run through the command line and return what each output says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return _make_outputs(folder, recipe, patch)


def _make_outputs(folder: Path, recipe: Recipe, patch: pytest.MonkeyPatch) -> Outputs:
    patch.setenv("COLUMNS", "300")
    patch.setenv("GITHUB_STEP_SUMMARY", str(folder / "job.md"))
    named = write_inputs(folder, recipe)
    options = ["--golden", "golden.jsonl", "--no-history", *recipe.options]
    gate = ["--gate", "gate.yaml"] if recipe.rules else []
    if recipe.baseline:
        rows = [make_output(number, kind, "before") for number, kind in enumerate(recipe.baseline)]
        write_lines(folder / "before.jsonl", rows)
        run_command("score", *options, "--outputs", "before.jsonl", "--run-dir", "before")
        gate += ["--baseline", "before"]
        named["baseline"] = folder / "before"
    files = ["--report", "r.md", "--json-report", "r.json", "--html", "r.html", "--run-dir", "run"]
    screen = run_command("score", *options, "--outputs", "outputs.jsonl", *gate, *files)
    verbose = run_command("score", *options, "--outputs", "outputs.jsonl", *gate, "--verbose")
    annotations = run_command("report", "run", *gate, "--junit", "r.xml", "--csv", "r.csv", "--github")
    runs = run_command("runs", ".")
    return Outputs(
        recipe,
        screen,
        verbose,
        (folder / "r.md").read_text("utf-8"),
        folder / "r.html",
        ElementTree.parse(folder / "r.xml").getroot(),
        json.loads((folder / "r.json").read_bytes()),
        (folder / "r.csv").read_text("utf-8"),
        (folder / "job.md").read_text("utf-8"),
        annotations,
        runs,
        score(**named),
    )


# ── reading numbers back ─────────────────────────────────────────────────────────────────────────────────────────────


class Cell(NamedTuple):
    """A metric as a cell states it: the value or range, and the counts after it."""

    value: str
    scored: int
    unknown: int = 0
    unchecked: int = 0
    errors: int | None = None


_CELL = re.compile(r"^(?P<value>[\d.–-]+) .*?n[ =](?P<scored>\d+)")


def read_cell(text: str, *, says_errors: bool = True) -> Cell | None:
    """Return the numbers of a cell such as `0.500 (n=4, 1 error, 2 unknown)`; None for a metric without a value."""
    match = _CELL.match(text)
    if match is None:
        assert text.startswith(("n/a", "–")), text
        return None
    counts = {}
    for word in ("unknown", "unchecked", "error"):
        found = re.search(rf"(\d+) {word}s?\b", text)
        counts[word] = int(found[1]) if found else 0
    errors = counts["error"] if says_errors else None
    return Cell(match["value"], int(match["scored"]), counts["unknown"], counts["unchecked"], errors)


def show_cell(summary: Row, *, says_errors: bool = True) -> Cell | None:
    """Return the numbers that a cell must state of a summary of the JSON."""
    if summary["value"] is None:
        return None
    unknown = summary.get("unknown")
    value = f"{unknown['low']:.3f}–{unknown['high']:.3f}" if unknown else f"{summary['value']:z.3f}"
    errors = summary["errors"] if says_errors else None
    return Cell(value, summary["scored"], unknown["cases"] if unknown else 0, summary.get("unchecked", 0), errors)


def is_share(metric: str) -> bool:
    """Return whether a metric is printed with three decimals."""
    return not metric.startswith(("latency", "tokens", "cost"))


def unescape(markdown: str) -> str:
    """Return Markdown without the signs that escape it."""
    return html.unescape(re.sub(r"\\(.)", r"\1", markdown))


def read_tables(markdown: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of every table of a Markdown report by its heading, each by column."""
    tables: dict[str, list[dict[str, str]]] = {}
    for title, body in re.findall(r"^#+ (.*?)$(.*?)(?=^#|\Z)", markdown, re.MULTILINE | re.DOTALL):
        lines = [unescape(line).strip("|").split("|") for line in body.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line] for line in lines]
        if len(cells) > 2:
            tables[unescape(title)] = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
    return tables


def read_screen_table(text: str, title: str) -> list[dict[str, str]]:
    """Return the rows of a table of the screen, each by column; none without the table."""
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.strip() == title]
    if not starts:
        return []
    head, rule, *body = lines[starts[0] + 2 :]
    columns = [match.span() for match in re.finditer(r"\S(?:.*?)(?=\s{2,}|\s*$)", head)]
    starts_of = [start for start, _ in columns]
    names = [head[start:end].strip() for start, end in columns]
    assert "──" in rule
    rows = []
    for line in body:
        if not line.strip():
            break
        ends = [*starts_of[1:], len(line)]
        rows.append({name: line[start:end].strip() for name, start, end in zip(names, starts_of, ends, strict=True)})
    return rows


def read_decision_lines(text: str, configs: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Return the outcome and the reasons of each configuration as the first lines of a screen state them."""
    decisions: dict[str, tuple[str, list[str]]] = {}
    for line in text.splitlines():
        config, _, outcome = line.partition(" (release only if ")[0].partition(": ")
        if config in configs and (outcome.isupper() or outcome == "not gated"):
            decisions[config] = (outcome, [])
        elif line.startswith(" - ") and decisions:
            decisions[[*decisions][-1]][1].append(line.removeprefix(" - "))
        else:
            break
    return decisions


def read_counts(text: str) -> dict[str, int]:
    """Return the counts of cases of one configuration in a sentence: failed, cases, unanswered, passed, unknown."""
    match = re.search(r"(\d+) of (\d+)(?: cases?)? (failed|without an answer)", text)
    assert match is not None, text
    counts = {"failed": int(match[1]), "cases": int(match[2])}
    for name, pattern in (
        ("unanswered", r"\((\d+) without an answer\)"),
        ("unknown", r", (\d+)(?: of the others)? unknown"),
        ("passed", r", (\d+) passed"),
    ):
        found = re.search(pattern, text)
        if found is not None or name != "passed":
            counts[name] = int(found[1]) if found else 0
    if match[3] != "failed":
        counts["unanswered"] = counts["failed"]
    return counts

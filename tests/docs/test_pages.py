"""The pages are current: generated pages, tables that repeat the code, links, and decision records."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from scripts.check_docs import LINK, broken_links
from scripts.metric_docs import PAGE, find_note_problems, load_notes, render_page
from scripts.readme_excerpts import README
from scripts.readme_excerpts import page as readme
from scripts.site_hooks import ADDED_PAGES
from tests.docs.pages import PAGES, ROOT

from assay.gates.gate_files import list_profile_names, load_profile
from assay.gates.rules import find_rule_problem, get_threshold
from assay.metrics.case_checks import CHECKS
from assay.metrics.catalog import CATALOG
from assay.records.release_gates import Rule

TEST_NAME = re.compile(r"\bdef (test_\w+)\(")
DECISIONS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


def test_every_metric_is_documented() -> None:
    assert [] == list(find_note_problems(load_notes()))
    headings = re.findall(r"^### (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(CATALOG) == sorted(headings)


def test_the_page_of_metrics_is_what_the_script_writes() -> None:
    assert render_page() == PAGE.read_text(encoding="utf-8"), "run python scripts/metric_docs.py"


@pytest.mark.slow
def test_the_excerpts_of_the_readme_are_what_its_command_prints() -> None:
    text = README.read_text(encoding="utf-8")
    assert readme(text) == text, "run python scripts/readme_excerpts.py"


def test_the_index_lists_every_page_once() -> None:
    """Decision records have an index of their own, which this one lists."""
    index = ROOT / "docs/README.md"
    linked = [link.partition("#")[0] for link in LINK.findall(index.read_text(encoding="utf-8"))]
    listed = sorted(link for link in linked if not link.startswith("../"))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    decisions = {f"adr/{path.name}" for path in DECISIONS}
    assert sorted(pages - decisions - {"README.md"}) == listed, "docs/README.md needs a row for each page"


def test_every_page_is_in_the_menu_of_the_site_once() -> None:
    """Without this line, the site would not be built; decision records are found from their index."""
    menu = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    decisions = {f"adr/{path.name}" for path in DECISIONS}
    assert sorted({*pages, *ADDED_PAGES.values()} - decisions) == sorted(menu), "mkdocs.yml: `nav` needs a line for it"


def test_every_row_of_the_index_asks_a_question() -> None:
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| \[", text, re.MULTILINE)
    assert len(rows) > 20
    assert [] == [row for row in rows if not row.endswith("?")]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_are_not_broken(path: Path) -> None:
    assert [] == list(broken_links(path, ROOT))


def _describe_rule(rule: Rule) -> str:
    sign = "≤" if rule.at_least is None else "≥"
    return f"`{rule.metric}` {sign} {get_threshold(rule):g}" + (f" on {rule.slice}" if rule.slice else "")


@pytest.mark.parametrize("name", list_profile_names())
def test_the_table_of_profiles_has_the_rules_of_each(name: str) -> None:
    lines = (ROOT / "docs/gates.md").read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith(f"| `{name}` |")]
    gate = load_profile(name, find_rule_problem)
    stated_rules = [_describe_rule(rule) for rule in gate.rules]
    stated_rules += [f"any failed check on tag={tag} blocks" for tag in gate.blocking_tags]
    stated_rules += [f"correctness ≥ {gate.correctness:g}"] if gate.correctness is not None else []
    stated_rules += ["exempt from correctness"] if gate.exempt_from_correctness else []
    assert f"| `{name}` | {', '.join(stated_rules)} |" == row


def test_every_check_is_explained_with_its_level() -> None:
    text = (ROOT / "docs/reading-a-report.md").read_text(encoding="utf-8")
    failing, warnings = text.split("## The checks")[1].split("Warnings fail nothing")
    for check in CHECKS:
        assert f"`{check.name}`" in (failing if check.level == "failed" else warnings), check.name


@cache
def list_test_names() -> frozenset[str]:
    """Return the names of all tests."""
    files = (ROOT / "tests").rglob("test_*.py")
    return frozenset(name for file in files for name in TEST_NAME.findall(file.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_record_says_problem_and_decision_and_its_guards_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.match(rf"# {int(path.stem[:4])}\. ", text)
    parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
    assert (["Problem", "Decision"], "Guard") == (parts[:2], parts[-1])
    guards = re.findall(r"`(test_\w+)`", text.split("**Guard.**")[1])
    assert [] == [guard for guard in guards if guard not in list_test_names()]
    assert len(guards) > 0


def test_the_index_lists_every_decision_record_with_its_title() -> None:
    index = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d{4}) \| \[(.*)\]\((.*)\) \|$", index, re.MULTILINE)
    titles = [path.read_text(encoding="utf-8").partition("\n")[0].partition(". ")[2] for path in DECISIONS]
    assert [(path.name[:4], title, path.name) for path, title in zip(DECISIONS, titles, strict=True)] == rows

"""The documentation site: it builds without a warning, lists every page, and fetches nothing from any other place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.browser.chromium import browser, find_chromium
from tests.browser.conftest import INSTALL
from tests.docs.pages import ROOT

pytestmark = pytest.mark.slow
FETCHING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
FETCHED_LINKS = {"stylesheet", "preload", "prefetch", "icon", "preconnect", "modulepreload", "manifest"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning ends it."""
    pytest.importorskip("material", reason="MkDocs is not installed: it is in requirements/dev.txt")
    folder = tmp_path_factory.mktemp("site")
    built = build_site(ROOT, folder)
    assert 0 == built.returncode, built.stdout + built.stderr
    return folder


def build_site(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a project; with `--quiet`, MkDocs would not see the warnings on which `--strict` ends."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "default"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=240)


def test_a_page_that_is_in_no_menu_ends_the_build(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed: it is in requirements/dev.txt")
    (tmp_path / "docs").mkdir()
    for name in ("index.md", "forgotten.md"):
        (tmp_path / "docs" / name).write_text("# A page\n", encoding="utf-8")
    settings = "site_name: x\nnav: [index.md]\nvalidation: {nav: {omitted_files: warn}}\n"
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    assert 1 == build_site(tmp_path, tmp_path / "site").returncode
    assert "--quiet" not in (ROOT / ".ci/run").read_text(encoding="utf-8").partition("site() {")[2].partition("}")[0]


class FetchedAddresses(HTMLParser):
    """Collects the addresses that a browser fetches when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "link" and not FETCHED_LINKS & set((values.get("rel") or "").split()):
            return
        address = values.get(FETCHING.get(tag, ""))
        if address:
            self.addresses.append(address)


def list_fetched(text: str) -> list[str]:
    """Return the addresses outside of the site that a page fetches."""
    parser = FetchedAddresses()
    parser.feed(text)
    return [address for address in parser.addresses if re.match(r"[a-z]+:|//", address) and address[:5] != "data:"]


def test_the_site_has_a_page_for_every_page_of_the_documentation(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    indexed = {path.with_name("index.html") if path.stem == "README" else path for path in pages}
    built = {path.relative_to(site) for path in site.rglob("*.html")}
    assert set() == indexed - built
    assert {Path("contributing.html"), Path("project.html"), Path("changelog.html")} <= built


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    fetched = {path.name: list_fetched(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {} == {name: addresses for name, addresses in fetched.items() if addresses}
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert [] == re.findall(r"url\(\"?(?:https?:)?//[^)]*", styles)
    # The theme's script can fetch a diagram library, but only on pages that have a diagram.
    assert [] == [path.name for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")]


def test_an_address_elsewhere_is_noticed() -> None:
    text = '<link rel="stylesheet" href="https://fonts.example/css"><a href="https://a.example/">a</a><img src="b.png">'
    assert ["https://fonts.example/css"] == list_fetched(text)


def test_pages_have_no_comments_of_the_tests_and_no_links_out_of_the_site(site: Path) -> None:
    tutorial = (site / "tutorial.html").read_text(encoding="utf-8")
    assert "run 0" not in tutorial
    assert '<span class="filename">rag.py</span>' in tutorial, "the name of the file is shown"
    bad_inputs = (site / "bad-inputs.html").read_text(encoding="utf-8")
    assert "tests/formats/test_lines.py" in bad_inputs and 'href="../tests' not in bad_inputs


@pytest.mark.parametrize("page", ["index.html", "how-to/judging.html"])
def test_the_search_finds_pages_of_a_site_that_is_opened_from_a_folder(site: Path, page: str, tmp_path: Path) -> None:
    executable = find_chromium()
    if executable is None:
        assert "chromium" not in os.environ.get("ASSAY_REQUIRE", "").split(","), INSTALL
        pytest.skip(INSTALL)
    with browser(executable, tmp_path) as chromium:
        opened = chromium.open(site / page)
        opened.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
        opened.type("waiver")
        opened.until("document.querySelector('.md-search-result__item a') !== null")
        first = opened.evaluate("document.querySelector('.md-search-result__item a').href")
        assert first.startswith(f"{site.resolve().as_uri()}/gates.html")
        loaded = [address for address in opened.wrong if not address.startswith(f"request {site.resolve().as_uri()}/")]
        assert [] == loaded


def test_the_metric_of_a_name_that_people_use_is_found_by_it(site: Path) -> None:
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    assert "MRR" in index and "MAP" in index


def test_bars_in_the_code_of_tables_are_not_escaped(site: Path) -> None:
    cells = {
        str(path.relative_to(site)): re.findall(r"<t[dh]\b.*?</t[dh]>", path.read_text(encoding="utf-8"), re.DOTALL)
        for path in site.rglob("*.html")
    }
    assert [] == [name for name, texts in cells.items() if any(r"\|" in text for text in texts)]
    assert any("by=rules|judge" in text for text in cells["metrics/index.html"])

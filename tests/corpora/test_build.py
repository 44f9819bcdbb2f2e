"""`corpus build`: what chunks of Markdown, text, HTML, PDF and DOCX are, and how a target's chunks are matched."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.cli import main
from assay.corpora.build_corpus import CorpusRequest, build_corpus, promote_header_rows
from assay.corpora.html_text import convert_html
from assay.corpora.markdown_chunks import Document, chunk_document, split_long_section
from assay.formats.corpus import load_corpus
from assay.records.errors import InputError, MissingExtraError
from assay.records.golden_set import CorpusChunk

LEAVE = """---
document: leave_policy
version: v2
tenant: acme
roles: [employee]
valid_from: "2026-01-01"
audience: staff
---

# Leave

Staff get 12 days.

## 1. Sick leave

| Days | Note |
|---|---|
| 1–2 | none |
| 3 | doctor |

```
# not a heading
```

## 2. Carry over

Five days.
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def build(folder: Path) -> dict[str, CorpusChunk]:
    out = folder.parent / "corpus.jsonl"
    build_corpus(CorpusRequest(str(folder), str(out)))
    return load_corpus(out)[0].chunks


def test_front_matter_says_whose_a_document_is_and_when_it_holds(tmp_path: Path) -> None:
    write(tmp_path / "docs", "leave.md", LEAVE)
    chunks = build(tmp_path / "docs")
    assert ["leave_policy:v2:leave", "leave_policy:v2:leave.sick-leave", "leave_policy:v2:leave.carry-over"] == list(
        chunks
    )
    chunk = chunks["leave_policy:v2:leave.sick-leave"]
    assert ("acme", ("employee",), "2026-01-01", "Leave > 1. Sick leave") == (
        chunk.tenant,
        chunk.roles,
        chunk.valid_from,
        chunk.section,
    )
    assert {"audience": "staff"} == chunk.metadata
    assert "code" == chunk.kind
    assert "| 3 | doctor |" in (chunk.text or "")


def test_a_section_that_is_added_changes_no_other_id_or_hash(tmp_path: Path) -> None:
    write(tmp_path / "docs", "leave.md", LEAVE)
    before = build(tmp_path / "docs")
    write(tmp_path / "docs", "leave.md", LEAVE.replace("## 1.", "## 0. Terms\n\nA year is a year.\n\n## 1."))
    after = build(tmp_path / "docs")
    assert {chunk_id: chunk.text_hash for chunk_id, chunk in before.items()}.items() <= {
        chunk_id: chunk.text_hash for chunk_id, chunk in after.items()
    }.items()


def test_html_keeps_headings_lists_and_tables_and_drops_navigation() -> None:
    page = """<html><head><title>Fees</title><meta name="assay:tenant" content="acme"></head><body>
    <nav>Home</nav><h1>Fees &amp; prices</h1><p>All <b>net</b>.</p><ul><li>one<li>two</ul>
    <table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>9</td></tr></table>
    <pre>a\n  b</pre><script>evil()</script></body></html>"""
    text, fields = convert_html(page)
    assert {"title": "Fees", "tenant": "acme"} == fields
    assert text.startswith("# Fees & prices\n\nAll net.\n- one\n- two")
    assert "| Plan | Price |\n|---|---|\n| Basic | 9 |" in text
    assert "```\na\n  b\n```" in text
    assert "Home" not in text
    assert "evil" not in text


def test_html_lists_keep_their_numbers_also_around_paragraphs() -> None:
    page = "<h2>Setting</h2><ol><li><p>Open it.</p></li><li><p>Shut it.</p><ul><li>a</ul></li><li>Go.</ol><p>End."
    text, _ = convert_html(page)
    assert text == "## Setting\n1. Open it.\n2. Shut it.\n- a\n3. Go.\n\nEnd."


def test_the_same_files_give_the_same_bytes_and_text_is_read(tmp_path: Path) -> None:
    write(tmp_path / "docs", "b.txt", "First paragraph.\n\nSecond.")
    write(tmp_path / "docs", "sub/a.html", "<h1>A</h1><p>x y z</p>")
    write(tmp_path / "docs", "image.png", "")
    write(tmp_path / "docs", ".hidden.md", "# no")
    outs = []
    for name in ("one.jsonl", "two.jsonl"):
        built = build_corpus(CorpusRequest(str(tmp_path / "docs"), str(tmp_path / name)))
        outs.append((tmp_path / name).read_bytes())
    assert outs[0] == outs[1]
    assert ("image.png",) == built.skipped
    assert ["b:text", "sub/a:a"] == [json.loads(line)["chunk_id"] for line in outs[0].splitlines()]


def test_pages_are_counted_where_a_text_has_page_breaks() -> None:
    document = Document("a.pdf", "a", "# One\n\nfirst\f\nsecond page\n\n# Two\n\nmore\n")
    assert [(1, 2), (2,)] == [chunk.pages for chunk in chunk_document(document)]


@given(st.text("ab# |\n`-\f", max_size=200), st.integers(200, 400))
def test_no_word_is_lost_whatever_the_markup(text: str, limit: int) -> None:
    words = [
        word for chunk in chunk_document(Document("a.md", "a", text), limit) for word in (chunk.text or "").split()
    ]
    assert text.replace("\f", " ").split() == words


def test_no_table_is_cut() -> None:
    table = "| a |\n|---|\n" + "| 1 |\n" * 100
    assert table.strip() in split_long_section(f"before\n\n{table}\n\nafter", 200)


BAD = (
    ("front matter without an end", "---\ntenant: a\n# Leave"),
    ("valid_from: E_DATE", '---\nvalid_from: "soon"\n---\nText'),
    ("roles: E_TYPE", "---\nroles: hr\n---\nText"),
    ("position: E_TYPE", "---\nposition: first\n---\nText"),
)


def test_all_faults_of_all_documents_come_at_once_with_their_file(tmp_path: Path) -> None:
    for number, (_, text) in enumerate(BAD):
        write(tmp_path / "docs", f"{number}.md", text)
    write(tmp_path / "docs", "latin.md", "")
    (tmp_path / "docs/latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(InputError) as caught:
        build(tmp_path / "docs")
    text = str(caught.value)
    for message, _ in BAD:
        assert message in text
    assert "latin.md: E_ENCODING" in text


def test_two_documents_of_one_name_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "docs", "a.md", "One")
    write(tmp_path / "docs", "a.txt", "Two")
    with pytest.raises(InputError, match=r"same document and version as a\.md"):
        build(tmp_path / "docs")
    (tmp_path / "empty").mkdir()
    assert 2 == main(["corpus", "build", str(tmp_path / "empty"), "--out", str(tmp_path / "c.jsonl")])
    assert 2 == main(["corpus", "build", str(tmp_path / "none"), "--out", str(tmp_path / "c.jsonl")])


def make_docx(path: Path) -> None:
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in (("Heading1", "Leave"), ("Normal", "Staff get twelve days."))
    )
    names = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{names}/package/2006/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{names}/package/2006/relationships"><Relationship Id="r1" '
            'Target="word/document.xml" '
            f'Type="{names}/officeDocument/2006/relationships/officeDocument"/></Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{names}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>',
        )


def test_docx_is_converted_where_the_converter_is_installed_else_named(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    make_docx(tmp_path / "docs/leave.docx")
    if importlib.util.find_spec("markitdown") is None:
        with pytest.raises(MissingExtraError, match=r"rag-assay\[documents\]"):
            build(tmp_path / "docs")
    else:
        (chunk,) = build(tmp_path / "docs").values()
        assert "Staff get twelve days." in (chunk.text or "")


def test_the_first_row_of_a_converted_table_is_its_header_only_where_the_header_is_empty() -> None:
    converted = "Before.\n\n|  |  |\n| --- | --- |\n| Plan | Price |\n| Basic | 9 |\n\n| A |\n| --- |\n| 1 |"
    promoted = "Before.\n\n| Plan | Price |\n| --- | --- |\n| Basic | 9 |\n\n| A |\n| --- |\n| 1 |"
    assert promoted == promote_header_rows(converted)
    assert "| one |\n| --- |\n" == promote_header_rows("|  |\n| --- |\n| one |")


def test_the_chunks_of_a_run_are_matched_by_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "docs", "leave.md", LEAVE)
    run = tmp_path / "run"
    run.mkdir()
    chunks = [
        {"chunk_id": "7f-1", "text": "Staff get 12 days."},
        {"chunk_id": "7f-2", "text": "Nothing of this stands anywhere in it."},
        {"chunk_id": "7f-3"},
    ]
    row = {"case_id": "q", "config_id": "c", "stages": [{"name": "retrieved", "chunks": chunks}]}
    write(run, "observations.jsonl", json.dumps(row) + "\n")
    out = str(tmp_path / "corpus.jsonl")
    assert 0 == main(["corpus", "build", str(tmp_path / "docs"), "--out", out, "--match", str(run), "--format", "json"])
    built = json.loads(capsys.readouterr().out)
    assert {"7f-1": ["leave_policy:v2:leave"]} == {
        m["target_chunk"]: m["chunks"] for m in built["matches"] if "chunks" in m
    }
    assert ["7f-1"] == assay.load_corpus(out).chunks["leave_policy:v2:leave"].metadata["target_chunks"]


@pytest.mark.parametrize("field", ["role: manager", "Roles: [hr]", "acl: [hr]", "valid-to: 2026-01-01", "tennant: a"])
def test_a_misspelt_restriction_is_an_error_and_makes_nothing_public(tmp_path: Path, field: str) -> None:
    (tmp_path / "pay.md").write_text(f"---\n{field}\ntags: [x]\n---\n# Pay\n\nSalaries.\n")
    with pytest.raises(InputError) as raised:
        build(tmp_path)
    (problem,) = raised.value.problems
    assert problem.field == field.partition(":")[0] and "did you mean" in problem.message


def test_a_page_says_whose_it_is_in_meta_elements_or_front_matter(tmp_path: Path) -> None:
    body = "<body><h1>Safe</h1><p>The code of the safe is 4711.</p></body>"
    meta = '<meta name="roles" content="staff, manager"><meta name="Valid_To" content="2030-01-01">'
    write(tmp_path, "docs/meta.html", f'<html><head><meta name="viewport" content="x">{meta}</head>{body}</html>')
    write(tmp_path, "docs/front.html", f"---\nroles: [staff]\ntenant: acme\n---\n<html>{body}</html>")
    build_corpus(CorpusRequest(str(tmp_path / "docs"), str(tmp_path / "c.jsonl")))
    chunks = {chunk.path: chunk for chunk in load_corpus(str(tmp_path / "c.jsonl"))[0].chunks.values()}
    assert (("staff", "manager"), "2030-01-01") == (chunks["meta.html"].roles, chunks["meta.html"].valid_to)
    assert (("staff",), "acme") == (chunks["front.html"].roles, chunks["front.html"].tenant)
    assert "tenant" not in (chunks["front.html"].text or "")


FAULTY_PAGES = (
    ('<meta name="rols" content="staff">', "did you mean roles"),
    ('<meta name="assay:colour" content="red">', "no such field"),
    ('<meta name="valid_to" content="someday">', "not a date"),
    ('<meta name="position" content="last">', "not a number"),
)


@pytest.mark.parametrize(("meta", "message"), FAULTY_PAGES)
def test_faults_of_meta_elements_are_errors(tmp_path: Path, meta: str, message: str) -> None:
    write(tmp_path, "docs/a.html", f"<html><head>{meta}</head><body><p>The code is 4711.</p></body></html>")
    with pytest.raises(InputError, match=message):
        build_corpus(CorpusRequest(str(tmp_path / "docs"), str(tmp_path / "c.jsonl")))


def test_front_matter_and_meta_elements_must_not_contradict_each_other(tmp_path: Path) -> None:
    page = (
        '---\nroles: [hr]\n---\n<html><head><meta name="roles" content="staff"></head><body><p>Pay.</p></body></html>'
    )
    write(tmp_path, "docs/a.html", page)
    with pytest.raises(InputError, match="said twice"):
        build_corpus(CorpusRequest(str(tmp_path / "docs"), str(tmp_path / "c.jsonl")))


def test_a_file_without_text_is_no_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "docs/a.md", "# A\n\nStaff get 12 days.")
    write(tmp_path, "docs/empty.md", " \n")
    assert 0 == main(
        ["corpus", "build", str(tmp_path / "docs"), "--out", str(tmp_path / "c.jsonl"), "--format", "json"]
    )
    built = json.loads(capsys.readouterr().out)
    assert (1, ["empty.md"]) == (built["documents"], built["empty"])

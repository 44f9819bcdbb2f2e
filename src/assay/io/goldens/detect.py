"""Detects the format of a golden set from its content and name; if none fits, says what the file looks like."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from assay.errors import InputError, Problem
from assay.io.goldens import answer_csv, pools, rag, stable_key
from assay.io.goldens.catalog import FORMS
from assay.io.goldens.rows import HEADER, LINE_SUFFIXES, is_document, load_document
from assay.io.lines import Line, Source, open_file, read_lines, show_line, text_of
from assay.io.strictjson import decode_object
from assay.model import Case

MAX_ROWS_INSPECTED = 20
MAX_NAMES_COMPARED = 100

_SIGNATURES = {
    b"PK\x03\x04": "a zip archive (a spreadsheet, saved as CSV, can be read)",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "gzip data (its name has to end in .gz)",
}
_OTHER_ROWS = {
    "recorded outputs": ("query_id", "case_id", "config_id", "question_id", "retrieved_chunks", "stages", "answer"),
    "a corpus": ("chunk_id", "text", "text_hash", "document", "document_id"),
    "human labels": ("rater", "metric", "label"),
}
_ROWS_WITHOUT_DECISIVE_MEMBER = {"rag-golden": rag.GoldenRow, "assay": Case, "stable-key": stable_key.KeyRow}
"""Formats whose rows may have no decisive member; the first whose record has every member of the rows is chosen."""
_SETTINGS = re.compile(r"[A-Za-z_][\w-]*:(\s|$)")


def detect(source: Source) -> str:
    """Return the name of the golden-set format. Raises InputError, with the known formats, if none fits."""
    if source.path.is_dir():
        return _detect_folder(source)
    _refuse_binary(source)
    first = _find_first_line(source)
    if first is None:
        raise InputError([Problem(source.name, None, "", "empty (got no content; expected cases)", "E_EMPTY")])
    if first.data.lstrip().startswith((b"{", b"[")):
        return _choose_by_members(_member_names(source), source)
    kind = _guess_kind(first, source)
    if kind == "answer-csv" and source.suffix in LINE_SUFFIXES:
        expected = "JSON Lines, or a name that ends in .csv, or the format named answer-csv"
        message = f"CSV under the name of JSON Lines (got {show_line(first)}; expected {expected})"
        raise InputError([Problem(source.name, first.number, "", message, "E_FORMAT")])
    if kind in FORMS:
        return kind
    raise _unknown_format(source, first.number, f"{show_line(first)}, which looks like {kind}")


def _find_first_line(source: Source) -> Line | None:
    """Return the first line that is neither blank nor a comment."""
    for line in read_lines(source):
        text = line.data.lstrip()
        if text and not text.startswith((b"#", b"//")):
            return line
    return None


def _detect_folder(source: Source) -> str:
    if stable_key.parts(source.path):
        return "stable-key"
    if (source.path / pools.QUERIES).is_file() and (source.path / "qrels").is_dir():
        return "beir"
    files = sorted(path.name for path in source.path.iterdir())[:10]
    raise _unknown_format(source, None, f"a folder with {', '.join(files) or 'nothing in it'}")


def _refuse_binary(source: Source) -> None:
    with open_file(source.path, source.name) as file:
        head = file.read(16)
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature):
            raise _unknown_format(source, None, kind)


def _guess_kind(first: Line, source: Source) -> str:
    text = text_of(first, source.name)
    cells = text.split()
    header = next(csv.reader([text]), [])
    if source.suffix == ".csv" or len(set(header) & set(answer_csv.REQUIRED)) > 1:
        return "answer-csv"
    if tuple(cells) == pools.BEIR_COLUMNS:
        return "beir"
    if len(cells) == 4 and (pools.is_integer(cells[3]) or cells[1] in ("0", "Q0")):
        return "trec-qrels"
    if len(cells) == 6:
        return "a TREC run"
    if text.lstrip().startswith("<"):
        return "HTML or XML"
    return "YAML settings" if _SETTINGS.match(text) else "plain text"


def _member_names(source: Source) -> list[str]:
    """Return the member names of the first rows; rows that cannot be decoded are skipped, the reader reports them."""
    if is_document(source):
        document = load_document(source)
        rows: Any = document.get("cases") if isinstance(document, dict) else document
        rows = [{HEADER: {}}, *rows] if isinstance(document, dict) and isinstance(rows, list) else rows
    else:
        rows = list(_first_rows(source))
    inspected = rows[:MAX_ROWS_INSPECTED] if isinstance(rows, list) else []
    return list(dict.fromkeys(name for row in inspected if isinstance(row, dict) for name in row))


def _first_rows(source: Source) -> Iterator[dict[str, Any]]:
    lines = (line for line in read_lines(source) if line.data.strip())
    for _ in range(MAX_ROWS_INSPECTED):
        try:
            line = next(lines, None)
            if line is not None:
                yield decode_object(text_of(line, source.name), source.name, line.number)
        except InputError:
            continue


def _choose_by_members(names: list[str], source: Source) -> str:
    """The format with the most decisive names wins; misspelt ones count where there is no exact one."""
    if "case_id" in names and not {"id", "evidence"} & set(names):  # outputs may have a behaviour too
        raise _unknown_format(source, None, f"rows with {', '.join(names)}{_guess_other_kind(names)}")
    best = _count_decisive(names).most_common(2)
    if len(best) == 1 or (best and best[0][1] > best[1][1]):
        return best[0][0]
    if best:
        tied = f"members of both {best[0][0]} and {best[1][0]}: {', '.join(names)}"
        raise _unknown_format(source, None, tied)
    if HEADER in names:
        return "assay"
    for form_name, record in _ROWS_WITHOUT_DECISIVE_MEMBER.items():
        if set(names) <= set(record.__struct_encode_fields__):
            return form_name
    raise _unknown_format(source, None, f"rows with {', '.join(names)}{_guess_other_kind(names)}")


def _count_decisive(names: list[str]) -> Counter[str]:
    owners = {name: form.name for form in FORMS.values() for name in form.decisive}
    exact = Counter(owners[name] for name in names if name in owners)
    if exact:
        return exact
    close = (get_close_matches(name, owners, n=1, cutoff=0.85) for name in names[:MAX_NAMES_COMPARED])
    return Counter(owners[match[0]] for match in close if match)


def _guess_other_kind(names: list[str]) -> str:
    """Say which other kind of file the rows look like; two of its typical members are enough."""
    for kind, typical in _OTHER_ROWS.items():
        if len(set(names) & set(typical)) > 1:
            return f", which looks like {kind}"
    return ""


def _unknown_format(source: Source, line: int | None, got: str) -> InputError:
    formats = "; ".join(f"{form.name} ({form.about})" for form in FORMS.values())
    message = f"no golden-set format fits (got {got}; expected one of {formats}; or name the format)"
    return InputError([Problem(source.name, line, "", message, "E_FORMAT")])

"""Loads and writes golden sets: the table of formats, their detection, the digest of a set.

A format is detected from content and name; if none fits, the error says what the file looks like. Writing a format
that holds less than the native one counts what is lost.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from assay.formats.file_io import Line, Source, decode_line, open_source, quote_line_start, read_lines, write_atomically
from assay.formats.foreign.frame_shapes import IMPORT_REMEDY, is_frame
from assay.formats.foreign.member_names import ID_KEYS, QUESTION_KEYS
from assay.formats.golden_builder import GoldenBuilder, GoldenFormat
from assay.formats.golden_sets import answer_csv, beir, code_benchmark, json_cases, rag_golden, rubric, stable_key
from assay.formats.golden_sets.json_cases import (
    HEADER_MEMBER,
    JSON_LINES_SUFFIXES,
    fits_record,
    is_document,
    load_document,
)
from assay.formats.outputs import OUTPUT_FORMAT_NAMES
from assay.formats.problems import ProblemList
from assay.formats.strict_json import decode_json_object
from assay.records.counts import CountedNoun, format_count
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Evidence, GoldenSet, User, find_placeholders
from assay.records.plugin_table import PluginTable
from assay.text.late_pattern import LatePattern

_BUILT_IN_FORMATS = {
    form.name: form
    for form in (
        GoldenFormat(
            "assay",
            "native records: JSON Lines of cases, or one JSON golden set",
            json_cases.read_native_golden,
            distinctive_members=json_cases.NATIVE_MEMBERS,
            needs_question=False,
        ),
        GoldenFormat(
            "rag-golden",
            "JSON Lines with expected_chunk_ids, relevance, expected_behavior",
            rag_golden.read_rag_golden,
            distinctive_members=rag_golden.RAG_GOLDEN_MEMBERS,
            member_names=rag_golden.RAG_GOLDEN_NAMES,
        ),
        GoldenFormat(
            "rag-qrels",
            "JSON Lines with query_id and relevant_chunks",
            rag_golden.read_rag_qrels,
            distinctive_members=rag_golden.RAG_QRELS_MEMBERS,
            member_names=rag_golden.RAG_QRELS_NAMES,
            needs_question=False,
        ),
        GoldenFormat(
            "answer-csv",
            "CSV with question_id, expected_answer, expected_citations, must_refuse",
            answer_csv.read_answer_csv,
            member_names=answer_csv.ANSWER_CSV_NAMES,
        ),
        GoldenFormat(
            "code-benchmark",
            "JSON Lines with gold_answer, expected_files, expected_symbols",
            code_benchmark.read_code_benchmark,
            distinctive_members=code_benchmark.CODE_BENCHMARK_MEMBERS,
            member_names=code_benchmark.CODE_BENCHMARK_NAMES,
        ),
        GoldenFormat(
            "stable-key",
            "JSON Lines with keys, or a folder of retrieval.jsonl, qa.jsonl, refusal.jsonl",
            stable_key.read_stable_key,
            distinctive_members=stable_key.STABLE_KEY_MEMBERS,
            member_names=stable_key.STABLE_KEY_NAMES,
        ),
        GoldenFormat(
            "rubric",
            "JSON Lines with correct_keywords and incorrect_patterns",
            rubric.read_rubric_cases,
            distinctive_members=rubric.RUBRIC_MEMBERS,
            member_names=rubric.RUBRIC_NAMES,
        ),
        GoldenFormat(
            "trec-qrels",
            "four columns: query, iteration, chunk, grade",
            beir.read_trec_golden,
            member_names={"id": "query", "evidence": "chunk"},
            judgments="partial",
            needs_question=False,
        ),
        GoldenFormat(
            "beir",
            "a folder with queries.jsonl and qrels/<split>.tsv",
            beir.read_beir_golden,
            member_names={"id": "_id", "question": "text", "evidence": "corpus-id"},
            judgments="partial",
        ),
    )
}

GOLDEN_FORMAT_TABLE: PluginTable[GoldenFormat] = PluginTable(
    "assay.formats", "golden-set format", GoldenFormat, _BUILT_IN_FORMATS, reserved=OUTPUT_FORMAT_NAMES
)
"""All golden-set formats by name. Plugins are read when they are named; only built-in formats are detected."""

MAX_ROWS_INSPECTED = 20
MAX_NAMES_COMPARED = 100

_OTHER_ROWS = {
    "recorded outputs": ("query_id", "case_id", "config_id", "question_id", "retrieved_chunks", "stages", "answer"),
    "a corpus": ("chunk_id", "text", "text_hash", "document", "document_id"),
    "human labels": ("rater", "metric", "label"),
}
_ROWS_WITHOUT_DECISIVE_MEMBER: dict[str, type[msgspec.Struct]] = {
    "rag-golden": rag_golden.RagGoldenRow,
    "assay": Case,
    "stable-key": stable_key.KeyRow,
}
"""Formats whose rows may have no decisive member; the first whose record has every member of the rows is chosen."""
_SETTINGS = LatePattern(r"[A-Za-z_][\w-]*:(\s|$)")


def guess_golden_format(source: Source) -> str:
    """Return the name of the golden-set format. Raises InputError, with the known formats, if none fits."""
    if source.path.is_dir():
        return _detect_folder(source)
    first = _find_first_line(source)
    if first is None:
        raise InputError([Problem(source.name, None, "", "empty (got no content; expected cases)", "E_EMPTY")])
    if first.data.lstrip().startswith((b"{", b"[")):
        _refuse_frame(source)
        return _choose_by_members(_member_names(source), source)
    kind = _guess_kind(first, source)
    if kind == "answer-csv" and source.suffix in JSON_LINES_SUFFIXES:
        expected = "JSON Lines, or a name that ends in .csv, or the format named answer-csv"
        message = f"CSV under the name of JSON Lines (got {quote_line_start(first)}; expected {expected})"
        raise InputError([Problem(source.name, first.number, "", message, "E_FORMAT")])
    if kind in _BUILT_IN_FORMATS:
        return kind
    raise _unknown_format(source, first.number, f"{quote_line_start(first)}, which looks like {kind}")


def _refuse_frame(source: Source) -> None:
    """Raise InputError for a data frame in another form than rows, with how to write it as rows."""
    first = next(_first_rows(source), None)
    if first is not None and is_frame(first):
        imported = IMPORT_REMEDY.format(name=source.name)
        message = (
            f"a data frame that is not written as rows (got {shorten_repr(first)}; expected a case on each row: "
            f'to_json(path, orient="records"); {imported})'
        )
        raise InputError([Problem(source.name, None, "", message, "E_FORMAT")])


def _find_first_line(source: Source) -> Line | None:
    """Return the first line that is neither blank nor a comment."""
    for line in read_lines(source):
        text = line.data.lstrip()
        if text and not text.startswith((b"#", b"//")):
            return line
    return None


def _detect_folder(source: Source) -> str:
    if stable_key.list_suite_files(source.path):
        return "stable-key"
    if (source.path / beir.QUERIES_FILE).is_file() and (source.path / "qrels").is_dir():
        return "beir"
    files = sorted(path.name for path in source.path.iterdir())[:10]
    raise _unknown_format(source, None, f"a folder with {', '.join(files) or 'nothing in it'}")


def _guess_kind(first: Line, source: Source) -> str:
    from assay.formats.trec import qrels  # most golden sets begin with JSON

    text = decode_line(first, source.name)
    cells = text.split()
    columns = answer_csv.list_known_columns(text, answer_csv.find_separator(source))
    if source.suffix == ".csv" or len(columns) > 1:
        return "answer-csv"
    if tuple(cells) == qrels.BEIR_LAYOUT.names:
        return "beir"
    if len(cells) == 4 and (qrels.is_integer(cells[3]) or cells[1] in ("0", "Q0")):
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
        rows = [{HEADER_MEMBER: {}}, *rows] if isinstance(document, dict) and isinstance(rows, list) else rows
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
                yield decode_json_object(decode_line(line, source.name), source.name, line.number)
        except InputError:
            continue


def _choose_by_members(names: list[str], source: Source) -> str:
    """The format with the most decisive names wins; misspelt ones count where there is no exact one."""
    if "case_id" in names and not {"id", "evidence"} & set(names):  # outputs may have a behaviour too
        raise _unknown_format(source, None, _describe_rows(names, source))
    best = _count_decisive(names).most_common(2)
    fitting = [name for name, record in _ROWS_WITHOUT_DECISIVE_MEMBER.items() if fits_record(names, record)]
    is_clear = len(best) == 1 or (bool(best) and best[0][1] > best[1][1])
    if is_clear and (best[0][0] not in _ROWS_WITHOUT_DECISIVE_MEMBER or best[0][0] in fitting or not fitting):
        return best[0][0]
    if best and fitting:
        return fitting[0]
    if best:
        tied = f"members of both {best[0][0]} and {best[1][0]}: {', '.join(names)}"
        raise _unknown_format(source, None, tied)
    if HEADER_MEMBER in names:
        return "assay"
    for form_name, record in _ROWS_WITHOUT_DECISIVE_MEMBER.items():
        if set(names) <= set(record.__struct_encode_fields__):
            return form_name
    if fitting and not set(ID_KEYS).isdisjoint(names):
        return fitting[0]
    if {"id", "question"} <= set(names) and _are_misspelt(names, Case.__struct_encode_fields__):
        return "assay"  # whose reader names each misspelt member with what was meant
    raise _unknown_format(source, None, _describe_rows(names, source))


def _describe_rows(names: list[str], source: Source) -> str:
    """Return the members of rows, what they look like, and for rows of questions what imports them."""
    is_importable = not set(QUESTION_KEYS).isdisjoint(names) and source.suffix in (".json", ".jsonl", ".csv")
    remedy = f"; {IMPORT_REMEDY.format(name=source.name)}" if is_importable else ""
    return f"rows with {', '.join(names)}{_guess_other_kind(names)}{remedy}"


def _are_misspelt(names: list[str], fields: tuple[str, ...]) -> bool:
    return all(
        name in fields or get_close_matches(name, fields, n=1, cutoff=0.7) for name in names[:MAX_NAMES_COMPARED]
    )


def _count_decisive(names: list[str]) -> Counter[str]:
    owners = {name: form.name for form in _BUILT_IN_FORMATS.values() for name in form.distinctive_members}
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
    formats = "; ".join(f"{form.name} ({form.description})" for form in _BUILT_IN_FORMATS.values())
    message = f"no golden-set format fits (got {got}; expected one of {formats}; or name the format)"
    return InputError([Problem(source.name, line, "", message, "E_FORMAT")])


ROW_MEMBERS = (
    "tags",
    "difficulty",
    "language",
    "cluster",
    "attributes",
    "history",
    "notes",
    "metadata",
    "variant_of",
    "variant",
    "nuggets",
)
DEFAULT_GRADE = 3
"""Grade of an expected id without a grade of its own."""
CHUNK_MEMBERS = ("expected_chunk_ids", "relevance", "forbidden_chunk_ids")
ANSWER_MEMBERS = ("expected_answer", "must_have", "rubric", "answer_format", "must_cite", "forbidden_text")
GOLD_MEMBERS = ("must_cite", "must_have", "rubric", "answer_format", "also_accept", "forbidden_text")


def encode_golden_lines(golden: GoldenSet) -> Iterator[bytes]:
    """Yield a golden set as native lines, its header first."""
    yield _encode_header(golden)
    for case in golden.cases:
        yield msgspec.json.encode(case) + b"\n"


OPTIONAL_MEMBERS = ("lineage", "silenced", "verification", "frozen_digest")
"""Members of a header that only some sets have."""


def _encode_header(golden: GoldenSet) -> bytes:
    header = {name: value for name, value in msgspec.structs.asdict(golden).items() if name != "cases"}
    for name in OPTIONAL_MEMBERS:
        if not header[name]:
            del header[name]
    return msgspec.json.encode({HEADER_MEMBER: header}) + b"\n"


def encode_rag_golden_lines(golden: GoldenSet, lost: Counter[CountedNoun]) -> Iterator[bytes]:
    """Yield a golden set as `rag-golden` lines, its header first; count in `lost` what the format cannot represent.

    A case whose row could not be read back is left out. Raises InputError if no case remains.
    """
    has_header = False
    for case in golden.cases:
        row = _rag_golden_row(case, lost)
        refusal = _why_not_readable(case, row)
        if refusal is not None:
            lost[refusal] += 1
            continue
        if not has_header:
            yield _encode_header(golden)
            has_header = True
        yield msgspec.json.encode(row) + b"\n"
    if not has_header:
        raise _no_case_left(lost)


_SHARED_CHUNK_IDS = CountedNoun(
    "unit of evidence that shares its chunk id with another", "units of evidence that share a chunk id"
)
_GRADED_UNITS = CountedNoun(
    "case whose units are graded but not required, which become required",
    "cases whose units are graded but not required, which become required",
)
_SYMBOLS = CountedNoun("symbol", "symbols")
_FORBIDDEN_CHUNKS = CountedNoun(
    "forbidden chunk that is not named by an id", "forbidden chunks that are not named by an id"
)
_UNNAMED_UNITS = CountedNoun(
    "unit of evidence that is not named by a single chunk id",
    "units of evidence that are not named by a single chunk id",
)
_UNIT_NOTES = CountedNoun(
    "unit's reason, quote, hash and kind of evidence", "units' reasons, quotes, hashes and kinds of evidence"
)
_UNJUDGED_CASES = CountedNoun("case without a judgment", "cases without a judgment")
_CASE_FIELDS = CountedNoun(
    "case's question, answer and everything else", "cases' questions, answers and everything else"
)
_CASES_WITHOUT_QUESTION = CountedNoun(
    "case without a question, which this format needs", "cases without a question, which this format needs"
)
_CASES_WITHOUT_FORBIDDEN_IDS = CountedNoun(
    "case whose forbidden chunks are not named by an id", "cases whose forbidden chunks are not named by an id"
)
_CASES_WITHOUT_SCORES = CountedNoun("case with nothing left to score", "cases with nothing left to score")
"""What the other formats cannot represent."""


def _why_not_readable(case: Case, row: dict[str, Any]) -> CountedNoun | None:
    """Return why reading the row of a case would refuse it; None if it would not."""
    if not case.question.strip():
        return _CASES_WITHOUT_QUESTION
    if case.behaviour == "permission_denied" and not any(row.get(name) for name in CHUNK_MEMBERS):
        return _CASES_WITHOUT_FORBIDDEN_IDS
    if case.behaviour == "answer" and not any(row.get(name) for name in (*CHUNK_MEMBERS, *ANSWER_MEMBERS, "nuggets")):
        return _CASES_WITHOUT_SCORES
    return None


def _no_case_left(lost: Counter[CountedNoun]) -> InputError:
    losses = ", ".join(format_count(count, *noun) for noun, count in sorted((+lost).items()))
    return InputError([Problem("", None, "", f"no case can be converted (lost: {losses})", "E_EMPTY")])


def _rag_golden_row(case: Case, lost: Counter[CountedNoun]) -> dict[str, Any]:
    named_units = list(_named_units(case, lost))
    units = dict(named_units)
    lost[_SHARED_CHUNK_IDS] += len(named_units) - len(units)
    expected = [chunk_id for chunk_id, unit in units.items() if unit.required]
    graded = any(unit.grade != DEFAULT_GRADE or not unit.required for unit in units.values())
    if not expected and any(unit.grade for unit in units.values()):
        lost[_GRADED_UNITS] += 1
    row: dict[str, Any] = {"id": case.id, "question": case.question, "expected_behavior": case.behaviour}
    fields = msgspec.to_builtins(case)  # without fields that have their default value
    row |= {name: fields[name] for name in (*GOLD_MEMBERS, *ROW_MEMBERS) if name in fields}
    renamed = {
        "expected_answer": case.reference,
        "expected_chunk_ids": expected,
        "relevance": {chunk_id: unit.grade for chunk_id, unit in units.items()} if graded else {},
        "forbidden_chunk_ids": _forbidden_ids(case, lost),
        "user_context": _user_context(case.user),
    }
    row |= {name: value for name, value in renamed.items() if value}
    lost[_SYMBOLS] += len(case.symbols)
    return row


def _user_context(user: User | None) -> dict[str, Any]:
    if not user:
        return {}
    renamed = {"tenant": "tenant_id", "id": "user_id"}
    return {renamed.get(name, name): value for name, value in msgspec.to_builtins(user).items()}


def _forbidden_ids(case: Case, lost: Counter[CountedNoun]) -> list[str]:
    ids = [str(selector["chunk_id"]) for selector in case.forbidden if selector.keys() == {"chunk_id"}]
    lost[_FORBIDDEN_CHUNKS] += len(case.forbidden) - len(ids)
    return ids


def _named_units(case: Case, lost: Counter[CountedNoun]) -> Iterator[tuple[str, Evidence]]:
    """Yield the units that a single chunk id names; count in `lost` other units and members except id and grade."""
    for unit in case.evidence:
        selector = unit.any_of[0] if len(unit.any_of) == 1 else {}
        if selector.keys() != {"chunk_id"}:
            lost[_UNNAMED_UNITS] += 1
            continue
        lost[_UNIT_NOTES] += bool(unit.reason or unit.quote or unit.text_hash or unit.kind)
        yield str(selector["chunk_id"]), unit


def encode_qrels_lines(golden: GoldenSet, lost: Counter[CountedNoun]) -> Iterator[bytes]:
    """Yield a golden set as qrels; only judgments of chunks with an id are converted.

    Under permission_denied the listed chunks are forbidden, not relevant: such a case is left out. Raises InputError
    for ids with blanks, and if no judgment remains.
    """
    problems: list[Problem] = []
    judgment_count = 0
    for case in golden.cases:
        units = list(_named_units(case, lost)) if case.behaviour != "permission_denied" else []
        lost[_UNJUDGED_CASES] += not units
        judgment_count += len(units)
        lost[_CASE_FIELDS] += 1
        for chunk_id, unit in units:
            for name in (case.id, chunk_id):
                if name.split() != [name]:
                    message = (
                        f"blank inside an id (got {shorten_repr(name)}; expected none, because columns end at blanks)"
                    )
                    problems.append(Problem("", None, "id", message, "E_ID"))
            yield f"{case.id} 0 {chunk_id} {unit.grade}\n".encode()
    if problems:
        raise InputError(problems)
    if not judgment_count:
        raise _no_case_left(lost)


GOLDEN_FORMATS: tuple[str, ...] = tuple(_BUILT_IN_FORMATS)


class LoadedGolden(msgspec.Struct, frozen=True):
    """A golden set with the format it was read from, its warnings, its digest, and the lines of its cases."""

    golden: GoldenSet
    format: str
    warnings: tuple[Problem, ...]
    digest: str
    lines: Mapping[str, int | None] = msgspec.field(default_factory=dict)


PLACEHOLDER_REMEDY = "replace them with questions that your documents answer, or delete them"


def describe_placeholders(case_ids: Sequence[str]) -> str:
    """Return how many cases are still as `assay init` wrote them, and which.

    >>> describe_placeholders(["q-001", "q-002"])
    '2 placeholder cases of `assay init` (q-001, q-002)'
    """
    noun = "placeholder case" if len(case_ids) == 1 else "placeholder cases"
    listed = ", ".join(case_ids[:_PLACEHOLDERS_NAMED]) + (", …" if len(case_ids) > _PLACEHOLDERS_NAMED else "")
    return f"{len(case_ids)} {noun} of `assay init` ({listed})"


_PLACEHOLDERS_NAMED = 5


def refuse_placeholders(golden: GoldenSet, path: str, lines: Mapping[str, int | None] | None = None) -> None:
    """Raise InputError if cases are still as `assay init` wrote them: no answer to them says anything."""
    placeholders = find_placeholders(golden)
    if placeholders:
        message = f"{describe_placeholders(placeholders)}: {PLACEHOLDER_REMEDY}"
        line = (lines or {}).get(placeholders[0])
        raise InputError([Problem(path, line, "question", message, "E_PLACEHOLDER")])


def load_golden(path: str | Path, format: str | None = None) -> LoadedGolden:
    """Load a golden set from a file, a folder or `-` (standard input); `.gz` is unpacked.

    `format` is one of `GOLDEN_FORMATS`, or None to detect it from the content. Raises InputError with everything
    that is wrong: nothing is skipped, coerced or guessed. For the rules see ADR 0027 (partial judgments), ADR 0028
    (behaviour) and ADR 0030 (what a good answer is); the module of each format says how it maps its members.
    """
    with open_source(path) as source:
        form = GOLDEN_FORMAT_TABLE[_check_format(format) if format is not None else guess_golden_format(source)]
        findings = ProblemList(source.name)
        builder = GoldenBuilder(form, findings)
        _read_cases(source, builder)
    golden = builder.build_golden_set()
    lines = {case_id: spot.line for case_id, spot in builder.spots.items()}
    return LoadedGolden(golden, form.name, findings.warnings(), compute_golden_digest(golden), lines)


def detect_golden_format(path: str | Path) -> str:
    """Return which of `GOLDEN_FORMATS` a file or folder has. Raises InputError, saying what was looked for."""
    with open_source(path) as source:
        return guess_golden_format(source)


def compute_golden_digest(golden: GoldenSet) -> str:
    """Return the digest of a golden set, which depends neither on the order of its cases nor on notes about the set.

    What people decided about answers does not count either: the same questions are asked, and the same is expected.
    """
    cases = tuple(
        msgspec.structs.replace(case, answer_labels=()) if case.answer_labels else case
        for case in sorted(golden.cases, key=lambda case: case.id)
    )
    return compute_digest(
        msgspec.structs.replace(golden, cases=cases, silenced=(), verification=None, frozen_digest="")
    )


def write_golden(golden: GoldenSet, path: str | Path) -> None:
    """Write a golden set as native JSON Lines, header first; no reader ever sees half a file.

    Reading it back gives an equal golden set, provided that the golden set follows the rules that reading checks.
    """
    write_atomically(path, encode_golden_lines(golden))


def _check_format(name: str) -> str:
    if name not in GOLDEN_FORMAT_TABLE:
        expected = ", ".join(GOLDEN_FORMAT_TABLE.list_names())
        raise InputError(f"unknown golden-set format (got {shorten_repr(name)}; expected one of {expected})")
    return name


def _read_cases(source: Source, builder: GoldenBuilder) -> None:
    """Read everything, then raise all errors at once, including those before an error that stops the reading."""
    findings = builder.findings
    gc_was_enabled = gc.isenabled()
    gc.disable()  # reading creates no reference cycles, and looking for them takes a third of the time
    try:
        builder.format.read(source, builder)
    except InputError as error:
        findings.add_raised(error)
    finally:
        if gc_was_enabled:
            gc.enable()
    builder.check_variants()
    findings.raise_errors()
    if not builder.cases:
        raise InputError([Problem(source.name, None, "", "empty (got no case; expected at least one)", "E_EMPTY")])
    builder.names.warn_normalised()
    unasked = sum(not case.question for case in builder.cases)
    if unasked and builder.judgments == "complete":
        message = f"cases without a question (got {unasked}; expected the words asked): only retrieval can be scored"
        findings.add_warning(None, "question", message, "E_QUESTION")

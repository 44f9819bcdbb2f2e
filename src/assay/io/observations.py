"""Recorded outputs: the table of formats, how a file's format is told, and reading one whole file.

Lines are decoded one at a time into typed records. Only a line that fails is looked at again, slowly, to say where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from assay.errors import InputError, Problem, shown
from assay.io.outputs import native, ragtrace, runlog, trecrag
from assay.io.outputs.faults import UNREADABLE, line_problems
from assay.model import Observation

BOM = b"\xef\xbb\xbf"
TREC_RUN = "trec-run"
RETRIEVED = "retrieved"
_KEY = re.compile(r'"(\w+)"\s*:')
_STAGE = re.compile(r"stages\[(\d+)\]\.(?:chunks|name)")
_SIX_COLUMNS = re.compile(r"\S+\s+\S+\s+\S+\s+\S+\s+[+-]?[\d.]\S*\s+\S+")


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """One row of the table of formats whose lines are observations: `record` is the line as it is written, `id_key`
    the member that names the case, `lists` the member that holds each stage where stages are members of their own."""

    name: str
    summary: str
    decode: Callable[[bytes], Observation]
    record: type[msgspec.Struct]
    id_key: str
    lists: Mapping[str, str] = field(default_factory=dict)

    def in_words(self, observation: Observation, place: str) -> str:
        """Return a place inside an `Observation` in the words of this format, as its writer knows it."""
        if place == "case_id":
            return self.id_key
        match = _STAGE.match(place)
        if match is None or not self.lists or observation.stages is None:
            return place
        stage = observation.stages[int(match[1])].name
        return self.lists.get(stage, f"{self.lists[RETRIEVED]}(stage={stage})") + place[match.end() :]


FORMATS: dict[str, OutputFormat] = {
    row.name: row
    for row in (
        OutputFormat("assay", "one Observation record a line", native.decode, Observation, "case_id"),
        OutputFormat(
            "rag-trace",
            "the [001] trace contract: query_id, retrieved_chunks, context_chunks, answer …",
            ragtrace.decode,
            ragtrace.RagTrace,
            "query_id",
            ragtrace.LISTS,
        ),
        OutputFormat(
            "run-log",
            "the [000] run log: question_id, answer, evidence_files",
            runlog.decode,
            runlog.RunLog,
            "question_id",
            {RETRIEVED: "evidence_files"},
        ),
        OutputFormat(
            "trec-rag",
            "answers of the TREC RAG track: run_id, topic_id, references, answer in sentences",
            trecrag.decode,
            trecrag.TrecRag,
            "topic_id",
        ),
    )
}
FORMAT_NAMES = (*FORMATS, TREC_RUN)


def detect_format(path: str, first_line: bytes) -> str:
    """Return the name of the format that a file's first line shows; raise InputError saying what was looked for."""
    text = first_line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if _SIX_COLUMNS.fullmatch(text) and not text.startswith("{"):
        return TREC_RUN
    try:
        row = json.loads(text)
        keys = list(row) if isinstance(row, dict) else []
    except (ValueError, RecursionError):  # a broken object still shows its members; its line says what is wrong
        row, keys = None, _KEY.findall(text) if text.startswith("{") else []
    for name, known in FORMATS.items():
        if known.id_key in keys:
            return name
    wanted = "; ".join(f"{known.name}: {known.id_key} …" for known in FORMATS.values())
    message = (
        f"cannot tell the format of the outputs (got {_looks_like(text, row)}; expected JSON Lines, {wanted}; or "
        f"{TREC_RUN}: six columns); name it with --outputs-format"
    )
    raise InputError([Problem(path, 1, "", message, "E_FORMAT")])


def _looks_like(text: str, row: object) -> str:
    if isinstance(row, dict):
        return "a JSON object with " + (", ".join(sorted(map(str, row))[:8]) or "nothing in it")
    if text.startswith("["):
        return "a JSON array, which is one value and not a line for each case"
    if text in ("{", "}"):
        return "JSON spread over several lines"
    if row is None and "," in text and '"query' not in text:
        return f"comma-separated values: {shown(text, 60)}"
    return f"a line that is not a JSON object: {shown(text, 60)}"


def read_observations(path: str, name: str, format: str) -> Iterator[Observation]:
    """Yield all observations of one plain file; raise InputError with everything that is wrong with its lines."""
    known, problems = FORMATS[format], []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BOM) if number == 1 else line
            if line.isspace():
                continue
            try:
                yield known.decode(line)
            except UNREADABLE as error:
                problems += line_problems(name, number, line, known.record, error)
    if problems:
        raise InputError(problems)


def failure(path: str, number: int, line: bytes, error: Exception) -> Problem:
    """Return the first thing that makes a native line undecodable."""
    return line_problems(path, number, line, Observation, error)[0]

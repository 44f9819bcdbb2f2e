"""Reads recorded outputs: the table of formats, the detection of a file's format, and a reader for one whole file.

Lines are decoded one at a time into typed records. Only a line that fails is read again, more slowly, to report what is
wrong with it.
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
    """One row of the table of formats whose lines are observations.

    `record` is the type of a line as written, `id_key` the member with the id of the case. In formats that have a
    member for each stage, `lists` gives that member.
    """

    name: str
    summary: str
    decode: Callable[[bytes], Observation]
    record: type[msgspec.Struct]
    id_key: str
    lists: Mapping[str, str] = field(default_factory=dict)

    def in_words(self, observation: Observation, place: str) -> str:
        """Translate the path of a field of `Observation` into the member names of this format."""
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
            "the RAG runner's contract rag-trace: query_id, retrieved_chunks, context_chunks, answer …",
            ragtrace.decode,
            ragtrace.RagTrace,
            "query_id",
            ragtrace.LISTS,
        ),
        OutputFormat(
            "run-log",
            "the code benchmark's run log: question_id, answer, evidence_files",
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
    """Detect the format of outputs from the first line of a file. Raises InputError, saying what was looked for."""
    text = first_line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if _SIX_COLUMNS.fullmatch(text) and not text.startswith("{"):
        return TREC_RUN
    try:
        row = json.loads(text)
        keys = list(row) if isinstance(row, dict) else []
    except (ValueError, RecursionError):  # broken JSON may still show its keys; the reader reports what is wrong
        row, keys = None, _KEY.findall(text) if text.startswith("{") else []
    for name, output_format in FORMATS.items():
        if output_format.id_key in keys:
            return name
    expected = "; ".join(f"{output_format.name}: {output_format.id_key} …" for output_format in FORMATS.values())
    message = (
        f"cannot tell the format of the outputs (got {_describe_line(text, row)}; expected JSON Lines, {expected}; or "
        f"{TREC_RUN}: six columns); name it with --outputs-format"
    )
    raise InputError([Problem(path, 1, "", message, "E_FORMAT")])


def _describe_line(text: str, row: object) -> str:
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
    """Yield all observations of one plain file. Raises InputError at the end with everything wrong with its lines."""
    output_format = FORMATS[format]
    problems: list[Problem] = []
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BOM) if number == 1 else line
            if line.isspace():
                continue
            try:
                yield output_format.decode(line)
            except UNREADABLE as error:
                problems += line_problems(name, number, line, output_format.record, error)
    if problems:
        raise InputError(problems)

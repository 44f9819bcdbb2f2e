"""The readers of foreign bytes, and samples for each, for the fuzz command and its tests.

A reader takes the path of a file. It may return or raise one of `REFUSALS`; everything else is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from tests.judging.asking import rendered, support_request
from tests.judging.malformed_replies import GOOD

from assay.calibration.collect_scorer_labels import label_scales
from assay.calls.interfaces import CallError, TargetCall
from assay.comparison.baseline_file import decode_baseline
from assay.formats.corpus import load_corpus
from assay.formats.file_io import open_source, read_lines
from assay.formats.foreign.foreign_files import load_foreign_file
from assay.formats.golden_files import GOLDEN_FORMATS, LoadedGolden, load_golden
from assay.formats.labels.external_scores import EXTERNAL_TOOLS, load_external_scores
from assay.formats.labels.label_files import LabelScales, load_graded, load_labels
from assay.formats.labels.label_sheets import LabelledItem, SheetKey, is_label_sheet, load_sheet, load_sheet_key
from assay.formats.outputs import OUTPUT_FORMAT_NAMES, open_output_files, prepare_decodable, read_observations
from assay.formats.run_files.manifest import decode_manifest
from assay.formats.run_files.registry_file import read_registry
from assay.formats.settings_file import load_config
from assay.formats.strict_json import decode_json
from assay.formats.strict_yaml import read_yaml
from assay.formats.trec.qrels import read_qrels
from assay.gates.calibration_file import load_calibrations
from assay.gates.gate_files import load_gate_or_profile
from assay.golden.pooling.grade_file import load_grades
from assay.golden.review_file import load_review
from assay.judging.llm_judge import decode_envelope, read_error_message
from assay.judging.reply_parsing import parse_reply
from assay.judging.rubric_files import decode_rubric, load_rubrics
from assay.judging.verdict_files import read_export
from assay.judging.verdict_store import read_store
from assay.records.errors import AssayError
from assay.records.golden_set import Case, GoldenSet
from assay.records.settings import ResponseMapping
from assay.runs.saved_scores import load_saved_scores
from assay.targets.mcp_stdio import LineCutter, find_reply_id
from assay.targets.reply import decode_reply, read_reply
from assay.trends.alert_log_file import load_alert_events
from assay.trends.load_history import read_incident_finding

SAMPLES = Path(__file__).parents[1] / "compatibility" / "samples"
CORPUS = Path(__file__).parent / "findings"
FORMATS_PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
REFUSALS = (AssayError, CallError)
MAX_SAMPLE_BYTES = 20_000
_EXAMPLE = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
Reader = Callable[[Path], object]

_TABLES = (
    '{"user_input": "Who?", "response": "Ann", "retrieved_contexts": ["Ann approves."]}\n'
    '{"id": "q1", "input": "How many days?", "actual_output": "12", "retrieval_context": ["12 days"]}\n',
    "q1 Q0 d1 1 2.5 run\nq1 Q0 d2 2 1e-3 run\n",
    "q1 0 d1 1\nq1 0 d2 0\n",
    "case_id,metric,rater,label,value,note\nc1,faithfulness,ann,supported,,\n",
    "row_id,question,answer,label,note\nr1,Who?,Ann,supported,\n",
    '{"format": 1, "golden": "", "seed": 0, "rows": {"r1": {"case_id": "c1", "metric": "grade"}}}\n',
)
_REPLIES = (
    '{"answer": "Ann [1].", "contexts": [{"id": "a", "text": "t", "score": 0.5}], "citations": ["a"]}',
    '{"choices": [{"message": {"content": "Ann", "tool_calls": []}}], "usage": {"prompt_tokens": 3}}',
    '{"result": {"output": "Ann", "source_documents": [{"page_content": "t", "metadata": {"source": "a"}}]}}',
    '{"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "Ann"}], "isError": false}}\n',
    '{"error": {"type": "rate_limit", "code": 429, "message": "wait"}}',
)
_REVIEWS = (
    '{"format": 1, "golden": "d", "by": "ann", "grades": [{"case": "c1", "chunk": "a", "grade": 3}]}',
    '{"format": 1, "candidates": "d", "reviewer": "ann", "decisions": [{"case": "c1", "decision": "accept"}]}',
    '[{"case": "c1", "decision": "reject", "reviewer": "ann", "reason": "dull"}]',
    '[{"case": "c1", "decision": "accept", "reviewer": "ann", "edited": {"must_have": ["x"], "evidence": []}}]',
)
_EXTERNAL = (
    '{"results": [{"user_input": "Who?", "response": "Ann", "faithfulness": 0.5, "answer_relevancy": null}]}',
    '{"testCases": [{"input": "Who?", "actualOutput": "Ann", "metricsData": [{"name": "Faithfulness", "score": 1}]}]}',
)


def make_readers() -> dict[str, Reader]:
    """Return each reader by its name."""
    readers: dict[str, Reader] = {
        "json": lambda path: decode_json(_read_text(path), str(path)),
        "yaml": lambda path: read_yaml(_read_text(path), str(path)),
        "manifest": lambda path: decode_manifest(path.read_bytes(), path),
        "settings": lambda path: load_config(str(path)),
        "gate": lambda path: load_gate_or_profile(str(path), None, ""),
        "verdicts": read_store,
        "verdict export": read_export,
        "golden": lambda path: load_golden(str(path), None),
        "packed": _read_packed,
        "corpus": load_corpus,
        "qrels": read_qrels,
        "alert log": load_alert_events,
        "labels": lambda path: load_labels([str(path)], _load_scales()),
        "graded": lambda path: load_graded(str(path), _load_scales()),
        "sheet": _read_sheet,
        "sheet key": lambda path: load_sheet_key(str(path)),
        "review": lambda path: load_review(str(path), _CANDIDATES, "candidates.jsonl"),
        "grades": lambda path: load_grades(str(path), _CANDIDATES.golden, "d", "golden.jsonl", None),
        "calibration": lambda path: load_calibrations(str(path)),
        "baseline": lambda path: decode_baseline(str(path)),
        "foreign rows": load_foreign_file,
        "rubric": lambda path: decode_rubric(read_yaml(_read_text(path), str(path)), str(path)),
        "judge reply": _read_judge_reply,
        "target reply": _read_target_reply,
        "mcp lines": _read_mcp_lines,
        "run registry": read_registry,
        "incident": read_incident_finding,
        "saved scores": _read_saved_scores,
        "outputs": lambda path: _read_outputs(path, None),
    }
    for name in GOLDEN_FORMATS:
        readers[f"golden {name}"] = lambda path, form=name: load_golden(str(path), form)  # type: ignore[misc]
    for name in OUTPUT_FORMAT_NAMES:
        readers[f"outputs {name}"] = lambda path, form=name: _read_outputs(path, form)  # type: ignore[misc]
    for name in EXTERNAL_TOOLS:
        readers[f"scores {name}"] = lambda path, tool=name: load_external_scores(str(path), tool, None)  # type: ignore[misc]
    return readers


def load_samples() -> list[bytes]:
    """Return samples of all formats: files of earlier versions, the examples of the documentation, past findings."""
    samples = [path.read_bytes()[:MAX_SAMPLE_BYTES] for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    samples += [path.read_bytes() for path in sorted(CORPUS.glob("*"))]
    samples += [match[1].encode() for match in _EXAMPLE.finditer(FORMATS_PAGE.read_text(encoding="utf-8"))]
    reply = GOOD if isinstance(GOOD, str) else msgspec.json.encode(GOOD).decode()
    return samples + [text.encode() for text in (*_TABLES, *_REPLIES, *_REVIEWS, *_EXTERNAL, reply)]


def _read_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


@cache
def _load_scales() -> LabelScales:
    return label_scales(load_rubrics())


def _read_packed(path: Path) -> None:
    packed = path.with_suffix(".gz")
    packed.write_bytes(path.read_bytes())
    with open_source(packed) as source:
        for _ in read_lines(source):
            pass


def _read_sheet(path: Path) -> None:
    if is_label_sheet(str(path)):
        load_sheet(str(path), _SHEET_KEY, _load_scales())


_CASES = (Case("c1", "Who?"), Case("q1", "How many days?"), Case("a", "Twice?"), Case("b", "Twice?"))
"""Cases that rows of other tools are matched with."""


def _read_outputs(path: Path, format: str | None) -> None:
    with open_output_files([str(path)], format) as files, prepare_decodable(files, _CASES) as decodable:
        for file in decodable:
            for _ in read_observations(file.path, file.name, file.decoded_as):
                pass


_ASKED = rendered(support_request())
_CANDIDATES = LoadedGolden(GoldenSet((Case("c1", "Who?"),)), "assay", (), "d")
_SHEET_KEY = SheetKey(1, "", 0, {"r1": LabelledItem("c1", "faithfulness")})


def _read_judge_reply(path: Path) -> None:
    content = path.read_bytes()
    text = content.decode("utf-8", "replace")
    parse_reply(text, _ASKED)
    parse_reply(decode_envelope(content, text), _ASKED)
    read_error_message(content)


def _read_target_reply(path: Path) -> None:
    value = decode_reply(path.read_bytes())
    for operation in ("ask", "search"):
        call = TargetCall(Case("c1", "Who?"), operation, 1.0)
        try:
            read_reply(value, call, ResponseMapping())
        except CallError:
            continue


def _read_saved_scores(path: Path) -> None:
    run = path.parent / f"{path.name}-run"
    (run / "derived").mkdir(parents=True, exist_ok=True)
    for name in ("report.json", "cases.jsonl"):
        (run / "derived" / name).write_bytes(path.read_bytes())
    load_saved_scores(run)


def _read_mcp_lines(path: Path) -> None:
    for line in _cut_lines(path.read_bytes()):
        find_reply_id(line)


def _cut_lines(data: bytes) -> Iterator[Any]:
    cutter = LineCutter(1000)
    for start in range(0, len(data), 100):
        yield from cutter.cut(data[start : start + 100])

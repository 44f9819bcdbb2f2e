"""Rendering a request and its rubric into the exact texts that a judge reads, and the schema of its reply.

The data is one line of JSON strings between delimiters that cannot be predicted and cannot occur in it. Ids become
`i1`, `s1` …: the ids of a corpus or a target appear nowhere in the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec

from assay.digest import digest
from assay.errors import InputError, shown
from assay.judges.frames import ENGLISH, FRAMES, Frame, fill
from assay.verdict import JudgeRequest, JudgeRubric, RubricLabel

RULES = "2"
"""Raise it with every change of rendering or parsing that can change a verdict and is not a text of `frames`."""
PARSER = f"{RULES}.{digest(FRAMES)[7:15]}"
"""The version of rendering, texts and parsing that `JudgeIdentity.parser` must have."""

TEXT_LIMIT, TOTAL_LIMIT = 100_000, 200_000
"""The most characters that a judge reads of one text, and of all texts together."""
CUT = " […]"
CONTEXT = "context"
SHUFFLED_SAMPLE = 1
"""The sample that sees its sources in another order; the others see them in the given order."""
ENTRY_KEYS = frozenset({"id", "role", "source", "text"})

# Characters that could end a line, hide or reverse text, or look like a delimiter; JSON strings can escape all of them.
_ESCAPED = re.compile(
    "[<>\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_INPUT_NAME = re.compile(r"\{\{([a-z]+)\}\}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """The prompt, and what parsing the reply needs: `ids` and `sources` by the names that the judge sees.

    `request` is the digest of the request.
    """

    request: str
    system: str
    user: str
    schema: dict[str, Any]
    ids: dict[str, str]
    sources: dict[str, tuple[str, str]]
    labels: frozenset[str]
    quoted: frozenset[str]
    canary: str
    frame: Frame
    flags: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """The schema as text, for endpoints without a schema parameter."""
        return fill(self.frame.form, {"schema": json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))})

    def again(self, problem: str) -> Rendered:
        """Return the same prompt with a line that says why an earlier reply could not be used, and the schema."""
        reason = fill(self.frame.again, {"problem": problem})
        return replace(self, user=f"{self.user}\n{reason}\n{self.form}")


def render(request: JudgeRequest, rubric: JudgeRubric, judge: str, sample: int) -> Rendered:
    """Return the texts for one sample of the judge with this digest; the same arguments give the same bytes.

    Raises InputError for a rubric other than the requested one, and for inputs that it does not name or that are
    neither a text, null nor a list of entries.
    """
    _check(request, rubric)
    request_digest = request.digest
    seed = hashlib.sha256(f"{request_digest} {judge} {sample}".encode()).hexdigest()
    data = _Data(request, rubric, seed if sample == SHUFFLED_SAMPLE else "")
    frame = FRAMES.get(rubric.language, ENGLISH)
    canary = f"amber{seed[24:40]}"
    schema = _schema(tuple(data.ids), request.labels, tuple(data.sources) if request.quotes else ())
    values = {
        **_fixed(rubric),
        "begin": f"<<<DATA {seed[:24]}>>>",
        "end": f"<<<END {seed[:24]}>>>",
        "ids": ", ".join(data.ids),
        "data": _json({**data.inputs, "note": fill(frame.trap, {"canary": canary})}),
    }
    return Rendered(
        request=request_digest,
        system=fill(frame.system, values),
        user=fill(frame.user, values),
        schema=schema,
        ids=data.ids,
        sources=data.sources,
        labels=frozenset(request.labels),
        quoted=frozenset(request.quotes),
        canary=canary,
        frame=frame,
        flags=tuple(data.flags),
    )


class _Data:
    """The inputs under the names that the judge sees, in the order of the rubric."""

    def __init__(self, request: JudgeRequest, rubric: JudgeRubric, seed: str) -> None:
        self.flags: list[str] = []
        self._room = TOTAL_LIMIT
        self._short: dict[str, str] = {}
        self.ids = {"i1": request.items[0]}
        self.sources: dict[str, tuple[str, str]] = {}
        if rubric.per_item:
            self.ids = {f"i{number}": item_id for number, item_id in enumerate(request.items, 1)}
        shuffled = [key for key in rubric.inputs if key in rubric.sources or key == CONTEXT]
        orders = {key: self._ordered(request.inputs[key], seed) for key in shuffled}
        for key in rubric.sources:  # numbered first, because citations come before the sources that they name
            for entry in orders[key] if isinstance(orders[key], list) else ():
                self._short.setdefault(entry["id"], f"s{len(self._short) + 1}")
        self.inputs: dict[str, Any] = {}
        for position, key in enumerate(rubric.inputs):
            value = orders.get(key, request.inputs[key])
            self.inputs[key] = self._shown(key, value, rubric, items=rubric.per_item and position == 0)

    def _ordered(self, value: Any, seed: str) -> Any:
        if not seed or not isinstance(value, (list, tuple)) or len(value) < 2:
            return value if not isinstance(value, tuple) else list(value)
        indices = sorted(range(len(value)), key=lambda index: hashlib.sha256(f"{seed} {index}".encode()).digest())
        if indices == sorted(indices):  # a shuffle that changes nothing would not be one
            indices.reverse()
        self.flags.append("shuffled")
        return [value[index] for index in indices]

    def _shown(self, key: str, value: Any, rubric: JudgeRubric, *, items: bool) -> Any:
        source = key in rubric.sources
        if value is None:
            return None
        if isinstance(value, str):
            text = self._cut(value)
            if source:
                self.sources[key] = key, text
            return text
        return [self._entry(entry, number, source=source, items=items) for number, entry in enumerate(value, 1)]

    def _entry(self, entry: Mapping[str, str], number: int, *, source: bool, items: bool) -> dict[str, str]:
        text = self._cut(entry["text"])
        shown_entry: dict[str, str] = {}
        if items:
            shown_entry["id"] = f"i{number}"
        elif source:
            shown_entry["id"] = self._short[entry["id"]]
            self.sources[shown_entry["id"]] = entry["id"], text
        if "role" in entry:
            shown_entry["role"] = entry["role"]
        shown_entry["text"] = text
        if "source" in entry:
            if entry["source"] not in self._short:
                raise InputError(f"a judge's input names a source that is not there (got {shown(entry['source'])})")
            shown_entry["source"] = self._short[entry["source"]]
        return shown_entry

    def _cut(self, text: str) -> str:
        room = min(TEXT_LIMIT, self._room)
        if len(text) > room:
            text = text[:room] + CUT
            if "length" not in self.flags:
                self.flags.append("length")
        self._room = max(0, self._room - len(text))
        return text


def _check(request: JudgeRequest, rubric: JudgeRubric) -> None:
    if (request.rubric, request.rubric_hash) != (rubric.name, rubric.hash):
        got = f"{request.rubric} {request.rubric_hash or 'without a hash'}"
        raise InputError(f"the request is for another rubric (got {got}; expected {rubric.name} {rubric.hash})")
    if request.labels != tuple(label.name for label in rubric.labels) or request.quotes != rubric.quotes:
        raise InputError(f"labels of {rubric.name} (got {shown(request.labels)}; expected those of the rubric)")
    if set(request.inputs) != set(rubric.inputs):
        got = ", ".join(sorted(request.inputs))
        raise InputError(f"inputs of {rubric.name} (got {shown(got)}; expected {', '.join(rubric.inputs)})")
    for key, value in request.inputs.items():
        if value is not None and not isinstance(value, (str, list, tuple)):
            raise InputError(f"input {key} (got {shown(value)}; expected a text, null or a list of entries)")
        for entry in value if isinstance(value, (list, tuple)) else ():
            if not _is_entry(entry):
                raise InputError(f"entry of input {key} (got {shown(entry)}; expected texts under id, text, source)")
    if rubric.per_item:
        entries = request.inputs[rubric.inputs[0]]
        ids = [entry.get("id") for entry in entries] if isinstance(entries, (list, tuple)) else []
    else:
        ids = list(request.items[:1])
    if not ids or ids != list(request.items) or len(set(ids)) < len(ids):
        raise InputError(
            f"items of {rubric.name} (got {shown(list(request.items))}; expected each id once: {shown(ids)})"
        )
    for key in rubric.sources:
        value = request.inputs[key]
        entries = value if isinstance(value, (list, tuple)) else ()
        ids = [entry.get("id") for entry in entries]
        if None in ids or len(set(ids)) < len(ids):
            raise InputError(f"sources in {key} (got {shown(ids)}; expected an id for each, and no id twice)")


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or "text" not in entry or not ENTRY_KEYS.issuperset(entry):
        return False
    return {str}.issuperset(map(type, entry.values()))


@lru_cache(maxsize=256)
def _fixed(rubric: JudgeRubric) -> dict[str, str]:
    """Return the values that a rubric fills into its frame for every request."""
    frame = FRAMES.get(rubric.language, ENGLISH)
    named = ", ".join(f'"{key}"' for key in rubric.sources)
    return {
        "task": _INPUT_NAME.sub(r'"\1"', rubric.task).strip(),
        "labels": "\n".join(_label(frame, label) for label in rubric.labels),
        "names": ", ".join(label.name for label in rubric.labels),
        "whole": "" if rubric.per_item else frame.whole,
        "quoting": fill(frame.quoting, {"quoted": ", ".join(rubric.quotes), "sources": named}) if rubric.quotes else "",
    }


def _label(frame: Frame, label: RubricLabel) -> str:
    examples = [fill(frame.example, {"example": example.strip()}) for example in label.examples]
    return "\n  ".join([f"{label.name}: {label.meaning.strip()}", *examples])


def _schema(ids: tuple[str, ...], labels: tuple[str, ...], sources: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of the reply; properties stand in the order in which they are to be written."""
    text = {"type": "string"}
    item: dict[str, Any] = {"id": {"type": "string", "enum": list(ids)}, "reasoning": text}
    if sources:
        item |= {"source": {"type": "string", "enum": ["", *sources]}, "quote": text}
    item["label"] = {"type": "string", "enum": list(labels)}
    return _object({"items": {"type": "array", "items": _object(item)}, "echo": text})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(value: Any) -> str:
    """Return one line of JSON without a raw `<`, `>` or invisible character."""
    text = msgspec.json.encode(value).decode()
    if text.isascii() and not ("<" in text or ">" in text or "\x7f" in text):
        return text
    return _ESCAPED.sub(
        lambda match: json.dumps(match[0])[1:-1] if match[0] not in "<>" else f"\\u{ord(match[0]):04x}", text
    )

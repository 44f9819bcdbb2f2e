"""Replies and rows in the forms of common frameworks, read into the members of an observation.

Understood are the members of `Observation` and `rag-trace`, plain services (`answer` with `sources`, `contexts`,
`documents`, …), results of LangChain and LlamaIndex, rows of Ragas, test cases of DeepEval, and responses of OpenAI.
What is read under another name, and what is not read, is noted; what could be read in two ways is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from assay.formats.foreign.chunk_shapes import NoteReading, ShapeError, read_chunk, read_chunks
from assay.formats.foreign.provider_replies import extract_text, is_refusal, open_provider_reply
from assay.records.errors import shorten_repr
from assay.records.observations import CONTEXT_STAGE, RETRIEVED_STAGE, Chunk, Observation, Stage, TargetError, Usage
from assay.text.late_pattern import LatePattern
from assay.text.near_names import find_near_word
from assay.text.pattern_cache import compile_pattern

STAGE_KEYS = {"retrieved_chunks": RETRIEVED_STAGE, "reranked_chunks": "reranked", "context_chunks": CONTEXT_STAGE}
"""The members of the contract `rag-trace` that hold a ranking, with its stage."""
STAGE_LIST_KEYS = {"retrieved": RETRIEVED_STAGE, "reranked": "reranked"}
"""The members of the format `stage-lists` that hold a ranking besides `context`, with its stage."""
TEXT_LIST_KEYS = ("contexts", "retrieved_contexts", "retrieval_context")
"""Members of which Ragas and DeepEval define that their strings are texts, not ids."""
RANKING_KEYS = (
    "results", "hits", "matches", "documents", "docs", "chunks", "passages", "nodes", "retrieved_documents",
    "source_documents", "sources", "source_nodes", *TEXT_LIST_KEYS,
)  # fmt: skip
SHOWN_KEYS = ("source_nodes",)
"""Members of which a framework defines that the model was shown them; so is `context`."""
ANSWER_KEYS = ("answer", "response", "actual_output")
OTHER_ANSWER_KEYS = (
    "output_text", "output", "result", "generated_text", "completion", "content", "text", "reply", "final_answer",
    "generated_answer", "predicted_answer", "prediction", "message",
)  # fmt: skip
SURE_ANSWER_KEYS = frozenset(OTHER_ANSWER_KEYS) - {"result", "content", "text", "message"}
"""Names of an answer that a recorded row has for nothing else; a service may report a second text under any of them."""
QUESTION_KEYS = ("question", "query", "input", "user_input")
EXPECTED_KEYS = (
    "reference", "references", "reference_contexts", "reference_context_ids", "rubrics", "rubric", "expected_output",
    "expected_tools", "ground_truth", "ground_truths",
)  # fmt: skip
"""Members of rows of Ragas and DeepEval that belong to the golden set."""
_ENVELOPE_KEYS = frozenset(
    ("object", "id", "created", "created_at", "chat_history", "messages", "metadata", "class_name")
)
SURROUNDING_KEYS = _ENVELOPE_KEYS | {*QUESTION_KEYS, *EXPECTED_KEYS}
"""Members of replies and rows that are neither read nor missed."""
_SEARCH_KEYS = ("results", "hits", "documents")
"""Members that are the result of the system's own search where other stages are reported by their names."""
_ANSWER_NAME = LatePattern(
    r"(?<!status_)(?<!error_)(?:answer|reply|response|output|completion|prediction|generation|message)"
    r"_?(?:text|content|body|markdown|html)?$",
    re.IGNORECASE,
)
"""How the name of a member ends that is likely to be the answer: `bot_reply`, `answerText`."""
_WORD_OF_KEY = compile_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
_ANSWER_WORDS = ("answer", "response", "reply", "output", "completion", "prediction", "generation")
_FORM_WORDS = frozenset(("text", "content", "body", "markdown", "html"))
"""What may follow the word for an answer in the name of a member."""
_OWN_KEYS = frozenset(Observation.__struct_fields__) | {"query_id"}
_TOKEN_KEYS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}


class ReplyShape(Struct):
    """A reply taken apart: `row` has members of an Observation, `rankings` its stages in order.

    `is_recorded` tells a row of a file or of Python, which is to be changed itself, from the reply of a target, of
    which the settings say where its parts are.
    """

    row: dict[str, Any] = field(default_factory=dict)
    rankings: list[Stage] = field(default_factory=list)
    has_stages: bool = False
    is_recorded: bool = False


def recognise_reply(
    reply: Mapping[Any, Any],
    note: NoteReading,
    *,
    search_stage: str = "",
    needs_answer: bool = True,
    is_recorded: bool = False,
) -> ReplyShape:
    """Return the parts of a reply; `search_stage` names the stage of a search, which needs no answer.

    `is_recorded`: the reply is a row of a file or of Python. Raises ShapeError for a ranking that cannot be read, where
    two members could be the answer or the ranking, and, with `needs_answer`, where no member is read as the answer but
    one is named like it.
    """
    members = {str(key): value for key, value in reply.items()}
    consumed: set[str] = set()
    open_provider_reply(members, note)
    row = {key: members[key] for key in _OWN_KEYS if key in members and key != "stages"}
    shape = ReplyShape(row, is_recorded=is_recorded)
    if "error" in row:
        row["error"] = _read_error(row["error"])
    consumed.update(_OWN_KEYS & members.keys())
    _read_named_stages(members, shape, note, consumed)
    _read_ranking(members, shape, note, consumed, search_stage)
    if not search_stage:
        _read_context(members, shape, note, consumed)
        _read_answer(members, shape, note, consumed)
    shape.row |= {"usage": _rename_tokens(shape.row["usage"])} if isinstance(shape.row.get("usage"), Mapping) else {}
    ignored = _list_ignored(members, consumed)
    if needs_answer and not search_stage:
        _refuse_unread_answer(members, ignored, shape)
    _note_ignored(members, ignored, note)
    return shape


def _read_error(error: Any) -> Any:
    """Return what a reply says went wrong, which may be a text or have other members, as an error of the target."""
    if isinstance(error, str):
        return TargetError("error", error) if error else None
    if isinstance(error, Mapping) and not isinstance(error.get("code"), str):
        message = error.get("message") or error.get("detail") or ", ".join(f"{key}: {error[key]}" for key in error)
        return TargetError(str(error.get("code") or error.get("type") or "error"), str(message))
    return error


# ── rankings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_named_stages(members: dict[str, Any], shape: ReplyShape, note: NoteReading, consumed: set[str]) -> None:
    """Read `stages`, the rankings of `rag-trace`, whose strings are ids, and those of `stage-lists`."""
    stages = members.get("stages")
    if stages is not None and not isinstance(stages, (list, tuple)):
        raise ShapeError(f"stages: not a list (got {shorten_repr(stages)})")
    shape.has_stages = stages is not None
    shape.rankings = [_read_stage(stage, note) for stage in stages or ()]
    for key, name in STAGE_KEYS.items():
        if members.get(key) is not None and all(stage.name != name for stage in shape.rankings):
            shape.rankings.append(Stage(name, _read_list(key, members[key], note)))
            consumed.add(key)
    for key, name in STAGE_LIST_KEYS.items():
        if members.get(key) is not None and all(stage.name != name for stage in shape.rankings):
            shape.rankings.append(Stage(name, _read_list(key, members[key], note, "either")))
            consumed.add(key)


def _read_list(key: str, items: Any, note: NoteReading, strings: str = "ids") -> tuple[Chunk, ...]:
    """Return the chunks of a member. Raises ShapeError that names the member."""
    try:
        return read_chunks(items, note, strings=strings)
    except ShapeError as error:
        raise ShapeError(f"{key}: {error}") from None


def _read_stage(stage: Any, note: NoteReading) -> Stage:
    if isinstance(stage, Stage):
        return stage
    if not isinstance(stage, Mapping) or not isinstance(stage.get("name"), str):
        raise ShapeError(f"stages: not a stage (got {shorten_repr(stage)}; expected name and chunks)")
    latency = stage.get("latency_ms")
    if latency is not None and (not isinstance(latency, (int, float)) or isinstance(latency, bool)):
        raise ShapeError(f"stages: latency_ms is not a number (got {shorten_repr(latency)})")
    chunks = _read_list(f"stages.{stage['name']}", stage.get("chunks"), note)
    return Stage(stage["name"], chunks, None if latency is None else float(latency))


def _read_ranking(
    members: dict[str, Any], shape: ReplyShape, note: NoteReading, consumed: set[str], search_stage: str
) -> None:
    """Read the one ranking that stands under a common name."""
    if isinstance(members.get("hits"), Mapping) and isinstance(members["hits"].get("hits"), list):
        members["hits"] = members["hits"]["hits"]  # the reply of a search engine
    named = {key: members[key] for key in RANKING_KEYS if isinstance(members.get(key), (list, tuple))}
    if SHOWN_KEYS[0] in named:
        named.pop("sources", None)  # of a chat engine of LlamaIndex: what its tools returned
    named |= _join_ids_with_texts(members, named, consumed)
    if not named:
        _refuse_other_rankings(members, shape, search_stage)
        return
    key, items = next(iter(named.items()))
    if any(list(other) != list(items) for other in named.values()):
        remedy = "one of them, or response.stages in the target's settings"
        if shape.is_recorded:
            remedy = (
                "one of them in a row; the ids and texts of the same chunks go together as retrieved_context_ids and "
                "retrieved_contexts, or as a list of objects with id and text"
            )
        raise ShapeError(f"two rankings, {' and '.join(named)} (expected {remedy})")
    consumed.update(named)
    name = search_stage or (RETRIEVED_STAGE if not shape.rankings else "search")
    if shape.rankings and (key not in _SEARCH_KEYS or any(stage.name == name for stage in shape.rankings)):
        note(f"{key} was not read, because the stage {shape.rankings[0].name} is reported by its name")
        return
    chunks = _read_list(key, items, note, "texts" if key in TEXT_LIST_KEYS else "either")
    shape.rankings.append(Stage(name, chunks))
    shown = key in SHOWN_KEYS and not search_stage
    stages = f"the stages {name} and {CONTEXT_STAGE}" if shown else f"the stage {name}"
    if key not in ("results", "hits") or name != search_stage:
        note(f"{key} is read as {stages}")
    if shown and all(stage.name != CONTEXT_STAGE for stage in shape.rankings):
        shape.rankings.append(Stage(CONTEXT_STAGE, chunks))


def _join_ids_with_texts(
    members: Mapping[str, Any], named: Mapping[str, Sequence[Any]], consumed: set[str]
) -> dict[str, Sequence[Any]]:
    """Return the `retrieved_contexts` of a Ragas row with the ids that the row may give in a list of their own."""
    ids, texts = members.get("retrieved_context_ids"), named.get("retrieved_contexts")
    if not isinstance(ids, (list, tuple)):
        return {}
    consumed.add("retrieved_context_ids")
    if texts is None:
        return {"retrieved_context_ids": [{"id": chunk_id} for chunk_id in ids]}
    if len(ids) != len(texts):
        raise ShapeError(
            f"retrieved_context_ids: not one for each of retrieved_contexts (got {len(ids)}; expected {len(texts)})"
        )
    return {"retrieved_contexts": [{"id": chunk_id, "text": text} for chunk_id, text in zip(ids, texts, strict=True)]}


def _refuse_other_rankings(members: Mapping[str, Any], shape: ReplyShape, search_stage: str) -> None:
    present = [key for key in RANKING_KEYS if members.get(key) is not None]
    if present and (search_stage or not shape.rankings):
        got = shorten_repr(members[present[0]])
        raise ShapeError(
            f"{present[0]}: a ranking that is not a list (got {got}; expected a list of texts, or of objects "
            "with id or text)"
        )


def _read_context(members: dict[str, Any], shape: ReplyShape, note: NoteReading, consumed: set[str]) -> None:
    """Read `context`: what a retrieval chain showed its model. In a test case of DeepEval it is what is expected.

    A retrieval chain returns what it retrieved under this name; a recorded row states one stage, as in `stage-lists`.
    """
    context = members.get("context")
    if context is None or isinstance(context, Mapping):
        return
    consumed.add("context")
    if "actual_output" in members or "retrieval_context" in members:
        note("context is not read: in a test case of DeepEval it belongs to the golden set")
        return
    if any(stage.name == CONTEXT_STAGE for stage in shape.rankings):
        note("context was not read, because the stage context is reported too")
        return
    items = [context] if isinstance(context, str) else context
    has_lists = shape.is_recorded or not STAGE_LIST_KEYS.keys().isdisjoint(members)
    chunks = _read_list("context", items, note, "either" if has_lists else "texts")
    if shape.rankings or shape.is_recorded or isinstance(context, str):
        note(f"context is read as the stage {CONTEXT_STAGE}")
    else:
        note(f"context is read as the stages {RETRIEVED_STAGE} and {CONTEXT_STAGE}")
        shape.rankings.append(Stage(RETRIEVED_STAGE, chunks))
    shape.rankings.append(Stage(CONTEXT_STAGE, chunks))


# ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_answer(members: dict[str, Any], shape: ReplyShape, note: NoteReading, consumed: set[str]) -> None:
    candidates = {key: members[key] for key in ANSWER_KEYS if key in members}
    if candidates and shape.is_recorded:
        second = {key: members[key] for key in OTHER_ANSWER_KEYS if key in SURE_ANSWER_KEYS & members.keys()}
        candidates |= {key: text for key, text in second.items() if isinstance(text, str)}
    if not candidates:
        candidates = dict(list_other_answers(members))
    if not candidates and isinstance(members.get("messages"), (list, tuple)):
        candidates = _find_last_message(members["messages"])
        consumed.update(candidates)
    if not candidates:
        return
    values = {key: _flatten_text(value) for key, value in candidates.items()}
    key, value = next(iter(values.items()))
    if shape.row.get("behaviour") is None and (is_refusal(members.get(key)) or is_refusal(candidates[key])):
        shape.row["behaviour"] = "abstain"
    if len(values) > 1 and any(other != value for other in values.values()):
        remedy = "in a row" if shape.is_recorded else "or response.answer in the target's settings"
        separator = " " if shape.is_recorded else ", "
        raise ShapeError(f"two answers, {' and '.join(values)} (expected one of them{separator}{remedy})")
    consumed.update(values)
    shape.row["answer"] = value
    if key != "answer":
        note(f"the answer is read from {key}")


def list_other_answers(members: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts under names that an answer has in some frameworks, by their names.

    >>> list_other_answers({"query": "How long?", "result": "Nine days.", "message": "ok"})
    {'result': 'Nine days.'}
    """
    texts = {key: extract_text(members.get(key)) for key in OTHER_ANSWER_KEYS}
    if isinstance(members.get("message"), str):
        del texts["message"]  # often says that the call succeeded
    return {key: text for key, text in texts.items() if text is not None}


def _refuse_unread_answer(members: Mapping[str, Any], ignored: Sequence[str], shape: ReplyShape) -> None:
    """Refuse a reply without an answer in which a member that was not read is named like one.

    Its case would count as one that was asked for a ranking alone.
    """
    if "answer" in shape.row or shape.row.get("behaviour") or shape.row.get("error"):
        return
    named = name_unread_answers({key: members[key] for key in ignored})
    if named:
        remedy = (
            "it under the name answer" if shape.is_recorded else "answer, or response.answer in the target's settings"
        )
        raise ShapeError(f'no answer, but {named} (expected {remedy}; "answer": null says that there is none)')


def name_unread_answers(unread: Mapping[str, Any]) -> str:
    """Return what of the members that were not read is probably the answer, "" where nothing is: texts under a name
    like that of an answer, and anything but a number under such a name with a misspelt letter.

    >>> name_unread_answers({"bot_reply": "Ninety days.", "trace": "t-1"})
    'a text in bot_reply'
    >>> name_unread_answers({"respnse": ["Ninety days."], "answer_id": "a-1"})
    'respnse (did you mean response?)'
    """
    named = [key for key, value in unread.items() if _ANSWER_NAME.search(key) and extract_text(value)]
    parts = [f"a text in {' and '.join(named)}"] if named else []
    for key, value in unread.items():
        meant = "" if isinstance(value, (bool, int, float)) else find_misspelt_answer(key)
        parts += [f"{key} (did you mean {meant}?)"] if meant else []
    return " and ".join(parts)


def find_misspelt_answer(key: str) -> str:
    """Return the name of an answer that a member's name becomes where one letter is corrected; "" where there is none.

    >>> find_misspelt_answer("anwser"), find_misspelt_answer("botRepsonse"), find_misspelt_answer("final_outptu_text")
    ('answer', 'botResponse', 'final_output_text')
    >>> find_misspelt_answer("answer_id"), find_misspelt_answer("answered"), find_misspelt_answer("answer")
    ('', '', '')
    """
    matches = list(_WORD_OF_KEY.finditer(key))
    while len(matches) > 1 and matches[-1][0].lower() in _FORM_WORDS:
        matches.pop()
    word = matches[-1][0] if matches else ""
    meant = find_near_word(word.lower(), _ANSWER_WORDS) if word.lower() not in _ANSWER_WORDS else ""
    if not meant:
        return ""
    written = meant.capitalize() if word.istitle() else meant
    return key[: matches[-1].start()] + written + key[matches[-1].end() :]


_PLAIN_KEY = compile_pattern(r"[A-Za-z_][\w-]*")
_MOST_LEVELS = 5
_FEWEST_WORDS = 3
"""A text with fewer words, such as a state, is taken for an answer only if its name says so."""


def find_answer_like_text(reply: Any) -> str:
    """Return the path of the text in a reply that is most likely its answer, "" where none is: by its name, else the
    longest text of some words outside lists.

    >>> find_answer_like_text({"payload": {"bot_reply": "Ninety days."}, "meta": {"model": "small"}})
    'payload.bot_reply'
    >>> find_answer_like_text({"state": "ok"})
    ''
    """
    likely: list[tuple[bool, int, str]] = []
    for path, text in _iter_texts(reply, "", _MOST_LEVELS):
        name = path.rpartition(".")[2]
        is_named = _ANSWER_NAME.search(name) is not None
        if is_named or (len(text.split()) >= _FEWEST_WORDS and "[" not in path):
            likely.append((is_named, len(text), path))
    return max(likely, key=lambda candidate: candidate[:2])[2] if likely else ""


def _iter_texts(value: Any, path: str, levels: int) -> Iterator[tuple[str, str]]:
    """Yield the texts below a value with their paths; of lists, those of the first item."""
    if isinstance(value, str) and value.strip() and path:
        yield path, value
    elif isinstance(value, Mapping) and levels:
        for key, item in value.items():
            if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) and key not in QUESTION_KEYS:
                yield from _iter_texts(item, f"{path}.{key}" if path else key, levels - 1)
    elif isinstance(value, (list, tuple)) and value and path and levels:
        yield from _iter_texts(value[0], f"{path}[0]", levels - 1)


def _find_last_message(messages: Sequence[Any]) -> dict[str, Any]:
    last = messages[-1] if messages else None
    if not isinstance(last, Mapping) or "content" not in last:
        return {}
    is_reply = last.get("type") in ("ai", "AIMessage", "AIMessageChunk") or last.get("role") == "assistant"
    if not is_reply:
        return {}
    return {"messages": last if extract_text(last) is not None else last["content"]}


def _flatten_text(value: Any) -> Any:
    """Return the text of a message, or the value as it is, so that what is not a text is refused as such."""
    text = extract_text(value)
    return value if text is None else text


def _rename_tokens(usage: Mapping[Any, Any]) -> dict[str, Any]:
    return {_TOKEN_KEYS.get(str(key), str(key)): value for key, value in usage.items()}


# ── what was not read ────────────────────────────────────────────────────────────────────────────────────────────────


def _list_ignored(members: Mapping[str, Any], consumed: set[str]) -> list[str]:
    """Return the names of the members that were not read, without those that surround every reply."""
    return [
        key
        for key, value in members.items()
        if key not in consumed and key not in SURROUNDING_KEYS
        if value is not None and not key.startswith("x_")
    ]


def _note_ignored(members: Mapping[str, Any], ignored: Sequence[str], note: NoteReading) -> None:
    expected = [key for key in EXPECTED_KEYS if members.get(key) is not None]
    if expected:
        note(f"not read, because they belong to the golden set: {', '.join(expected)}")
    if ignored:
        described = [_describe_key(key, isinstance(members[key], (list, tuple, Mapping))) for key in ignored]
        note(f"keys that were not read: {', '.join(described)}")


_READABLE = (*sorted(_OWN_KEYS), *STAGE_KEYS, *STAGE_LIST_KEYS, *RANKING_KEYS, *ANSWER_KEYS, CONTEXT_STAGE)


_STRUCTURED = frozenset((*STAGE_KEYS, *STAGE_LIST_KEYS, *RANKING_KEYS, "stages", "usage", "versions", "tool_calls"))
"""Members that are lists or objects: a plain value, such as `"status": "ok"`, is none of them misspelt."""
_SINGLE = tuple(name for name in _READABLE if name not in _STRUCTURED)


_USAGE_NAMES = {"latency_ms": "end_to_end_ms", **{name: name for name in Usage.__struct_fields__}}
"""Members of the usage that rows often have beside the answer, by the name that they have there."""


@lru_cache(maxsize=256)  # every row of a file has the same
def _describe_key(key: str, is_structured: bool) -> str:
    if key in _USAGE_NAMES:
        return f"{key} (read under the name usage.{_USAGE_NAMES[key]})"
    near = get_close_matches(key.lower(), _READABLE if is_structured else _SINGLE, n=1)
    return f"{key} (did you mean {near[0]}?)" if near else key


def read_citation(item: Any, index: int, note: NoteReading) -> str:
    """Return the id of a cited chunk, which is given as its id or as the chunk. Raises ShapeError."""
    return item if isinstance(item, str) else read_chunk(item, index, note).chunk_id


def read_citations(citations: Any, note: NoteReading) -> list[str] | None:
    """Return the ids of cited chunks, None where none were reported. Raises ShapeError."""
    if citations is None:
        return None
    if not isinstance(citations, (list, tuple)):
        raise ShapeError(f"citations: not a list (got {shorten_repr(citations)})")
    return [read_citation(item, index, note) for index, item in enumerate(citations)]

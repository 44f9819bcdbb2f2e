"""Control questions: controls that no judge may reward, and anchors that detect drift."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from msgspec import structs

from assay.errors import InputError
from assay.verdict import Anchor, JudgeRequest, JudgeRubric

CEILING = 0.2
"""The highest mean value of the labels on controls; a judge above it is invalid."""

ControlKind = Literal["foreign_context", "swapped_answer", "other_number", "empty_answer", "colon_answer"]
# What makes a right answer wrong depends on the rubric: an answer with another number is still relevant.
_KINDS: dict[str, tuple[ControlKind, ...]] = {
    "support": ("foreign_context", "swapped_answer", "other_number", "colon_answer"),
    "citation_support": ("foreign_context", "other_number", "colon_answer"),
    "correctness": ("swapped_answer", "empty_answer", "colon_answer"),
    "relevance": ("swapped_answer", "empty_answer", "colon_answer"),
    "completeness": ("swapped_answer", "empty_answer", "colon_answer"),
    "grade": ("swapped_answer", "empty_answer", "colon_answer"),
}
_NUMBER = re.compile(r"\d+")


class Control(NamedTuple):
    """A request that deserves no more than the lowest label."""

    kind: ControlKind
    request: JudgeRequest


def controls(request: JudgeRequest, foreign: JudgeRequest) -> tuple[Control, ...]:
    """Return the controls that can be made from a request with parts of another case's request under the same rubric.

    There are none for rubrics whose labels have no value. A kind is left out if it might not be wrong: a foreign
    context that shares texts, an equal answer, claims without numbers.

    Raises InputError for a foreign request of another rubric.
    """
    if request.rubric_hash != foreign.rubric_hash:
        raise InputError(f"controls need two requests of one rubric (got {request.rubric} and {foreign.rubric})")
    possible_controls = []
    for kind in _KINDS.get(request.rubric, ()):
        control_request = _MAKERS[kind](request, foreign)
        if control_request is not None:
            possible_controls.append(Control(kind, control_request))
    return tuple(possible_controls)


def _foreign_context(request: JudgeRequest, foreign: JudgeRequest) -> JudgeRequest | None:
    own, other = request.inputs["context"], foreign.inputs["context"]
    texts = [entry["text"] for entry in other]
    if not texts or {entry["text"] for entry in own} & set(texts):
        return None
    # The ids stay, because citations name them; only their texts are foreign.
    context = [{**entry, "text": texts[index % len(texts)]} for index, entry in enumerate(own)]
    return _replace_inputs(request, context=context) if own else None


def _swapped_answer(request: JudgeRequest, foreign: JudgeRequest) -> JudgeRequest | None:
    if "answer" in request.inputs:
        answer = foreign.inputs["answer"]
        return None if _is_same_text(answer, request.inputs["answer"]) else _replace_inputs(request, answer=answer)
    claims = foreign.inputs["claims"]
    own = {entry["text"] for entry in request.inputs["claims"]}
    if not claims or own & {entry["text"] for entry in claims}:
        return None
    return _replace_inputs(request, claims=claims, items=foreign.items)


def _other_number(request: JudgeRequest, _: JudgeRequest) -> JudgeRequest | None:
    key = "claims" if "claims" in request.inputs else "citations"
    source_numbers: set[str] = set()
    for entry in request.inputs["context"]:
        source_numbers.update(_NUMBER.findall(entry["text"]))
    entries = []
    for entry in request.inputs[key]:
        if _NUMBER.search(entry["text"]):
            changed = _NUMBER.sub(lambda match: _replace_number(match[0], source_numbers), entry["text"])
            entries.append({**entry, "text": changed})
    return (
        _replace_inputs(request, items=tuple(entry["id"] for entry in entries), **{key: entries}) if entries else None
    )


def _replace_number(number: str, source_numbers: set[str]) -> str:
    """Return a number with as many digits, or one more, that does not occur in the sources."""
    candidate = int(number[-9:]) * 2 + 7
    while str(candidate) in source_numbers:
        candidate += 1
    return str(candidate)


def _empty_answer(request: JudgeRequest, _: JudgeRequest) -> JudgeRequest | None:
    return _replace_inputs(request, answer="")


def _colon_answer(request: JudgeRequest, _: JudgeRequest) -> JudgeRequest | None:
    if "answer" in request.inputs:
        return _replace_inputs(request, answer=":")
    key = "claims" if "claims" in request.inputs else "citations"
    first = {**request.inputs[key][0], "text": ":"}
    return _replace_inputs(request, items=(first["id"],), **{key: [first]})


_MAKERS = {
    "foreign_context": _foreign_context,
    "swapped_answer": _swapped_answer,
    "other_number": _other_number,
    "empty_answer": _empty_answer,
    "colon_answer": _colon_answer,
}


def _replace_inputs(request: JudgeRequest, *, items: tuple[str, ...] | None = None, **inputs: Any) -> JudgeRequest:
    item_ids = request.items if items is None else items
    return structs.replace(request, inputs={**request.inputs, **inputs}, items=item_ids)


def _is_same_text(text: Any, other: Any) -> bool:
    return not other or not text or str(text).split() == str(other).split()


# ── anchors ──────────────────────────────────────────────────────────────────────────────────────────────────────

CLAIM = "claim"


def anchor_request(anchor: Anchor, rubric: JudgeRubric) -> JudgeRequest:
    """Return the request that asks an anchor's claim under the rubric `support` of its language."""
    return JudgeRequest(
        rubric=rubric.name,
        version=rubric.version,
        rubric_hash=rubric.hash,
        language=rubric.language,
        inputs={
            "claims": [{"id": CLAIM, "text": anchor.claim}],
            "question": anchor.question,
            "context": [{"id": f"p{number}", "text": text} for number, text in enumerate(anchor.context, 1)],
        },
        items=(CLAIM,),
        labels=tuple(label.name for label in rubric.labels),
        quotes=rubric.quotes,
    )


def separation(scores: Sequence[float], grounded: Sequence[bool]) -> tuple[float, float]:
    """Return how well scores separate grounded answers from others: the area under the ROC curve, and the gap of means.

    The area is in [0, 1], 0.5 for chance, ties count half; the gap is in the unit of the scores, positive when right.
    Raises InputError for fewer than three grounded or two other answers, too few for an estimate.

    >>> separation([0.9, 1.0, 0.8, 0.2, 0.8], [True, True, True, False, False])
    (0.9166666666666666, 0.4)
    """
    pairs = list(zip(scores, grounded, strict=True))
    good, bad = [score for score, is_good in pairs if is_good], [score for score, is_good in pairs if not is_good]
    if len(good) < 3 or len(bad) < 2:
        raise InputError(f"too few to separate (got {len(good)} grounded and {len(bad)} others; expected 3 and 2)")
    wins = sum((g > b) + (g == b) / 2 for g in good for b in bad)
    return wins / (len(good) * len(bad)), round(sum(good) / len(good) - sum(bad) / len(bad), 12)

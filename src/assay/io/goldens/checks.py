"""The rules that a labelled case must keep, whatever format it came from; each breach is an error or a warning."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from assay.errors import shown
from assay.io.names import moment_fault
from assay.io.strictjson import pointer
from assay.model import Case, Evidence, Rubric, Selector
from assay.scoring.slices import BUILT_IN

if TYPE_CHECKING:
    from assay.io.goldens.base import Spot
    from assay.io.goldens.builder import Builder

MAX_TAGS = 100
SEPARATORS = (":", "#", "/")
"""What may follow a document's name inside a chunk id; a citation of the document then stands for the chunk."""
MIN_LEAKED_WORDS = 3
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters of Hangul and Braille without ink


def check_case(case: Case, folded_question: str, builder: Builder, spot: Spot) -> None:
    """Note everything in the case that contradicts itself or cannot be scored."""
    if _blank(case.question):
        _check_no_question(case, builder, spot)
    elif case.reference is not None:
        _check_reference(case.reference, folded_question, builder, spot)
    if len(case.tags) > MAX_TAGS:
        builder.error(spot, "tags", f"too many (got {len(case.tags)}; expected {MAX_TAGS} at most)", "E_TAGS")
    for name in case.attributes:
        _check_attribute(name, builder, spot)
    if case.must_have:
        _check_texts("must_have", case.must_have, builder, spot)
    if case.forbidden_text:
        _check_texts("forbidden_text", case.forbidden_text, builder, spot)
    if case.rubric is not None:
        _check_rubric(case.rubric, builder, spot)
    if case.user is not None and case.user.as_of is not None and (fault := moment_fault(case.user.as_of)):
        builder.error(spot, "user.as_of", fault, "E_DATE")
    _check_behaviour(case, builder, spot)


def _blank(text: str) -> bool:
    """Whether nothing of a text can be seen: spaces, control and zero-width characters, fillers."""
    return all(letter in _FILLERS or unicodedata.category(letter) in _UNSEEN for letter in text)


def _check_attribute(name: str, builder: Builder, spot: Spot) -> None:
    """An attribute is a slice, `name=value`: reports, --by and gates must mean the same cases by it."""
    if name in BUILT_IN:
        wrong = f"name of a built-in slice (got {shown(name)}; expected another, because {name}= reads the case itself)"
    elif "=" in name:
        wrong = f"no name of a slice (got {shown(name)}; expected one without =, which ends the name of a slice)"
    else:
        return
    builder.error(spot, pointer("attributes", name), wrong, "E_ATTRIBUTE")


def _check_no_question(case: Case, builder: Builder, spot: Spot) -> None:
    """Judgments of a query whose words stand in the run file are the only cases that may lack a question."""
    judged_only = case.behaviour == "answer" and not _answer_gold(case)
    if case.question or builder.form.needs_question or not judged_only:
        message = f"empty question (got {shown(case.question)}; expected the words that the system is asked)"
        builder.error(spot, "question", message, "E_QUESTION")


def _check_reference(reference: str, question: str, builder: Builder, spot: Spot) -> None:
    if _blank(reference):
        message = f"empty reference (got {shown(reference)}; expected an answer, or no such field)"
        builder.error(spot, "reference", message, "E_REFERENCE")
    elif _tells(unicodedata.normalize("NFC", reference), question):
        message = (
            f"the question holds its own answer (got {shown(reference)}; expected a question that does not tell it)"
        )
        builder.warn(spot, "question", message, "E_LEAK")


def _tells(reference: str, question: str) -> bool:
    """Short words such as "no" stand in many questions; three words, or a number, are an answer given away."""
    told = reference.casefold().strip(" .,;:!?…\"'()")
    if told not in question:
        return False
    enough = len(told.split()) >= MIN_LEAKED_WORDS or any(letter.isdigit() for letter in told)
    return enough and re.search(rf"(?<!\w){re.escape(told)}(?!\w)", question) is not None


def _check_texts(name: str, texts: tuple[str, ...], builder: Builder, spot: Spot) -> None:
    for index, text in enumerate(texts):
        if _blank(text):
            message = f"empty text (got {shown(text)}; expected words, because an empty text is found in everything)"
            builder.error(spot, f"{name}[{index}]", message, "E_TEXT")


def _check_rubric(rubric: Rubric, builder: Builder, spot: Spot) -> None:
    _check_texts("rubric.correct_keywords", rubric.correct_keywords, builder, spot)
    _check_texts("rubric.incorrect_patterns", rubric.incorrect_patterns, builder, spot)
    wrong = {pattern.casefold() for pattern in rubric.incorrect_patterns}
    for keyword in rubric.correct_keywords:
        if keyword.casefold() in wrong:
            message = f"both right and wrong (got {shown(keyword)}; expected it in one of the two lists)"
            builder.error(spot, "rubric.correct_keywords", message, "E_RUBRIC")


def _check_behaviour(case: Case, builder: Builder, spot: Spot) -> None:
    relevant = [unit for unit in case.evidence if unit.grade]
    if case.behaviour == "abstain" and (relevant or case.must_cite):
        name = "evidence" if relevant else "must_cite"
        got = shown(_ids(relevant) if relevant else list(case.must_cite))
        message = f"abstain case with sources (got {got}; expected none, or behaviour answer or permission_denied)"
        builder.error(spot, name, message, "E_BEHAVIOUR")
    elif case.behaviour == "permission_denied":
        _check_denied(case, relevant, builder, spot)
    else:
        _check_sources(case, relevant, builder, spot)
    if case.behaviour == "answer":
        _check_answerable(case, relevant, builder, spot)


def _check_denied(case: Case, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    user = case.user
    if user is None or not (user.tenant or user.roles or user.position is not None or user.as_of or user.id):
        message = f"permission_denied without a user (got {shown(user)}; expected who asks: tenant, roles or position)"
        builder.error(spot, "user", message, "E_BEHAVIOUR")
    if not relevant and not case.forbidden:
        message = "permission_denied without forbidden chunks (got none; expected the ids that this user may not see)"
        builder.error(spot, "evidence", message, "E_BEHAVIOUR")


def _check_answerable(case: Case, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    if relevant or builder.judgments == "partial":
        return
    if case.evidence:
        message = (
            "answer case whose evidence is all graded 0 (got no grade above 0; expected one, or behaviour abstain)"
        )
        builder.error(spot, "evidence", message, "E_UNANSWERABLE")
    elif not (_answer_gold(case) or case.must_cite or case.forbidden or case.forbidden_text):
        message = "answer case with nothing to score (got no evidence and no reference; expected either)"
        builder.error(spot, "evidence", message, "E_NO_GOLD")


def _check_sources(case: Case, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    """What must be cited has to be evidence; what is evidence cannot be forbidden."""
    if case.must_cite and relevant and builder.judgments == "complete":
        for index, wanted in enumerate(case.must_cite):
            if not _citable(wanted, relevant):
                _refuse_citation(wanted, index, relevant, builder, spot)
    if not case.forbidden:
        return
    evidence = {frozenset(selector.items()) for unit in relevant for selector in unit.any_of}
    for index, selector in enumerate(case.forbidden):
        if frozenset(selector.items()) in evidence:
            message = f"both evidence and forbidden (got {shown(selector)}; expected one of the two)"
            builder.error(spot, f"forbidden[{index}]", message, "E_FORBIDDEN")


def _refuse_citation(wanted: str, index: int, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    """Ids without parts (`c-17`) tell no document, but a corpus may: then the citation is only doubtful."""
    expected = f"an id of the evidence, or the beginning of one up to : # or /: {shown(_ids(relevant))}"
    if any(mark in text for text in (wanted, *_ids(relevant)) for mark in SEPARATORS):
        message = f"can never match the evidence (got {shown(wanted)}; expected {expected})"
        builder.error(spot, f"must_cite[{index}]", message, "E_MUST_CITE")
    else:
        message = f"matches only where the corpus has it as document (got {shown(wanted)}; expected {expected})"
        builder.warn(spot, f"must_cite[{index}]", message, "E_MUST_CITE")


def _citable(wanted: str, relevant: list[Evidence]) -> bool:
    for unit in relevant:
        for selector in unit.any_of:
            if _may_cite(wanted, selector):
                return True
    return False


def _may_cite(wanted: str, selector: Selector) -> bool:
    """Whether a chunk that the selector names could be cited as `wanted`: the whole id, or its document by prefix.

    A selector without a chunk id names its chunks by document, path or title, so a finer `wanted` may match as well;
    one that has none of these (a quote, a page) says nothing against it.
    """
    chunk_id = selector.get("chunk_id")
    if chunk_id is not None:
        return wanted in (chunk_id, selector.get("document")) or _begins(str(chunk_id), wanted)
    names = [str(selector[key]) for key in ("document", "path", "title") if key in selector]
    return not names or any(wanted == name or _begins(wanted, name) for name in names)


def _begins(name: str, part: str) -> bool:
    return name.startswith(part) and name[len(part) : len(part) + 1] in SEPARATORS


def _answer_gold(case: Case) -> bool:
    rubric = case.rubric
    keywords = rubric is not None and bool(rubric.correct_keywords or rubric.incorrect_patterns)
    return bool(case.reference or case.must_have or keywords or case.symbols)


def _ids(units: list[Evidence]) -> list[str]:
    return [", ".join(str(value) for value in selector.values()) for unit in units for selector in unit.any_of]

"""Checks of a labelled case, the same for all formats; each violation is an error or a warning."""

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
"""Separators after the document name in a chunk id; a citation of the document then matches the chunk."""
MIN_LEAKED_WORDS = 3
"""A reference of at least so many words that is contained in its question is reported as leaked."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul fillers and the blank Braille pattern


def check_case(case: Case, folded_question: str, builder: Builder, spot: Spot) -> None:
    """Note every contradiction in the case and everything that cannot be scored."""
    if _is_blank(case.question):
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
    if case.user is not None and case.user.as_of is not None:
        fault = moment_fault(case.user.as_of)
        if fault:
            builder.error(spot, "user.as_of", fault, "E_DATE")
    _check_behaviour(case, builder, spot)


def _is_blank(text: str) -> bool:
    """Return whether a text has no visible character, only spaces, control, zero-width and filler characters."""
    return all(letter in _BLANK_LETTERS or unicodedata.category(letter) in _INVISIBLE_CATEGORIES for letter in text)


def _check_attribute(name: str, builder: Builder, spot: Spot) -> None:
    """Note an error for an attribute that would be ambiguous as a slice `name=value` in reports, --by and gates."""
    if name in BUILT_IN:
        message = (
            f"name of a built-in slice (got {shown(name)}; expected another, because {name}= reads the case itself)"
        )
    elif "=" in name:
        message = f"no name of a slice (got {shown(name)}; expected one without =, which ends the name of a slice)"
    else:
        return
    builder.error(spot, pointer("attributes", name), message, "E_ATTRIBUTE")


def _check_no_question(case: Case, builder: Builder, spot: Spot) -> None:
    """Note an error for an empty question; only pure relevance judgments may do without, as in qrels files."""
    judged_only = case.behaviour == "answer" and not _has_answer_gold(case)
    if case.question or builder.form.needs_question or not judged_only:
        message = f"empty question (got {shown(case.question)}; expected the words that the system is asked)"
        builder.error(spot, "question", message, "E_QUESTION")


def _check_reference(reference: str, question: str, builder: Builder, spot: Spot) -> None:
    if _is_blank(reference):
        message = f"empty reference (got {shown(reference)}; expected an answer, or no such field)"
        builder.error(spot, "reference", message, "E_REFERENCE")
    elif _gives_away(unicodedata.normalize("NFC", reference), question):
        message = f"the question contains its own answer (got {shown(reference)}; expected one that does not)"
        builder.warn(spot, "question", message, "E_LEAK")


def _gives_away(reference: str, question: str) -> bool:
    """Return whether the question contains the reference answer.

    Short words such as "no" occur in many questions by chance, so three words or a number are required.
    """
    answer = reference.casefold().strip(" .,;:!?…\"'()")
    if answer not in question:
        return False
    is_specific = len(answer.split()) >= MIN_LEAKED_WORDS or any(letter.isdigit() for letter in answer)
    return is_specific and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", question) is not None


def _check_texts(name: str, texts: tuple[str, ...], builder: Builder, spot: Spot) -> None:
    for index, text in enumerate(texts):
        if _is_blank(text):
            message = f"empty text (got {shown(text)}; expected words, because an empty text is found in everything)"
            builder.error(spot, f"{name}[{index}]", message, "E_TEXT")


def _check_rubric(rubric: Rubric, builder: Builder, spot: Spot) -> None:
    _check_texts("rubric.correct_keywords", rubric.correct_keywords, builder, spot)
    _check_texts("rubric.incorrect_patterns", rubric.incorrect_patterns, builder, spot)
    incorrect = {pattern.casefold() for pattern in rubric.incorrect_patterns}
    for keyword in rubric.correct_keywords:
        if keyword.casefold() in incorrect:
            message = f"both correct and incorrect (got {shown(keyword)}; expected it in one of the two lists)"
            builder.error(spot, "rubric.correct_keywords", message, "E_RUBRIC")


def _check_behaviour(case: Case, builder: Builder, spot: Spot) -> None:
    relevant = [unit for unit in case.evidence if unit.grade]
    if case.behaviour == "abstain" and (relevant or case.must_cite):
        name = "evidence" if relevant else "must_cite"
        got = shown(_selector_texts(relevant) if relevant else list(case.must_cite))
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
    elif not (_has_answer_gold(case) or case.must_cite or case.forbidden or case.forbidden_text):
        message = "answer case with nothing to score (got no evidence and no reference; expected either)"
        builder.error(spot, "evidence", message, "E_NO_GOLD")


def _check_sources(case: Case, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    """Note required citations that are not evidence, and evidence that is forbidden."""
    if case.must_cite and relevant and builder.judgments == "complete":
        for index, citation in enumerate(case.must_cite):
            if not _can_cite_any(citation, relevant):
                _note_bad_citation(citation, index, relevant, builder, spot)
    if not case.forbidden:
        return
    evidence = {frozenset(selector.items()) for unit in relevant for selector in unit.any_of}
    for index, selector in enumerate(case.forbidden):
        if frozenset(selector.items()) in evidence:
            message = f"both evidence and forbidden (got {shown(selector)}; expected one of the two)"
            builder.error(spot, f"forbidden[{index}]", message, "E_FORBIDDEN")


def _note_bad_citation(citation: str, index: int, relevant: list[Evidence], builder: Builder, spot: Spot) -> None:
    """Note a required citation that matches no evidence: an error if ids name their documents, else a warning.

    Ids without parts (`c-17`) do not name a document, but the corpus may: then the citation may still match.
    """
    expected = f"an id of the evidence, or its part before : # or /: {shown(_selector_texts(relevant))}"
    if any(mark in text for text in (citation, *_selector_texts(relevant)) for mark in SEPARATORS):
        message = f"can never match the evidence (got {shown(citation)}; expected {expected})"
        builder.error(spot, f"must_cite[{index}]", message, "E_MUST_CITE")
    else:
        message = f"matches only if the corpus has it as a document (got {shown(citation)}; expected {expected})"
        builder.warn(spot, f"must_cite[{index}]", message, "E_MUST_CITE")


def _can_cite_any(citation: str, relevant: list[Evidence]) -> bool:
    return any(_can_cite(citation, selector) for unit in relevant for selector in unit.any_of)


def _can_cite(citation: str, selector: Selector) -> bool:
    """Return whether a chunk that the selector matches could be cited as `citation`: by its id or its document.

    A selector without a chunk id names its chunks by document, path or title, so a more specific citation may match
    too. A selector with none of these (a quote, a page) rules nothing out.
    """
    chunk_id = selector.get("chunk_id")
    if chunk_id is not None:
        return citation in (chunk_id, selector.get("document")) or _starts_with_part(str(chunk_id), citation)
    names = [str(selector[key]) for key in ("document", "path", "title") if key in selector]
    return not names or any(citation == name or _starts_with_part(citation, name) for name in names)


def _starts_with_part(name: str, part: str) -> bool:
    return name.startswith(part) and name[len(part) : len(part) + 1] in SEPARATORS


def _has_answer_gold(case: Case) -> bool:
    rubric = case.rubric
    keywords = rubric is not None and bool(rubric.correct_keywords or rubric.incorrect_patterns)
    return bool(case.reference or case.must_have or keywords or case.symbols)


def _selector_texts(units: list[Evidence]) -> list[str]:
    return [", ".join(str(value) for value in selector.values()) for unit in units for selector in unit.any_of]

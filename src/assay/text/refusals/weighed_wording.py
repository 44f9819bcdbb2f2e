"""Weighs what the phrases of an answer show against its wording, as a model of its language reads it."""

from __future__ import annotations

from msgspec import structs

from assay.text.refusals.detected_behaviour import PLAIN_ANSWER, UNKNOWN, DetectedBehaviour
from assay.text.refusals.lexicons_in_use import load_rules
from assay.text.refusals.refusal_model import KINDS, ActScores, AnswerAct, RefusalModel
from assay.text.refusals.refusing_words import says_what_we_do
from assay.text.refusals.wording_features import prepare_wording
from assay.text.segmentation import normalise_answer

_CONTRADICTION = 1.2  # by which a model must be surer of an answer to contradict a phrase
_CONTRADICTION_ASKED = 0.4  # the same where the question is known
_LEAST_MARGIN = 0.05  # by which it must be surer of one thing than of the next
_LEAST_MARGINS = {"en": (0.37, 0.8), "vi": (0.25, 0.6)}
_OTHER_LEAST_MARGINS = (0.25, 0.4)
"""By how much to refuse, with words of refusing and without: what about 97 in 100 right take by authors held out;
models of the other languages know fewer words of refusing."""
_LEAST_PARTIAL = 0.15  # to refuse a part, with words of refusing
_LEAST_UNASKED = {"en": 1.3}
_OTHER_LEAST_UNASKED = 1.0
"""The same where no question is known, with words of refusing or without."""
_FEW_WORDS = 5  # below which words of doubt stay words of doubt: "I could not." tells too little


def list_cues(detected: DetectedBehaviour) -> list[str]:
    """Return what the phrases of an answer show, as a model learns it.

    >>> from assay.text.refusals.behaviour import detect_phrases
    >>> list_cues(detect_phrases("I don't have enough information, but the limit is 600 per minute."))
    ['phrases decline a part']
    """
    if detected.is_partial_refusal:
        shown = "decline a part"
    elif detected.has_refusal and not detected.is_decided_by_text:
        shown = "name a contact"
    else:
        shown = detected.behaviour or "nothing"
    cues = [f"phrases {shown}"]
    if detected.has_quoted_phrase:
        cues.append("quoted phrase")
    if detected.is_rule_of_access:
        cues.append("rule of access")
    return cues


def weigh_wording(detected: DetectedBehaviour, answer: str, question: str, model: RefusalModel) -> DetectedBehaviour:
    """Return what the phrases, which detected something, and the wording of an answer to a question show together.

    The model has learned what phrases are worth. Where it is not sure the text is undecided. Without a question nobody
    can tell what is near from what was asked: then phrases decide, unless all wording speaks against them, and wording
    alone must be surer.
    """
    if not any(map(str.isalnum, question)):
        question = ""  # "?" asks nothing that could be compared
    names_contact = detected.behaviour == "escalate" and not detected.is_decided_by_text
    if names_contact and _asks_for_contact(question):
        return PLAIN_ANSWER  # advice whom to contact is what was asked for
    is_short_doubt = detected.behaviour == UNKNOWN and len(answer.split()) < _FEW_WORDS
    if is_short_doubt or (names_contact and not question):
        return detected
    text, asked = (prepare_wording(written, model.language) for written in (answer, question))
    scored = model.score_text(text, asked, list_cues(detected))
    undecided = structs.replace(detected, behaviour=UNKNOWN, is_decided_by_text=False, has_substantive_claim=False)
    if not question and (detected.has_refusal or detected.behaviour == "clarify") and detected.is_decided_by_text:
        is_contradicted = scored.act == "answer" and scored.margin >= _CONTRADICTION
        return undecided if is_contradicted and not detected.is_partial_refusal else detected
    if not question and (scored.act == "clarify" or detected.is_rule_of_access or detected.has_quoted_phrase):
        return detected
    is_by_wording = scored.act in ("refuse", "partial") and detected.behaviour == "answer" and not detected.has_refusal
    if is_by_wording and says_what_we_do(text, model.language):
        return detected
    denies = scored.denies or detected.has_refusal or detected.behaviour != "answer"
    if detected.behaviour in KINDS and _agrees_with_phrase(scored):
        return structs.replace(detected, is_decided_by_text=True)  # advice whom to ask was not what was asked for
    if scored.margin < _find_least_margin(scored.act, denies, question, model.language):
        return undecided if denies and question else detected
    if scored.act == "partial":
        return structs.replace(PLAIN_ANSWER, has_refusal=True, phrase=detected.phrase)
    if scored.act == "answer":
        return structs.replace(
            PLAIN_ANSWER, has_quoted_phrase=detected.has_quoted_phrase, is_rule_of_access=detected.is_rule_of_access
        )
    if scored.act == "clarify":
        return DetectedBehaviour("clarify", True, False, False, "", detected.has_quoted_phrase)
    kind = detected.behaviour if detected.behaviour in KINDS else scored.kind
    return DetectedBehaviour(kind, True, True, False, detected.phrase, detected.has_quoted_phrase)


def _find_least_margin(act: AnswerAct, denies: bool, question: str, language: str) -> float:
    """Return by how much an answer must be surer to do one thing than to do the next."""
    if act not in ("refuse", "partial"):
        return _LEAST_MARGIN
    if not question:
        return _LEAST_UNASKED.get(language, _OTHER_LEAST_UNASKED)
    if act == "partial" and denies:
        return _LEAST_PARTIAL
    denying, plain = _LEAST_MARGINS.get(language, _OTHER_LEAST_MARGINS)
    return denying if denies else plain


def _agrees_with_phrase(scored: ActScores) -> bool:
    """Whether the wording does not speak clearly against the phrase of a refusal, however sure it is."""
    return scored.act == "refuse" or (scored.act == "answer" and scored.margin < _CONTRADICTION_ASKED)


def _asks_for_contact(question: str) -> bool:
    """Whether a question asks whom to turn to, and where, which naming someone answers."""
    folded = normalise_answer(question)
    lexicons = load_rules("common").lexicons.values()
    return any(lexicon.patterns["questions.contact"].search(folded) for lexicon in lexicons)

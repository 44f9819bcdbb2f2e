"""Detect what an answer does: answer, abstain, deny permission, hand over to a person or ask back.

The phrases and words are data, one lexicon for each language (`refusal_lexicon`). The rules, in order of application:

1. A text without a word or digit, a drawn face too, does nothing that could be read.
2. A text of a few words that only says it does not know ("Unknown.") abstains, or denies (`bare_refusals`).
3. A phrase of a lexicon counts only if it is not quoted, not part of a condition, a question or an explanation
   ("403 means …"), and has a fitting subject: the speaker or the system, the sources or "you", but not "employees"
   (`asserted_phrases`).
4. The clauses with such phrases form the refusal. Of the other clauses, apologies, offers, advice on whom to ask and
   remarks about the documents are ignored; a number or enough other words are a substantive claim.
5. A refusal with a substantive claim is an answer that declines a part. Otherwise denial takes precedence over handing
   over, and that over abstention. Advice to contact someone, without any other phrase, answers a question whom to
   contact and hands over otherwise; it is undecided where the question is not known.
6. A text that ends in a question or asks for what it needs, without a claim, asks back; so does a short one that
   asks for a choice before it says why.
7. A model of the language (`refusal_model`) then weighs the wording of a text of up to 3,000 characters against its
   question, with what the phrases show. It may refuse, in whole or in part, ask back or answer; without a word of
   refusing only if it is much surer. Without a question the phrases decide, and wording alone must be much surer
   (`weighed_wording`).
8. A refusal that goes on to assert a name or code ("I don't know. It is FitX."), or to disclose an amount behind
   words that decline to tell it, is undecided (`asserted_values`).
   An error message that a system failed with is undecided, whatever the target declares (`error_texts`).
9. Whom to ask after the answer itself, and that there is no more to say, declines nothing; that the rules do not name
   the value asked for does (`reread_by_question`).
10. A text is undecided (`unknown`) if all it holds are words of doubt that no rule above settles, if the model is
    hardly surer of one thing than of the next, or if no lexicon covers its script or the language that the case states.
    Every other text is an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct, structs

from assay.text.normalisation import MOST_READ
from assay.text.refusals.asserted_phrases import effective_kind, is_asserted
from assay.text.refusals.asserted_values import asserts_value, discloses_value
from assay.text.refusals.bare_refusals import (
    get_bare_refusals,
    load_bare_refusals,
    match_bare_refusal,
    read_bare_no,
    says_none_of_kind,
)
from assay.text.refusals.behaviour_candidates import (
    CLOSING,
    SHORT_ANSWER,
    load_wide_filter,
    may_be_weighed,
)
from assay.text.refusals.chosen_model import choose_model, replaced_languages
from assay.text.refusals.closing_offers import leave_out_offers
from assay.text.refusals.detected_behaviour import ERROR_TEXT, NO_BEHAVIOUR, PLAIN_ANSWER, UNKNOWN, DetectedBehaviour
from assay.text.refusals.error_texts import is_error_text
from assay.text.refusals.lexicons_in_use import has_lexicon, list_lexicons, select_rules, use_lexicons
from assay.text.refusals.plain_statements import gives_number, names_who, rules_out, states_value
from assay.text.refusals.readable_text import holds_word
from assay.text.refusals.refusal_claims import has_substantive_claim
from assay.text.refusals.refusal_lexicon import PhraseKind, RefusalLexicon, RefusalPhrase
from assay.text.refusals.refusal_model import KINDS, LONGEST_READ
from assay.text.refusals.refusal_rules import WEAK_KINDS, RefusalRules, find_lexicon, is_spelt_like
from assay.text.refusals.reread_by_question import (
    answers_before_advice,
    answers_before_remark,
    asks_for_meaning,
    find_asked_noun,
    find_declined_value,
)
from assay.text.refusals.stated_first import begins_with_value, states_lack
from assay.text.refusals.weighed_wording import weigh_wording
from assay.text.segmentation import PhraseContexts, find_quotations, is_quoted, normalise_answer
from assay.text.word_runs import split_words

_PRECEDENCE: tuple[Literal["permission_denied", "escalate", "abstain"], ...] = (
    "permission_denied",
    "escalate",
    "abstain",
)
_HANDING_OVER = frozenset(("escalate", "contact", "doubt"))
_LONGEST_CACHED = 2000  # characters; longer answers are rarely repeated
_LEAST_QUESTION_WORDS = 2  # "Paris?" guesses; it does not ask back


def detect_behaviour(
    answer: str, language: str = "", question: str = "", *, may_hold_phrase: bool = True
) -> DetectedBehaviour:
    """Return the behaviour of one answer by the rules of this module; only the first 200,000 characters are read.

    `language`: the language that the case states (`en`, `vi-VN`), "" if it states none. `question`: what was asked, ""
    if that is unknown; it helps to tell "No, dogs are not allowed" from a refusal. `may_hold_phrase`: what
    `mark_texts_to_examine` says of the answer, which saves looking for phrases.

    >>> detect_behaviour("Tôi không tìm thấy thông tin về chính sách này.").behaviour
    'abstain'
    >>> hedged = detect_behaviour("I don't have enough information, but the limit is 600 per minute.")
    >>> hedged.behaviour, hedged.has_refusal, hedged.has_substantive_claim
    ('answer', True, True)
    >>> detect_behaviour("ERR-403 nghĩa là 'không có quyền'.").has_quoted_phrase
    True
    >>> detect_behaviour("Which office do you work in?").behaviour, detect_behaviour("Ufficio di Roma", "it").behaviour
    ('clarify', 'unknown')
    >>> detect_behaviour("Staff get 12 days. Is there anything else I can help you with?").behaviour
    'answer'
    """
    detected = _read_answer(answer, language, question, may_hold_phrase=may_hold_phrase)
    is_by_wording = detected.behaviour in ("abstain", "permission_denied") and not detected.phrase
    if detected.is_error_text or not (is_by_wording or detected.behaviour in ("clarify", UNKNOWN)):
        return detected
    statement = leave_out_offers(answer, question, list_lexicons(answer))
    return detected if statement == answer else _read_answer(statement, language, question)


def _read_answer(answer: str, language: str, question: str, *, may_hold_phrase: bool = True) -> DetectedBehaviour:
    """Return the behaviour of an answer as a whole, an offer at its end included."""
    if is_error_text(answer, question):
        return ERROR_TEXT
    detected = detect_phrases(answer) if may_hold_phrase else PLAIN_ANSWER
    if detected.has_refusal or detected.behaviour != "answer" or may_be_weighed(answer):
        detected = _weigh_cached(answer, question, detected)
    if detected.behaviour == "answer" and not detected.has_refusal:
        detected = read_bare_no(answer, question) or detected
    if not detected.phrase and (detected.behaviour in KINDS or detected.behaviour == UNKNOWN):
        detected = _reconsider_wording(detected, answer, question)
    if question and len(answer) <= _LONGEST_CACHED:
        reread = _reread_by_question(detected, answer, question)
        if reread is not None:
            return reread
    if detected.behaviour in KINDS and question and _asserts_value(answer, question, detected.behaviour):
        return structs.replace(detected, behaviour=UNKNOWN, has_refusal=False)  # "I don't know. It is FitX." invents
    if detected.behaviour == "answer" and not detected.has_refusal and language and not has_lexicon(language):
        return structs.replace(detected, behaviour=UNKNOWN, is_decided_by_text=False)
    return detected


def _reconsider_wording(detected: DetectedBehaviour, answer: str, question: str) -> DetectedBehaviour:
    """Return what an answer does that only its wording calls a refusal, where it says something of the world."""
    lexicon = _find_lexicon(answer, question)
    if lexicon is not None and (rules_out(answer, question, lexicon) or names_who(answer, question, lexicon)):
        return PLAIN_ANSWER
    if detected.behaviour in ("escalate", UNKNOWN) and gives_number(answer, question):
        return PLAIN_ANSWER
    if detected.behaviour in ("abstain", UNKNOWN) and begins_with_value(answer, question, lexicon):
        return PLAIN_ANSWER
    if detected.behaviour != "escalate" and lexicon is not None and states_value(answer, question, lexicon):
        return PLAIN_ANSWER
    if detected.behaviour != "abstain":
        return detected
    if says_none_of_kind(answer, question):
        return PLAIN_ANSWER
    if lexicon is not None and states_lack(answer, lexicon):
        return structs.replace(NO_BEHAVIOUR, behaviour=UNKNOWN)
    return detected


def _find_lexicon(answer: str, question: str) -> RefusalLexicon | None:
    """Return the lexicon of the language of an answer; None if none covers its script."""
    if is_spelt_like("vi", answer):
        return next((rules.lexicons["vi"] for rules in select_rules(answer) if "vi" in rules.lexicons), None)
    return find_lexicon(select_rules(answer), f"{normalise_answer(answer)} {normalise_answer(question)}")


def _reread_by_question(detected: DetectedBehaviour, answer: str, question: str) -> DetectedBehaviour | None:
    """Return what an answer does where its wording misleads about what is asked; None where it does not."""
    if detected.behaviour in (*KINDS, UNKNOWN) and says_none_of_kind(answer, question):
        return PLAIN_ANSWER
    declines = detected.behaviour in KINDS
    if (detected.behaviour == "permission_denied" or (declines and not detected.phrase)) and asks_for_meaning(question):
        return PLAIN_ANSWER
    if detected.behaviour == UNKNOWN and not detected.has_refusal and answers_before_remark(answer, None):
        return PLAIN_ANSWER
    if not declines and (detected.has_refusal or not find_asked_noun(question)):
        return None
    lexicon = _find_lexicon(answer, question)
    if declines:
        hands_over = detected.behaviour == "escalate"
        is_answer = hands_over and answers_before_advice(answer, question, lexicon)
        return PLAIN_ANSWER if is_answer or answers_before_remark(answer, lexicon) else None
    declined = find_declined_value(answer, question, lexicon)
    if declined:
        return DetectedBehaviour("abstain", True, True, False, declined, detected.has_quoted_phrase)
    return None


def _asserts_value(answer: str, question: str, behaviour: str) -> bool:
    """Whether a refusal goes on to assert a name or code, or to disclose an amount."""
    start, denies_permission = answer[:_LONGEST_CACHED], behaviour == "permission_denied"
    if discloses_value(start, question, denies_permission=denies_permission):
        return True
    return asserts_value(start, question, lambda text: detect_phrases(text).has_refusal)


def detect_phrases(text: str) -> DetectedBehaviour:
    """Return what the phrases of the lexicons alone show: for a sentence out of its answer, where no model holds.

    >>> detect_phrases("That one's locked in the vault!").behaviour
    'answer'
    """
    return _detect_cached(text) if len(text) <= _LONGEST_CACHED else _detect(text)


@lru_cache(maxsize=1024)
def _weigh_cached(answer: str, question: str, detected: DetectedBehaviour) -> DetectedBehaviour:
    if len(answer) > LONGEST_READ or not detected.behaviour or match_bare_refusal(answer):
        return detected
    model = choose_model(answer, question)
    return detected if model is None else weigh_wording(detected, answer, question, model)


def select_lexicons(paths: Iterable[str]) -> None:
    """Use the user's lexicons, files or folders, in addition to the shipped ones, from here on in this process.

    Raises LexiconError with everything that is wrong with them; then nothing changes.
    """
    if use_lexicons(tuple(paths)):
        load_wide_filter.cache_clear()
        load_bare_refusals.cache_clear()
        clear_caches()  # what was detected with other lexicons no longer holds


def clear_caches() -> None:
    """Forget what was detected in the texts read so far."""
    _weigh_cached.cache_clear()
    replaced_languages.cache_clear()
    _detect_cached.cache_clear()


class _PhraseHits(Struct, frozen=True):
    """The asserted phrases of a text: the first of each kind, where they begin, and the lexicon of the first."""

    phrase_by_kind: dict[PhraseKind, str]
    starts: list[int]
    lexicon: RefusalLexicon | None
    has_quoted_phrase: bool
    is_rule_of_access: bool


def _detect(answer: str) -> DetectedBehaviour:
    if not holds_word(answer):
        return NO_BEHAVIOUR
    rules = select_rules(answer)
    bare_refusal = match_bare_refusal(answer)
    if bare_refusal:
        denies = bare_refusal in get_bare_refusals(answer).denials
        return DetectedBehaviour("permission_denied" if denies else "abstain", True, True, False, bare_refusal, False)
    text = normalise_answer(answer[:MOST_READ])
    hits = _collect_hits(rules, text, is_short=len(answer) <= SHORT_ANSWER)
    asks = "clarify" in hits.phrase_by_kind or _ends_in_question(text)
    is_plain = not hits.phrase_by_kind and not asks
    # letters of other scripts are not ASCII, and there is always a lexicon of a language with spaces
    lexicon = hits.lexicon or (None if is_plain and text.isascii() else find_lexicon(rules, text))
    if lexicon is None and not (is_plain and text.isascii()):
        return structs.replace(NO_BEHAVIOUR, behaviour=UNKNOWN)
    if is_plain or lexicon is None:
        return structs.replace(
            PLAIN_ANSWER, has_quoted_phrase=hits.has_quoted_phrase, is_rule_of_access=hits.is_rule_of_access
        )
    hands_over = "escalate" in hits.phrase_by_kind and _HANDING_OVER.issuperset(hits.phrase_by_kind)
    return _decide(hits, has_substantive_claim(text, hits.starts, lexicon, hands_over=hands_over), asks)


_detect_cached = lru_cache(maxsize=1024)(_detect)  # a system usually refuses in the same words


def _collect_hits(rules: Sequence[RefusalRules], text: str, *, is_short: bool) -> _PhraseHits:
    quotes: list[tuple[int, int]] | None = None
    phrase_by_kind: dict[PhraseKind, str] = {}
    starts: list[int] = []
    lexicon: RefusalLexicon | None = None
    quoted_phrase_seen = is_rule_of_access = False
    context, context_span = None, (-1, -1)
    contexts = PhraseContexts(text)
    for start, phrase, cue in _find_phrases(rules, text):
        quotes = find_quotations(text) if quotes is None else quotes
        if starts and starts[-1] == start:
            continue  # a shorter phrase at the same position
        if is_quoted(quotes, start):
            quoted_phrase_seen = quoted_phrase_seen or cue.kind not in WEAK_KINDS
        elif is_short or cue.kind not in WEAK_KINDS:
            if context is None or context_span != (start, start + len(phrase)):
                context_span = start, start + len(phrase)
                context = contexts.find_context(*context_span)
            if is_asserted(context, cue):
                phrase_by_kind.setdefault(effective_kind(context, phrase, cue), phrase)
                lexicon = lexicon or cue.lexicon
                if cue.kind != "doubt":
                    starts.append(start)
            elif cue.kind == "permission_denied":
                is_rule_of_access = True
    return _PhraseHits(phrase_by_kind, starts, lexicon, quoted_phrase_seen, is_rule_of_access)


def _find_phrases(rules: Sequence[RefusalRules], text: str) -> list[tuple[int, str, RefusalPhrase]]:
    hits = [hit for group in rules for hit in group.find_phrases(text)]
    return hits if len(rules) == 1 else sorted(hits, key=lambda hit: (hit[0], -len(hit[1])))


def _ends_in_question(text: str) -> bool:
    if not text.rstrip(CLOSING).endswith("?"):
        return False
    words = split_words(text[:200])
    return len(words) >= _LEAST_QUESTION_WORDS or (not text.isascii() and max(map(len, words), default=0) > 3)


def _decide(hits: _PhraseHits, has_claim: bool, asks: bool) -> DetectedBehaviour:
    phrases, is_quoted_only = hits.phrase_by_kind, hits.has_quoted_phrase
    for kind in _PRECEDENCE:
        if kind in phrases:
            return DetectedBehaviour(
                "answer" if has_claim else kind, True, True, has_claim, phrases[kind], is_quoted_only
            )
    if has_claim:
        return structs.replace(PLAIN_ANSWER, has_quoted_phrase=is_quoted_only)
    if asks:
        return DetectedBehaviour("clarify", True, False, False, phrases.get("clarify", ""), is_quoted_only)
    if "contact" in phrases:
        return DetectedBehaviour("escalate", False, True, False, phrases["contact"], is_quoted_only)
    return DetectedBehaviour(UNKNOWN, False, False, False, phrases["doubt"], is_quoted_only)

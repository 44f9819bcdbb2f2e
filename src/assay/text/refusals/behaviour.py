"""Detect what an answer does: answer, abstain, deny permission, hand over to a person or ask back.

The phrases and words are data, one lexicon for each language (`refusal_lexicon`). The rules, in order of application:

1. A text without a word or digit, a drawn face too, does nothing that could be read.
2. A text of a few words that only says it does not know ("Unknown.") abstains, or denies ("403 Forbidden").
3. A phrase of a lexicon counts only if it is not quoted, not part of a condition, a question or an explanation
   ("403 means …"), and has a fitting subject: the speaker or the system, the sources or "you", but not "employees".
4. The clauses with such phrases form the refusal. Of the other clauses, apologies, offers, advice on whom to ask and
   remarks about the documents are ignored; a number or enough other words are a substantive claim.
5. A refusal with a substantive claim is an answer that declines a part. Otherwise denial takes precedence over handing
   over, and that over abstention. Advice to contact someone, without any other phrase, answers a question whom to
   contact and hands over otherwise; it is undecided where the question is not known.
6. A text that ends in a question or asks for what it needs, without a claim, asks back; so does a short one that
   asks for a choice before it says why.
7. A model of the language (`refusal_model`) then weighs the wording of a text of up to 3,000 characters against its
   question, with what the phrases show, unless a first look finds no word of refusing (`refusal_first_look`). It may
   refuse, in whole or in part, ask back or answer; without a word of refusing only if it is much surer. Without a
   question the phrases decide, and wording alone must be much surer.
8. A refusal that goes on to assert a name or code ("I don't know. It is FitX.") is undecided (`asserted_values`).
   An error message that a system failed with is undecided, whatever the target declares (`error_texts`).
9. A text is undecided (`unknown`) if all it holds are words of doubt that no rule above settles, if the model is hardly
   surer of one thing than of the next, or if no lexicon covers its script or the language that the case states. Every
   other text is an answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import MOST_READ, fold_text
from assay.text.refusals.asserted_values import asserts_value
from assay.text.refusals.error_texts import is_error_text
from assay.text.refusals.lexicon_file import (
    list_shipped_languages,
    load_lexicons,
    load_shipped_lexicon,
    read_common_words,
)
from assay.text.refusals.phrase_filter import PhraseFilter, has_other_script
from assay.text.refusals.refusal_claims import has_substantive_claim
from assay.text.refusals.refusal_first_look import holds_word, may_refuse_freely
from assay.text.refusals.refusal_lexicon import (
    SHORTEST_PHRASE,
    PhraseKind,
    PhraseSubject,
    RefusalLexicon,
    RefusalPhrase,
)
from assay.text.refusals.refusal_model import KINDS, LONGEST_READ, ActScores, AnswerAct, PhraseWeight, RefusalModel
from assay.text.refusals.refusal_model_file import MODEL_LANGUAGES, load_model
from assay.text.refusals.refusal_rules import (
    COMMON_LANGUAGES,
    WEAK_KINDS,
    LexiconGroup,
    RefusalRules,
    find_lexicon,
    is_spelt_like,
    list_group,
    may_be_other_latin,
)
from assay.text.refusals.wording_features import prepare_wording
from assay.text.segmentation import (
    PhraseContext,
    PhraseContexts,
    find_quotations,
    is_quoted,
    normalise_answer,
)
from assay.text.tokens import is_stop_word
from assay.text.word_runs import split_words

UNKNOWN: Literal["unknown"] = "unknown"
DetectedKind = Literal["answer", "abstain", "permission_denied", "escalate", "clarify", "unknown", ""]


class DetectedBehaviour(NamedTuple):
    """The behaviour that the rules detect in a text.

    `behaviour`: `unknown` if the rules cannot tell, "" if there is nothing to read. `is_decided_by_text`: if not, what
    the target itself declares takes precedence. `has_refusal`: the text abstains, denies or escalates, with or without
    other content. `has_substantive_claim`: it makes claims. `phrase`: the folded phrase that decided.
    `has_quoted_phrase`: a phrase was ignored because it is quoted. `is_rule_of_access`: a phrase that denies was
    ignored because it is said of others, explains a message or states a condition. `is_error_text`: it is an error
    message, by which a system failed (`error_texts`).
    """

    behaviour: DetectedKind
    is_decided_by_text: bool
    has_refusal: bool
    has_substantive_claim: bool
    phrase: str
    has_quoted_phrase: bool
    is_rule_of_access: bool = False
    is_error_text: bool = False

    @property
    def is_partial_refusal(self) -> bool:
        """Whether the text answers one part and declines another."""
        return self.has_refusal and self.has_substantive_claim


class WordingReasons(NamedTuple):
    """The phrases that count most for a refusal and against it, the strongest first."""

    counting_for: tuple[str, ...]
    counting_against: tuple[str, ...]


PLAIN_ANSWER = DetectedBehaviour(
    "answer", is_decided_by_text=True, has_refusal=False, has_substantive_claim=True, phrase="", has_quoted_phrase=False
)
NO_BEHAVIOUR = DetectedBehaviour(
    "", is_decided_by_text=False, has_refusal=False, has_substantive_claim=False, phrase="", has_quoted_phrase=False
)
ERROR_TEXT = DetectedBehaviour(UNKNOWN, True, False, False, "", False, is_error_text=True)
"""An error message: no declaration of the target tells that it abstained."""
_PRECEDENCE: tuple[Literal["permission_denied", "escalate", "abstain"], ...] = (
    "permission_denied",
    "escalate",
    "abstain",
)
_HANDING_OVER = frozenset(("escalate", "contact", "doubt"))
_SHORT_ANSWER = 300  # characters of an answer in which advice to contact someone may be the whole answer
_LONGEST_CACHED = 2000  # characters; longer answers are rarely repeated
_BARE_LENGTH = 60  # characters up to which an answer may be a bare refusal; in a sentence its words mean something else
_LEAST_QUESTION_WORDS = 2  # "Paris?" guesses; it does not ask back
_QUESTION_ENDS = ("?", "？")
_CONTRADICTION = 1.2  # by which a model must be surer of an answer to contradict a phrase
_CONTRADICTION_ASKED = 0.4  # the same where the question is known
_LEAST_MARGIN = 0.05  # by which it must be surer of one thing than of the next
_LEAST_MARGINS = {"en": (0.35, 0.6), "vi": (0.25, 0.6)}
_OTHER_LEAST_MARGINS = (0.25, 0.4)
"""By how much to refuse, with words of refusing and without: what about 97 in 100 right take by authors held out;
models of the other languages know fewer words of refusing."""
_LEAST_PARTIAL = 0.15  # to refuse a part, with words of refusing
_LEAST_UNASKED = 1.0  # the same where no question is known, with words of refusing or without
_FEW_WORDS = 5  # below which words of doubt stay words of doubt: "I could not." tells too little
_LEAST_WORDS = 2  # of a phrase that is named
_MOST_FOR, _MOST_AGAINST = 3, 2
_LEAST_NAMED = 0.05
_MOST_EXPLAINED = 12
_ASKED_MARK = "Q"
_MANY = 256  # answers from which one filter for all languages is worth reading all their lexicons
_CLOSING = " \t\r\n\"'”’)*_"
_QUESTION_CLOSINGS = frozenset((*_QUESTION_ENDS, *_CLOSING))


def find_behaviour_candidates(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): whether `detect_phrases` must examine each answer; it finds nothing in the
    others.

    Never excludes a text in which `detect_phrases` would find a phrase: the filter compares folded letters and
    digits only.

    >>> find_behaviour_candidates(["12 ngày phép", "Toi khong\\ntim thay thong tin", ""]).tolist()
    [False, True, True]
    """
    if len(answers) < _MANY:
        marked = _mark_each(answers)
    else:
        marked = _load_wide_filter()(answers)
        refusing = np.flatnonzero(marked).tolist()
        marked[refusing] = _mark_each([answers[i] for i in refusing])
        marked[[i for i, answer in enumerate(answers) if _asks_or_is_bare(answer)]] = True
    marked[[i for i, answer in enumerate(answers) if not holds_word(answer)]] = True
    return marked


@cache
def _load_wide_filter() -> PhraseFilter:
    """Return one filter for the phrases of all languages with spaces: what it excludes needs no second look.

    Of other languages than English and Vietnamese it looks for the beginnings: there are a quarter as many, and what it
    lets through is looked at again.
    """
    beginnings = set(map(_cut_phrase, load_rules("latin").by_phrase))
    return PhraseFilter(itertools.chain(load_rules("common").by_phrase, beginnings))


def _cut_phrase(phrase: str) -> str:
    """Return the first two words of a phrase, or all of it if they are too short to look up."""
    beginning = " ".join(phrase.split(" ", 2)[:2])
    return beginning if sum(map(str.isalnum, beginning)) >= SHORTEST_PHRASE else phrase


def _mark_each(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    marked = _mark_candidates(load_rules("common"), answers)
    others = [i for i, answer in enumerate(answers) if not marked[i] and _needs_latin_rules(answer)]
    if others:
        marked[others] = _mark_candidates(load_rules("latin"), [answers[i] for i in others])
    return marked


def mark_texts_to_examine(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): like `find_behaviour_candidates`, but all texts of a small run, in which
    examining each costs less than building the filters.

    What `detect_phrases` finds in the texts does not depend on it: a text that is no candidate is a plain answer.
    """
    if load_rules("common").is_filter_worthwhile(texts):
        return find_behaviour_candidates(texts)
    return np.ones(len(texts), dtype=np.bool_)


def mark_answers_open_to_model(answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a boolean array of shape (n,): which answers a model must read, even if they hold no phrase, and which may
    be error messages.

    Answers that neither this nor `mark_texts_to_examine` marks are plain answers, unless their case states a language
    without a lexicon.

    >>> mark_answers_open_to_model(["12 days a year", "No leave", ""]).tolist()
    [False, True, False]
    """
    is_open = (_may_be_weighed(answer) or is_error_text(answer) for answer in answers)
    return np.fromiter(is_open, np.bool_, len(answers))


def _mark_candidates(rules: RefusalRules, answers: Sequence[str]) -> npt.NDArray[np.bool_]:
    marked = rules.strong_filter(answers)
    for index, answer in enumerate(answers):
        if _asks(answer) or (len(answer) <= _BARE_LENGTH and _strip_bare(answer) in rules.bare_texts):
            marked[index] = True
    short = [i for i, answer in enumerate(answers) if len(answer) <= _SHORT_ANSWER and not marked[i]]
    marked[short] = rules.weak_filter([answers[i] for i in short])
    return marked


def _asks_or_is_bare(answer: str) -> bool:
    """Whether an answer without any phrase may still ask back, or be a bare refusal in some language."""
    if len(answer) > _BARE_LENGTH:
        return answer[-1] in _QUESTION_CLOSINGS and _asks(answer)
    return _asks(answer) or _strip_bare(answer) in _list_bare_texts()


def _asks(answer: str) -> bool:
    return answer[-4:].rstrip(_CLOSING).endswith(_QUESTION_ENDS)


@cache
def _list_bare_texts() -> frozenset[str]:
    return load_rules("common").bare_texts | load_rules("latin").bare_texts


def detect_behaviour(
    answer: str, language: str = "", question: str = "", *, may_hold_phrase: bool = True
) -> DetectedBehaviour:
    """Return the behaviour of one answer by the rules of this module; only the first 200,000 characters are read.

    `language`: the language that the case states (`en`, `vi-VN`), "" if it states none. `question`: what was asked, ""
    if that is unknown; it helps to tell "No, dogs are not allowed" from a refusal. `may_hold_phrase`: what
    `mark_texts_to_examine` says of the answer, which saves looking for phrases.

    >>> detect_behaviour("Tôi không tìm thấy thông tin về chính sách này.").behaviour
    'abstain'
    >>> detect_behaviour("I don't have enough information, but the limit is 600 per minute.")[:4]
    ('answer', True, True, True)
    >>> detect_behaviour("ERR-403 nghĩa là 'không có quyền'.").has_quoted_phrase
    True
    >>> detect_behaviour("Which office do you work in?").behaviour, detect_behaviour("Ufficio di Roma", "it").behaviour
    ('clarify', 'unknown')
    """
    if is_error_text(answer, question):
        return ERROR_TEXT
    detected = detect_phrases(answer) if may_hold_phrase else PLAIN_ANSWER
    if detected.has_refusal or detected.behaviour != "answer" or _may_be_weighed(answer):
        detected = _weigh_cached(answer, question, detected)
    if detected.behaviour in KINDS and question and _asserts_value(answer, question):
        return detected._replace(behaviour=UNKNOWN, has_refusal=False)  # "I don't know. It is FitX." invents
    if detected.behaviour == "answer" and not detected.has_refusal and language and not has_lexicon(language):
        return detected._replace(behaviour=UNKNOWN, is_decided_by_text=False)
    return detected


def _asserts_value(answer: str, question: str) -> bool:
    """Whether a refusal goes on to assert a name or code."""
    return asserts_value(answer[:_LONGEST_CACHED], question, lambda text: detect_phrases(text).has_refusal)


def detect_phrases(text: str) -> DetectedBehaviour:
    """Return what the phrases of the lexicons alone show: for a sentence out of its answer, where no model holds.

    >>> detect_phrases("That one's locked in the vault!").behaviour
    'answer'
    """
    return _detect_cached(text) if len(text) <= _LONGEST_CACHED else _detect(text)


def list_cues(detected: DetectedBehaviour) -> list[str]:
    """Return what the phrases of an answer show, as a model learns it.

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


@lru_cache(maxsize=1024)
def _weigh_cached(answer: str, question: str, detected: DetectedBehaviour) -> DetectedBehaviour:
    if len(answer) > LONGEST_READ or not detected.behaviour or match_bare_refusal(answer):
        return detected
    model = _choose_model(answer, question)
    return detected if model is None else weigh_wording(detected, answer, question, model)


def _may_be_weighed(answer: str) -> bool:
    """Whether an answer holds a word by which it may do something else than answer, or is in another language than
    English and Vietnamese."""
    if not 0 < len(answer) <= LONGEST_READ:
        return False
    return may_refuse_freely(answer) or has_other_script(answer) or _needs_latin_rules(answer)


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
    undecided = detected._replace(behaviour=UNKNOWN, is_decided_by_text=False, has_substantive_claim=False)
    if not question and (detected.has_refusal or detected.behaviour == "clarify") and detected.is_decided_by_text:
        is_contradicted = scored.act == "answer" and scored.margin >= _CONTRADICTION
        return undecided if is_contradicted and not detected.is_partial_refusal else detected
    if not question and (scored.act == "clarify" or detected.is_rule_of_access or detected.has_quoted_phrase):
        return detected
    denies = scored.denies or detected.has_refusal or detected.behaviour != "answer"
    if detected.behaviour in KINDS and _agrees_with_phrase(scored):
        return detected._replace(is_decided_by_text=True)  # advice whom to ask was not what was asked for
    if scored.margin < _find_least_margin(scored.act, denies, question, model.language):
        return undecided if denies and question else detected
    if scored.act == "partial":
        return PLAIN_ANSWER._replace(has_refusal=True, phrase=detected.phrase)
    if scored.act == "answer":
        return PLAIN_ANSWER._replace(
            has_quoted_phrase=detected.has_quoted_phrase, is_rule_of_access=detected.is_rule_of_access
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
        return _LEAST_UNASKED
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


def _choose_model(answer: str, question: str) -> RefusalModel | None:
    """Return the model of the answer's language, unless the user replaced the lexicon of that language."""
    language = find_language(answer, normalise_answer(answer), normalise_answer(question))
    if language not in MODEL_LANGUAGES or language in _replaced_languages():
        return None
    return load_model(language)


def find_language(answer: str, text: str, question: str) -> str:
    """Return the language of a lexicon that an answer is written in; "" if none covers its script.

    `text`, `question`: the answer and its question, prepared by `normalise_answer`.
    """
    if is_spelt_like("vi", answer):
        return "vi"
    lexicon = find_lexicon(_select_rules(answer), f"{text} {question}")
    return "" if lexicon is None else lexicon.language


@cache
def _replaced_languages() -> frozenset[str]:
    """Return the shipped languages whose lexicon the user replaced."""
    lexicons = load_rules("common").lexicons
    return frozenset(
        language
        for language in list_shipped_languages()
        if language in lexicons and lexicons[language] is not load_shipped_lexicon(language)
    )


def explain_refusal(answer: str, question: str = "") -> tuple[PhraseWeight, ...]:
    """Return the runs of words of an answer that weigh most for a refusal or against it, the heaviest first.

    Only runs that the model knows from several sentences, with `Q` for what the question named and `#n` for numbers:
    none is the answer's own. Empty if no model reads the answer: it is too long, or in another language than theirs.

    >>> "nothing on" in [item.phrase for item in explain_refusal("The handbook says nothing on that.")]
    True
    """
    phrases = _list_phrases(answer, question)
    named = (item for item in dict.fromkeys(phrases) if sum(map(str.isalpha, item.phrase.split())) >= _LEAST_WORDS)
    return tuple(itertools.islice(named, _MOST_EXPLAINED))


def explain_wording(answer: str, question: str = "") -> WordingReasons:
    """Return the phrases of an answer that count most for reading it as a refusal and against it; none if no model
    reads the answer.

    >>> explain_wording("The manual does not say how long it lasts.", "How long does it last?").counting_for
    ('not say',)
    """
    phrases = _list_phrases(answer, question)
    return WordingReasons(
        _choose_phrases([item.phrase for item in phrases if item.weight >= _LEAST_NAMED], _MOST_FOR),
        _choose_phrases([item.phrase for item in phrases if item.weight <= -_LEAST_NAMED], _MOST_AGAINST),
    )


def _list_phrases(answer: str, question: str) -> list[PhraseWeight]:
    """Return the runs of words of an answer that its model knows, the heaviest first; none if no model reads it."""
    model = _choose_model(answer, question) if 0 < len(answer) <= LONGEST_READ else None
    if model is None:
        return []
    return model.list_phrases(prepare_wording(answer, model.language), prepare_wording(question, model.language))


def _choose_phrases(phrases: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first phrases of several words that do not overlap with those before them."""
    chosen: list[str] = []
    for phrase in phrases:
        words = [word for word in phrase.split() if word.isalpha()]
        if len(words) < _LEAST_WORDS or _ASKED_MARK in words:
            continue
        if all(set(words).isdisjoint(other.split()) for other in chosen):
            chosen.append(phrase)
    return tuple(chosen[:most])


def has_lexicon(language: str) -> bool:
    """Return whether a lexicon covers a language (`vi`, `vi-VN`)."""
    name = language.lower().replace("_", "-").partition("-")[0]
    return name in list_shipped_languages() or (bool(_lexicon_paths) and name in load_rules("common").lexicons)


def select_lexicons(paths: Iterable[str]) -> None:
    """Use the user's lexicons, files or folders, in addition to the shipped ones, from here on in this process.

    Raises LexiconError with everything that is wrong with them; then nothing changes.
    """
    global _lexicon_paths
    selected = tuple(paths)
    if selected != _lexicon_paths:
        load_lexicons(selected, COMMON_LANGUAGES)
        _lexicon_paths = selected
        load_rules.cache_clear()
        _load_wide_filter.cache_clear()
        _list_bare_texts.cache_clear()
        clear_caches()  # what was detected with other lexicons no longer holds


def clear_caches() -> None:
    """Forget what was detected in the texts read so far."""
    _weigh_cached.cache_clear()
    _replaced_languages.cache_clear()
    _detect_cached.cache_clear()


def selected_lexicons() -> tuple[str, ...]:
    """Return the user's lexicons that are in use in this process."""
    return _lexicon_paths


_lexicon_paths: tuple[str, ...] = ()


@lru_cache(maxsize=3)
def load_rules(group: LexiconGroup) -> RefusalRules:
    """Return the rules of one group of lexicons, read on first use; those of the user are in the group `common`."""
    languages = list_group(group, list_shipped_languages())
    if group == "common":
        return RefusalRules(load_lexicons(_lexicon_paths, languages))
    replaced = load_rules("common").lexicons
    return RefusalRules(load_lexicons((), [language for language in languages if language not in replaced]))


def _select_rules(answer: str) -> list[RefusalRules]:
    """Return the rules that an answer is compared with; they depend on the answer alone."""
    selected = [load_rules("common")]
    if has_other_script(answer):
        selected.append(load_rules("unspaced"))
    if _needs_latin_rules(answer):
        selected.append(load_rules("latin"))
    return selected


@lru_cache(maxsize=64)  # one answer is asked about several times in a row
def _needs_latin_rules(answer: str) -> bool:
    return may_be_other_latin(answer, *_frequent_words())


@cache
def _frequent_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the frequent words of the other languages of Latin script, and those of English and Vietnamese."""
    common = frozenset[str]().union(*map(read_common_words, COMMON_LANGUAGES))
    languages = list_group("latin", list_shipped_languages())
    others = frozenset[str]().union(*map(read_common_words, languages))
    markers = {word for word in others - common if not is_stop_word(word)}  # "do" is Portuguese, and English
    return frozenset(markers), common - others


_COURTESY = LatePattern(r"^(?:(?:sorry|hm+|uh|oh|well|hi|hello)\b[ ,.!:…-]*+)+|(?:[ ,.!…-]{1,9}sorry){1,3}$")
_ADVICE = LatePattern(
    r"[,.;!-]{1,9} (?:(?:better|best|please|pls|just|maybe|perhaps|you could|you can) ){0,4}"
    r"(?:ask|check with|try|contact|talk to|speak to)\b[^\d?]{0,90}$"
)
"""Where to ask instead, after a bare refusal; a figure may be an answer."""


def _strip_bare(answer: str) -> str:
    """Return a folded answer without the courtesies around it and the advice to ask somebody else."""
    text = _COURTESY.sub("", _strip_marks(_ADVICE.sub("", fold_text(answer))))
    return _strip_marks(text)


def _strip_marks(text: str) -> str:
    return text.strip(" .!?…:;-*_\"'()[]。！")


def match_bare_refusal(answer: str) -> str:
    """Return the folded answer if it consists only of a phrase that abstains or denies permission, else "".

    >>> match_bare_refusal("**N/A**"), match_bare_refusal("Không rõ."), match_bare_refusal("An unknown error")
    ('n/a', 'khong ro', '')
    """
    return _match_bare(_select_rules(answer), answer)


def _match_bare(rules: Sequence[RefusalRules], answer: str) -> str:
    if len(answer) > _BARE_LENGTH:
        return ""
    text = _strip_bare(answer)
    return text if any(text in group.bare_texts for group in rules) else ""


class _PhraseHits(NamedTuple):
    """The asserted phrases of a text: the first of each kind, where they begin, and the lexicon of the first."""

    phrase_by_kind: dict[PhraseKind, str]
    starts: list[int]
    lexicon: RefusalLexicon | None
    has_quoted_phrase: bool
    is_rule_of_access: bool


def _detect(answer: str) -> DetectedBehaviour:
    if not holds_word(answer):
        return NO_BEHAVIOUR
    rules = _select_rules(answer)
    bare_refusal = _match_bare(rules, answer)
    if bare_refusal:
        denies = any(bare_refusal in group.bare_denials for group in rules)
        return DetectedBehaviour("permission_denied" if denies else "abstain", True, True, False, bare_refusal, False)
    text = normalise_answer(answer[:MOST_READ])
    hits = _collect_hits(rules, text, is_short=len(answer) <= _SHORT_ANSWER)
    asks = "clarify" in hits.phrase_by_kind or _ends_in_question(text)
    is_plain = not hits.phrase_by_kind and not asks
    # letters of other scripts are not ASCII, and there is always a lexicon of a language with spaces
    lexicon = hits.lexicon or (None if is_plain and text.isascii() else find_lexicon(rules, text))
    if lexicon is None and not (is_plain and text.isascii()):
        return NO_BEHAVIOUR._replace(behaviour=UNKNOWN)
    if is_plain or lexicon is None:
        return PLAIN_ANSWER._replace(has_quoted_phrase=hits.has_quoted_phrase, is_rule_of_access=hits.is_rule_of_access)
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
            if _is_asserted(context, cue):
                phrase_by_kind.setdefault(_effective_kind(context, phrase, cue), phrase)
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
    if not text.rstrip(_CLOSING).endswith("?"):
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
        return PLAIN_ANSWER._replace(has_quoted_phrase=is_quoted_only)
    if asks:
        return DetectedBehaviour("clarify", True, False, False, phrases.get("clarify", ""), is_quoted_only)
    if "contact" in phrases:
        return DetectedBehaviour("escalate", False, True, False, phrases["contact"], is_quoted_only)
    return DetectedBehaviour(UNKNOWN, False, False, False, phrases["doubt"], is_quoted_only)


# ── checking a phrase ────────────────────────────────────────────────────────────────────────────────────────────

_TOPIC_MARKER = LatePattern(
    r"[^,]{0,60}(?<!\bhien )(?<!\bbieu )(?<!\bsieu )\bthi\b(?! (?:truong|xa|tran|dan|hanh|cong|dua)\b)"
)
# "không có quyền thì phải …": if they have none, they must …
_ERROR_CODE = re.compile(r"\b(?:40[0-9]|429|50[0-4]|err-?\d+)\b")
_STATUS_LINE = re.compile(r"\W*(?:(?:http|error|status|code|loi)\W+){0,3}40[13]\b(?! error| code| means?| status)")


def _is_asserted(context: PhraseContext, cue: RefusalPhrase) -> bool:
    """Whether the answer asserts a phrase in this context: not as a condition, question or explanation."""
    window = context.before.rpartition(", ")[2]
    if context.is_question and cue.kind != "clarify":
        return False
    marks = cue.lexicon.marks.mark(context.sentence)  # the window is a part of the sentence
    if marks and _is_taken_back(context, window, cue.lexicon, marks):
        return False
    if (
        cue.kind == "permission_denied"
        and _ERROR_CODE.search(context.sentence)
        and not _STATUS_LINE.match(context.sentence)
    ):
        return False
    if cue.kind != "escalate" and cue.lexicon.language == "vi" and _TOPIC_MARKER.match(context.after):
        return False
    if cue.following_pattern.match(context.after) is None:
        return False
    if _has_allowed_subject(cue, window, context.before, marks):
        return True
    outer = _find_subject_before_insertion(context.before)
    return bool(outer) and _has_allowed_subject(cue, outer, context.before, marks)


def _find_subject_before_insertion(before: str) -> str:
    """Return the subject of a clause that an insertion cuts off: "the lease" of "the lease, as produced to us, does";
    "" if more than an auxiliary follows the last comma."""
    parts = before.split(", ")
    is_cut_off = len(parts) >= _WITH_INSERTION and _AUXILIARIES.issuperset(parts[-1].split())
    return f"{parts[-3]} {parts[-1]}" if is_cut_off else ""


_WITH_INSERTION = 3
_AUXILIARIES = frozenset("is are was were do does did has have had can could will would may".split())


def _is_taken_back(context: PhraseContext, window: str, lexicon: RefusalLexicon, marks: int) -> bool:
    """Whether a phrase stands in a condition, an explanation or a denial."""
    patterns, bits = lexicon.patterns, lexicon.marks.bits
    return bool(
        (marks & bits["not_asserted.conditions"] and patterns["not_asserted.conditions"].search(window))
        or (
            marks & bits["not_asserted.explanations"] and patterns["not_asserted.explanations"].search(context.sentence)
        )
        or (marks & bits["not_asserted.denials"] and patterns["not_asserted.denials"].search(window))
    )


_SUBJECT_LISTS: dict[PhraseSubject, str] = {
    "me": "subjects.me",
    "contact": "subjects.contact",
    "exclusive": "subjects.exclusive",
    "this": "subjects.this",
}


def _has_allowed_subject(cue: RefusalPhrase, window: str, before: str, marks: int) -> bool:
    """Whether the subject of the phrase, somewhere in `window`, is one that the phrase allows."""
    if cue.subject == "free":
        return True
    patterns, bits = cue.lexicon.patterns, cue.lexicon.marks.bits

    def names_one(of_list: str, text: str) -> bool:
        return bool(marks & bits[of_list]) and patterns[of_list].search(text) is not None

    if cue.subject in _SUBJECT_LISTS:
        return names_one(_SUBJECT_LISTS[cue.subject], before)
    speaker, you = names_one("subjects.speaker", window), names_one("subjects.you", window)
    if not (speaker or you) and marks & bits["subjects.others"] and _begins_with_others(patterns, window):
        return False
    if cue.subject in ("anyone", "you"):
        return you or cue.subject == "anyone"
    fillers = cue.lexicon.words["no_claim.fillers"]
    absent = all(word in fillers for word in re.findall(r"[\w']+", window))
    if cue.subject == "reader":
        return speaker or you or absent
    if cue.subject == "topic":
        return absent or names_one("subjects.topics", window)
    document = speaker or names_one("subjects.documents", window)
    return document or (cue.subject != "document" and (absent or names_one("subjects.pronouns", window)))


def _begins_with_others(patterns: Mapping[str, re.Pattern[str]], window: str) -> bool:
    """Whether a third person stands in `window`, and before it neither a document nor what was asked: in "the number of
    employees" they are no subject."""
    others = patterns["subjects.others"].search(window)
    if others is None:
        return False
    heads = (patterns[name].search(window, 0, others.start()) for name in ("subjects.documents", "subjects.topics"))
    return not any(heads)


def _effective_kind(context: PhraseContext, phrase: str, cue: RefusalPhrase) -> PhraseKind:
    """Return the cue's kind; an abstention becomes a denial if the sentence mentions permission."""
    patterns = cue.lexicon.patterns
    if (
        cue.kind == "abstain"
        and patterns["permission.giving"].search(phrase)
        and patterns["permission.subjects"].search(context.sentence + context.after)
    ):
        return "permission_denied"
    return cue.kind

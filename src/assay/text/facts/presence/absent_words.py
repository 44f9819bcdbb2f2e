"""What follows for a fact of whose words an answer lacks some: unknown, unless the answer shows that it says otherwise.

Other words may say the same, so a word that is not there proves nothing by itself. A fact is missing only on positive
evidence: another name or day in its place, a refusal, another topic, or nothing left in the answer that could be the
fact in other words. It is denied by an opposite word, and by "no" where "yes" is expected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from assay.text.antonyms import find_antonym
from assay.text.facts.cues.absence_cues import NECESSARY, NEEDS, SPARED
from assay.text.facts.cues.condition_cues import ONLY
from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.denial_cues import CLOSED
from assay.text.facts.cues.role_cues import ADDRESSED_AS_YOU, ROLE_OF_USER
from assay.text.facts.cues.word_classes import (
    ARTICLES_AND_PREPOSITIONS,
    AUXILIARIES,
    GERMAN_AROUND_VALUE,
    IMPERATIVES,
    JOINING,
    NEUTRAL,
    ONES,
    PERMITTED,
    SAID_WITHOUT,
    TIMES_OF_EVENTS,
    TITLES_AND_ADDRESS,
    YOU,
)
from assay.text.facts.expected.fact_texts import FactTexts, may_be_subject
from assay.text.facts.expected.yes_or_no import asks_whether, find_contrary_answer, may_be_decided, read_decision
from assay.text.facts.fact_judgments import FactJudgment
from assay.text.facts.presence.missing_quantities import find_other_identifier
from assay.text.facts.reading.exceptions import has_exception
from assay.text.facts.reading.negations import find_negations
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.languages import guess_language, is_other_language
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.payment_cues import NOTHING_TO_PAY
from assay.text.quantities.quantity import is_plain
from assay.text.quantities.quantity_agreement import is_same_quantity
from assay.text.quantities.units import UNITS
from assay.text.quantities.weekdays import WEEK, WEEKDAY, list_days
from assay.text.refusals.behaviour import detect_phrases

_SPARED, _NECESSARY, _NEEDS = (build_pattern(rf"\b{cues}\b") for cues in (SPARED, NECESSARY, NEEDS))
_NAMES_ROLE = build_pattern(rf"\b{ROLE_OF_USER}\b")
_ONLY = build_pattern(rf"\b{ONLY}\b")
_ADDRESSED = build_pattern(rf"\b{ADDRESSED_AS_YOU}\b")
OTHER_LANGUAGE = "the answer is in a language whose words are not compared"
_CLOSED = build_pattern(rf"\b{CLOSED}\b")
_DAYS = LatePattern(rf"{WEEK.pattern}|{WEEKDAY.pattern}")
_FIGURES = compile_pattern(r"\d+")
_SHORTEST_ACRONYM, _LONGEST_ACRONYM = 2, 5
_SHORTEST_FORM = 3  # letters of a shortened name


# ── names, identifiers and days ──────────────────────────────────────────────────────────────────────────────────


def judge_absent_names(texts: FactTexts, absent: Sequence[Word]) -> FactJudgment | None:
    """Return the judgment of a fact with names among its `absent` words; None where other words may stand for them.

    No other word can stand for the name of a person, a place or an identifier. A part of a name may stand for the
    whole where the answer has no other name, an abbreviation may be written out, and days may be named together
    ("weekdays"). A name of the question need not be repeated, unless the fact says nothing else.
    """
    is_all = all(texts.question.find_word(word, True) for word in texts.content)
    names = [word for word in absent if _is_name(texts, word)]
    names = [word for word in names if is_all or not texts.question.find_word(word, True)]
    if not names:
        return None
    present_names = [word for word in texts.content if word not in absent and _is_name(texts, word)]
    days = [match.span() for match in WEEKDAY.finditer(texts.read_fact.plain)]
    day_names = [word for word in names if any(start <= word.start < end for start, end in days)]
    if day_names and len(day_names) == len(names):
        return _judge_absent_days(texts, day_names, spell_words(texts, day_names))
    own_names = [word for word in names if word not in day_names]
    reason = f"the answer does not say {spell_words(texts, own_names)}"
    missing = FactJudgment(texts.fact, "missing", reason)
    if any(word.kind == "id" for word in own_names):
        is_written_apart = all(_is_written_apart(texts, word) for word in own_names if word.kind == "id")
        if is_written_apart:
            return structs.replace(missing, state="unknown")
        other = find_other_identifier(texts.read_fact, texts.answer)
        return (
            structs.replace(missing, reason=f'the answer says "{other}"', mistake="other value") if other else missing
        )
    rivals = _list_other_names(texts)
    if not rivals and all(_is_next_to(texts.read_fact, word, present_names) for word in own_names):
        return None
    if all(_is_written_out(texts, word) for word in own_names):
        return structs.replace(missing, state="unknown", reason=f"{reason}, but words with its initials")
    if all(_is_shortened(texts, word) for word in own_names):
        return structs.replace(missing, state="unknown", reason=f"{reason}, but a shorter or longer form of it")
    return missing


def _is_name(texts: FactTexts, word: Word) -> bool:
    """Whether a word of the fact is a name or an identifier, which no other word can stand for."""
    if word.kind != "name" or word.folded in GERMAN_AROUND_VALUE:
        return word.kind == "id"
    # The first word may be capitalised because a sentence begins with it, unless an "only" stood before it.
    if word is not texts.read_fact.words[0] or texts.only.place == 0:
        return True
    is_common = any(
        not text.words[index].is_capitalised
        for text in (texts.question, texts.reference)
        for index in text.find_word(word, texts.ignore_marks)
    )
    return not is_common and all(other.is_capitalised for other in texts.content)


def judge_absent_weekday(texts: FactTexts, start: int) -> FactJudgment | None:
    """Return the judgment of a Vietnamese day whose number starts at a position of the fact and is not there.

    "Thứ Hai" (Monday) is written with a number, and named like other days: "trừ Chủ nhật" (but Sundays) may include it.
    None for a number that is none of a day.
    """
    days = WEEKDAY.finditer(texts.read_fact.plain)
    day = next((match for match in days if match.start() <= start < match.end()), None)
    if day is None:
        return None
    return _judge_absent_days(texts, [], f'"{texts.read_fact.text[slice(*day.span())]}"')


def _judge_absent_days(texts: FactTexts, names: Sequence[Word], spelled: str) -> FactJudgment:
    """Return the judgment of days of the week that are not there: other days may leave just these over."""
    reason = f"the answer does not say {spelled}"
    answer = texts.answer
    if WEEK.search(answer.plain):
        return FactJudgment(texts.fact, "unknown", f"{reason}, but names several days together")
    days = set(list_days(answer.plain, 0, len(answer.plain)))
    if names and all(_is_shortened(texts, word) for word in names):
        return FactJudgment(texts.fact, "unknown", f"{reason}, but a shorter form of it")
    texts_of_rest = (answer, texts.read_fact)
    is_rest = any(find_negations(text) or has_exception(text) or _CLOSED.search(text.plain) for text in texts_of_rest)
    if days and (is_rest or days >= set(list_days(texts.read_fact.plain, 0, len(texts.read_fact.plain)))):
        return FactJudgment(texts.fact, "unknown", f"{reason}, but names other days")
    return FactJudgment(texts.fact, "missing", reason)


_LETTERS_OR_DIGITS = compile_pattern(r"[a-z]+|\d+")


def _is_written_apart(texts: FactTexts, identifier: Word) -> bool:
    """Whether an identifier is there with other signs between its parts: "1 to 25,000" for "1:25,000"."""
    parts = _LETTERS_OR_DIGITS.findall(identifier.folded.replace(",", ""))
    between = r"(?:[\W_]{0,3}|[\W_]to[\W_])"
    pattern = rf"(?<![^\W_]){between.join(parts)}(?![^\W_])"
    return re.search(pattern, texts.answer.plain.replace(",", "")) is not None


def _is_next_to(text: ReadText, word: Word, names: Sequence[Word]) -> bool:
    """Whether a word belongs to one name with others: "Berg" in "Anna Berg", but not "Legal" in "HR and Legal".

    The second syllable of a Vietnamese word is not capitalised: "Đa" and "Hồng" in "Bệnh viện Đa khoa Hồng Ngọc".
    """
    gaps = [text.plain[min(word.end, name.end) : max(word.start, name.start)].strip(" .-") for name in names]
    return any(not gap or (text.has_marks and gap.isalpha() and gap not in ("va", "hoac", "hay")) for gap in gaps)


def _list_other_names(texts: FactTexts) -> list[Word]:
    """Return the names of an answer that nothing explains; a word that begins a sentence may be none."""
    answer = texts.answer
    names = [word for word in answer.words if word.kind == "name" and word.folded not in TITLES_AND_ADDRESS]
    names = [word for word in names if not texts.is_familiar(word)]
    return [word for word in names if answer.clause_at(word.start).sentence_start != word.start]


def _is_written_out(texts: FactTexts, word: Word) -> bool:
    """Whether a word is an abbreviation, and words of the answer have its initials: "human resources" for "HR"."""
    written = texts.read_fact.text[word.start : word.end]
    if not (written.isupper() and written.isalpha() and _SHORTEST_ACRONYM <= len(written) <= _LONGEST_ACRONYM):
        return False
    initials = "".join(own.folded[0] for own in texts.answer.words if own.kind != "stop")
    return written.lower() in initials


def _is_shortened(texts: FactTexts, word: Word) -> bool:
    """Whether the answer has a form of a name that begins it, or that it begins: "Postgres" for "PostgreSQL", "Wed"."""
    return any(
        own.is_capitalised
        and len(own.folded) >= _SHORTEST_FORM
        and own.folded != word.folded
        and (word.folded.startswith(own.folded) or own.folded.startswith(word.folded))
        for own in texts.answer.words
    )


# ── other words ──────────────────────────────────────────────────────────────────────────────────────────────────


def judge_absent_words(
    texts: FactTexts, needed: Sequence[Word], lacking: Sequence[Word], *, is_part_stated: bool
) -> FactJudgment:
    """Return the judgment of a fact some of whose `needed` words an answer lacks.

    `is_part_stated`: its quantity is there.
    """
    reason = f"the answer does not say {spell_words(texts, lacking)}"
    opposite = _find_opposites(texts, lacking) or _find_other_unit(texts, lacking)
    if opposite is not None:
        return opposite
    contrary = "" if is_part_stated else find_contrary_answer(texts)
    if contrary:
        return FactJudgment(texts.fact, "denied", contrary)
    if is_part_stated or 2 * len(lacking) <= len(needed):
        return FactJudgment(texts.fact, "unknown", reason)
    evidence = _find_evidence_of_absence(texts)
    if evidence:
        return FactJudgment(texts.fact, "missing", f"{reason}{evidence}")
    if is_in_other_language(texts):
        return FactJudgment(texts.fact, "unknown", OTHER_LANGUAGE)
    return FactJudgment(texts.fact, "unknown", f"{reason}, but other words of it may mean that")


def drop_labels(texts: FactTexts, words: Sequence[Word], *, has_value: bool) -> list[Word]:
    """Return words of a fact without those that only say what kind a number or name is: "Room" of "Room B2".

    `has_value`: the quantities of the fact are there. A number that another noun precedes in the answer is of another
    kind ("platform 7" is no "line 7").
    """
    kept = []
    unsaid = [word for word in words if word.folded in SAID_WITHOUT and not _is_replaced(texts, word)]
    unsaid += _list_addressed(texts, words)
    unsaid += [word for word in words if _stands_for_noun(texts, word)]
    if texts.only.place is not None and _ONLY.search(texts.answer.plain) is not None:
        unsaid += [word for word in words if word.folded in PERMITTED]
    unsaid = [word for word in unsaid if not texts.answer.find_word(word, texts.ignore_marks)]
    if not has_value and all(word in unsaid for word in words):
        unsaid = []
    for word in words:
        if word in unsaid:
            continue
        is_joining = word.folded in JOINING or _is_time_of_event(texts, word) or _is_german_within(texts, word)
        is_joining = is_joining and (has_value or len(words) > 1)
        if not is_joining and not _is_label(texts, word, has_value=has_value):
            kept.append(word)
    return kept


def _stands_for_noun(texts: FactTexts, word: Word) -> bool:
    """Whether a word of the fact is the "one" of "a lower one", which counts nothing."""
    following = texts.read_fact.take_next_word(word.end)
    is_last = following is None or following.kind == "stop" or following.start - word.end > 1
    return word.folded in ONES and is_last and word is not texts.read_fact.words[0]


def _is_replaced(texts: FactTexts, verb: Word) -> bool:
    """Whether an answer has another verb before what follows a verb of the fact: "refund the fee" for "pay the fee"."""
    following = next((word for word in texts.content if word.start > verb.start), None)
    if following is None:
        return False
    for index in texts.answer.find_word(following, texts.ignore_marks):
        start = texts.answer.words[index].start
        clause = texts.answer.clause_at(start)
        before = [word for word in texts.answer.list_words(clause.start, start) if word.kind != "stop"]
        if before and texts.is_new(before[-1]) and before[-1].folded not in SAID_WITHOUT:
            return True
    return False


def _list_addressed(texts: FactTexts, words: Sequence[Word]) -> list[Word]:
    """Return the words for those of whom the fact tells, where an answer says "you" to them and names nobody."""
    if not any(word.folded in YOU for word in texts.answer.words) or _NAMES_ROLE.search(texts.answer.plain):
        return []
    named = list(_ADDRESSED.finditer(texts.read_fact.plain))
    spelled = {match[0].removesuffix("s") for match in named}
    for text in (texts.answer, texts.question, texts.reference):
        if any(match[0].removesuffix("s") not in spelled for match in _ADDRESSED.finditer(text.plain)):
            return []
    return [word for word in words if any(match.start() <= word.start < match.end() for match in named)]


def _is_german_within(texts: FactTexts, word: Word) -> bool:
    """Whether a word is the "von" of "innerhalb von", or all of it before a value that is the whole answer."""
    start = texts.read_fact.plain.rfind(_WITHIN, 0, word.end)
    return start >= 0 and (word.start - start == len(_WITHIN) + 1 or (word.start == start and not texts.answer.words))


_WITHIN = "innerhalb"


def _is_time_of_event(texts: FactTexts, word: Word) -> bool:
    following = texts.read_fact.take_next_word(word.end)
    return word.folded in TIMES_OF_EVENTS and following is not None and following.folded == "of"


def _is_label(texts: FactTexts, word: Word, *, has_value: bool) -> bool:
    """Whether a common noun stands right before a plain number or an identifier that the answer has without a noun."""
    if word.kind == "id" or texts.answer.find_word(word, texts.ignore_marks):
        return False
    answer = texts.answer
    starts = []
    if has_value:
        for quantity in texts.read_fact.quantities:
            if quantity.start - word.end == 1 and (is_plain(quantity) or quantity.date):
                starts += [own.start for own in answer.quantities if is_same_quantity(quantity, own)]
    for name in texts.read_fact.words:
        if name.kind == "id" and name.start - word.end == 1:
            starts += [answer.words[index].start for index in answer.find_word(name, texts.ignore_marks)]
    return bool(starts) and not any(_follows_noun(texts, start) for start in starts)


def _follows_noun(texts: FactTexts, start: int) -> bool:
    before = next((own for own in texts.answer.words if start - own.end == 1), None)
    return before is not None and may_be_subject(before) and not texts.is_familiar(before) and before.folded != "number"


def is_in_other_language(texts: FactTexts, *, is_read: bool = True) -> bool:
    """Return whether answer and fact are in two languages, or in one whose inflections are not read.

    Then no word need be the same. Figures are the same in every language; a fact that has some is missing without them.
    `is_read`: whether the language that is declared is one whose inflections are read.
    """
    figures = _FIGURES.findall(texts.fact)
    if figures and (is_read or not set(figures) <= set(_FIGURES.findall(texts.answer.text))):
        return False
    if not is_read:
        return True
    answer = texts.answer.text
    expected_texts = f"{texts.question.text} {texts.fact} {texts.reference.text}"
    own, expected = (
        guess_language(text) or ("other" if is_other_language(text) else None) for text in (answer, expected_texts)
    )
    return "other" in (own, expected) or (own is not None and expected is not None and own != expected)


def _find_opposites(texts: FactTexts, lacking: Sequence[Word]) -> FactJudgment | None:
    answer = texts.answer
    words = [word.folded for word in answer.words]
    for word in lacking:
        opposite = find_antonym(word.folded, words)
        if opposite is None:
            continue
        reason = f'the answer says "{opposite}" and not "{word.folded}"'
        if texts.is_negative:
            return None  # "forbidden" says "not allowed"
        if has_exception(answer):
            return FactJudgment(texts.fact, "unknown", f"{reason}, with an exception")
        clause = answer.clause_at(answer.words[words.index(opposite)].start)
        if find_negations(answer, clause.sentence_start, clause.sentence_end):
            return FactJudgment(texts.fact, "unknown", f"{reason}, next to a negation")
        return FactJudgment(texts.fact, "denied", reason)
    return None


def _find_other_unit(texts: FactTexts, lacking: Sequence[Word]) -> FactJudgment | None:
    """Return the judgment of a unit of which the answer has another one, or the same with a number: "1690 euros"."""
    for word in lacking:
        unit = UNITS.get(word.folded)
        if unit is None:
            continue
        family = unit.dimension.partition(":")[0]
        for own in texts.answer.quantities:
            dimensions = {reading.dimension for reading in own.readings}
            stated = texts.answer.text[own.start : own.end]
            if unit.dimension in dimensions:
                return FactJudgment(texts.fact, "unknown", f'the answer says "{stated}"')
            if any(dimension.partition(":")[0] == family for dimension in dimensions):
                return FactJudgment(texts.fact, "denied", f'the answer says "{stated}", not {word.folded}')
    return None


def _find_evidence_of_absence(texts: FactTexts) -> str:
    """Return what shows that no other words of an answer say the fact, as the end of a reason; "" if nothing does."""
    answer = texts.answer
    if texts.is_negative and find_negations(answer):
        return ""  # it denies something, perhaps in other words
    behaviour = detect_phrases(answer.text)
    if behaviour.behaviour in ("abstain", "permission_denied") and not behaviour.is_partial_refusal:
        return ", and the answer is a refusal"
    if may_be_decided(texts) or (asks_whether(texts.question) and read_decision(texts.read_fact) is not None):
        return ""  # yes and no may be said in any words, and stand for the question's
    if find_negations(answer) and any(_find_opposite_asked(texts, word) for word in texts.content):
        return ""  # "it isn't", asked when it is open, says that it is closed
    unexplained = list_unexplained(texts)
    if not unexplained and not _may_be_any_word(texts) and not _is_said_by_verbs(texts):
        return ", and has no other words that could mean that"
    if _is_on_topic(texts):
        return ""
    if not texts.question.words or _has_own_subject(answer):
        return ", and has no word of the question or of what is expected"
    return ""


def _find_opposite_asked(texts: FactTexts, word: Word) -> str | None:
    return find_antonym(word.folded, [asked.folded for asked in texts.question.words])


def _may_be_any_word(texts: FactTexts) -> bool:
    """Whether a fact is a single plain word, and its question asks for yes or no: "mandatory" is also "you have to"."""
    words = texts.read_fact.words
    is_plain = len(words) == 1 and not words[0].is_capitalised and not texts.read_fact.quantities
    return is_plain and asks_whether(texts.question)


def _is_said_by_verbs(texts: FactTexts) -> bool:
    """Whether a clause with a word of a fact may say by its verb what the fact says by an adjective.

    "You need the form" says that it is required, and "no interview for you" that one is exempt from it.
    """
    is_spared = _SPARED.search(texts.read_fact.plain) is not None
    if not is_spared and (_NECESSARY.search(texts.read_fact.plain) is None or texts.is_negative):
        return False
    answer = texts.answer
    for word in texts.content:
        for index in answer.find_word(word, texts.ignore_marks):
            clause = answer.clause_at(answer.words[index].start)
            is_denied = bool(find_negations(answer, clause.start, clause.end))
            needs = _NEEDS.search(answer.plain, clause.start, clause.end) is not None
            if is_denied if is_spared else (needs and not is_denied):
                return True
    return False


def list_unexplained(texts: FactTexts) -> list[Word]:
    """Return the words of an answer that may say something which neither question, reference nor facts do."""
    words = [word for word in texts.answer.words if may_be_subject(word) and word.folded not in NEUTRAL]
    return [word for word in words if not texts.is_familiar(word)]


def _is_on_topic(texts: FactTexts) -> bool:
    """Whether an answer shares a word or a quantity with question, reference or facts."""
    if any(word.kind != "stop" and texts.is_explained(word) for word in texts.answer.words):
        return True
    named = " ".join(text.plain for text in texts.explaining)
    for pattern in (_DAYS, NOTHING_TO_PAY):
        if pattern.search(texts.answer.plain) and pattern.search(named):
            return True
    quantities = [quantity for text in texts.explaining for quantity in text.quantities]
    return any(is_same_quantity(wanted, own) for wanted in quantities for own in texts.answer.quantities)


def _has_own_subject(answer: ReadText) -> bool:
    """Whether an answer begins with a subject, and not with a pronoun, an order or a part of a sentence."""
    subject = 0
    for word in answer.words:
        if word.folded in AUXILIARIES:
            return subject > 0
        if word.folded in IMPERATIVES and not subject:
            return False
        if may_be_subject(word):
            subject += 1
        elif word.kind != "stop" or word.folded.partition("'")[0] not in ARTICLES_AND_PREPOSITIONS:
            return False
    return False


def spell_words(texts: FactTexts, words: Sequence[Word]) -> str:
    """Return words of a fact in quotation marks."""
    return ", ".join(f'"{texts.read_fact.text[word.start : word.end]}"' for word in words)

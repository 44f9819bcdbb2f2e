"""Whose value an answer states: its parts with a value each, and what they say of something else than the question.

"The Heron room seats 120 and the Auditorium 6" gives the Auditorium 6. The functions work on folded text
(`fold_in_place`), so Vietnamese is written without diacritics.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct, structs

from assay.text.facts.cues.cue_pattern import build_pattern
from assay.text.facts.cues.link_cues import BEFORE_VERB, CONSEQUENCE, IF_AVAILABLE, NO_NOUN_NEXT, PRONOUN
from assay.text.facts.cues.value_cues import SUMS_UP
from assay.text.facts.cues.word_classes import AUXILIARIES, IMPERATIVES, NAMING_NOBODY
from assay.text.facts.expected.expected_limits import names_asked_most
from assay.text.facts.reading.read_text import ReadText, Word
from assay.text.facts.reading.statement_marks import RESPECTIVELY
from assay.text.facts.reading.text_parts import SENTENCE_CUT, Part, list_quantities, split_parts
from assay.text.languages import is_vietnamese
from assay.text.late_pattern import LatePattern
from assay.text.pattern_cache import compile_pattern
from assay.text.quantities.payment_cues import NOTHING_TO_PAY, is_nothing_to_pay, is_positive_amount
from assay.text.quantities.quantity import Quantity
from assay.text.quantities.quantity_agreement import is_about_same_span, is_comparable, is_same_quantity, is_same_value
from assay.text.quantities.quantity_index import QuantityIndex
from assay.text.quantities.quantity_rates import is_time_rate, name_rate_noun
from assay.text.quantities.units import MONEY, PLAIN, SHARE
from assay.text.quantities.weekdays import WEEK, WEEKDAY, list_days, name_day

_CONSEQUENCE = build_pattern(rf"[\s,]*({CONSEQUENCE})\b")
_IF_AVAILABLE = build_pattern(rf"\b{IF_AVAILABLE}[^.,;]{{0,30}}$")
"""Stands before a "free" that says of a room or a seat that nobody has it."""
_PRONOUN = build_pattern(rf"(?:and |but |so |then )?{PRONOUN}\b")
"""A beginning of a sentence that goes on with what the sentence before is about."""
_NO_NOUN = build_pattern(rf"[ .,;!?)]*(?:$|{NO_NOUN_NEXT}\b)")
_VERB_BEFORE = build_pattern(rf"(?:^|\b{BEFORE_VERB}) ?$")
"""What stands before a verb: "send shoes" is no other kind of shoes than those of "return shoes"."""
_PER_TIME = LatePattern(
    r"\b(?:per|each|every)(?: (?:started|begun|full|whole|extra|additional|further))? (?P<noun>[a-z]+)\b"
)
_LONGEST_RATE = 30  # characters
_ALL = 100  # per cent
_SUMS_UP = build_pattern(rf"\b{SUMS_UP}\b")
"""Says that a value is the sum of those of other parts, so that it may be that of what the question asks."""
_NO_OWNER = LatePattern(
    r"(?!(?:family|supply|assembly|reply|italy|july|butterfly|belly|jelly|rally|ally)$)\w{3,}ly"
    r"|exact|precise|belongs?|remains?|stays?|amounts?"
)
"""A word that says how, or is a verb, so that no value belongs to it."""
_ROOM_FOR = build_pattern(r"(?:room|space|capacity|place) for\b|chỗ cho\b")
"""Says before a number how many fit, and names nothing that it belongs to."""
_LABEL = compile_pattern(r"\s*([^:;.!?]{1,40}): \S")
_FEWEST_CELLS = 2
_DIGITS = compile_pattern(r"\d+")
_FEWEST_FOREIGN = 2  # words of a part that make it a statement of its own and no further item of a list


class OtherOwner(Struct, frozen=True):
    """A part of the answer that says of another subject what the question asks, in words; whether that is sure."""

    reason: str
    is_sure: bool


class ValueOwner:
    """Tells whether a value of an answer belongs to another subject than the one that the question asks about.

    A value is a quantity, a weekday, or that there is nothing to pay; other facts have none.
    """

    def __init__(
        self,
        answer: ReadText,
        question: ReadText,
        topic: Sequence[Word],
        fact: ReadText,
        expected_texts: Sequence[ReadText],
        fact_keys: set[str],
        expected: Sequence[Quantity],
        is_familiar: Callable[[Word], bool],
        is_subject: Callable[[Word], bool],
    ) -> None:
        self.answer, self.question = answer, question
        self.topic = [word for word in topic if word.key not in fact_keys]
        self.fact_keys, self.expected, self.is_familiar, self.is_subject = fact_keys, expected, is_familiar, is_subject
        self.expected_values = QuantityIndex(expected)
        self.asked_days = {name_day(match[0]) for match in WEEKDAY.finditer(question.plain)}
        self.has_day = WEEKDAY.search(fact.plain) is not None
        self.expected_days = {name_day(match[0]) for text in expected_texts for match in WEEKDAY.finditer(text.plain)}
        self.is_free = NOTHING_TO_PAY.search(fact.plain) is not None or is_nothing_to_pay(fact.plain)
        self.fact_words = [word for word in fact.words if word.key in fact_keys]
        self.has_modifiers_first = not is_vietnamese(question.text)
        self._last_cut: tuple[tuple[int, int, Quantity | None], Sequence[Part], Sequence[Part]] | None = None

    def cut_answer(self, low: int, high: int, value: Quantity | None) -> tuple[Sequence[Part], Sequence[Part]]:
        """Return the parts of the answer from `low` to `high`, and the groups of them that have a value each.

        Without a value the groups are the parts.
        """
        key = low, high, value
        if self._last_cut is None or self._last_cut[0] != key:
            parts = split_parts(self.answer, low, high)
            has_value = value is not None or self.has_day or self.is_free
            self._last_cut = key, parts, list(self._group_by_value(parts, value)) if has_value else parts
        return self._last_cut[1:]

    def find_other_owner(self, low: int, high: int, start: int, value: Quantity | None) -> OtherOwner | None:
        """Return how the answer from `low` to `high` shows that what starts at `start` is another's; None if it does
        not. `value`: the quantity that starts there."""
        parts, groups = self.cut_answer(low, high, value)
        has_value = value is not None or self.has_day or self.is_free
        index = bisect_right(groups, start, key=_get_part_start) - 1
        if index < 0:
            return None
        own = groups[index]
        others = [group for place, group in enumerate(groups) if place != index]
        code = self._find_other_code(start)
        if code:
            return OtherOwner(f'the answer says this of "{code}"', False)
        if has_value:
            split = self._find_split_fact(own, others, value)
            if split is not None:
                return split
        day = self._find_other_day(own, others) if value is not None or self.is_free else None
        if day is not None:
            return day
        if others and self._has_other_modifier(own):
            return OtherOwner("the answer says this of another kind than the question asks about", False)
        if has_value:
            for other in others:
                if any(is_rival for _, is_rival in self.list_values(other, value)):
                    owner = self._compare_parts(own, other, start, self.list_values(other, value)[0][0])
                    if owner is not None:
                        return owner
        return self._find_contrast(parts, start)

    def _has_other_modifier(self, part: Part) -> bool:
        """Whether a part has a noun of the question with another word before it: "waste water" for "fresh water".

        Not in Vietnamese, where modifiers follow and the word before is as often a syllable of the same word.
        """
        if not self.has_modifiers_first:
            return False
        words = self.words_in(part)
        for before, noun in pairwise(words):
            if noun.start - before.end != 1 or not self.is_topic(noun) or not self.is_subject(before):
                continue
            if (
                self.is_familiar(before)
                or before.kind == "stop"
                or _VERB_BEFORE.search(self.answer.plain, part.start, before.start)
            ):
                continue
            asked = [
                modifier
                for modifier, own in pairwise(self.question.words)
                if own.key == noun.key and own.start - modifier.end == 1 and self.is_topic(modifier)
            ]
            if asked and not any(_holds(words, modifier) for modifier in asked):
                return True
        return False

    def _find_split_fact(self, own: Part, others: Sequence[Part], value: Quantity | None) -> OtherOwner | None:
        """Return how words of the fact belong to another value: "free for members; guests pay €5" of free guests."""
        in_own = self.words_in(own)
        if any(_holds(in_own, word) and not self._is_elsewhere(word, others) for word in self.fact_words):
            return None  # a word of the fact sets its own part apart
        for word in self.fact_words:
            is_value = NOTHING_TO_PAY.search(word.folded) is not None or WEEKDAY.search(word.folded) is not None
            if is_value or _holds(in_own, word):
                continue
            for other in others:
                if self._has_other_value(other, value) and _holds(self.words_in(other), word):
                    reason = (
                        f'the answer says this of something else than "{word.folded}", which has a value of its own'
                    )
                    return OtherOwner(reason, False)
        return None

    def _has_other_value(self, part: Part, value: Quantity | None) -> bool:
        """Whether a part has another value of the kind of the fact; that of another fact is one too: "12 euros for
        children and 5 euros for adults" gives both to the wrong ones."""
        if any(is_rival for _, is_rival in self.list_values(part, value)):
            return True
        if RESPECTIVELY.search(self.answer.plain, part.start) is not None:
            return False
        comparable = (own for own in self.quantities_in(part) if self._may_replace(own, value, part))
        return value is not None and any(not is_same_quantity(value, own) for own in comparable)

    def _is_elsewhere(self, word: Word, others: Sequence[Part]) -> bool:
        is_value = NOTHING_TO_PAY.search(word.folded) is not None or WEEKDAY.search(word.folded) is not None
        return is_value or any(_holds(self.words_in(other), word) for other in others)

    def _find_contrast(self, parts: Sequence[Part], start: int) -> OtherOwner | None:
        """Return how a neighbouring part, which is set against that of the fact, speaks of what is asked instead."""
        index = bisect_right(parts, start, key=_get_part_start) - 1
        for first in (index - 1, index):
            if first < 0 or first + 1 >= len(parts):
                continue
            other = parts[first] if first != index else parts[first + 1]
            if self._are_cells_of_one_row(parts[index], other):
                continue
            if self._is_set_against(parts[first + 1], other) or self._has_all_topics(parts[index], other):
                owner = self._compare_parts(parts[index], other, start, None)
                if owner is not None:
                    return owner
        return None

    def _find_other_code(self, start: int) -> str:
        """Return the code in a cell before a position of its row if the question asks about another one; else ""."""
        asked = {word.key for word in self.question.words if word.kind == "id"}
        line = self.answer.lined.rfind("\n", 0, start) + 1
        if not asked or self.answer.lined.find("; ", line, start) < 0:
            return ""
        codes = [word for word in self.answer.list_words(line, start) if word.kind == "id"]
        label = _LABEL.match(self.answer.lined, line)
        if label is None or not codes or codes[-1].key in asked:
            return ""
        is_alike = any(_DIGITS.sub("0", codes[-1].key) == _DIGITS.sub("0", key) for key in asked)
        return self.answer.text[codes[-1].start : codes[-1].end] if is_alike else ""

    def _are_cells_of_one_row(self, own: Part, other: Part) -> bool:
        """Whether two parts are cells of one row, "Code: K4; Cause: no water": what one names is what all are of."""
        first, second = min(own.start, other.start), max(own.end, other.end)
        start = self.answer.lined.rfind("\n", 0, first) + 1
        end = self.answer.lined.find("\n", second)
        cells = self.answer.lined[start : end if end >= 0 else None].split("; ")
        labels = [match[1] for match in map(_LABEL.match, cells) if match is not None]
        return len(cells) >= _FEWEST_CELLS and len(set(labels)) == len(cells)

    def _is_set_against(self, second: Part, other: Part) -> bool:
        """Whether a part is set against the one before; a semicolon alone does so if the other part has the topic."""
        if not second.is_contrast or not self.answer.plain.endswith("; ", 0, second.start):
            return second.is_contrast
        asked = {word.key for word in self.words_in(other) if self.is_topic(word)}
        return len(asked) >= 2 or 2 * len(asked) >= len(self.topic)

    def _has_all_topics(self, own: Part, other: Part) -> bool:
        """Whether a part has the words of the question, two of them at least, and that of the fact has none."""
        foreign = [word for word in self._subject_words(own, None) if not self.is_familiar(word)]
        if not foreign or any(self.is_topic(word) for word in self.words_in(own)):
            return False
        asked = {word.key for word in self.words_in(other) if self.is_topic(word)}
        has_candidate = any(not self.is_familiar(word) for word in self._subject_words(other, None))
        if len(foreign) < _FEWEST_FOREIGN and not has_candidate:
            return False
        return len(asked) >= max(2, len(self.topic) // 2)

    def _group_by_value(self, parts: Sequence[Part], value: Quantity | None) -> Iterator[Part]:
        """Yield parts that hold a value of the kind of the fact, each with the parts around it that belong to it.

        What stands between two values belongs to the one from which it is less separated, else to the second. Other
        sentences belong to none, unless the one with the value begins with a pronoun.
        """
        holders = [holder for holder, part in enumerate(parts) if self.list_values(part, value)]
        firsts = [
            self._find_first(parts, previous, holder) for previous, holder in zip([-1, *holders], holders, strict=False)
        ]
        for number, (first, holder) in enumerate(zip(firsts, holders, strict=True)):
            limit = firsts[number + 1] if number + 1 < len(firsts) else len(parts)
            last = holder
            while last + 1 < limit and parts[last + 1].separation < SENTENCE_CUT:
                last += 1
            yield structs.replace(parts[first], end=parts[last].end)

    def _find_first(self, parts: Sequence[Part], previous: int, holder: int) -> int:
        """Return the first of the parts after `previous` that belong to the value in the part at `place`."""
        run = range(previous + 1, holder + 1)
        strongest = max(parts[at].separation for at in run)
        if strongest < SENTENCE_CUT:
            return next(at for at in run if parts[at].separation == strongest)
        first = max(at for at in run if parts[at].separation == strongest)
        while first > previous + 1 and _PRONOUN.match(self.answer.plain, parts[first].start):
            first -= 1
        return first

    def is_new_sentence(self, part: Part) -> bool:
        """Return whether a part begins a sentence of its own."""
        return part.separation == SENTENCE_CUT

    def list_values(self, part: Part, value: Quantity | None) -> list[tuple[int, bool]]:
        """Return where a part has values of the kind of the fact, in order, and whether each is an unexpected one."""
        values = [
            (own.start, self._is_rival(own)) for own in self.quantities_in(part) if self._may_replace(own, value, part)
        ]
        if value is None and self.has_day:
            days = WEEKDAY.finditer(self.answer.plain, part.start, part.end)
            values += [(match.start(), name_day(match[0]) not in self.expected_days) for match in days]
        is_money = value is not None and any(reading.dimension.startswith(MONEY) for reading in value.readings)
        if is_money or self.is_free:
            for match in NOTHING_TO_PAY.finditer(self.answer.plain, part.start, part.end):
                if _IF_AVAILABLE.search(self.answer.plain, part.start, match.start()) is None:
                    values.append((match.start(), is_money))
        return sorted(values)

    def quantities_in(self, part: Part) -> list[Quantity]:
        """Return the quantities of a part."""
        return list_quantities(self.answer, part.start, part.end)

    def _may_replace(self, own: Quantity, value: Quantity | None, part: Part) -> bool:
        """Whether a quantity is comparable with a value, or leaves its unit out at the end of its part."""
        if value is None:
            is_share = any(reading.dimension == SHARE and 0 < reading.high < _ALL for reading in own.readings)
            return self.is_free and (is_positive_amount(own) or is_share)
        if is_comparable(value, own):
            return True
        is_plain = all(reading.dimension == PLAIN for reading in own.readings) and not own.date
        return is_plain and _NO_NOUN.match(self.answer.plain, own.end, part.end) is not None

    def _is_rival(self, own: Quantity) -> bool:
        for asked in self.question.quantities:
            if is_comparable(asked, own) and is_same_value(asked, own):
                return False
        for wanted in self.expected_values.iterate_candidates(own):
            if is_same_quantity(wanted, own) or (not own.bound and is_same_quantity(own, wanted)):
                return False
        return not any(is_about_same_span(wanted, own) for wanted in self.expected)

    def _find_other_day(self, own: Part, others: Sequence[Part]) -> OtherOwner | None:
        """Return the weekday of a part if the question asks about another one."""
        plain = self.answer.plain
        if not self.asked_days or WEEK.search(plain, own.start, own.end):
            return None
        days = list(list_days(plain, own.start, own.end))
        if not days or self.asked_days.intersection(days):
            return None
        is_elsewhere = any(self.asked_days.intersection(list_days(plain, other.start, other.end)) for other in others)
        if len(days) > 1 and not is_elsewhere:
            return None
        first = WEEKDAY.search(plain, own.start, own.end)
        assert first is not None  # it has days
        return OtherOwner(f'the answer says this of "{first[0]}", and the question is about another day', is_elsewhere)

    def is_of_other_day(self, other: Part, own: Part) -> bool:
        """Return whether a part is about another day than the one that is asked for and named in `own`."""
        plain = self.answer.plain
        if not self.asked_days or self.asked_days.isdisjoint(list_days(plain, own.start, own.end)):
            return False
        days = list(list_days(plain, other.start, other.end))
        is_of_days = bool(days) or WEEK.search(plain, other.start, other.end) is not None
        return is_of_days and self.asked_days.isdisjoint(days)

    def _compare_parts(self, own: Part, other: Part, start: int, other_value: int | None) -> OtherOwner | None:
        """Return how two parts show that the first is about another subject; `other_value`: where the second has its
        value, None without values."""
        has_value = other_value is not None
        if self._is_no_rival(own, other, has_value=has_value):
            return None
        own_words = [
            word for word in self._subject_words(own, start if has_value else None) if word.folded not in NAMING_NOBODY
        ]
        other_words = self._subject_words(other, other_value)
        all_own = [word for word in self.words_in(own) if word.folded not in NAMING_NOBODY]
        all_other = self.words_in(other)
        asked = [word for word in other_words if self.is_topic(word) and not _holds(all_own, word)]
        if not asked:
            return None
        foreign = [word for word in own_words if not self.is_familiar(word)]
        is_labelled_after = not foreign and has_value
        if is_labelled_after:  # "€12 (children)", "EUR 14 one way"
            foreign = [word for word in all_own if self.is_subject(word) and not self._is_known(word)]
        foreign = self._keep_owners(foreign, all_own, start if has_value else None, own.end)
        if not foreign:
            return None
        strange = [word for word in other_words if not self.is_familiar(word)]
        kept = [word for word in own_words if self.is_topic(word) and not _holds(all_other, word)]
        if is_labelled_after:
            kept = [word for word in kept if word.start > start]
            is_other_labelled_before = other_words[0].start < (other_value or 0)
            if kept or strange or is_other_labelled_before:
                return None
        begins_with_asked = not has_value and other_words[0] in asked  # the part that is set against it
        is_elliptic = other.start > own.start and (not strange or begins_with_asked)
        if kept and kept[0].start < foreign[0].start and not is_elliptic:
            return None  # the part begins with what the question asks about
        named, rest = self._spell_first(foreign), self._spell(asked)
        reason = f'the answer says this of "{named}", and "{rest}", which is asked about, is elsewhere in it'
        is_sum = has_value and _SUMS_UP.search(self.answer.plain, own.start, start) is not None
        return OtherOwner(reason, has_value and not strange and not kept and not is_sum)

    def _is_no_rival(self, own: Part, other: Part, *, has_value: bool) -> bool:
        """Whether nothing can be told from two parts: the second is about another day or a consequence of the first,
        or the first goes on with what is before it, or names the most that is asked for."""
        if self.is_of_other_day(other, own):
            return True
        if names_asked_most((word.folded for word in self.words_in(own)), self.question.plain):
            return True
        is_consequence = not has_value and _CONSEQUENCE.match(self.answer.plain, other.start) is not None
        return is_consequence or self._follows_from_before(own, has_value=has_value)

    def _keep_owners(self, words: Sequence[Word], part: Sequence[Word], start: int | None, end: int) -> list[Word]:
        """Return the words of a part of which a value may be that starts at `start`, None without a value.

        "£490 is left" labels it with nothing, and "per started hour" only says per what it is.
        """
        if start is not None:
            end = next((word.start for word in part if word.start > start and word.folded in AUXILIARIES), end)
            words = [word for word in words if word.start < end]
        return [
            word
            for word in words
            if not self._tells_rate(word)
            and _NO_OWNER.fullmatch(word.folded) is None
            and _ROOM_FOR.match(self.answer.plain, word.start) is None
        ]

    def _follows_from_before(self, part: Part, *, has_value: bool) -> bool:
        """Whether a part goes on with the one before; a sentence of its own may begin with "if"."""
        match = _CONSEQUENCE.match(self.answer.plain, part.start)
        if match is None:
            return False
        return not (has_value and part.separation == SENTENCE_CUT and match[1] in ("if", "when", "neu"))

    def _is_known(self, word: Word) -> bool:
        return word.key in self.fact_keys or self.is_familiar(word)

    def _tells_rate(self, word: Word) -> bool:
        """Whether a word only says per which time a value counts: "per started hour" names nobody whose value it is."""
        for rate in _PER_TIME.finditer(self.answer.plain, max(0, word.start - _LONGEST_RATE), word.end + _LONGEST_RATE):
            if rate.start() <= word.start < rate.end() and is_time_rate(name_rate_noun(rate["noun"])):
                return True
        return word.folded == "per"

    def _spell_first(self, words: Sequence[Word]) -> str:
        """Return the first of some words with those that follow it at once; "helmet" of "per helmet day"."""
        last = 0
        while last + 1 < len(words) and words[last + 1].start - words[last].end == 1:
            last += 1
        while last and is_time_rate(name_rate_noun(words[last].folded)):
            last -= 1
        return self.answer.text[words[0].start : words[last].end]

    def _spell(self, words: Sequence[Word]) -> str:
        return " ".join(self.answer.text[word.start : word.end] for word in words)

    def words_in(self, part: Part) -> Sequence[Word]:
        """Return the words of a part, without those of quantities."""
        return self.answer.list_words(part.start, part.end)

    def _subject_words(self, part: Part, before: int | None) -> list[Word]:
        """Return the words before the value of a part, all of its words if there are none."""
        words = [word for word in self.words_in(part) if self.is_subject(word) and word.key not in self.fact_keys]
        if words and words[0].start == part.start and words[0].folded in IMPERATIVES and not self.is_topic(words[0]):
            words = words[1:]
        leading = [word for word in words if before is not None and word.start < before]
        return leading if leading or (self.has_day and before is not None) else words

    def is_topic(self, word: Word) -> bool:
        """Return whether a word says what the question is about, and is none of the fact."""
        return any(word.key == asked.key and word.marks == asked.marks for asked in self.topic)


def _get_part_start(part: Part) -> int:
    return part.start


def _holds(words: Sequence[Word], wanted: Word) -> bool:
    return any(word.key == wanted.key and word.marks == wanted.marks for word in words)

"""The lexicons in use in this process, shipped ones and those of the user, and which of them an answer needs."""

from __future__ import annotations

from functools import cache, lru_cache

from assay.text.refusals.lexicon_file import (
    list_shipped_languages,
    load_lexicons,
    load_shipped_lexicon,
    read_common_words,
)
from assay.text.refusals.phrase_filter import has_other_script
from assay.text.refusals.refusal_lexicon import RefusalLexicon
from assay.text.refusals.refusal_rules import (
    COMMON_LANGUAGES,
    LexiconGroup,
    RefusalRules,
    list_group,
    may_be_other_latin,
)
from assay.text.tokens import is_stop_word


def has_lexicon(language: str) -> bool:
    """Return whether a lexicon covers a language (`vi`, `vi-VN`)."""
    name = language.lower().replace("_", "-").partition("-")[0]
    return name in list_shipped_languages() or (bool(_lexicon_paths) and name in load_rules("common").lexicons)


def use_lexicons(paths: tuple[str, ...]) -> bool:
    """Read the user's lexicons and use them from here on; return whether they are others than before."""
    global _lexicon_paths
    if paths == _lexicon_paths:
        return False
    load_lexicons(paths, COMMON_LANGUAGES)
    _lexicon_paths = paths
    load_rules.cache_clear()
    return True


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


def select_rules(answer: str) -> list[RefusalRules]:
    """Return the rules that an answer is compared with; they depend on the answer alone."""
    selected = [load_rules("common")]
    if has_other_script(answer):
        selected.append(load_rules("unspaced"))
    if needs_latin_rules(answer):
        selected.append(load_rules("latin"))
    return selected


def list_lexicons(answer: str) -> list[RefusalLexicon]:
    """Return every lexicon that an answer may be read with: those of its rules, and all others that ship.

    A short sentence has too few frequent words to tell its language by."""
    selected = {name: lexicon for rules in select_rules(answer) for name, lexicon in rules.lexicons.items()}
    others = [name for name in list_shipped_languages() if name not in selected]
    return [*selected.values(), *map(load_shipped_lexicon, others)]


@lru_cache(maxsize=64)  # one answer is asked about several times in a row
def needs_latin_rules(answer: str) -> bool:
    """Return whether an answer may be in another language of Latin script than English and Vietnamese."""
    return may_be_other_latin(answer, *_frequent_words())


@cache
def _frequent_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the frequent words of the other languages of Latin script, and those of English and Vietnamese."""
    common = frozenset[str]().union(*map(read_common_words, COMMON_LANGUAGES))
    languages = list_group("latin", list_shipped_languages())
    others = frozenset[str]().union(*map(read_common_words, languages))
    markers = {word for word in others - common if not is_stop_word(word)}  # "do" is Portuguese, and English
    return frozenset(markers), common - others

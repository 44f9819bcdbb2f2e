"""The rules of `golden lint` that need no corpus: tags, questions, keywords, ids, languages, the header."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from assay.gates.tag_rules import fold_tag
from assay.golden.lint_finding import SuspectField, select_counted_cases
from assay.records.counts import format_count
from assay.records.errors import shorten_repr
from assay.records.golden_set import Behaviour, Case, GoldenSet
from assay.scoring.cluster_suggestions import ClusterSuggestion, suggest_clusters
from assay.text.languages import guess_language, has_diacritics
from assay.text.normalisation import fold_text
from assay.text.tokens import parse_terms

MULTI_HOP = frozenset({"multi-hop", "multihop"})
SINGLE_HOP = frozenset({"single-hop", "singlehop"})
_BEHAVIOUR_TAGS: dict[str, tuple[Behaviour, ...]] = {
    "no-answer": ("abstain",),
    "abstain": ("abstain",),
    "permission-denied": ("permission_denied",),
    "escalate": ("escalate",),
    "clarify": ("clarify",),
}
_ACCESS_TAGS = frozenset({"access", "acl", "tenant", "role-based"})
_LOOKALIKES = str.maketrans("oilоаеср", "011oaecp")
"""Letters as the digit or the Latin letter that they look like."""
_SEPARATORS = re.compile(r"[-_./: ]")
_SHORTEST_LEAK = 2


def check_hops(case: Case) -> Iterator[SuspectField]:
    """Yield a finding if the tag multi-hop and the number of required units contradict each other.

    One unit with several alternatives is one hop.
    """
    if case.behaviour != "answer" or not case.evidence:
        return
    tags = set(map(fold_tag, case.tags))
    required = [unit for unit in case.evidence if unit.required and unit.grade]
    if tags & MULTI_HOP and len(required) == 1:
        named = ", ".join(str(value) for selector in required[0].any_of for value in selector.values())
        yield SuspectField("multi-hop-one-chunk", "evidence", f"tagged multi-hop, but one chunk answers it ({named})")
    if len(required) > 1 and not tags & (MULTI_HOP | SINGLE_HOP):
        yield SuspectField(
            "multi-hop-untagged", "tags", f"needs {format_count(len(required), 'chunk')} and is not tagged multi-hop"
        )


def check_tags(case: Case) -> Iterator[SuspectField]:
    """Yield a finding for each tag that contradicts the behaviour, the user, the question or the evidence."""
    for tag in case.tags:
        contradiction = _find_tag_contradiction(fold_tag(tag), case)
        if contradiction:
            yield SuspectField("tag-contradicts", "tags", f"tag {shorten_repr(tag)}, but {contradiction}")


def _find_tag_contradiction(tag: str, case: Case) -> str:
    expected = _BEHAVIOUR_TAGS.get(tag)
    if expected and case.behaviour not in expected and not set(expected) & set(case.also_accept):
        return f"the behaviour is {case.behaviour}"
    if tag in SINGLE_HOP and sum(bool(unit.required and unit.grade) for unit in case.evidence) > 1:
        return "several units of evidence are required"
    if tag in SINGLE_HOP and MULTI_HOP & set(map(fold_tag, case.tags)):
        return "the case is tagged multi-hop too"
    if tag in _ACCESS_TAGS and case.user is None:
        return "no user asks"
    if tag == "no-diacritic" and has_diacritics(case.question):
        return "the question has diacritics"
    if tag in ("injection", "prompt-injection") and not (case.forbidden_text or case.forbidden or case.reference):
        return "neither a canary (forbidden_text) nor a reference tells whether the instruction was followed"
    return ""


def check_question(case: Case) -> Iterator[SuspectField]:
    """Yield a finding if the question states every fact that the answer must say."""
    if case.behaviour != "answer":
        return
    keywords = case.rubric.correct_keywords if case.rubric is not None else ()
    needs_all = case.rubric is not None and case.rubric.match == "all"
    folded = fold_text(case.question)
    stated = [word for word in keywords if len(word) > _SHORTEST_LEAK and contains_words(folded, fold_text(word))]
    if stated and (not needs_all or len(stated) == len(keywords)):
        yield SuspectField("answer-in-question", "question", f"holds the correct keyword {shorten_repr(stated[0])}")
    facts = [fact for fact in case.must_have if len(fact) > _SHORTEST_LEAK]
    has_all = bool(facts) and len(facts) == len(case.must_have)
    if has_all and all(contains_words(folded, fold_text(fact)) for fact in facts):
        yield SuspectField("answer-in-question", "question", f"states all of must_have ({', '.join(facts)})")


def check_keywords(case: Case) -> Iterator[SuspectField]:
    """Yield a finding for correct keywords that stand in an incorrect pattern: a wrong answer would have them."""
    if case.rubric is None or not case.rubric.correct_keywords:
        return
    for pattern in case.rubric.incorrect_patterns:
        folded = fold_text(pattern)
        inside = [word for word in case.rubric.correct_keywords if contains_words(folded, fold_text(word))]
        if inside and (case.rubric.match == "any" or len(inside) == len(case.rubric.correct_keywords)):
            message = f"keyword {shorten_repr(inside[0])} is part of the incorrect pattern {shorten_repr(pattern)}"
            yield SuspectField("keyword-in-incorrect", "rubric.correct_keywords", message)


def contains_words(folded_text: str, folded_words: str) -> bool:
    """Return whether words occur in a text as whole words.

    >>> contains_words("15 ngay", "5 ngay"), contains_words("toi da 5 ngay.", "5 ngay")
    (False, True)
    """
    return bool(folded_words) and re.search(rf"(?<!\w){re.escape(folded_words)}(?!\w)", folded_text) is not None


def check_language(case: Case) -> Iterator[SuspectField]:
    """Yield a finding if the question is clearly English or Vietnamese and the case or the locale says otherwise."""
    language = guess_language(case.question)
    if language is None:
        return
    if case.language is not None and _base(case.language) in ("en", "vi") and _base(case.language) != language:
        yield SuspectField("language-mismatch", "language", f"{case.language}, but the question is in {language}")
    locale = case.user.locale if case.user is not None else None
    if locale is not None and case.language is None and _base(locale) in ("en", "vi") and _base(locale) != language:
        yield SuspectField("language-mismatch", "user.locale", f"{locale}, but the question is in {language}")
    if locale is not None and case.language is not None and _base(locale) != _base(case.language):
        yield SuspectField("language-mismatch", "user.locale", f"{locale}, but the case says {case.language}")


def _base(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()


def find_confusable_ids(golden: GoldenSet) -> Iterator[tuple[Case, SuspectField]]:
    """Yield the cases whose id differs from an earlier one only in case, separators, or letters that look alike."""
    earlier: dict[str, str] = {}
    for case in golden.cases:
        if case.variant_of is not None and case.id.startswith(f"{case.variant_of}~"):
            continue  # the id of its case, of which the rule says all that there is to say
        key = _SEPARATORS.sub("", fold_text(case.id)).translate(_LOOKALIKES)
        first = earlier.setdefault(key, case.id)
        if first != case.id:
            yield case, SuspectField("confusable-id", "id", f"{case.id!r} is easily read as {first!r}")


def normalise_question(question: str) -> str:
    """Return the stems and numbers of a question in one spelling, so that rewordings compare as equal.

    >>> normalise_question("May I take ten days?") == normalise_question("may I take 10 days")
    True
    """
    return " ".join(f"{term.key.lstrip('#')} {term.unit}".strip() for term in parse_terms(question).items)


def group_near_duplicates(golden: GoldenSet) -> list[ClusterSuggestion]:
    """Return groups of dependent cases that are not of one cluster, numbers in words or digits being the same.

    Variants of a case depend on it, and are left out.
    """
    cases = select_counted_cases(golden.cases)
    return suggest_clusters([replace(case, question=normalise_question(case.question)) for case in cases])


def check_header(golden: GoldenSet) -> Iterator[SuspectField]:
    """Yield a finding for each of owner, version and changelog that the header does not have."""
    for name, value in (("owner", golden.owner), ("version", golden.version), ("changelog", golden.changelog)):
        if not value:
            yield SuspectField(f"no-{name}", name, f"the set has no {name}")


def check_lineage(golden: GoldenSet) -> Iterator[SuspectField]:
    """Yield a finding for each case whose last change in the lineage of the set contradicts the cases that it has."""
    ids = {case.id for case in golden.cases}
    last: dict[str, tuple[bool, str]] = {}
    for entry in golden.lineage:
        version_text = f"in version {entry.version}"
        last |= dict.fromkeys(entry.added, (True, f"added {version_text}"))
        last |= {row.case: (True, f"updated {version_text}") for row in entry.updated}
        last |= {row.case: (False, f"retired {version_text} ({row.reason})") for row in entry.retired}
    for name, (is_case, change) in last.items():
        if is_case != (name in ids):
            verb = "is no case" if is_case else "is a case"
            yield SuspectField("lineage-contradicts", "lineage", f"{name} {verb}, and was {change}")

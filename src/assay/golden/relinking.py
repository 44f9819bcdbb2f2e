"""Where the evidence of a golden set is after re-chunking: by stable key, text, quote, then the spans of words.

A link is sure if the new chunk holds the passage that was labelled, and no judgement was needed to find that passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from assay.golden.lint_evidence import list_content_words
from assay.metrics.cases.access_rules import read_corpus_access
from assay.metrics.cases.case_index import CHUNK_ID
from assay.records.digest import compute_text_digest
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, Selector
from assay.text.aligned_text import PassageFinder
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.normalisation import fold_text
from assay.text.statements import Statement, list_statements
from assay.text.tokens import collect_word_keys, tokenise_text

RELINKED = "relinked"
"""Where the provenance of a case says which of its labels were relinked."""
SURE = 0.95
"""The confidence from which a link is applied without review."""
OVERLAP = 0.3
"""The share of either text from which a new chunk is shown as a possible place of a label, or counts as forbidden."""
_LIKELY, _UNCLEAR = 0.8, 0.6
_CLEAR_LEAD = 0.2
_IN_ORDER = 0.9
_FEWEST_WORDS_IN_ORDER, _FEWEST_COPIED_WORDS = 4, 6
_FEWEST_QUOTE_WORDS = 3

LinkMethod = Literal["key", "same text", "quote", "span", "statement", "none"]


class RelinkedLabel(Struct, frozen=True, omit_defaults=True):
    """One label and where it is now: the new chunks that each hold the passage, how it was found, and how surely.

    `accepted` is for people: true applies the link whatever its confidence, false leaves the label as it is.
    """

    case: str
    field: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    method: LinkMethod
    confidence: float
    passage: str = ""
    new_text: str = ""
    accepted: bool | None = None

    @property
    def is_applied(self) -> bool:
        """Whether the link is applied: accepted, or sure and not rejected."""
        return bool(self.new) and (self.accepted if self.accepted is not None else self.confidence >= SURE)


class Proposal(Struct, frozen=True):
    """The labels of a set that named chunks, each with its new place; `kept` counts those that needed none."""

    labels: tuple[RelinkedLabel, ...]
    kept: int = 0

    @property
    def applied(self) -> list[RelinkedLabel]:
        """The links that are sure or accepted."""
        return [label for label in self.labels if label.is_applied]

    @property
    def to_review(self) -> list[RelinkedLabel]:
        """The links that somebody has to look at, and labels without one."""
        return [label for label in self.labels if not label.is_applied and label.accepted is None]


class _Place(NamedTuple):
    chunk_ids: tuple[str, ...]
    method: LinkMethod
    confidence: float
    passage: str


class Relinker:
    """Finds the labels of one corpus in another."""

    def __init__(self, old: Corpus | None, new: Corpus) -> None:
        self._old, self._new = old, new
        self._texts = {chunk_id: chunk.text for chunk_id, chunk in new.chunks.items() if chunk.text}
        self._folded = {chunk_id: " ".join(tokenise_text(text)) for chunk_id, text in self._texts.items()}
        self._lengths = {chunk_id: max(1, folded.count(" ") + 1) for chunk_id, folded in self._folded.items()}
        self._order = {chunk_id: number for number, chunk_id in enumerate(new.chunks)}
        self._finder = PassageFinder(self._texts)

    def propose(self, golden: GoldenSet) -> Proposal:
        """Return the new place of every label that names a chunk by id; labels by other fields need none."""
        labels: list[RelinkedLabel] = []
        kept = 0
        for case in golden.cases:
            for number, unit in enumerate(case.evidence):
                label = self._relink_unit(case, unit, f"evidence[{number}]", case.behaviour == "permission_denied")
                kept += label is None
                labels += [label] if label is not None else []
            for number, selector in enumerate(case.forbidden):
                label = self._relink_unit(case, Evidence((selector,)), f"forbidden[{number}]", True)
                kept += label is None
                labels += [label] if label is not None else []
        return Proposal(tuple(labels), kept)

    def _relink_unit(self, case: Case, unit: Evidence, field: str, is_forbidden: bool) -> RelinkedLabel | None:
        names = tuple(str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID})
        if not names or all(self._is_unchanged(name, unit) for name in names):
            return None
        places = [self._find_place(name, case, unit, is_forbidden) for name in names]
        chunk_ids = tuple(dict.fromkeys(chunk_id for place in places for chunk_id in place.chunk_ids))
        chunk_ids = tuple(sorted(chunk_ids, key=self._order.__getitem__))
        weakest = min(places, key=lambda place: place.confidence)
        text = self._find_closest_text(weakest.passage, chunk_ids)
        return RelinkedLabel(
            case.id, field, names, chunk_ids, weakest.method, round(weakest.confidence, 4), weakest.passage, text
        )

    def _find_closest_text(self, passage: str, chunk_ids: Sequence[str]) -> str:
        """Return the text of the chunk with most words of a passage, "" without chunks."""
        words = tokenise_text(passage)
        own = set(words)
        shared = {name: len(own & set(self._folded[name].split())) for name in chunk_ids}
        best = max(chunk_ids, key=lambda name: shared[name], default=None)
        return self._texts[best] if best is not None else ""

    def _is_unchanged(self, name: str, unit: Evidence) -> bool:
        """Return whether the new corpus has the chunk under its id, with the text that was labelled."""
        new = self._new.chunks.get(name)
        if new is None:
            return False
        old = self._old.chunks.get(name) if self._old is not None else None
        if old is not None and old.text is not None and new.text is not None:
            return fold_text(old.text) == fold_text(new.text)
        if unit.text_hash is not None:
            return unit.text_hash == (new.text_hash or compute_text_digest(new.text or ""))
        return unit.quote is not None and fold_text(unit.quote) in fold_text(new.text or "")

    def _find_place(self, name: str, case: Case, unit: Evidence, is_forbidden: bool) -> _Place:
        """Return where a label is among the chunks of its document, else where another document has all of its text."""
        old = self._old.chunks.get(name) if self._old is not None else None
        candidates = self._list_candidates(old)
        place = self._find_place_among(candidates, old, case, unit, is_forbidden)
        if place.confidence >= SURE or is_forbidden or old is None or not old.text:
            return place
        return self._find_verbatim_elsewhere(old, candidates) or place

    def _find_verbatim_elsewhere(self, old: CorpusChunk, candidates: dict[str, None]) -> _Place | None:
        """Return the chunks of other documents with the same access rights that have a text word for word.

        That is never sure while the document is still there: it may have the text in new words, and the other one a
        copy of the old.
        """
        words, access = " ".join(tokenise_text(old.text or "")), read_corpus_access(old)
        others = [
            name
            for name in self._texts
            if name not in candidates and read_corpus_access(self._new.chunks[name]) == access
        ]
        same = tuple(name for name in others if self._folded[name] == words)
        holding = same or tuple(name for name in others if f" {words} " in f" {self._folded[name]} ")
        if not words or not holding:
            return None
        return _Place(holding, "same text" if same else "span", _LIKELY, old.text or "")

    def _find_place_among(
        self, candidates: dict[str, None], old: CorpusChunk | None, case: Case, unit: Evidence, is_forbidden: bool
    ) -> _Place:
        old_text = old.text if old is not None else None
        if old_text:
            folded = " ".join(tokenise_text(old_text))
            same = tuple(chunk_id for chunk_id in candidates if self._folded[chunk_id] == folded)
            if same:
                return _Place(same, "same text", 1.0, old_text)
        if is_forbidden and old_text:
            return self._find_forbidden(old_text, candidates)
        if unit.quote and len(tokenise_text(unit.quote)) >= _FEWEST_QUOTE_WORDS:
            return self._find_passage(unit.quote, candidates, "quote")
        if not old_text:
            return _Place((), "none", 0.0, unit.quote or "")
        whole = self._find_passage(old_text, candidates, "span")
        return whole if whole.confidence >= SURE else self._find_statement(old_text, case, unit, candidates)

    def _list_candidates(self, old: CorpusChunk | None) -> dict[str, None]:
        """Return the chunks of the same document and version, else those with the same access rights."""
        if old is None:
            return dict.fromkeys(self._texts)
        same_document = [
            chunk_id
            for chunk_id in self._texts
            if old.document is not None
            and self._new.chunks[chunk_id].document == old.document
            and self._new.chunks[chunk_id].version == old.version
        ]
        if same_document:
            return dict.fromkeys(same_document)
        access = read_corpus_access(old)
        return dict.fromkeys(
            chunk_id for chunk_id in self._texts if read_corpus_access(self._new.chunks[chunk_id]) == access
        )

    def _find_passage(self, passage: str, candidates: dict[str, None], method: LinkMethod) -> _Place:
        """Return the chunks that hold a passage as a whole, else those with most of it, which is not sure."""
        words = " ".join(tokenise_text(passage))
        whole = tuple(chunk_id for chunk_id in candidates if f" {words} " in f" {self._folded[chunk_id]} ")
        if words and whole:
            return _Place(whole, method, 1.0, passage)
        passages = [item for item in self._finder.find(passage) if item.text_id in candidates]
        if not passages:
            return _Place((), "none", 0.0, passage)
        # A passage that lost a word at a cut may have lost the word that matters: a share of .99 is not sure either.
        parts = tuple(item.text_id for item in passages if item.share >= OVERLAP)
        return _Place(parts, method if parts else "none", min(passages[0].share, SURE - 0.01), passage)

    def _find_forbidden(self, old_text: str, candidates: dict[str, None]) -> _Place:
        """Return every chunk that has a part of a forbidden text; sure if together they have all of it."""
        words = max(1, len(tokenise_text(old_text)))
        parts = []
        for item in self._finder.find(old_text):
            of_new = item.share * words / self._lengths[item.text_id]
            if item.text_id in candidates and max(item.share, of_new) >= OVERLAP:
                parts.append(item)
        covered = min(1.0, fsum(item.share for item in parts))
        return _Place(tuple(item.text_id for item in parts), "span" if parts else "none", covered, old_text)

    def _find_statement(self, old_text: str, case: Case, unit: Evidence, candidates: dict[str, None]) -> _Place:
        """Return the chunks with the statement of the old text that says what the reference says."""
        ranked = rank_statements(old_text, case) if unit.grade and unit.required else []
        if ranked and ranked[0][0] < _LIKELY:
            copied = _choose_by_order([statement for _, statement in ranked], case, _FEWEST_COPIED_WORDS)
            if copied is not None:
                return self._find_passage(copied.text, candidates, "statement")
        if not ranked or ranked[0][0] < OVERLAP:
            return self._find_passage(old_text, candidates, "span")
        best_score, best = ranked[0]
        states_all = best_score >= _LIKELY
        rivals = [statement for score, statement in ranked if best_score - score < _CLEAR_LEAD]
        if states_all and len(rivals) > 1:
            in_order = _choose_by_order(rivals, case, _FEWEST_WORDS_IN_ORDER)
            if in_order is None:
                return self._find_all_rivals(rivals, candidates)
            best, rivals = in_order, [in_order]
        place = self._find_passage(best.text, candidates, "statement")
        confidence = 1.0 if len(rivals) == 1 and states_all else _UNCLEAR
        return place._replace(confidence=min(confidence, place.confidence))

    def _find_all_rivals(self, rivals: Sequence[Statement], candidates: dict[str, None]) -> _Place:
        """Return the chunks that hold each of several statements, whichever is meant; else those of the first."""
        places = [self._find_passage(rival.text, candidates, "statement") for rival in rivals]
        shared = set.intersection(*(set(place.chunk_ids) for place in places))
        if shared and all(place.confidence == 1.0 for place in places):
            chunk_ids = tuple(chunk_id for chunk_id in places[0].chunk_ids if chunk_id in shared)
            return _Place(chunk_ids, "statement", 1.0, "\n".join(rival.text for rival in rivals))
        return places[0]._replace(confidence=min(_LIKELY, places[0].confidence))


def rank_statements(text: str, case: Case) -> list[tuple[float, Statement]]:
    """Return the statements of a text by how much they say of what the answer of a case must say, best first.

    The score is the share of the content words of the reference and the facts that a statement has, 0 if it lacks a
    quantity of the reference.

    >>> case = Case("q", "How many days?", reference="12 days of leave")
    >>> [(score, s.text) for score, s in rank_statements("Staff get 12 days of leave. Sick leave has 3 days.", case)]
    [(1.0, 'Staff get 12 days of leave.'), (0.0, 'Sick leave has 3 days.')]
    """
    wanted = " ".join([case.reference or "", *case.must_have])
    words = list_content_words(wanted)
    if not words:
        return []
    ranked = []
    for statement in list_statements(text):
        quantities = judge_quantities(statement.text, wanted)
        if any(judgment.state != "stated" for judgment in quantities):
            ranked.append((0.0, statement))
            continue
        shared = words & collect_word_keys(f"{statement.text} {statement.context}")
        ranked.append((len(shared) / len(words), statement))
    return sorted(ranked, key=lambda item: -item[0])


def _choose_by_order(rivals: Sequence[Statement], case: Case, fewest_words: int) -> Statement | None:
    """Return the one statement that has nearly all words of the reference in their order, and all its figures.

    None without a clear lead, and for a reference of fewer words.
    """
    wanted = tokenise_text(case.reference or "")
    if len(wanted) < fewest_words:
        return None
    figures = {word for word in wanted if any(letter.isdigit() for letter in word)}
    shares = []
    for rival in rivals:
        words = tokenise_text(rival.text)
        shares.append(_count_in_order(wanted, words) / len(wanted) if figures <= set(words) else 0.0)
    first, *others = sorted(range(len(rivals)), key=lambda number: -shares[number])
    has_lead = not others or shares[first] - shares[others[0]] >= _CLEAR_LEAD
    return rivals[first] if has_lead and shares[first] >= _IN_ORDER else None


def _count_in_order(wanted: Sequence[str], words: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two lists of words.

    >>> _count_in_order("a b c d".split(), "b x d a".split())
    2
    """
    lengths = [0] * (len(words) + 1)
    for word in wanted:
        diagonal = 0
        for position, other in enumerate(words, 1):
            above = lengths[position]
            lengths[position] = diagonal + 1 if word == other else max(above, lengths[position - 1])
            diagonal = above
    return lengths[-1]


def apply_links(golden: GoldenSet, proposal: Proposal, new: Corpus) -> GoldenSet:
    """Return the set with every link that is sure or accepted; other labels stay as they are.

    Each case says which of its labels were relinked (`metadata.provenance.relinked`). The set is not frozen any more:
    `golden freeze` makes the next version of it.
    """
    links = {(label.case, label.field): label for label in proposal.applied}
    cases = []
    for case in golden.cases:
        evidence = tuple(
            _relabel(unit, links.get((case.id, f"evidence[{number}]")), new)
            for number, unit in enumerate(case.evidence)
        )
        forbidden: list[Selector] = []
        for number, selector in enumerate(case.forbidden):
            label = links.get((case.id, f"forbidden[{number}]"))
            forbidden += [{CHUNK_ID: chunk_id} for chunk_id in label.new] if label is not None else [selector]
        must_cite = tuple(_relink_citations(case, links))
        case = _record_links(case, [label for (name, _), label in links.items() if name == case.id])
        cases.append(msgspec.structs.replace(case, evidence=evidence, forbidden=tuple(forbidden), must_cite=must_cite))
    return msgspec.structs.replace(golden, cases=tuple(cases), verification=None, frozen_digest="")


def _record_links(case: Case, labels: Sequence[RelinkedLabel]) -> Case:
    """Return a case that says which of its labels were relinked, from where, to where, how, and who was sure of it."""
    if not labels:
        return case
    provenance = case.metadata.get("provenance", {})
    rows = [
        {
            "field": label.field,
            "old": list(label.old),
            "new": list(label.new),
            "method": label.method,
            "confidence": label.confidence,
            "by": "review" if label.accepted else "rules",
        }
        for label in labels
    ]
    provenance = {**provenance, RELINKED: [*provenance.get(RELINKED, ()), *rows]}
    return msgspec.structs.replace(case, metadata={**case.metadata, "provenance": provenance})


def _relabel(unit: Evidence, label: RelinkedLabel | None, new: Corpus) -> Evidence:
    if label is None:
        return unit
    others = tuple(selector for selector in unit.any_of if selector.keys() != {CHUNK_ID})
    named = tuple({CHUNK_ID: chunk_id} for chunk_id in label.new)
    first = new.chunks[label.new[0]]
    text_hash = first.text_hash if unit.text_hash is not None and len(label.new) == 1 else None
    return msgspec.structs.replace(unit, any_of=(*named, *others), text_hash=text_hash)


def _relink_citations(case: Case, links: dict[tuple[str, str], RelinkedLabel]) -> Iterator[str]:
    """Yield the required citations; one that names an old chunk names its first new one."""
    new_names: dict[str, str] = {}
    for number in range(len(case.evidence)):
        label = links.get((case.id, f"evidence[{number}]"))
        new_names |= dict.fromkeys(label.old, label.new[0]) if label is not None else {}
    names: Sequence[str] = [new_names.get(name, name) for name in case.must_cite]
    yield from dict.fromkeys(names)

"""What a run shows of the index behind it: which chunks it holds, and where their text is not what it should be.

One trace shows a few chunks, and most of them without text; all traces of a run together show how the index was made.
The corpus is the truth that they are held against, so nothing can be said without one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from itertools import accumulate
from statistics import median_low
from typing import Any, Literal, NamedTuple

from assay.digest import text_digest
from assay.graders.access import day
from assay.graders.stages import CONTEXT
from assay.metrics.text import tokens
from assay.model import Chunk, Corpus, CorpusChunk, Observation

FEW = 3
"""From how many chunks on a kind of chunk, and from how many words on another text, can be spoken of."""
ALIKE = 0.5
"""The share of a chunk's words that must still be there for the rest to be another wording of it."""
MOST = 0.8
"""The share of the other documents that a run must show for one to be missed."""
DamageKind = Literal["parser", "chunking", "stale_index", "unclear"]


class Damage(NamedTuple):
    """What is wrong with the indexed text of a chunk: the part that did it, and what was seen."""

    kind: DamageKind
    seen: str


@dataclass(slots=True)
class IndexView:
    """The index as the traces of a run show it; `strangers` are chunks that the corpus does not hold, by document.

    `returned`: some stage of some trace returned a chunk.
    """

    corpus: Corpus
    observations: int = 0
    intact: set[str] = field(default_factory=set)
    changed: dict[str, Chunk] = field(default_factory=dict)
    strangers: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    versions: set[tuple[str | None, str | None]] = field(default_factory=set)
    newest: date = date.min
    shown: list[int] = field(default_factory=list)
    hashes_agree: bool = False
    returned: bool = False
    _documents: dict[str | None, list[CorpusChunk]] = field(default_factory=dict)
    _damage: dict[str, Damage | None] = field(default_factory=dict)
    _kinds: set[DamageKind] | None = None

    def __post_init__(self) -> None:
        for chunk in self.corpus.chunks.values():
            self._documents.setdefault(chunk.document, []).append(chunk)

    def add(self, observation: Observation) -> None:
        """Take one observation."""
        self.observations += 1
        self._damage.clear()
        self._kinds = None
        for stage in observation.stages or ():
            if stage.name == CONTEXT:
                self.shown.append(len(stage.chunks))
            self.returned = self.returned or bool(stage.chunks)
            for chunk in stage.chunks:
                self._add(chunk)

    def _add(self, chunk: Chunk) -> None:
        known = self.corpus.chunks.get(chunk.chunk_id)
        if known is None:
            document = (chunk.metadata or {}).get("document")
            if isinstance(document, str) and document in self._documents:
                _keep(self.strangers.setdefault(document, {}), chunk)
            return
        self.versions.add((known.document, known.version))
        self.newest = max(self.newest, _start(known) or date.min)
        same = _same(chunk, known)
        self.hashes_agree |= same is True and chunk.text_hash is not None
        if same:
            self.intact.add(chunk.chunk_id)
        elif same is False:
            _keep(self.changed, chunk)

    @property
    def production_k(self) -> int:
        """How many chunks the generator is shown as a rule: the median context; 0 where none was reported."""
        return median_low(self.shown) if self.shown else 0

    def strange(self, chunk_id: str) -> bool:
        """Whether a trace showed this chunk of a known document, and the corpus does not hold it."""
        return any(chunk_id in chunks for chunks in self.strangers.values())

    def damage(self, chunk_id: str) -> Damage | None:
        """Return what is wrong with the indexed text of a chunk of the corpus, None where nothing is known to be."""
        if chunk_id not in self._damage:
            self._damage[chunk_id] = self._find(chunk_id)
        return self._damage[chunk_id]

    def _find(self, chunk_id: str) -> Damage | None:
        known = self.corpus.chunks.get(chunk_id)
        if known is None:
            return None
        chunk = self.changed.get(chunk_id)
        if chunk_id in self.intact:
            return None
        if chunk is None:
            return self._swallowed(known) or self._as_its_kind(known)
        found = self._by_text(chunk, known) if chunk.text is not None and known.text is not None else None
        if found is None or found.kind == "unclear":
            found = _by_fields(chunk, known) or found
        if found is None and self._pieces(known):
            return Damage("chunking", f"{chunk_id} is indexed with another text, beside {self._pieces(known)[0]}")
        return found or self._as_others(chunk_id)

    def _by_text(self, chunk: Chunk, known: CorpusChunk) -> Damage | None:
        """Tell from the words themselves: cut, merged, parts lost, or another wording; line breaks need not be kept."""
        truth, indexed = _lines(known.text), tokens(chunk.text or "")
        whole = [word for line in truth for word in line]
        lost, gained = Counter(whole) - Counter(indexed), Counter(indexed) - Counter(whole)
        if not lost and not gained:
            return None
        name, words = chunk.chunk_id, " ".join(list(gained or lost)[:12])
        if gained:
            others = (each for each in self._documents[known.document] if each is not known)
            neighbours = {word for each in others for word in _words(each)}
            if gained.keys() <= neighbours and len(gained) >= FEW:
                return Damage("chunking", f"{name} also holds text of other chunks: “{words}”")
            shared = 1 - lost.total() / len(whole) if whole else 0.0
            return Damage("stale_index" if shared >= ALIKE else "unclear", f"{name} has another wording: “{words}”")
        place = _place(indexed, whole)
        ends = set(accumulate(map(len, truth), initial=0))
        if place is not None and not {place, place + len(indexed)} <= ends:
            if place == 0 and chunk.text_hash is None and not self._pieces(known):
                return Damage("unclear", f"{name} is shown up to a point, by an excerpt or a cut: “{words}” is missing")
            return Damage("chunking", f"{name} is cut off inside a line: it lacks “{words}”")
        if self._pieces(known):
            return Damage("chunking", f"{name} lacks a part, beside {self._pieces(known)[0]}: “{words}”")
        return Damage("parser", f"{name} is indexed without “{words}”")

    def _pieces(self, known: CorpusChunk) -> list[str]:
        """Return the chunks of the same section of the same document that the corpus does not hold."""
        found = self.strangers.get(known.document or "", {})
        return [
            name
            for name, chunk in found.items()
            if known.section is None or (chunk.metadata or {}).get("section") in (None, known.section)
        ]

    def _swallowed(self, known: CorpusChunk) -> Damage | None:
        """Whether a chunk that no trace shows is part of another one of its document, by text, section or pages."""
        for name, chunk in (self.changed | self.strangers.get(known.document or "", {})).items():
            fields = chunk.metadata or {}
            owner = self.corpus.chunks.get(name)
            if (owner.document if owner is not None else fields.get("document")) != known.document:
                continue
            if owner is not None and (owner.version != known.version or owner.section == fields.get("section")):
                continue
            inside = known.text and chunk.text and f" {' '.join(_words(known))} " in f" {' '.join(tokens(chunk.text))} "
            if inside or _contains(fields.get("section"), known.section):
                return Damage("chunking", f"{known.chunk_id} is not indexed; its text is part of {name}")
        return None

    def _as_its_kind(self, known: CorpusChunk) -> Damage | None:
        """A chunk that no trace shows, where every chunk of its kind that is shown lost its text in the same way."""
        kin = [
            chunk_id for chunk_id in (*self.intact, *self.changed) if self.corpus.chunks[chunk_id].kind == known.kind
        ]
        if known.kind is None or len(kin) < FEW or any(name in self.intact for name in kin):
            return None
        kinds = {found.kind for name in kin if (found := self.damage(name)) is not None}
        if len(kinds) != 1 or "unclear" in kinds:
            return None
        seen = f"no trace shows {known.chunk_id}; all {len(kin)} that are shown of its kind ({known.kind}) are damaged"
        return Damage(kinds.pop(), seen)

    def _as_others(self, chunk_id: str) -> Damage | None:
        """A changed hash alone: what happened to the other changed chunks, if it was the same with all.

        Where no hash of the run is that of the corpus, the target hashes something else, and that says nothing.
        """
        if self._kinds is None:
            shown = [each for each in self.changed.values() if each.text is not None]
            found = [self._by_text(each, self.corpus.chunks[each.chunk_id]) for each in shown]
            self._kinds = {each.kind for each in found if each is not None}
        if len(self._kinds) == 1:
            (kind,) = self._kinds
            return Damage(kind, f"{chunk_id} is indexed with another text, as other chunks are")
        if not self._kinds and not self.hashes_agree:
            return None
        return Damage("unclear", f"{chunk_id} is indexed with another text, which the trace does not show")

    def missing(self, known: CorpusChunk) -> bool:
        """Whether no trace shows anything of this chunk's document in its version, though the traces show most of what
        was in force when the newest of the chunks that they show was; a run that shows little says nothing."""
        if (known.document, known.version) in self.versions:
            return False
        others = {
            (chunk.document, chunk.version)
            for chunk in self.corpus.chunks.values()
            if (_start(chunk) or date.min) <= self.newest
        } - {(known.document, known.version)}
        return bool(others) and len(self.versions & others) >= MOST * len(others)

    def later(self, known: CorpusChunk) -> bool:
        """Whether this chunk came into force after everything that any trace shows."""
        start = _start(known)
        return start is not None and start > self.newest


def _keep(chunks: dict[str, Chunk], chunk: Chunk) -> None:
    """Keep the first of a chunk's appearances that shows its text."""
    old = chunks.get(chunk.chunk_id)
    if old is None or (old.text is None and chunk.text is not None):
        chunks[chunk.chunk_id] = chunk


def _same(chunk: Chunk, known: CorpusChunk) -> bool | None:
    """Whether a chunk has the text that the corpus gives it, None where it cannot be told. An equal hash is enough: a
    target may show an excerpt."""
    truth = known.text_hash or (text_digest(known.text) if known.text is not None else None)
    comparable = chunk.text_hash is not None and chunk.text_hash.startswith("sha256:") and truth is not None
    if comparable and chunk.text_hash == truth:
        return True
    if chunk.text is not None and known.text is not None:
        return tokens(chunk.text) == tokens(known.text)
    return False if comparable else None


def _start(chunk: CorpusChunk) -> date | None:
    return day(chunk.valid_from) if chunk.valid_from else None


def _words(chunk: CorpusChunk) -> list[str]:
    return tokens(chunk.text or "")


def _lines(text: str | None) -> list[list[str]]:
    """Return the words of each line that has any."""
    return [words for line in (text or "").splitlines() if (words := tokens(line))]


def _place(part: list[str], whole: list[str]) -> int | None:
    """Return where the words stand in one piece at the beginning or the end of others, None where they do not."""
    if part == whole[: len(part)]:
        return 0
    return len(whole) - len(part) if part == whole[len(whole) - len(part) :] else None


def _by_fields(chunk: Chunk, known: CorpusChunk) -> Damage | None:
    """Tell from what the target reports beside the text: more pages or sections, another kind, a lost section."""
    fields = chunk.metadata or {}
    section, pages, kind = fields.get("section"), fields.get("pages"), fields.get("kind")
    more_pages = isinstance(pages, (list, tuple)) and known.pages and set(pages) > set(known.pages)
    if more_pages or (section != known.section and _contains(section, known.section)):
        return Damage("chunking", f"{chunk.chunk_id} is indexed with more than its own section")
    if known.kind == "table" and isinstance(kind, str) and kind != "table":
        return Damage("parser", f"{chunk.chunk_id} is a table and is indexed as {kind}")
    if known.section and isinstance(section, str) and not set(tokens(section)) & set(tokens(known.section)):
        return Damage("parser", f"{chunk.chunk_id} has lost its heading {known.section!r}")
    return None


def _contains(section: Any, name: str | None) -> bool:
    return isinstance(section, str) and bool(name) and str(name) in section

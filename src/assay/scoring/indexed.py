"""What a run shows of the index behind it: which chunks it holds, and where their text is not what it should be.

One trace shows a few chunks, and most of them without text; all traces of a run together show how the index was made.
The corpus is the truth that they are held against, so nothing can be said without one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from statistics import median_low
from typing import Any, Literal, NamedTuple

from assay.digest import text_digest
from assay.graders.access import day
from assay.graders.stages import CONTEXT
from assay.metrics.text import tokens
from assay.model import Chunk, Corpus, CorpusChunk, Observation

Line = tuple[str, ...]
FEW = 3
"""From how many chunks on a kind of chunk can be spoken of."""
DamageKind = Literal["parser", "chunking", "stale_index", "unclear"]


class Damage(NamedTuple):
    """What is wrong with the indexed text of a chunk: the part that did it, and what was seen."""

    kind: DamageKind
    seen: str


@dataclass(slots=True)
class IndexView:
    """The index as the traces of a run show it; `strangers` are chunks that the corpus does not hold, by document."""

    corpus: Corpus
    observations: int = 0
    intact: set[str] = field(default_factory=set)
    changed: dict[str, Chunk] = field(default_factory=dict)
    strangers: dict[str, dict[str, Chunk]] = field(default_factory=dict)
    versions: set[tuple[str | None, str | None]] = field(default_factory=set)
    newest: date = date.min
    shown: list[int] = field(default_factory=list)
    _documents: dict[str | None, list[CorpusChunk]] = field(default_factory=dict)
    _damage: dict[str, Damage | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for chunk in self.corpus.chunks.values():
            self._documents.setdefault(chunk.document, []).append(chunk)

    def add(self, observation: Observation) -> None:
        """Take one observation."""
        self.observations += 1
        self._damage.clear()
        for stage in observation.stages or ():
            if stage.name == CONTEXT:
                self.shown.append(len(stage.chunks))
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
        start = day(known.valid_from) if known.valid_from else None
        self.newest = max(self.newest, start or date.min)
        same = _same(chunk, known)
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
        if chunk is None:
            return None if chunk_id in self.intact else self._swallowed(known) or self._as_its_kind(known)
        found = self._by_text(chunk, known) if chunk.text is not None and known.text is not None else None
        found = found or _by_fields(chunk, known)
        if found is None and self._pieces(known):
            return Damage("chunking", f"{chunk_id} is indexed with another text, beside {self._pieces(known)[0]}")
        return found or self._as_others(chunk_id)

    def _by_text(self, chunk: Chunk, known: CorpusChunk) -> Damage | None:
        """Tell from the text itself: cut, merged, parts lost, or another wording."""
        truth, indexed = _lines(known.text or ""), _lines(chunk.text or "")
        lost = [line for line in truth if line not in indexed]
        gained = [line for line in indexed if line not in truth]
        if not lost and not gained:
            return None
        name = chunk.chunk_id
        others = {line for each in self._documents[known.document] if each is not known for line in _lines(each.text)}
        if gained and all(line in others for line in gained):
            return Damage("chunking", f"{name} also holds the text of other chunks: {_excerpt(gained[0])}")
        if any(_part(piece, line) for piece in gained for line in lost):
            return Damage("chunking", f"{name} is cut off inside a line: {_excerpt(lost[0])}")
        if gained:
            return Damage("stale_index", f"{name} is indexed with another wording: {_excerpt(gained[0])}")
        if self._pieces(known):
            return Damage("chunking", f"{name} lacks a part, beside {self._pieces(known)[0]}: {_excerpt(lost[0])}")
        return Damage("parser", f"{name} is indexed without: {_excerpt(lost[0])}")

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
            if owner is not None and (owner.version != known.version or owner.section == known.section):
                continue
            inside = known.text and chunk.text and set(_lines(known.text)) <= set(_lines(chunk.text))
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

    def _as_others(self, chunk_id: str) -> Damage:
        """A changed hash alone: what happened to the other changed chunks, if it was the same with all."""
        kinds = {
            found.kind
            for other, chunk in self.changed.items()
            if other != chunk_id
            and chunk.text is not None
            and (found := self._by_text(chunk, self.corpus.chunks[other])) is not None
        }
        if len(kinds) == 1:
            return Damage(kinds.pop(), f"{chunk_id} is indexed with another text, as other chunks are")
        return Damage("unclear", f"{chunk_id} is indexed with another text, which the trace does not show")

    def missing(self, known: CorpusChunk) -> bool:
        """Whether no trace shows anything of this chunk's document in its version, though many chunks are shown."""
        return self.observations >= 5 and (known.document, known.version) not in self.versions

    def later(self, known: CorpusChunk) -> bool:
        """Whether this chunk came into force after everything that any trace shows."""
        start = day(known.valid_from) if known.valid_from else None
        return start is not None and start > self.newest


def _keep(chunks: dict[str, Chunk], chunk: Chunk) -> None:
    """Keep the first of a chunk's appearances that shows its text."""
    old = chunks.get(chunk.chunk_id)
    if old is None or (old.text is None and chunk.text is not None):
        chunks[chunk.chunk_id] = chunk


def _same(chunk: Chunk, known: CorpusChunk) -> bool | None:
    """Whether a chunk has the text that the corpus gives it, None where it cannot be told."""
    if chunk.text is not None and known.text is not None:
        return chunk.text == known.text or _lines(chunk.text) == _lines(known.text)
    truth = known.text_hash or (text_digest(known.text) if known.text is not None else None)
    return None if chunk.text_hash is None or truth is None else chunk.text_hash == truth


def _lines(text: str | None) -> list[Line]:
    """Return the words of each line that has any."""
    return [words for line in (text or "").splitlines() if (words := tuple(tokens(line)))]


def _part(piece: Line, line: Line) -> bool:
    """Whether a piece is the beginning or the end of a line."""
    return len(piece) < len(line) and piece in (line[: len(piece)], line[len(line) - len(piece) :])


def _excerpt(line: Line) -> str:
    words = " ".join(line[:12])
    return f"“{words}{' …' if len(line) > 12 else ''}”"


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

"""One case under inquiry: everything that the rules about its cause ask of the golden set, the trace and the index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from msgspec import structs

from assay.graders.base import CaseIndex
from assay.graders.visibility import Leaks, find_leaks
from assay.metrics.matching import elements, occurrences
from assay.metrics.quantities import Date, Number, quantities
from assay.metrics.text import fold, nfc, tokens
from assay.model import Chunk, Evidence, Observation
from assay.scoring.blame import DEFAULT_K, Loss
from assay.scoring.goodness import AttributionSettings, Goodness, Scores, behaviour_of, goodness, value_of
from assay.scoring.indexed import IndexView
from assay.scoring.walk import Step, name_of, steps_of, units_of

CITED = "citation_correctness(by=rules)"
LEAKED = "visibility_leaks"


@dataclass(frozen=True)
class Inquiry:
    """A case and what was seen of it. Nothing here knows the configuration's name or its versions (DECISIONS 29)."""

    case: CaseIndex
    seen: Observation
    scores: Scores
    settings: AttributionSettings
    view: IndexView | None = None

    @classmethod
    def of(
        cls,
        case: CaseIndex,
        observation: Observation,
        scores: Scores,
        settings: AttributionSettings,
        view: IndexView | None,
    ) -> Inquiry:
        """Return the inquiry; what the configuration is called is taken away first."""
        return cls(case, structs.replace(observation, config_id="", versions={}), scores, settings, view)

    # ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def answer(self) -> str:
        """The answer's text, empty where there is none."""
        return self.seen.answer if isinstance(self.seen.answer, str) else ""

    @cached_property
    def did(self) -> str | None:
        """What the answer did."""
        return behaviour_of(self.case, self.seen)

    @cached_property
    def leaks(self) -> Leaks:
        """What was shown that the asker must not see; not searched for again where the scores know of nothing."""
        return Leaks() if value_of(self.scores, LEAKED) == 0 else find_leaks(self.case, self.seen)

    @cached_property
    def content(self) -> Goodness:
        """Whether what the answer says is good, leaks aside."""
        return goodness(self.case, self.seen, self.scores, self.settings, self.did)

    @cached_property
    def good(self) -> bool | None:
        """Expected behaviour, no leak, and content that is good; None where nothing can tell."""
        return False if self.leaks.count("anywhere") else self.content.good

    @property
    def miscited(self) -> bool:
        """Whether citations are missing, or are not from the context."""
        value = value_of(self.scores, CITED)
        return value is not None and value < 1

    # ── the evidence ─────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The stages that led to the answer."""
        return steps_of(self.case, self.seen)

    @cached_property
    def units(self) -> tuple[Evidence, ...]:
        """The units of evidence, in the order of their bits."""
        return units_of(self.case)

    @cached_property
    def required(self) -> list[int]:
        """The units that the generator needed."""
        return [number for number in range(len(self.units)) if self.case.required >> number & 1]

    @cached_property
    def last(self) -> Step | None:
        """What reached the generator: the context, else the last ranking."""
        return next((step for step in reversed(self.steps) if step.kind == "context"), None) or (
            self.steps[-1] if self.steps else None
        )

    @cached_property
    def arrived(self) -> list[Chunk]:
        """The chunks that reached the generator: the context, else the last ranking cut at production k."""
        if self.last is None:
            return []
        chunks = self.last.stage.chunks
        return list(chunks if self.last.kind == "context" else chunks[: self.settings.production_k or DEFAULT_K])

    @cached_property
    def lost(self) -> list[int]:
        """The required units that did not reach the generator."""
        covered = 0
        for _, mask in zip(self.arrived, self.last.units if self.last is not None else (), strict=False):
            covered |= mask
        return [unit for unit in self.required if not covered >> unit & 1]

    @cached_property
    def reached(self) -> bool | None:
        """Whether the evidence reached the generator; None where the case requires none, or no stage was reported."""
        if not self.required or not self.steps:
            return None
        return len(self.lost) < len(self.required) if self.settings.reached == "any" else not self.lost

    def name(self, unit: int) -> str:
        """Return what a unit is called."""
        return " or ".join(name_of(selector) for selector in self.units[unit].any_of)

    def chunk_ids(self, unit: int) -> list[str]:
        """Return the chunks of the corpus that cover a unit."""
        return self._covering[unit]

    @cached_property
    def _covering(self) -> list[list[str]]:
        found: list[list[str]] = [[] for _ in self.units]
        if self.case.corpus is None:
            return found
        index, known = self.case.evidence, self.case.corpus.chunks
        ids = [each for each in index.by_id if each in known] if index.by_id_alone else list(known)
        for chunk_id, mask in zip(ids, index.masks([Chunk(chunk_id) for chunk_id in ids]), strict=True):
            for unit in range(len(found)):
                if mask and mask >> unit & 1:
                    found[unit].append(chunk_id)
        return found

    def truth(self, unit: int) -> tuple[str, ...]:
        """Return the texts that a unit should have: those of the corpus, else its quote."""
        known = self.case.corpus.chunks if self.case.corpus is not None else {}
        texts = tuple(text for chunk_id in self.chunk_ids(unit) if (text := known[chunk_id].text))
        quote = self.units[unit].quote
        return texts or ((quote,) if quote else ())

    def text_of(self, chunk_id: str) -> str | None:
        """Return a chunk's text: as the trace shows it, else as the corpus has it."""
        shown = self._shown.get(chunk_id)
        known = self.case.corpus.chunks.get(chunk_id) if self.case.corpus is not None else None
        return shown if shown is not None else known.text if known is not None else None

    @cached_property
    def _shown(self) -> dict[str, str]:
        return {
            chunk.chunk_id: chunk.text for step in self.steps for chunk in step.stage.chunks if chunk.text is not None
        }

    @cached_property
    def context(self) -> list[str]:
        """The texts that the generator was shown, as far as they are known."""
        return [text for chunk in self.arrived if (text := self.text_of(chunk.chunk_id))]

    @cached_property
    def unlabelled(self) -> dict[str, str]:
        """The texts of those chunks that the corpus knows and that no unit of evidence names."""
        masks = self.case.evidence.masks(self.arrived)
        known = self.case.corpus.chunks if self.case.corpus is not None else {}
        chunks = [each for each, mask in zip(self.arrived, masks, strict=True) if not mask and each.chunk_id in known]
        return {chunk.chunk_id: text for chunk in chunks if (text := self.text_of(chunk.chunk_id))}

    def shown_of(self, unit: int) -> list[str]:
        """Return the texts of a unit as the generator was shown them."""
        masks = self.case.evidence.masks(self.arrived)
        chunks = [chunk for chunk, mask in zip(self.arrived, masks, strict=True) if (mask or 0) >> unit & 1]
        return [text for chunk in chunks if (text := self.text_of(chunk.chunk_id))]

    @property
    def query(self) -> str:
        """What the searches were asked."""
        return self.seen.query_rewrite or self.seen.question or self.case.case.question

    def loss(self, unit: int) -> Loss:
        """Return what is known of a unit that did not arrive."""
        k = self.settings.production_k or (self.view.production_k if self.view is not None else 0)
        return Loss(unit, self.name(unit), self.steps, self.query, self.truth(unit), self.text_of, k)

    # ── the facts that the case looks for ────────────────────────────────────────────────────────────────────────

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """What a right answer holds: must-have facts and keywords, else the numbers of the reference."""
        case = self.case.case
        stated = [*case.must_have, *(case.rubric.correct_keywords if case.rubric is not None else ())]
        if not stated and case.reference:
            stated = _written(case.reference, quantities(case.reference))
        return tuple(dict.fromkeys(fact for fact in stated if fold(fact)))


def holds(texts: Iterable[str], fact: str) -> bool:
    """Return whether any of the texts holds a fact, matched as keywords are.

    >>> holds(["Nghỉ mười hai ngày."], "12 ngày")
    True
    """
    wanted = _elements(fact)
    if not wanted.items:
        return any(fold(fact) in fold(text) for text in texts)
    return any(occurrences(wanted, _elements(text)) for text in texts)


_elements = lru_cache(maxsize=1024)(elements)


def support(answer: str, texts: Iterable[str]) -> float:
    """Return the share of the answer's distinct words that the texts hold; 0 without words.

    >>> support("Twelve days of leave", ["leave: twelve working days"])
    0.75
    """
    said = set(tokens(answer))
    known = {word for text in texts for word in tokens(text)}
    return len(said & known) / len(said) if said else 0.0


def strange_numbers(answer: str, texts: Iterable[str]) -> list[str]:
    """Return the numbers and dates that the answer states and no text holds, as they are written.

    >>> strange_numbers("14 days, 5 of them in May", ["5 days"])
    ['14 days']
    """
    known = {value for text in texts for item in quantities(text) for value in item.values}
    return _written(answer, [item for item in quantities(answer) if known.isdisjoint(item.values)])


def _written(text: str, found: Iterable[Number | Date]) -> list[str]:
    """Return numbers and dates as the text writes them; spelled-out words ("one of them") are left out."""
    written = nfc(text)
    return [written[item.start : item.end] for item in found if not (isinstance(item, Number) and item.spelled)]

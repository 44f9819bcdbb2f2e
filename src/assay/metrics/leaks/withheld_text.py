"""What outputs withhold: every text about an observation that gives away what the case's user must not see.

All outputs that show something of an observation pass it through here, so a field that a target fills with restricted
text (an id, a citation, a rewritten query, a tool's error, a version) is shown nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from assay.metrics.cases.case_index import CaseIndex
from assay.metrics.leaks.find_leaks import IN_CITATIONS, Leaks, find_leaks, find_revealing_texts
from assay.records.observations import Observation
from assay.text.escaping import WITHHELD
from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.refusal_model import KINDS

_SHORTEST_PART = 12  # characters of a part of an answer that is withheld with it; shorter ones are words of many texts


def may_repeat_forbidden(case: CaseIndex, observation: Observation, leaks: Leaks) -> bool:
    """Whether an answer is withheld: it shows what its user must not see, or cites it and is no refusal.

    What it cites it may say in other words or in another language, which nothing here compares.
    """
    if leaks.text:
        return True
    answer = observation.answer
    if not isinstance(answer, str) or not leaks.ids.get(IN_CITATIONS):
        return False
    return detect_behaviour(answer, case.case.language or "", case.case.question).behaviour not in KINDS


class WithheldTexts:
    """Withholds texts about one observation; everything is decided by the whole text, never by a part of it."""

    def __init__(
        self, case: CaseIndex, observation: Observation, leaks: Leaks | None = None, *, names_chunks: bool = False
    ) -> None:
        """`leaks`: those of the observation, where they were found already. With `names_chunks` the ids that the corpus
        gives to chunks are shown whatever they say, so that a leak can be looked up."""
        self._names_chunks = names_chunks
        self._case, self._observation = case, observation
        self._leaks = find_leaks(case, observation) if leaks is None else leaks
        answer = observation.answer
        hides_answer = not self._leaks.text and may_repeat_forbidden(case, observation, self._leaks)
        self._hidden_answer = answer if hides_answer and isinstance(answer, str) else ""
        forbidden = self._leaks.list_leaked()
        chunks = [chunk for stage in observation.stages or () for chunk in stage.chunks]
        self._open_texts = [chunk.text for chunk in chunks if chunk.text and chunk.chunk_id not in forbidden]

    def withhold(self, value: Any) -> Any:
        """Return JSON data, or one text, with every text in it that gives something away replaced, keys included."""
        texts = dict.fromkeys(text for text in _iterate_texts(value) if text)
        revealing = self._find_revealing(texts) | set(filter(self._is_of_hidden_answer, texts))
        return _replace_texts(value, dict.fromkeys(revealing, WITHHELD)) if revealing else value

    def _is_of_hidden_answer(self, text: str) -> bool:
        """Whether a text is an answer that is withheld for what it cites, or a part of it: not what it repeats of the
        question or of a text that the user may see."""
        answer = self._hidden_answer
        if not answer or text in self._case.case.question or any(text in shown for shown in self._open_texts):
            return False
        return text == answer or (len(text) >= _SHORTEST_PART and text in answer)

    def _find_revealing(self, texts: Iterable[str]) -> set[str]:
        """Return which texts give something away; with `names_chunks` not for ids of the corpus.

        An id that is made of a heading or a date says which chunk it is, and has to be named where the chunk leaked.
        """
        revealing = find_revealing_texts(self._case, self._observation, self._leaks, list(texts))
        names = self._own_names if revealing and self._names_chunks else ()
        without_names = {text: _remove_names(text, names) for text in revealing}
        shortened = {text for text, rest in without_names.items() if rest != text}
        if not shortened:
            return revealing
        rests = [without_names[text] for text in shortened if without_names[text].strip()]
        still = find_revealing_texts(self._case, self._observation, self._leaks, rests) if rests else set()
        return {text for text in revealing if text not in shortened or without_names[text] in still}

    @cached_property
    def _own_names(self) -> tuple[str, ...]:
        """The ids of leaked chunks that are ids of the corpus and would give something away, the longest first."""
        corpus = self._case.corpus
        leaked = [name for name in self._leaks.list_leaked() if corpus is not None and name in corpus.chunks]
        revealing = find_revealing_texts(self._case, self._observation, self._leaks, leaked) if leaked else set()
        return tuple(sorted(revealing, key=lambda name: (-len(name), name)))

    def withhold_names(self) -> Observation:
        """Return the observation with chunk ids and citations replaced where they give something away."""
        observation = self._observation
        ids = [[chunk.chunk_id for chunk in stage.chunks] for stage in observation.stages or ()]
        citations = None if observation.citations is None else list(observation.citations)
        shown_ids, shown_citations = self.withhold([ids, citations])
        if shown_ids == ids and shown_citations == citations:
            return observation
        stages = []
        for stage, stage_ids in zip(observation.stages or (), shown_ids, strict=True):
            chunks = [replace(chunk, chunk_id=name) for chunk, name in zip(stage.chunks, stage_ids, strict=True)]
            stages.append(replace(stage, chunks=tuple(chunks)))
        return replace(
            observation,
            stages=None if observation.stages is None else tuple(stages),
            citations=None if shown_citations is None else tuple(shown_citations),
        )


def _remove_names(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace(name, " ")
    return text


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _iterate_texts(key)
            yield from _iterate_texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _iterate_texts(member)


def _replace_texts(value: Any, replacements: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return replacements.get(value, value)
    if isinstance(value, Mapping):
        return {
            _replace_texts(key, replacements): _replace_texts(member, replacements) for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)([_replace_texts(member, replacements) for member in value])
    return value

"""Format `trec-rag`: answers of the TREC 2024 RAG track, sentence by sentence with the passages that each one cites.

The format has no ranking: `references` are what the answer cites, not what was retrieved, so there is no stage.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from assay.formats.strict_json import LateDecoder
from assay.records.golden_set import Count
from assay.records.observations import Observation, Sentence


class TrecRagSentence(Struct, frozen=True):
    """One sentence of the answer; `citations` are indices into the answer's `references`, from 0."""

    text: str
    citations: tuple[Count, ...]


class TrecRagRow(Struct, frozen=True):
    """One line."""

    run_id: str
    topic_id: str
    references: tuple[str, ...]
    answer: tuple[TrecRagSentence, ...]
    topic: str | None = None
    response_length: Count | None = None


def make_trec_rag_observation(line: TrecRagRow) -> Observation:
    """Return the line as an `Observation`: the sentences, joined by a space as the answer, and the references cited.

    Raises msgspec.ValidationError, with the path, for a citation of a reference that does not exist.
    """
    references = line.references
    cited: set[int] = set()
    for number, piece in enumerate(line.answer):
        for index, reference in enumerate(piece.citations):
            if reference >= len(references):
                expected = f"expected an index into the {len(references)} references, from 0"
                at = f"`$.answer[{number}].citations[{index}]`"
                raise msgspec.ValidationError(f"No such reference; {expected} - at {at}")
        cited.update(piece.citations)
    return Observation(
        case_id=line.topic_id,
        config_id=line.run_id,
        question=line.topic,
        answer=" ".join(piece.text for piece in line.answer),
        citations=tuple(dict.fromkeys(references[reference] for reference in sorted(cited))),
        sentences=tuple(
            Sentence(piece.text, tuple(references[reference] for reference in piece.citations)) for piece in line.answer
        ),
    )


_DECODER = LateDecoder(TrecRagRow)


def decode_trec_rag(line: bytes) -> Observation:
    """Decode one line. Raises msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError or RecursionError."""
    return make_trec_rag_observation(_DECODER.decode(line))

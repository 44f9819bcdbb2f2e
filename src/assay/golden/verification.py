"""Whether a live target's index holds what a golden set says: the questions to ask, and what the replies show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Literal

import msgspec
from msgspec import Struct

from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_evidence import ANSWERABLE_SHARE, has_its_numbers, list_content_words
from assay.metrics.cases.access_rules import may_see_chunk
from assay.metrics.cases.case_index import EvidenceIndex, GoldenIndex
from assay.records.counts import format_count
from assay.records.digest import compute_text_digest
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case, Corpus, CorpusChunk, Evidence, GoldenSet, User, Verification
from assay.records.observations import (
    RETRIEVED_STAGE,
    Chunk,
    Observation,
    complete_texts,
    describe_target_error,
    find_stage,
)
from assay.text.normalisation import fold_text
from assay.text.tokens import DocumentFrequencies, collect_word_keys

TWIN_SUFFIX = "~may-see"
TEXT_SUFFIX = "~text-"
_MAX_QUERY_CHARS = 400
_FEWEST_CONTENT_WORDS = 3

CaseState = Literal[
    "found", "present", "changed", "missing", "leak", "not_answerable", "answerable", "absent", "unverified", "error"
]
FAULTS: tuple[CaseState, ...] = ("missing", "changed", "leak", "not_answerable", "answerable")
"""States that show that the golden set and the index do not fit: `error` and `unverified` show nothing."""


class VerifiedCase(Struct, frozen=True, omit_defaults=True):
    """What the target showed of one case. `ranks` has the rank of each unit of evidence, None where it was not found.

    `found` and `missing` are about evidence; `present` is evidence found by its own text but not by the question: the
    label is right and retrieval fails. `changed` is evidence that is found under its id with another text than was
    labelled. `absent` and `answerable` about cases without an answer. A denied case is a
    `leak` if its user is shown the forbidden chunks, and `not_answerable` if one who may see them does not get them.
    """

    case: str
    state: CaseState
    message: str = ""
    ranks: tuple[int | None, ...] = ()
    chunks: tuple[str, ...] = ()


class VerificationReport(Struct, frozen=True):
    """The verified cases in golden order, the record for the set, and what changed since it was verified before."""

    cases: tuple[VerifiedCase, ...]
    verification: Verification
    broke: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()

    @property
    def faults(self) -> list[VerifiedCase]:
        """The cases that do not fit the index."""
        return [case for case in self.cases if case.state in FAULTS]

    @property
    def errors(self) -> list[VerifiedCase]:
        """The cases that the target failed to answer."""
        return [case for case in self.cases if case.state == "error"]


def plan_questions(golden: GoldenSet, corpus: Corpus | None) -> list[Case]:
    """Return the cases to ask: each of the set and, for a denied one, its twin of a user who may see the evidence."""
    questions = list(golden.cases)
    for case in golden.cases:
        user = find_permitted_user(case, golden, corpus) if case.behaviour == "permission_denied" else None
        if user is not None:
            questions.append(msgspec.structs.replace(case, id=case.id + TWIN_SUFFIX, user=user))
    return questions


def find_permitted_user(case: Case, golden: GoldenSet, corpus: Corpus | None) -> User | None:
    """Return a user who may see all evidence of a denied case: one of the set, else one made from the access rights.

    None if no corpus says who may see it.
    """
    if corpus is None:
        return None
    chunks = [corpus.chunks[name] for unit in case.evidence for name in find_unit_chunks(unit.any_of, corpus)]
    if not chunks:
        return None
    users = dict.fromkeys(other.user for other in golden.cases if other.user is not None and other.user != case.user)
    for user in users:
        if all(may_see_chunk(user, chunk) for chunk in chunks):
            return user
    made = _make_permitted_user(chunks, case.user)
    return made if all(may_see_chunk(made, chunk) for chunk in chunks) else None


def _make_permitted_user(chunks: Sequence[CorpusChunk], denied: User | None) -> User:
    roles = sorted({min(chunk.roles) for chunk in chunks if chunk.roles} | set(denied.roles if denied else ()))
    positions = [chunk.position for chunk in chunks if chunk.position is not None]
    scopes = [chunk.position_scope for chunk in chunks if chunk.position_scope is not None]
    tenants = [chunk.tenant for chunk in chunks if chunk.tenant is not None]
    return User(
        tenant=tenants[0] if tenants else (denied.tenant if denied else None),
        roles=tuple(roles),
        position=max(positions) + 1 if positions else None,
        position_scope=scopes[0] if scopes else None,
        locale=denied.locale if denied else None,
        as_of=denied.as_of if denied else None,
    )


def verify_cases(joins: GoldenIndex, observations: Mapping[str, Observation]) -> Iterator[VerifiedCase]:
    """Yield what the observations show of each case, in golden order."""
    frequencies = _count_words(joins.corpus, observations)
    for case in joins.golden.cases:
        observation = observations.get(case.id)
        if observation is None:
            yield VerifiedCase(case.id, "error", "not asked: the target stopped before")
        elif observation.error is not None:
            yield VerifiedCase(case.id, "error", describe_target_error(observation.error))
        elif not observation.stages:
            yield VerifiedCase(case.id, "error", "the target reports no ranking")
        else:
            yield _verify_case(case, joins, observation, observations.get(case.id + TWIN_SUFFIX), frequencies)


def _count_words(corpus: Corpus | None, observations: Mapping[str, Observation]) -> DocumentFrequencies:
    if corpus is not None:
        return DocumentFrequencies.from_texts(chunk.text for chunk in corpus.chunks.values() if chunk.text)
    chunks = [chunk for row in observations.values() for stage in row.stages or () for chunk in stage.chunks]
    return DocumentFrequencies.from_texts(dict.fromkeys(chunk.text for chunk in chunks if chunk.text))


def _verify_case(
    case: Case,
    joins: GoldenIndex,
    observation: Observation,
    twin: Observation | None,
    frequencies: DocumentFrequencies,
) -> VerifiedCase:
    chunks = list_ranked_chunks(observation, joins.corpus)
    hidden = find_hidden_chunks(case, joins, observation)
    if hidden:
        message = f"shown to a user who may not see it: {', '.join(hidden)}"
        return VerifiedCase(case.id, "leak", message, chunks=tuple(hidden))
    if case.behaviour == "permission_denied":
        return _verify_denied(case, joins, twin)
    if case.behaviour == "abstain":
        return _verify_absence(case, joins, chunks, frequencies)
    if not any(unit.grade for unit in case.evidence):
        return VerifiedCase(case.id, "unverified", "the case names no evidence")
    ranks = rank_units(case, joins, chunks)
    required = [unit for unit in case.evidence if unit.grade]
    lost = [
        ", ".join(str(value) for selector in unit.any_of for value in selector.values())
        for unit, rank in zip(required, ranks, strict=True)
        if rank is None and unit.required
    ]
    if lost:
        message = f"not among the {format_count(len(chunks), 'chunk')} found: {'; '.join(lost)}"
        return VerifiedCase(case.id, "missing", message, ranks)
    return _check_texts(VerifiedCase(case.id, "found", "", ranks), case, joins, chunks)


def _verify_denied(case: Case, joins: GoldenIndex, twin: Observation | None) -> VerifiedCase:
    if twin is None:
        return VerifiedCase(case.id, "unverified", "denied; no corpus says who may see the evidence")
    if twin.error is not None:
        return VerifiedCase(case.id, "error", f"as one who may see it: {describe_target_error(twin.error)}")
    chunks = list_ranked_chunks(twin, joins.corpus)
    ranks = rank_units(case, joins, chunks)
    if any(rank is not None for rank in ranks):
        verified = VerifiedCase(case.id, "found", "denied, and found by one who may see it", ranks)
        return _check_texts(verified, case, joins, chunks)
    return VerifiedCase(case.id, "not_answerable", "one who may see the evidence does not get it either", ranks)


def _check_texts(verified: VerifiedCase, case: Case, joins: GoldenIndex, chunks: Sequence[Chunk]) -> VerifiedCase:
    """Return a case whose evidence is found, as changed if that has another text than was labelled."""
    changed = list(_find_changed_texts(case, joins, chunks))
    if not changed:
        return verified
    return msgspec.structs.replace(verified, state="changed", message="; ".join(changed))


def _find_changed_texts(case: Case, joins: GoldenIndex, chunks: Sequence[Chunk]) -> Iterator[str]:
    """Yield a sentence for each required unit of which the label fits no text of the chunks found, nor of the corpus.

    A quote tells by itself; the hash of a text tells where there is no quote. Where no text is known nothing is told.
    """
    for unit in case.evidence:
        if not unit.grade or not unit.required or (unit.quote is None and unit.text_hash is None):
            continue
        index = EvidenceIndex([(unit.any_of, unit.grade)], joins.corpus, [unit.quote], joins.corpus_texts)
        covering = [chunk for chunk, mask in zip(chunks, index.unit_masks(chunks), strict=True) if mask]
        shown = [chunk.text for chunk in covering if chunk.text]
        corpus_chunks = joins.corpus.chunks if joins.corpus is not None else {}
        kept = [
            text
            for text in (corpus_chunks[chunk.chunk_id].text for chunk in covering if chunk.chunk_id in corpus_chunks)
            if text
        ]
        if covering and (shown or kept) and not any(_has_label(unit, text) for text in (*shown, *kept)):
            label = f"the quote {shorten_repr(unit.quote)}" if unit.quote else "the text that was labelled"
            where = "in neither index nor corpus" if kept else "not in the text that the target shows"
            remedy = "" if kept else " (with --corpus, a text of which it shows a part is known as a whole)"
            yield f"{covering[0].chunk_id} is found, and {label} is {where}{remedy}"


def _has_label(unit: Evidence, text: str) -> bool:
    if unit.quote is not None:
        return fold_text(unit.quote) in fold_text(text)
    return unit.text_hash in (compute_text_digest(text), compute_text_digest(text.strip()))


def _verify_absence(
    case: Case, joins: GoldenIndex, chunks: Sequence[Chunk], frequencies: DocumentFrequencies
) -> VerifiedCase:
    words = list_content_words(case.question)
    corpus_chunks = joins.corpus.chunks if joins.corpus is not None else {}
    total = fsum(map(frequencies.idf_weight, sorted(words)))
    if len(words) < _FEWEST_CONTENT_WORDS or not total:
        return VerifiedCase(case.id, "absent")
    for rank, chunk in enumerate(chunks, 1):
        corpus_chunk = corpus_chunks.get(chunk.chunk_id)
        text = chunk.text or (corpus_chunk.text if corpus_chunk is not None else None) or ""
        share = fsum(map(frequencies.idf_weight, sorted(words & collect_word_keys(text)))) / total
        if share >= ANSWERABLE_SHARE and has_its_numbers(case.question, text):
            name = _name_chunk(chunk, joins)
            message = f"{name} (rank {rank}) has {share:.0%} of the words of the question"
            return VerifiedCase(case.id, "answerable", message, chunks=(name,))
    return VerifiedCase(case.id, "absent")


def list_ranked_chunks(observation: Observation, corpus: Corpus | None) -> Sequence[Chunk]:
    """Return the chunks of the retrieved ranking with their texts, of the first stage if no stage is one."""
    stage = find_stage(observation, RETRIEVED_STAGE)
    if stage is None and observation.stages:
        stage = observation.stages[0]
    known = corpus.chunks if corpus is not None else {}
    return complete_texts(stage.chunks, observation, known) if stage is not None else ()


def plan_text_questions(case: Case, ranks: Sequence[int | None], corpus: Corpus | None) -> list[Case]:
    """Return a case for each required unit without a rank that asks for it by its quote, else by its text."""
    questions = []
    units = [unit for unit in case.evidence if unit.grade]
    for number, (unit, rank) in enumerate(zip(units, ranks, strict=True)):
        if rank is not None or not unit.required:
            continue
        names = find_unit_chunks(unit.any_of, corpus)
        text = unit.quote or (corpus.chunks[names[0]].text if corpus is not None and names else None)
        if text:
            probe = msgspec.structs.replace(
                case, id=f"{case.id}{TEXT_SUFFIX}{number}", question=text[:_MAX_QUERY_CHARS]
            )
            questions.append(msgspec.structs.replace(probe, evidence=(unit,), history=()))
    return questions


def add_presence(
    verified: VerifiedCase, probes: Sequence[Case], joins: GoldenIndex, observed: Mapping[str, Observation]
) -> VerifiedCase:
    """Return a case without its evidence as present if all units that were asked for by their text were found by it."""
    if not probes:
        return verified
    for probe in probes:
        observation = observed.get(probe.id)
        if observation is None or observation.error is not None:
            return verified
        chunks = list_ranked_chunks(observation, joins.corpus)
        changed = list(_find_changed_texts(probe, joins, chunks))
        if changed:
            return msgspec.structs.replace(verified, state="changed", message="; ".join(changed))
        if rank_units(probe, joins, chunks) == (None,):
            return msgspec.structs.replace(verified, message=f"{verified.message}; nor by its own text")
    message = verified.message.replace("not among", "in the index, but not among")
    if verified.state == "not_answerable":
        message = "denied; one who may see it finds it by its own text only"
    return msgspec.structs.replace(verified, state="present", message=message)


def rank_units(case: Case, joins: GoldenIndex, chunks: Sequence[Chunk]) -> tuple[int | None, ...]:
    """Return the rank of each unit of a grade above 0 among some chunks, None for one that none of them covers."""
    units = [unit for unit in case.evidence if unit.grade]
    selectors, quotes = [(unit.any_of, unit.grade) for unit in units], [unit.quote for unit in units]
    index = EvidenceIndex(selectors, joins.corpus, quotes, joins.corpus_texts)
    masks = index.unit_masks(chunks)
    ranks: list[int | None] = []
    for number in range(len(units)):
        bit = 1 << number
        ranks.append(next((rank for rank, mask in enumerate(masks, 1) if mask is not None and mask & bit), None))
    return tuple(ranks)


def find_hidden_chunks(case: Case, joins: GoldenIndex, observation: Observation) -> list[str]:
    """Return the chunks of any stage that the user may not see: by the corpus, and those that the case forbids.

    A chunk without an id is told by its text (ADR 0165), and is named by the chunks of the corpus that have it.
    """
    chunks = {chunk.chunk_id: chunk for stage in observation.stages or () for chunk in stage.chunks}
    forbidden = joins.case_index(joins.position[case.id]).forbidden
    masks = forbidden.unit_masks(chunks.values())
    hidden = [
        chunk for chunk, mask in zip(chunks.values(), masks, strict=True) if mask or _is_hidden(chunk, case.user, joins)
    ]
    return sorted({_name_chunk(chunk, joins) for chunk in hidden})


def _is_hidden(chunk: Chunk, user: User | None, joins: GoldenIndex) -> bool:
    """Return whether the user may see none of the chunks of the corpus that a chunk is; never without a user."""
    if joins.corpus_texts is None or user is None:
        return False
    corpus_chunks = joins.corpus_texts.find_chunks(chunk)
    is_open = any(may_see_chunk(user, corpus_chunk) for corpus_chunk in corpus_chunks)
    return bool(corpus_chunks) and not is_open


def _name_chunk(chunk: Chunk, joins: GoldenIndex) -> str:
    """Return the id of a chunk, or of the first of the corpus that has its text where the target gave it none."""
    corpus_chunks = joins.corpus_texts.find_chunks(chunk) if joins.corpus_texts is not None else ()
    return corpus_chunks[0].chunk_id if corpus_chunks else chunk.chunk_id


def describe_faults(cases: Sequence[VerifiedCase]) -> tuple[str, ...]:
    """Return the faults as they are kept in the set: the case and its state."""
    return tuple(f"{case.case}: {case.state}" for case in cases if case.state in FAULTS)

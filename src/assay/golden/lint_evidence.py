"""The rules of `golden lint` that compare cases with a corpus: evidence, access, references, alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import fsum

from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_finding import LintedSet, SuspectField
from assay.golden.lint_rules import contains_words
from assay.metrics.cases.access_rules import has_expired, is_early, is_in_force, may_see_chunk
from assay.metrics.cases.case_index import CHUNK_ID
from assay.metrics.grounding.citations import find_unknown_sources
from assay.records.counts import format_count
from assay.records.digest import compute_text_digest
from assay.records.errors import shorten_repr
from assay.records.golden_set import Case, Corpus, CorpusChunk
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.languages import guess_language
from assay.text.near_names import find_near_id
from assay.text.normalisation import fold_text
from assay.text.statements import list_statements
from assay.text.tokens import collect_word_keys, is_stop_word, tokenise_text

COMMON_KEYWORD_SHARE = 0.5
"""The share of chunks with a keyword from which it says nothing of a chunk."""
ANSWERABLE_SHARE = 0.9
"""The share of the words of a question, weighted by rarity, from which a chunk seems to answer it."""
ALTERNATIVE_SHARE = 0.6
"""The share of the words of a question that a chunk with the facts of the reference needs to be an alternative."""
FOREIGN_SHARE = 0.25
"""The share of the words of a reference below which its evidence hardly has them."""
_FEWEST_CONTENT_WORDS = 3
_FEWEST_CHUNKS = 5
_ASKING = frozenset(
    "bao lau may much mani nao nhieu how when where which who whom whose why what there gi ai dau khi sao "
    "cac cho co cua doi duoc la muc mot nhung theo thi trong tu va ve voi".split()
)


def check_evidence(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding for each unit that the corpus does not have, or whose text has changed or expired."""
    corpus = linted.corpus
    if corpus is None:
        return
    as_of = _reference_day(case, linted)
    for number, unit in enumerate(case.evidence):
        field = f"evidence[{number}]"
        chunk_ids = find_unit_chunks(unit.any_of, corpus)
        if not chunk_ids:
            yield SuspectField("evidence-missing", field, _describe_absence(unit.any_of, corpus))
            continue
        chunks = [corpus.chunks[chunk_id] for chunk_id in chunk_ids]
        named = [str(selector[CHUNK_ID]) for selector in unit.any_of if selector.keys() == {CHUNK_ID}]
        is_gone = bool(named) and not any(name in corpus.chunks for name in named)
        changed = find_text_change(unit.quote, unit.text_hash, chunks)
        if changed and is_gone:
            changed = (
                f"{named[0]} is not in the corpus any more; its quote stands in {chunk_ids[0]}, which is another chunk"
            )
        if changed:
            yield SuspectField("evidence-changed", field, changed, tuple(chunk_ids))
        is_required = case.behaviour == "answer" and unit.required and unit.grade > 0
        if is_required and all(has_expired(chunk.valid_to, as_of) for chunk in chunks):
            message = f"expired on {chunks[0].valid_to} ({chunk_ids[0]}), the case is of {as_of}"
            yield SuspectField("evidence-superseded", field, message, tuple(chunk_ids))
    for number, selector in enumerate(case.forbidden):
        if not find_unit_chunks([selector], corpus):
            yield SuspectField("evidence-missing", f"forbidden[{number}]", _describe_absence((selector,), corpus))
    unknown = find_unknown_sources([case], corpus) if case.must_cite else {}
    for number, name in enumerate(case.must_cite):
        if name in unknown:
            message = f"no chunk or document of the corpus ({shorten_repr(name)})"
            yield SuspectField("source-missing", f"must_cite[{number}]", message)


def find_text_change(quote: str | None, text_hash: str | None, chunks: list[CorpusChunk]) -> str:
    """Return how the texts of chunks contradict the quote or hash of a label, "" if they do not."""
    texts = [chunk.text for chunk in chunks if chunk.text]
    if quote and texts and not any(fold_text(quote) in fold_text(text) for text in texts):
        return f"the quote {shorten_repr(quote)} is not in the text of {chunks[0].chunk_id}"
    hashes = {chunk.text_hash or compute_text_digest(chunk.text or "") for chunk in chunks}
    if text_hash is not None and text_hash not in hashes:
        return f"the text of {chunks[0].chunk_id} has changed since it was labelled (its hash is another one)"
    return ""


def check_access(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding if the behaviour contradicts what the corpus lets the user see."""
    if linted.corpus is None or case.user is None or not linted.evidence_chunks(case):
        return
    required = _required_chunks(case, linted.corpus)
    visible = [chunk.chunk_id for chunk in required if may_see_chunk(case.user, chunk)]
    if case.behaviour == "permission_denied" and visible:
        message = f"the user may see {', '.join(visible)} by the corpus"
        yield SuspectField("denied-visible", "evidence", message, tuple(visible))
    if case.behaviour == "answer" and required and not visible:
        message = f"the user may see none of {', '.join(chunk.chunk_id for chunk in required)} by the corpus"
        yield SuspectField("answer-invisible", "user", message)


def check_abstention(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding if a chunk that the user may see has nearly all content words of an abstain case's question."""
    if case.behaviour != "abstain" or linted.corpus is None:
        return
    words = list_content_words(case.question)
    if len(words) < _FEWEST_CONTENT_WORDS:
        return
    for chunk_id, text in linted.texts.items():
        chunk = linted.corpus.chunks[chunk_id]
        if is_early(chunk.valid_from, _reference_day(case, linted)) or not may_see_chunk(case.user, chunk):
            continue
        share = share_words(words, text, linted)
        if share >= ANSWERABLE_SHARE and has_its_numbers(case.question, text):
            message = f"{chunk_id} has {share:.0%} of the words of the question"
            yield SuspectField("abstain-answerable", "behaviour", message, (chunk_id,))
            return


def check_common_keywords(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding for a keyword that at least half of the chunks contain."""
    if case.rubric is None or len(linted.folded_texts) < _FEWEST_CHUNKS:
        return
    for keyword in case.rubric.correct_keywords:
        folded = fold_text(keyword)
        count = sum(contains_words(text, folded) for text in linted.folded_texts.values())
        if count >= COMMON_KEYWORD_SHARE * len(linted.folded_texts):
            message = f"{shorten_repr(keyword)} is in {count} of {format_count(len(linted.folded_texts), 'chunk')}"
            yield SuspectField("keyword-common", "rubric.correct_keywords", message)


def check_reference(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding for quantities of the reference that neither evidence nor question has, or no support at all."""
    if case.behaviour != "answer" or not case.reference or linted.corpus is None or not linted.evidence_chunks(case):
        return
    # Chunks of grade 0 are no evidence, but a reference may say what they say: "the 10 of the old version".
    judged = [linted.corpus.chunks[chunk_id] for chunk_id in linted.labelled_chunks(case)]
    source = "\n\n".join(["\n".join(filter(None, (chunk.section, chunk.version, chunk.text))) for chunk in judged])
    missing = [
        judgment.fact
        for judgment in judge_quantities(f"{source}\n\n{case.question}", case.reference)
        if judgment.state in ("missing", "denied") and not _is_written(judgment.fact, source)
    ]
    if missing:
        message = f"states {', '.join(map(shorten_repr, missing))}, which its evidence does not have"
        yield SuspectField("reference-unsupported", "reference", message)
        return
    languages = {guess_language(case.reference), guess_language(source)} - {None}
    if len(languages) > 1:
        return
    words = list_content_words(case.reference)
    share = share_words(words, f"{source} {case.question}", linted)
    if len(words) >= _FEWEST_CONTENT_WORDS and share < FOREIGN_SHARE:
        yield SuspectField("reference-unsupported", "reference", "its words are hardly found in its evidence")


def _is_written(fact: str, source: str) -> bool:
    return contains_words(fold_text(source), fold_text(fact))


def find_alternatives(case: Case, linted: LintedSet) -> Iterator[SuspectField]:
    """Yield a finding for each chunk that nobody judged for the case and that states the same fact as its evidence.

    That is a chunk with the quote of a unit, with the same text, or with the quantities of the reference and most words
    of the reference and of the question. Chunks that the user may not see or that are not in force are left out.
    """
    if case.behaviour != "answer" or linted.corpus is None or not linted.evidence_chunks(case):
        return
    labelled = linted.labelled_chunks(case)
    quotes = [fold_text(unit.quote) for unit in case.evidence if unit.quote and unit.grade]
    same_texts = {fold_text(chunk.text) for chunk in _required_chunks(case, linted.corpus) if chunk.text}
    as_of = _reference_day(case, linted)
    for chunk_id, folded in linted.folded_texts.items():
        chunk = linted.corpus.chunks[chunk_id]
        if chunk_id in labelled or not may_see_chunk(case.user, chunk) or not is_in_force(chunk, as_of):
            continue
        if folded in same_texts:
            yield SuspectField("unlabelled-alternative", "evidence", f"{chunk_id} has the same text", (chunk_id,))
        elif any(quote in folded for quote in quotes):
            yield SuspectField("unlabelled-alternative", "evidence", f"{chunk_id} has the quote too", (chunk_id,))
        elif _states_reference(case, chunk, linted):
            message = f"{chunk_id} seems to state the reference too"
            yield SuspectField("unlabelled-alternative", "evidence", message, (chunk_id,))


def _states_reference(case: Case, chunk: CorpusChunk, linted: LintedSet) -> bool:
    """Return whether one statement of a chunk has the quantities and most words of reference and question."""
    reference = case.reference or ""
    if not _has_quantities(reference):
        return False
    words = [_list_words_once(text) for text in (case.question, reference)]
    for statement in list_statements(chunk.text or ""):
        in_context = f"{statement.context}\n{statement.text}"
        if any(share_words(wanted, in_context, linted) < ALTERNATIVE_SHARE for wanted in words):
            continue
        if all(judgment.state == "stated" for judgment in judge_quantities(statement.text, reference)):
            return True
    return False


@lru_cache(maxsize=1024)
def _has_quantities(reference: str) -> bool:
    """Return whether a reference states a quantity; asked for every chunk that is compared with it."""
    return bool(judge_quantities(reference, reference))


def list_content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are neither words of grammar, Vietnamese too, nor only ask.

    >>> sorted(list_content_words("How many days of leave are there?"))
    ['day', 'leav']
    """
    return frozenset(key for key in collect_word_keys(text) if not is_stop_word(key) and key not in _ASKING)


_list_words_once = lru_cache(maxsize=1024)(list_content_words)


def has_its_numbers(question: str, text: str) -> bool:
    """Return whether a text has every number and code of a question: another model or year is another question.

    >>> has_its_numbers("What does the HB-12 weigh?", "HB-20: 3 kg"), has_its_numbers("After 3 days?", "3 days")
    (False, True)
    """
    numbers = {token for token in tokenise_text(question) if any(map(str.isdigit, token))}
    return not numbers or numbers <= set(tokenise_text(text))


def share_words(words: frozenset[str], text: str, linted: LintedSet) -> float:
    """Return the share of words, weighted by their rarity in the corpus, that occur in a text; 1 for no words."""
    total = fsum(map(linted.frequencies.idf_weight, sorted(words)))
    shared = fsum(map(linted.frequencies.idf_weight, sorted(words & _collect_once(text))))
    return shared / total if total else 1.0


@lru_cache(maxsize=32_768)
def _collect_once(text: str) -> frozenset[str]:
    """Return the keys of the words of a statement of the corpus, which is compared with every case."""
    return frozenset(collect_word_keys(text))


def _required_chunks(case: Case, corpus: Corpus) -> list[CorpusChunk]:
    units = [unit for unit in case.evidence if unit.required and unit.grade]
    return [corpus.chunks[chunk_id] for unit in units for chunk_id in find_unit_chunks(unit.any_of, corpus)]


def _reference_day(case: Case, linted: LintedSet) -> str | None:
    return (case.user.as_of if case.user is not None else None) or linted.golden.as_of


def _describe_absence(selectors: tuple[dict[str, str | int], ...], corpus: Corpus) -> str:
    """Return that the corpus has none of these, and the chunk that was probably meant."""
    named = [str(selector[CHUNK_ID]) for selector in selectors if CHUNK_ID in selector]
    near = next(filter(None, (find_near_id(chunk_id, corpus.chunks) for chunk_id in named)), "")
    return f"not in the corpus ({_name(selectors)})" + (f"; did you mean {near}?" if near else "")


def _name(selectors: tuple[dict[str, str | int], ...]) -> str:
    return ", ".join(str(value) for selector in selectors for value in selector.values())

"""Throws candidates away, each with its reason: by the corpus, the cases that there are, and targets.

The rules read words and quantities. What only a model can tell (whether a model knows the answer without any evidence)
is not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

import msgspec

from assay.golden.candidate import Candidate, DraftReport, RejectedCandidate, RejectReason, TargetLeak
from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_evidence import ANSWERABLE_SHARE, has_its_numbers, list_content_words, share_words
from assay.golden.lint_finding import LintedSet
from assay.golden.lint_rules import contains_words, normalise_question
from assay.golden.orders import is_ordering, strip_own_order
from assay.golden.verification import VerifiedCase
from assay.metrics.cases.access_rules import has_expired, is_in_force, may_see_chunk
from assay.records.golden_set import Case, CorpusChunk
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.normalisation import fold_text
from assay.text.statements import Statement, list_statements, strip_markup

SAME_QUESTION_SHARE = 0.8
"""The share of common words, weighted by rarity, from which a candidate with the same evidence repeats a question."""
RIVAL_SHARE = 0.9
"""The share of the words of a question from which a statement elsewhere competes with its evidence."""
SUPPORT_SHARE = 0.7
"""The share of the words of a reference that its evidence must have."""
_POINTING = re.compile(
    r"\b(?:this|these|that|those|it|its|they|them|he|she|(?:above|below)(?! \d)|the former|the latter|"
    r"này|đó|nói trên|ở trên|mức trên|dưới đây|sau đây|như trên|(?:mục|phần|bảng|section|table|step) \d+)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^“”]*”")
_FRAME = re.compile(
    r"\b(?:stands? for|means?|happens?|often|according to|intervals|full form|explain|meant|become|becomes|someone|"
    r"model|"
    r"viết tắt của cụm từ|viết đầy đủ|nghĩa|xảy ra|phải làm|quy định về|vì sao|theo)\b",
    re.IGNORECASE,
)
"""What a question asks with, and no document needs to have."""
_SUBJECT = re.compile(r"^(?:Theo mục|Theo|Under|According to) “[^”]*”,?\s*", re.IGNORECASE)


def filter_by_corpus(
    candidates: Sequence[Candidate], linted: LintedSet, as_of: str | None = None
) -> Iterator[Candidate | RejectedCandidate]:
    """Yield each candidate or why it is thrown away, in order; `linted` has the cases that there are and the corpus.

    A candidate whose answer another chunk states too is kept, with that chunk as an alternative.
    """
    asked = {normalise_question(case.question): case.id for case in linted.golden.cases if case.question}
    asked_of: dict[tuple[str, ...], list[Case]] = {}
    for case in linted.golden.cases:
        asked_of.setdefault(_name_evidence(case), []).append(case)
    answers = _collect_answers(candidates)
    thrown: dict[str, Rejection] = {}
    for candidate in candidates:
        case = candidate.case
        if case.cluster in thrown:
            yield RejectedCandidate(candidate, thrown[case.cluster][0], f"a variant of {case.cluster}")
            continue
        if candidate.kind == "injection":
            question = strip_own_order(case.question, case.forbidden_text)
            case = msgspec.structs.replace(case, question=question)
        rejection = (
            _check_alone(case, linted)
            or _check_answers(candidate.case, answers)
            or _check_repeated(case, asked, asked_of, linted)
        )
        if rejection is None and case.behaviour == "answer":
            candidate, rejection = _compare_with_others(candidate, linted, as_of)
        elif rejection is None:
            rejection = _check_absent(case, linted, as_of)
        if rejection is not None:
            thrown[case.id] = rejection
            yield RejectedCandidate(candidate, *rejection)
            continue
        asked[_question_key(candidate.case)] = case.id
        asked_of.setdefault(_name_evidence(case), []).append(case)
        yield candidate


Rejection = tuple[RejectReason, str]


def _collect_answers(candidates: Sequence[Candidate]) -> dict[tuple[str, str], dict[str, str]]:
    """Return for each question and user the different answers of the candidates, with an id of each."""
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for candidate in candidates:
        case = candidate.case
        if case.behaviour == "answer":
            answer = fold_text(" ".join(case.must_have) or case.reference or "")
            answers.setdefault((case.question, str(case.user)), {}).setdefault(answer, case.id)
    return answers


def _check_answers(case: Case, answers: Mapping[tuple[str, str], Mapping[str, str]]) -> Rejection | None:
    """Return why a question is unclear: another statement of the corpus answers the same words otherwise."""
    own = fold_text(" ".join(case.must_have) or case.reference or "")
    names_by_answer = answers.get((case.question, str(case.user)), {}) if case.behaviour == "answer" else {}
    other = next((name for answer, name in names_by_answer.items() if answer != own), None)
    return ("answerable-elsewhere", f"the same question as {other}") if other is not None else None


def _check_alone(case: Case, linted: LintedSet) -> Rejection | None:
    """Return why a candidate is no good by itself: orders, words that point elsewhere, its answer, its support."""
    texts = [case.question, case.reference or "", *(unit.quote or "" for unit in case.evidence)]
    ordering = next((text for text in texts if is_ordering(text)), None)
    if ordering is not None:
        return "instruction", ordering[:80]
    pointing = _POINTING.search(_QUOTED.sub("“”", case.question))
    if pointing is not None:
        return "not-self-contained", pointing[0]
    if case.behaviour != "answer":
        return None
    stated = _find_given_answer(case)
    if stated is not None:
        return "gives-answer-away", stated
    return _check_support(case, linted)


def _find_given_answer(case: Case) -> str | None:
    folded = fold_text(case.question)
    facts = case.must_have or ((case.reference,) if case.reference else ())
    stated = [fact for fact in facts if contains_words(folded, fold_text(fact).strip(" ."))]
    if stated:
        return stated[0]
    words = list_content_words(case.reference or "")
    if not case.must_have and words and words <= list_content_words(case.question):
        return "all words of the reference"
    return None


def _check_support(case: Case, linted: LintedSet) -> Rejection | None:
    """Return why the quotes do not state the reference: words, quantities or must-have facts that they lack."""
    parts = []
    for unit in case.evidence:
        if not unit.grade:
            continue
        names = find_unit_chunks(unit.any_of, linted.corpus)
        texts = [linted.texts.get(name, "") for name in names]
        if unit.quote and not any(fold_text(unit.quote) in fold_text(text) for text in texts):
            return "unsupported", "the quote is not in its chunk"
        parts += [_quote_in_context(unit.quote, text) if unit.quote else text for text in texts[:1]]
        parts += [linted.corpus.chunks[name].section or "" for name in names[:1] if linted.corpus is not None]
    source = "\n".join(parts)
    if not source.strip():
        return "unsupported", "no evidence in the corpus"
    folded = fold_text(strip_markup(source))
    for fact in case.must_have:
        states = [judgment.state for judgment in judge_quantities(source, fact)]
        is_stated = contains_words(folded, fold_text(fact)) or (bool(states) and set(states) == {"stated"})
        if not is_stated:
            return "unsupported", fact
    for judgment in judge_quantities(source, case.reference or ""):
        if judgment.state in ("missing", "denied") and not contains_words(folded, fold_text(judgment.fact)):
            return "unsupported", judgment.fact
    words = list_content_words(case.reference or "")
    if words and share_words(words, source, linted) < SUPPORT_SHARE:
        return "unsupported", "words of the reference that the evidence does not have"
    return None


def _quote_in_context(quote: str, text: str) -> str:
    """Return a quote with the heading and the header cells over it."""
    for statement in list_statements(text):
        if fold_text(text[statement.start : statement.end]) == fold_text(quote):
            return f"{statement.context}\n{quote}"
    return quote


def _check_repeated(
    case: Case, asked: Mapping[str, str], asked_of: Mapping[tuple[str, ...], Sequence[Case]], linted: LintedSet
) -> Rejection | None:
    if case.cluster is not None or case.behaviour == "permission_denied":
        return None  # variants of a question are meant to repeat it
    earlier = asked.get(_question_key(case))
    if earlier is not None:
        return "duplicate", earlier
    words = list_content_words(_SUBJECT.sub("", case.question))
    for other in asked_of.get(_name_evidence(case), ()):
        others = list_content_words(_SUBJECT.sub("", other.question))
        either = fsum(map(linted.frequencies.idf_weight, sorted(words | others)))
        common = fsum(map(linted.frequencies.idf_weight, sorted(words & others)))
        same_answer = not case.must_have or case.must_have == other.must_have
        if not has_its_numbers(case.question, other.question):
            continue
        if case.evidence and either and common / either >= SAME_QUESTION_SHARE and same_answer and not other.cluster:
            return "duplicate", other.id
    return None


def _question_key(case: Case) -> str:
    return normalise_question(case.question)


def _name_evidence(case: Case) -> tuple[str, ...]:
    return tuple(sorted(str(selector) for unit in case.evidence for selector in unit.any_of))


# ── other chunks ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _compare_with_others(
    candidate: Candidate, linted: LintedSet, as_of: str | None
) -> tuple[Candidate, Rejection | None]:
    """Return a candidate with the chunks that answer it too, or why others answer it otherwise.

    Only questions with one unit and one fact are compared: of others, the rules cannot tell what a rival answers.
    """
    case = candidate.case
    units = [unit for unit in case.evidence if unit.grade]
    if len(units) != 1 or len(case.must_have) != 1:
        return candidate, None
    judged = {name for unit in case.evidence for name in find_unit_chunks(unit.any_of, linted.corpus)}
    alternatives = []
    for chunk, statement in _find_rivals(case, linted, as_of):
        if chunk.chunk_id in judged and not _is_other_statement(statement, units[0].quote or ""):
            continue
        if _states_fact(statement, case.must_have[0]):
            alternatives += [chunk.chunk_id] if chunk.chunk_id not in judged else []
        elif chunk.chunk_id not in judged:
            return candidate, ("answerable-elsewhere", f"{chunk.chunk_id}: {statement.text[:80]}")
    if alternatives:
        selectors = [{"chunk_id": name} for name in dict.fromkeys(alternatives)]
        unit = msgspec.structs.replace(units[0], any_of=(*units[0].any_of, *selectors))
        evidence = tuple(unit if own is units[0] else own for own in case.evidence)
        candidate = msgspec.structs.replace(candidate, case=msgspec.structs.replace(case, evidence=evidence))
    return candidate, None


def _find_rivals(case: Case, linted: LintedSet, as_of: str | None) -> Iterator[tuple[CorpusChunk, Statement]]:
    """Yield the statements that the user may see and that have nearly all words of a question."""
    if linted.corpus is None:
        return
    words = list_content_words(case.question)
    for chunk_id, text in linted.texts.items():
        chunk = linted.corpus.chunks[chunk_id]
        if not may_see_chunk(case.user, chunk) or not is_in_force(chunk, as_of):
            continue
        for statement in list_statements(text):
            in_context = f"{statement.context}\n{statement.text}\n{chunk.section}"
            if share_words(words, in_context, linted) >= RIVAL_SHARE and has_its_numbers(case.question, in_context):
                yield chunk, statement


def _is_other_statement(statement: Statement, quote: str) -> bool:
    return fold_text(statement.text) != fold_text(strip_markup(quote))


def _states_fact(statement: Statement, fact: str) -> bool:
    states = [judgment.state for judgment in judge_quantities(statement.text, fact)]
    return contains_words(fold_text(statement.text), fold_text(fact)) or (bool(states) and set(states) == {"stated"})


def _check_absent(case: Case, linted: LintedSet, as_of: str | None) -> Rejection | None:
    """Return why a case without an answer has one: its user may see a chunk with nearly all words of the question."""
    if linted.corpus is None:
        return None
    words = list_content_words(_FRAME.sub(" ", case.question))
    for chunk_id, text in linted.texts.items():
        chunk = linted.corpus.chunks[chunk_id]
        if has_expired(chunk.valid_to, as_of) or not may_see_chunk(case.user, chunk):
            continue
        in_context = f"{text}\n{chunk.section}"
        if share_words(words, in_context, linted) >= ANSWERABLE_SHARE and has_its_numbers(case.question, in_context):
            reason: RejectReason = "not-absent" if case.behaviour == "abstain" else "answerable-elsewhere"
            return reason, chunk_id
    return None


# ── what a target showed ─────────────────────────────────────────────────────────────────────────────────────────────

_REASON_OF_STATE: dict[str, RejectReason] = {
    "not_answerable": "boundary",
    "unverified": "boundary",
    "missing": "unreachable",
    "present": "unreachable",
    "answerable": "not-absent",
    "error": "target-error",
}


def filter_by_target(
    candidates: Sequence[Candidate], shown: Mapping[str, Mapping[str, VerifiedCase]], *, keep_unreachable: bool = False
) -> Iterator[Candidate | RejectedCandidate]:
    """Yield each candidate with its rank, or why it is thrown away; `shown` has the verified cases of each target.

    A candidate must fit every target's index, and be found by one of them. With `keep_unreachable`, one that is in the
    index and is not found stays as a challenge to retrieval. With several targets, one that all of them rank first is
    thrown away: it tells none of them apart. What leaks stays: the target is at
    fault, and the candidate shows it.
    """
    for candidate in candidates:
        verified = {name: cases[candidate.case.id] for name, cases in shown.items()}
        rejection = _judge_shown(verified, keep_unreachable=keep_unreachable)
        if rejection is not None:
            yield RejectedCandidate(candidate, *rejection)
            continue
        ranks = {name: list(case.ranks) for name, case in verified.items() if case.ranks}
        provenance = {**candidate.case.metadata.get("provenance", {}), "verified_ranks": ranks}
        is_challenge = bool(verified) and all(case.state == "present" for case in verified.values())
        tags = (*candidate.case.tags, "retrieval-challenge") if is_challenge else candidate.case.tags
        metadata = {**candidate.case.metadata, "provenance": provenance}
        changed = msgspec.structs.replace(candidate.case, metadata=metadata, tags=tags)
        yield msgspec.structs.replace(candidate, case=changed)


def _judge_shown(verified: Mapping[str, VerifiedCase], *, keep_unreachable: bool) -> Rejection | None:
    for name, case in verified.items():
        if case.state in ("answerable", "error", "not_answerable", "unverified"):
            return _REASON_OF_STATE[case.state], f"{name}: {case.message}"
    if verified and all(case.state in ("missing", "present") for case in verified.values()):
        is_in_index = all(case.state == "present" for case in verified.values())
        if not (keep_unreachable and is_in_index):
            name, case = next(iter(verified.items()))
            return "unreachable", f"{name}: {case.message}"
    ranked = [case.ranks for case in verified.values() if case.state == "found" and case.ranks]
    if len(ranked) > 1 and len(ranked) == len(verified) and all(set(ranks) == {1} for ranks in ranked):
        return "trivial", "rank 1 for " + ", ".join(verified)
    return None


def list_leaks(
    candidates: Sequence[Candidate], shown: Mapping[str, Mapping[str, VerifiedCase]]
) -> tuple[TargetLeak, ...]:
    """Return what each target showed to users who may not see it, in the order of the targets and the candidates."""
    leaks = []
    for name, cases in shown.items():
        for candidate in candidates:
            verified = cases[candidate.case.id]
            if verified.state == "leak":
                leaks.append(TargetLeak(name, verified.case, verified.chunks))
    return tuple(leaks)


def collect_report(results: Sequence[Candidate | RejectedCandidate], earlier: DraftReport | None = None) -> DraftReport:
    """Return what is left and what was thrown away, with what earlier filters threw away and found."""
    kept = tuple(item for item in results if isinstance(item, Candidate))
    rejected = tuple(item for item in results if isinstance(item, RejectedCandidate))
    if earlier is None:
        return DraftReport(kept, rejected)
    return msgspec.structs.replace(earlier, kept=kept, rejected=(*earlier.rejected, *rejected))

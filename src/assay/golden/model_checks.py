"""What a model is asked about candidates and cases, and what its verdicts throw away; it never gives a score.

Support: does the evidence state the reference? Closed book: does a model know the answer without any evidence? Other
chunks: does one of those with most words of the question answer it too? A question without a verdict throws nothing
away, and the candidate says that it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.golden.candidate import Candidate, RejectedCandidate, RejectReason
from assay.golden.drafting_prompts import make_closed_book_request, make_open_book_request
from assay.golden.evidence_chunks import find_unit_chunks
from assay.golden.lint_evidence import list_content_words, share_words
from assay.golden.lint_finding import LintedSet
from assay.golden.lint_rules import contains_words
from assay.metrics.cases.access_rules import has_expired, may_see_chunk
from assay.metrics.judged.judge_requests import Rubrics, find_rubric, make_request
from assay.records.golden_set import Case
from assay.records.verdicts import JudgeRequest, Verdict
from assay.text.facts.stated_quantities import judge_quantities
from assay.text.normalisation import fold_text

NEAREST_CHUNKS = 3
"""How many other chunks a model is shown for each candidate: those with most words of its question."""
SUPPORTED = "supported"
NO_VERDICT = "no verdict"
UNSUPPORTED_LABELS = frozenset({"contradicted", "not_found"})


class CandidateChecks(msgspec.Struct, frozen=True):
    """The requests about one case: `support`, `closed_book`, `open_book` over other chunks, and `others` one by one."""

    support: JudgeRequest | None = None
    closed_book: JudgeRequest | None = None
    open_book: JudgeRequest | None = None
    others: dict[str, JudgeRequest] = {}

    @property
    def requests(self) -> list[JudgeRequest]:
        """All requests that there are."""
        alone = [request for request in (self.support, self.closed_book, self.open_book) if request is not None]
        return [*alone, *self.others.values()]


def plan_support(case: Case, linted: LintedSet, rubrics: Rubrics) -> JudgeRequest | None:
    """Return the request whether a case's evidence states its reference; None without an answer, or without texts."""
    names = [name for unit in case.evidence if unit.grade for name in find_unit_chunks(unit.any_of, linted.corpus)[:1]]
    names = [name for name in dict.fromkeys(names) if name in linted.texts]
    if case.behaviour != "answer" or not case.reference or not names:
        return None
    return _ask_support(case, names, linted, rubrics)


def _ask_support(case: Case, names: Sequence[str], linted: LintedSet, rubrics: Rubrics) -> JudgeRequest:
    rubric = find_rubric(rubrics, "support", case.language or "en")
    offered = {
        "claims": [{"id": "reference", "text": case.reference or ""}],
        "question": case.question,
        "context": [{"id": name, "text": linted.texts[name]} for name in names],
    }
    return make_request(rubric, offered, ["reference"])


def plan_checks(candidate: Candidate, linted: LintedSet, rubrics: Rubrics, as_of: str | None = None) -> CandidateChecks:
    """Return everything that a model is asked about a candidate."""
    case = candidate.case
    language = case.language or "en"
    if case.behaviour not in ("answer", "abstain"):
        return CandidateChecks()
    nearest = find_nearest_chunks(case, linted, as_of)
    if case.behaviour == "abstain":
        passages = [{"id": name, "text": linted.texts[name]} for name in nearest]
        return CandidateChecks(
            open_book=make_open_book_request(case.question, passages, language) if passages else None
        )
    is_single = sum(unit.grade > 0 for unit in case.evidence) == 1 and bool(case.reference)
    return CandidateChecks(
        plan_support(case, linted, rubrics),
        make_closed_book_request(case.question, language) if case.must_have else None,
        None,
        {name: _ask_support(case, [name], linted, rubrics) for name in nearest} if is_single else {},
    )


def find_nearest_chunks(case: Case, linted: LintedSet, as_of: str | None = None) -> list[str]:
    """Return the chunks, without the labelled ones, that the user may see and that have most words of a question."""
    if linted.corpus is None:
        return []
    words = list_content_words(case.question)
    labelled = {name for unit in case.evidence for name in find_unit_chunks(unit.any_of, linted.corpus)}
    shares = []
    for name, text in linted.texts.items():
        chunk = linted.corpus.chunks[name]
        may_see = may_see_chunk(case.user, chunk)
        if name in labelled or not may_see or has_expired(chunk.valid_to, as_of):
            continue
        share = share_words(words, f"{text}\n{chunk.section or ''}", linted)
        if share > 0:
            shares.append((-share, name))
    return [name for _, name in sorted(shares)[:NEAREST_CHUNKS]]


def filter_by_model(
    candidates: Sequence[Candidate], checks: Sequence[CandidateChecks], verdicts: Mapping[str, Verdict], model: str
) -> Iterator[Candidate | RejectedCandidate]:
    """Yield each candidate with the verdicts on it, or why they throw it away; `verdicts` are by request digest."""
    for candidate, planned in zip(candidates, checks, strict=True):
        labels = {name: read_label(request, verdicts) for name, request in _list_named(planned)}
        rejection = _judge_labels(candidate.case, planned, labels, verdicts)
        if rejection is not None:
            yield RejectedCandidate(candidate, *rejection)
            continue
        yield _record_labels(candidate, labels, model) if labels else candidate


def _list_named(planned: CandidateChecks) -> Iterator[tuple[str, JudgeRequest]]:
    alone = {"support": planned.support, "closed_book": planned.closed_book, "open_book": planned.open_book}
    for name, request in alone.items():
        if request is not None:
            yield name, request
    for name, request in planned.others.items():
        yield f"other:{name}", request


def read_label(request: JudgeRequest, verdicts: Mapping[str, Verdict]) -> str:
    """Return the first label of the verdict on a request, `NO_VERDICT` if there is none."""
    verdict = verdicts.get(request.digest)
    return verdict.items[0].label if verdict is not None and verdict.unscored is None else NO_VERDICT


def _judge_labels(
    case: Case, planned: CandidateChecks, labels: Mapping[str, str], verdicts: Mapping[str, Verdict]
) -> tuple[RejectReason, str] | None:
    if labels.get("support") in UNSUPPORTED_LABELS:
        return "unsupported", f"by judge: {labels['support']}"
    if planned.closed_book is not None and labels["closed_book"] == "yes":
        answer = verdicts[planned.closed_book.digest].items[0].reasoning
        if states_all_facts(answer, case.must_have):
            return "parametric", answer[:80]
    if labels.get("open_book") == "yes" and planned.open_book is not None:
        return "not-absent", f"by judge: {verdicts[planned.open_book.digest].items[0].source}"
    for name, label in labels.items():
        if name.startswith("other:") and label == "contradicted":
            return "answerable-elsewhere", f"by judge: {name.removeprefix('other:')}"
    return None


def states_all_facts(answer: str, facts: Sequence[str]) -> bool:
    """Return whether an answer states every fact, in the same words or as the same quantity; False without facts.

    >>> states_all_facts("You get twelve days.", ("12 days",)), states_all_facts("12 days", ("13 days",))
    (True, False)
    """
    folded = fold_text(answer)
    for fact in facts:
        states = {judgment.state for judgment in judge_quantities(answer, fact)}
        if not contains_words(folded, fold_text(fact)) and states != {"stated"}:
            return False
    return bool(facts)


def _record_labels(candidate: Candidate, labels: Mapping[str, str], model: str) -> Candidate:
    """Return a candidate with what was said about it, and with the other chunks that state its reference."""
    case = candidate.case
    others = [
        name.removeprefix("other:")
        for name, label in labels.items()
        if label == SUPPORTED and name.startswith("other:")
    ]
    evidence = list(case.evidence)
    first = next((index for index, unit in enumerate(evidence) if unit.grade), None)
    if others and first is not None:
        selectors = tuple({"chunk_id": name} for name in others)
        unit = evidence[first]
        evidence[first] = msgspec.structs.replace(unit, any_of=(*unit.any_of, *selectors))
    provenance = {**case.metadata.get("provenance", {}), "judge": {"model": model, **labels}}
    metadata = {**case.metadata, "provenance": provenance}
    changed = msgspec.structs.replace(case, metadata=metadata, evidence=tuple(evidence))
    return msgspec.structs.replace(candidate, case=changed)

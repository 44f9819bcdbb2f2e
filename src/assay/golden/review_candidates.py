"""`golden review`: writes the page on which people decide on candidates, and compares what several decided."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden
from assay.formats.labels.offline_page import PAGE_LANGUAGES, build_offline_page
from assay.golden.candidate_rows import build_review_content
from assay.golden.check_golden import find_stale_cases, move_day
from assay.golden.next_version import is_same_or_relinked
from assay.golden.review_file import load_reviews
from assay.golden.settlement import ReviewReport, summarise_reviews
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem
from assay.records.golden_set import ALIKE_KINDS, Case, Corpus, GoldenSet


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The candidates, the corpus whose texts are shown, the files of reviewers, and the page to write.

    Without decisions the page has every candidate; with some, those on which their reviewers disagree. With `base`, the
    version of the set before, cases of it are left out that ask and expect the same and fit the corpus, on the day
    `as_of` if it is given.
    """

    candidates: str
    corpus: str | None = None
    decisions: Sequence[str] = ()
    out: str | None = None
    language: str = "en"
    base: str | None = None
    as_of: str | None = None


def review_file(request: ReviewRequest) -> ReviewReport:
    """Compare reviews, and write the page that is named; the same files give the same bytes.

    Raises InputError for files that cannot be used, for an unknown language, and for a page with nothing on it.
    """
    if request.language not in PAGE_LANGUAGES:
        raise InputError(
            f"--language: no such language (got {request.language!r}; expected one of {', '.join(PAGE_LANGUAGES)})"
        )
    loaded = move_day(load_golden(request.candidates), request.as_of)
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    reviews = load_reviews(request.decisions, loaded, request.candidates)
    decisions = [decision for review in reviews for decision in review.decisions]
    findings: dict[str, tuple[str, ...]] = {}
    cases: Sequence[Case] = loaded.golden.cases
    if request.base is not None:
        findings = _find_stale_cases(request, loaded.golden, corpus)
        decided = {decision.case for decision in decisions}
        cases = _select_open_cases(loaded.golden, load_golden(request.base).golden, {*findings, *decided})
    report = summarise_reviews(cases, decisions, loaded.digest)
    if request.out is None:
        return report
    earlier = None
    if decisions:
        earlier = {case.case: case.decisions for case in report.disagreed}
        cases = tuple(case for case in cases if case.id in earlier)
    if not cases:
        message = "nothing to settle (no page was written; expected reviewers who disagree)"
        if not decisions:
            message = f"nothing to decide (no page was written; every case is in {request.base} and fits the corpus)"
        raise InputError([Problem(request.candidates, None, "", message, "E_EMPTY")])
    content = build_review_content(cases, corpus, loaded.digest, loaded.golden.as_of, earlier, findings)
    sheet = compute_digest([loaded.digest, [row.case["id"] for row in content.rows], content.settles])
    write_atomically(request.out, [build_offline_page("review", content, sheet, request.language)])
    return report


def _find_stale_cases(request: ReviewRequest, golden: GoldenSet, corpus: Corpus | None) -> dict[str, tuple[str, ...]]:
    if corpus is None:
        raise InputError("--base: shows the cases that no longer fit the corpus (expected --corpus as well)")
    return find_stale_cases(golden, corpus)


def _select_open_cases(golden: GoldenSet, base: GoldenSet, wanted: Container[str]) -> tuple[Case, ...]:
    """Return the candidates that are no cases of the base, or other ones, and those that are wanted anyway.

    Variants of the base that are answered like a case, and have its evidence, follow what is decided on that.
    """
    earlier = {case.id: case for case in base.cases}
    selected: dict[str, Case] = {}
    for case in golden.cases:
        is_known = case.id in earlier and is_same_or_relinked(earlier[case.id], case)
        if not is_known or case.id in wanted:
            selected[case.id] = case
    followers = [case for case in selected.values() if case.id in earlier and _follows(case, selected)]
    return tuple(case for case in selected.values() if case not in followers)


def _follows(variant: Case, selected: Mapping[str, Case]) -> bool:
    case = selected.get(variant.variant_of or "")
    return case is not None and variant.variant in ALIKE_KINDS and variant.evidence == case.evidence


def review(
    candidates: str,
    *,
    corpus: str | None = None,
    decisions: Sequence[str] = (),
    out: str | None = None,
    language: str = "en",
    base: str | None = None,
    as_of: str | None = None,
) -> ReviewReport:
    """Write the review page of candidates to `out`, or compare the `decisions` of reviewers, which are files.

    With both, the page has the candidates on which they disagree, and what it saves settles them. With `base`, the set
    that is to be followed, those of its cases are left out that are the same and fit the corpus on the day `as_of`.
    Raises InputError as `golden review` does.
    """
    return review_file(ReviewRequest(candidates, corpus, decisions, out, language, base, as_of))

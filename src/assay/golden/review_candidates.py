"""`golden review`: writes the page on which people decide on candidates, and compares what several decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.formats.corpus import load_corpus
from assay.formats.file_io import write_atomically
from assay.formats.golden_files import load_golden
from assay.formats.labels.offline_page import PAGE_LANGUAGES, build_offline_page
from assay.golden.candidate_rows import build_review_content
from assay.golden.review_file import load_reviews
from assay.golden.settlement import ReviewReport, summarise_reviews
from assay.records.digest import compute_digest
from assay.records.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The candidates, the corpus whose texts are shown, the files of reviewers, and the page to write.

    Without decisions the page has every candidate; with some, those on which their reviewers disagree.
    """

    candidates: str
    corpus: str | None = None
    decisions: Sequence[str] = ()
    out: str | None = None
    language: str = "en"


def review_file(request: ReviewRequest) -> ReviewReport:
    """Compare reviews, and write the page that is named; the same files give the same bytes.

    Raises InputError for files that cannot be used, for an unknown language, and for a page with nothing on it.
    """
    if request.language not in PAGE_LANGUAGES:
        raise InputError(
            f"--language: no such language (got {request.language!r}; expected one of {', '.join(PAGE_LANGUAGES)})"
        )
    loaded = load_golden(request.candidates)
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    reviews = load_reviews(request.decisions, loaded, request.candidates)
    decisions = [decision for review in reviews for decision in review.decisions]
    report = summarise_reviews(loaded.golden.cases, decisions, loaded.digest)
    if request.out is None:
        return report
    cases, earlier = loaded.golden.cases, None
    if decisions:
        earlier = {case.case: case.decisions for case in report.disagreed}
        cases = tuple(case for case in cases if case.id in earlier)
    if not cases:
        message = "nothing to settle (no page was written; expected reviewers who disagree)"
        raise InputError([Problem(request.candidates, None, "", message, "E_EMPTY")])
    content = build_review_content(cases, corpus, loaded.digest, loaded.golden.as_of, earlier)
    sheet = compute_digest([loaded.digest, [row.case["id"] for row in content.rows], content.settles])
    write_atomically(request.out, [build_offline_page("review", content, sheet, request.language)])
    return report


def review(
    candidates: str,
    *,
    corpus: str | None = None,
    decisions: Sequence[str] = (),
    out: str | None = None,
    language: str = "en",
) -> ReviewReport:
    """Write the review page of candidates to `out`, or compare the `decisions` of reviewers, which are files.

    With both, the page has the candidates on which they disagree, and what it saves settles them.
    Raises InputError as `golden review` does.
    """
    return review_file(ReviewRequest(candidates, corpus, decisions, out, language))

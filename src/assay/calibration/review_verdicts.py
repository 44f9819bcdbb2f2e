"""`judge review` and `judge settle`: what a judge left to review, and what people decided in its place (ADR 0101)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from assay.calibration.collect_scorer_labels import LabelItem, list_request_items
from assay.calibration.exchange_labels import KEY_FILE, make_sheet_row, refuse_used_folder, write_sheet
from assay.formats.file_io import write_atomically
from assay.formats.labels.label_sheets import encode_key, make_row_id
from assay.formats.labels.review_sheets import (
    REVIEW_KEY_FORMAT,
    ReviewedItem,
    ReviewSheetKey,
    load_review_key,
    load_review_sheet,
)
from assay.formats.problems import find_time_fault
from assay.judging.load_verdicts import metrics_with_verdicts
from assay.judging.verdict_files import ReviewKey, StoreContents, group_reviews, review_key
from assay.judging.verdict_store import add_reviews, read_store
from assay.metrics.answers.expected_text import LABEL_DOUBTS
from assay.metrics.answers.rubric_metrics import name_rubric_metric
from assay.metrics.cases.case_index import GoldenIndex
from assay.metrics.catalog import find_main_rubric, parse_metrics
from assay.metrics.grounding.lexical_ground import GROUNDLESS_LABELS
from assay.metrics.judged.judge_requests import ASKED_AGAIN, RecordedVerdicts
from assay.metrics.judged.second_judgement import CaseTexts
from assay.metrics.judged.vote_folding import DISPUTED, REVIEW_SPREAD, TIED_VOTE, Ruling, count_labels
from assay.metrics.metric import MetricName
from assay.metrics.parsed_answer import ParsedAnswer
from assay.metrics.scorers import compute_outcome, is_answer_metric
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.records.release_gates import list_first_lines
from assay.records.scores import NEEDS_REVIEW
from assay.records.verdicts import JudgeRequest, VerdictReview
from assay.scoring.scored_run import ScoredRun

REVIEW_SHEET = "review"
_REASONS = {
    TIED_VOTE: "tied votes",
    DISPUTED: "labelled lower without the instructions in its texts",
}
_FAR_APART = f"votes are {REVIEW_SPREAD} or more apart"
_REFUSED_LABELS = (GROUNDLESS_LABELS, *LABEL_DOUBTS)


class ReviewItem(Struct, frozen=True):
    """One item that a judge left to review: why, and what people decided about it so far.

    `item` is the id of a claim, citation or fact, or `answer`, and `text` its text ("" for a whole answer); `request`
    is the digest of the judge's request, to which a decision is bound.
    """

    metric: str
    case_id: str
    config_id: str
    item: str
    text: str
    reason: str
    request: str
    labels: tuple[str, ...]
    reviews: tuple[VerdictReview, ...] = ()

    @property
    def is_disagreed(self) -> bool:
        """Whether reviewers chose different labels."""
        return count_labels(self.reviews) > 1


class VerdictsInReview(Struct, frozen=True):
    """What is left to review in the answers of a run, in the order of configurations and cases.

    `settled` counts the items that people decided, `other_answers` the reviews in the store of answers that were
    changed since, and `unasked` the items that have no label because the judge was not asked to the end. `files` are
    the sheets that were written, by description.
    """

    items: tuple[ReviewItem, ...]
    settled: int = 0
    other_answers: int = 0
    unasked: int = 0
    files: tuple[tuple[str, Path], ...] = ()

    def __repr__(self) -> str:
        """Return a few lines: how many items are left to people, of which cases, and the notes and files."""
        items = [f"{item.metric} of {item.case_id} ({item.config_id})" for item in self.items]
        files = [f"{name}: {path}" for name, path in self.files]
        counted = f"{format_count(len(items), 'item is', 'items are')} left to review"
        return "\n".join([counted, *list_first_lines(items, "items"), *self.notes, *files])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the counts mean and what to do."""
        notes = []
        if self.settled:
            notes.append(f"{format_count(self.settled, 'item')} settled by people")
        if self.other_answers:
            reviews = format_count(self.other_answers, "recorded review")
            notes.append(
                f"{reviews} of answers that have changed since, or of another context: they count for nothing here"
            )
        if self.unasked:
            notes.append(f"{format_count(self.unasked, 'item')} without a label: ask the judge again (`assay judge`)")
        return tuple(notes)


class _RulingRecorder(RecordedVerdicts, frozen=True):
    """Verdicts for replay that record the judge's rulings, by the digest of the request."""

    rulings: dict[str, tuple[JudgeRequest, Ruling]] = field(default_factory=dict)

    def find_judged_ruling(self, request: JudgeRequest, texts: CaseTexts) -> Ruling | None:
        """Return the judge's ruling, and record it."""
        ruling = super().find_judged_ruling(request, texts)
        if ruling is not None:
            self.rulings.setdefault(request.digest, (request, ruling))
        return ruling


class _OpenItem(NamedTuple):
    """An item to decide on, as a sheet shows it and as a list names it."""

    shown: LabelItem
    listed: ReviewItem
    rubric: str


def list_reviews(run: ScoredRun) -> VerdictsInReview:
    """Return what a judge left to review in the answers of a run.

    Raises InputError if nothing is judged, and for a judge that failed its controls, whose verdicts count for nothing.
    """
    return _collect_reviews(run)[0]


def export_reviews(run: ScoredRun, folder: Path, language: str = "en") -> VerdictsInReview:
    """Write what is left to review as a sheet (CSV, JSON lines and page), and its key, into a new or empty folder.

    Raises InputError as `list_reviews` does, for a folder that is not empty, and if there is nothing to decide.
    """
    refuse_used_folder(folder)
    in_review, open_items = _collect_reviews(run)
    if not open_items:
        raise InputError("nothing to review: the judge left no label open (expected tied, disputed or missing labels)")
    assert run.judging is not None
    rows, targets = [], {}
    for number, item in enumerate(open_items, 1):
        row_id = make_row_id("v", number, (item.listed.request, item.listed.item))
        row = make_sheet_row(row_id, item.listed.metric, item.shown, run.judging.rubrics)
        rows.append(row)
        targets[row.row_id] = ReviewedItem(
            item.listed.request,
            item.listed.item,
            item.rubric,
            item.listed.labels,
            item.listed.case_id,
            item.listed.config_id,
        )
    files = write_sheet(folder, REVIEW_SHEET, rows, language, must_explain=True)
    key = encode_key(ReviewSheetKey(REVIEW_KEY_FORMAT, targets))
    files.append(("key (not for the people who decide)", write_atomically(folder / KEY_FILE, [key])))
    return VerdictsInReview(
        in_review.items, in_review.settled, in_review.other_answers, in_review.unasked, tuple(files)
    )


def _collect_reviews(run: ScoredRun) -> tuple[VerdictsInReview, list[_OpenItem]]:
    judging = run.judging
    if judging is None or not judging.verdicts:
        raise InputError(
            "no verdicts to review (expected a run that was judged, assay judge --run RUN, or --verdicts FILE); "
            "without a judge, a person tells what the rules leave open by must_have or keywords in the case"
        )
    if judging.failure:
        raise InputError(
            f"{judging.model} failed its controls ({judging.failure}): its verdicts count for nothing, and neither "
            "would a review of them (expected another judge)"
        )
    members = {name: getattr(judging, name) for name in RecordedVerdicts.__struct_fields__}
    recorder = _RulingRecorder(**members)
    open_items: list[_OpenItem] = []
    asked: set[str] = set()
    answers: set[tuple[str, str]] = set()
    settled = unasked = 0
    for case_id, config, reading in _iterate_readings(run, recorder):
        answers.add((case_id, config))
        recorder.rulings.clear()
        refused = _replay_judged_metrics(reading, judging)
        for digest, (request, ruling) in recorder.rulings.items():
            if digest in asked:  # the same answer of another configuration is one request
                continue
            asked.add(digest)
            reasons = _find_review_reasons(request, ruling, refused.get(request.rubric, ""))
            for item in list_request_items(request, case_id, config, reading.observation):
                reviews = tuple(review for review in judging.reviews.get(digest, ()) if review.item == item.item)
                if count_labels(reviews) == 1:
                    settled += 1
                elif item.item in reasons:
                    open_items.append(_make_open_item(item, reasons[item.item], reviews))
                else:
                    unasked += _lacks_label(item.item, ruling)
    other_answers = 0
    for digest, recorded in judging.reviews.items():
        if digest not in asked:
            other_answers += sum((review.case_id, review.config_id) in answers for review in recorded)
    listed = tuple(item.listed for item in open_items)
    return VerdictsInReview(listed, settled, other_answers, unasked), open_items


def _iterate_readings(run: ScoredRun, recorder: RecordedVerdicts) -> Iterator[tuple[str, str, ParsedAnswer]]:
    """Yield every answer of a run with its case and configuration."""
    joins = GoldenIndex(run.golden, run.corpus, recorder, run.whole_golden)
    for config in sorted(run.scoring.configs):
        for position, case in enumerate(run.golden.cases):
            observation = run.read_observation(config, case.id)
            if observation is not None and observation.error is None and isinstance(observation.answer, str):
                yield case.id, config, ParsedAnswer(joins.case_index(position), observation)


def _replay_judged_metrics(reading: ParsedAnswer, judging: RecordedVerdicts) -> dict[str, str]:
    """Compute the judged metrics of an answer; return the rubrics whose labels the rules refused, with the reason."""
    reasons = {}
    for name in _list_judged_metrics(judging):
        reason = compute_outcome(name, reading).reason
        if reason in _REFUSED_LABELS:
            reasons[find_main_rubric(name.base)] = reason.removeprefix(f"{NEEDS_REVIEW}: ")
    return reasons


def _list_judged_metrics(judging: RecordedVerdicts) -> list[MetricName]:
    return [name for name in parse_metrics(metrics_with_verdicts(judging)) if is_answer_metric(name)]


def _find_review_reasons(request: JudgeRequest, ruling: Ruling, refused: str) -> dict[str, str]:
    """Return by item why a person should decide; items on which the judge can be asked again are left out.

    `refused` is why the rules refuse the labels above the lowest one, "" if they do not.
    """
    ruled_items = {item.id: item for item in ruling.items}
    reasons = {}
    for item_id in request.items:
        item = ruled_items.get(item_id)
        if item is None or item.label is None:
            missing = ruling.unscored or (item.unscored if item is not None else None) or "judge_parse"
            if missing not in ASKED_AGAIN:
                reasons[item_id] = _REASONS.get(missing, f"no usable verdict: {missing}")
        elif item.spread >= REVIEW_SPREAD:
            reasons[item_id] = _FAR_APART
        elif refused and item.value:
            reasons[item_id] = refused
    return reasons


def _lacks_label(item_id: str, ruling: Ruling) -> bool:
    return not any(item.id == item_id and item.label is not None for item in ruling.items)


def _make_open_item(item: LabelItem, reason: str, reviews: tuple[VerdictReview, ...]) -> _OpenItem:
    case_id, config, _ = item.key
    request = item.request
    listed = ReviewItem(
        name_rubric_metric(request.rubric),
        case_id,
        config,
        item.item,
        item.text,
        reason,
        request.digest,
        request.labels,
        reviews,
    )
    return _OpenItem(item, listed, f"{request.rubric}@{request.version}")


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SettleRequest:
    """The filled sheets, their key, and the verdict store that gets the decisions.

    `reviewer` decided where a row does not say who did, and `at` is when. With `replace` an earlier decision of the
    same person on the same item gives way.
    """

    files: Sequence[str]
    key: str
    store: str
    reviewer: str | None = None
    at: str | None = None
    replace: bool = False


class SettledVerdicts(NamedTuple):
    """What was stored: the decisions, how many items they settle, those that stay open because reviewers disagree, and
    how many rows have no decision."""

    path: Path
    reviews: tuple[VerdictReview, ...]
    settled: int
    disagreed: tuple[str, ...]
    undecided: int

    def __repr__(self) -> str:
        """Return a few lines: how much is settled, what stays open, and where the decisions are."""
        return "\n".join([self.headline, *list_first_lines(self.notes, "notes"), f"decisions in {self.path}"])

    @property
    def headline(self) -> str:
        """How much is settled, in a few words."""
        return f"{format_count(self.settled, 'item')} settled"

    @property
    def notes(self) -> tuple[str, ...]:
        """What stays open, and why."""
        notes = [f"left open, reviewers disagree: {item}" for item in self.disagreed]
        if self.undecided:
            notes.append(f"{format_count(self.undecided, 'row')} without a decision")
        return tuple(notes)


def settle_verdicts(request: SettleRequest) -> SettledVerdicts:
    """Store what people decided next to the verdicts; scoring replays it in the place of the judge's labels.

    Raises InputError listing everything that is wrong with the sheets: rows of another key, decisions on requests that
    the store has no verdict on, and a person who decided twice in two ways.
    """
    fault = find_time_fault(request.at) if request.at is not None else ""
    if fault:
        raise InputError(f"the time of the decisions: {fault}")
    key = load_review_key(request.key)
    contents = read_store(request.store)
    problems: list[Problem] = []
    reviews: dict[ReviewKey, VerdictReview] = {}
    undecided = 0
    for path in request.files:
        try:
            decisions, rows_left = load_review_sheet(path, key, request.reviewer, request.at)
        except InputError as error:
            problems += error.problems
            continue
        undecided += rows_left
        for line, review in decisions:
            message, code = _check_review(review, reviews, contents, request)
            if message:
                problems.append(Problem(path, line, "row_id", message, code))
            reviews.setdefault(review_key(review), review)
    if problems:
        raise InputError(problems)
    if not reviews:
        raise InputError("nothing decided: no row of the sheets has a label (expected some)")
    stored = group_reviews(add_reviews(request.store, list(reviews.values()), replace=request.replace))
    disagreed = []
    decided_items = {(review.request, review.item): review for review in reviews.values()}
    for (digest, item), review in decided_items.items():
        item_reviews = [stored_review for stored_review in stored[digest] if stored_review.item == item]
        if count_labels(item_reviews) > 1:
            labels_by_person = ", ".join(f"{each.reviewer}: {each.label}" for each in item_reviews)
            disagreed.append(f"{review.case_id} ({review.config_id}) {item}: {labels_by_person}")
    settled = len(decided_items) - len(disagreed)
    return SettledVerdicts(Path(request.store), tuple(sorted(reviews.values())), settled, tuple(disagreed), undecided)


def _check_review(
    review: VerdictReview, others: dict[ReviewKey, VerdictReview], contents: StoreContents, request: SettleRequest
) -> tuple[str, str]:
    """Return what is wrong with a decision, and its code; two empty texts if nothing is."""
    answer = f"{review.case_id} ({review.config_id}) {review.item}"
    if not any(review.request in requests for requests in contents.verdicts.values()):
        message = (
            f"a review of another answer: {request.store} has no verdict on what was shown of {answer} (expected the "
            "store of the run that was reviewed; after a change of the answer, export the review again)"
        )
        return message, "E_DIGEST"
    other = others.get(review_key(review))
    if other is not None and other != review:
        message = f"{answer} decided twice by {review.reviewer!r} (got {review.label} and {other.label}; expected one)"
        return message, "E_DUPLICATE_ID"
    if request.replace:
        return "", ""
    stored = next((stored for stored in contents.reviews if review_key(stored) == review_key(review)), None)
    if stored is not None and (stored.label, stored.reason) != (review.label, review.reason):
        message = (
            f"{answer} was decided by {review.reviewer!r} before (got {review.label}; the store has {stored.label}: "
            f"{stored.reason}): --replace puts the new decision in its place"
        )
        return message, "E_DUPLICATE_ID"
    return "", ""

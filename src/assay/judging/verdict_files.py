"""Encoding verdicts for the verdict store and for JSON Lines, so that a changed one is never mistaken for a verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field, structs

from assay.calls.interfaces import SampleKey
from assay.records.counts import format_count
from assay.records.digest import encode_canonical_json
from assay.records.errors import InputError, Problem
from assay.records.verdicts import JudgeIdentity, JudgeStatus, Verdict, VerdictReview

VerdictsByJudge = dict[str, dict[str, list[Verdict]]]
"""Judge digest, request digest, samples in the order of their numbers."""
ReviewKey = tuple[str, str, str]
"""Request digest, item, reviewer."""

_DECODER = msgspec.json.Decoder(Verdict)
_CHANGED_LINE = "it was changed: its contents do not match its sha256"
_REVIEW_DECODER = msgspec.json.Decoder(VerdictReview)


class StoreContents(Struct):
    """Everything in a verdict store or an export; `warnings` say what was left out because it was changed.

    `reviews` are sorted, one for each item and reviewer.
    """

    judges: list[JudgeIdentity] = field(default_factory=list)
    verdicts: VerdictsByJudge = field(default_factory=dict)
    statuses: dict[str, JudgeStatus] = field(default_factory=dict)
    reviews: list[VerdictReview] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _Line(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One line of an export: a judge, a status, a verdict or a review; all but the first with the SHA-256 of their
    JSON."""

    judge: JudgeIdentity | None = None
    judge_status: JudgeStatus | None = None
    verdict: Verdict | None = None
    review: VerdictReview | None = None
    sha256: str | None = None
    standing: JudgeStatus | None = None  # what exports of 0.1 call the status


def sample_key(verdict: Verdict) -> SampleKey:
    """Return the key of a verdict: request digest, judge digest, sample number."""
    return verdict.request, verdict.judge, verdict.sample


def review_key(review: VerdictReview) -> ReviewKey:
    """Return the key of a review: a reviewer has one for each item of a request."""
    return review.request, review.item, review.reviewer


def encode_review(review: VerdictReview) -> tuple[bytes, bytes]:
    """Return the canonical JSON of a review and its SHA-256."""
    record = encode_canonical_json(review)
    return record, hashlib.sha256(record).digest()


def decode_review(key: ReviewKey, record: object, sha256: object) -> VerdictReview | None:
    """Return the review of a row; None if key, record and hash do not match."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    try:
        review = _REVIEW_DECODER.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return review if review_key(review) == key else None


def encode_verdict(verdict: Verdict) -> tuple[bytes, bytes]:
    """Return the canonical JSON and its SHA-256; characters that UTF-8 cannot encode become escapes."""
    try:
        record = encode_canonical_json(verdict)
    except UnicodeEncodeError:
        items = tuple(structs.replace(item, **_clean_texts(item)) for item in verdict.items)
        record = encode_canonical_json(structs.replace(verdict, **_clean_texts(verdict), items=items))
    return record, hashlib.sha256(record).digest()


def decode_verdict(key: SampleKey, record: object, sha256: object) -> Verdict | None:
    """Return the verdict of a row; None if key, record and hash do not match."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    try:
        verdict = _DECODER.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return verdict if sample_key(verdict) == key else None


def merge_status(before: JudgeStatus | None, now: JudgeStatus, *, is_rechecked: bool = False) -> JudgeStatus:
    """Return the current status merged with the recorded one: a judge once invalid or drifted stays so, and so does
    one that gives one label under a rubric.

    A judge that `is_rechecked` was asked more, and is what all its answers together say.

    Recorded controls stay unless the current status speaks about controls of the same kind and rubric: it leaves out
    those that expired.
    """
    if before is None:
        return now
    current = {answer.control for answer in now.answered} | set(now.unasked)
    kept = [answer for answer in before.answered if answer.control not in current]
    answered = tuple(sorted((*now.answered, *kept), key=lambda answer: (answer.control, answer.request)))
    unasked = {*now.unasked, *before.unasked} - {answer.control for answer in answered}
    is_more = now.controls >= before.controls
    merged = now if is_rechecked or (now.invalid and is_more) or not before.invalid else before
    anchors = {"anchors": now.anchors, "anchors_right": now.anchors_right, "at": now.at}
    return structs.replace(
        merged,
        **anchors,
        rounds=max(before.rounds, now.rounds),
        drift=now.drift or before.drift,
        second=now.second or before.second,
        answered=answered,
        unasked=tuple(sorted(unasked)),
        anchors_unasked=now.anchors_unasked,
        uncontrolled=now.uncontrolled,
        one_label=now.one_label if is_rechecked else before.one_label | now.one_label,
    )


def sort_verdicts(verdicts: Iterable[Verdict]) -> VerdictsByJudge:
    """Return verdicts by judge and request, sorted, each request's samples by their number."""
    by_judge: VerdictsByJudge = {}
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.judge, verdict.request, verdict.sample)):
        by_judge.setdefault(verdict.judge, {}).setdefault(verdict.request, []).append(verdict)
    return by_judge


def group_reviews(reviews: Iterable[VerdictReview]) -> dict[str, list[VerdictReview]]:
    """Return reviews by the digest of their request."""
    by_request: dict[str, list[VerdictReview]] = {}
    for review in reviews:
        by_request.setdefault(review.request, []).append(review)
    return by_request


def encode_lines(contents: StoreContents) -> Iterator[bytes]:
    """Yield the lines of an export: judges, their statuses, verdicts, reviews; the same bytes for the same contents."""
    for judge in sorted(contents.judges, key=lambda judge: judge.digest):
        yield encode_canonical_json(_Line(judge=judge)) + b"\n"
    for _, judge_status in sorted(contents.statuses.items()):
        yield encode_canonical_json(_Line(judge_status=judge_status, sha256=_sha256(judge_status))) + b"\n"
    for by_request in contents.verdicts.values():
        for samples in by_request.values():
            for verdict in samples:
                yield encode_canonical_json(_Line(verdict=verdict, sha256=_sha256(verdict))) + b"\n"
    for review in sorted(contents.reviews):
        yield encode_canonical_json(_Line(review=review, sha256=_sha256(review))) + b"\n"


def read_export(path: Path) -> StoreContents:
    """Read an export. Raises InputError listing every line that is invalid, was changed, or contradicts another."""
    contents, problems = StoreContents(), list[Problem]()
    first_lines: dict[SampleKey, tuple[int, Verdict]] = {}
    first_reviews: dict[ReviewKey, tuple[int, VerdictReview]] = {}
    decoder = msgspec.json.Decoder(_Line)
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                line = decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(Problem(str(path), number, "", f"not a line of verdicts: {error}", "E_VERDICT"))
                continue
            message = _add_line(line, contents, first_lines, first_reviews, number)
            if message:
                problems.append(Problem(str(path), number, "", message, "E_VERDICT"))
    if problems:
        raise InputError(problems)
    contents.verdicts = sort_verdicts(verdict for _, verdict in first_lines.values())
    contents.reviews = sorted(review for _, review in first_reviews.values())
    return contents


def drop_unknown_judges(contents: StoreContents) -> StoreContents:
    """Leave out, with a warning, the verdicts of judges whose identity is not recorded."""
    known_judges = {judge.digest for judge in contents.judges}
    unknown = {judge: requests for judge, requests in contents.verdicts.items() if judge not in known_judges}
    for judge, requests in unknown.items():
        count = sum(map(len, requests.values()))
        contents.warnings.append(f"left out: {format_count(count, 'verdict')} of an unknown judge ({judge})")
        del contents.verdicts[judge]
    return contents


def _add_line(
    line: _Line,
    contents: StoreContents,
    first_lines: dict[SampleKey, tuple[int, Verdict]],
    first_reviews: dict[ReviewKey, tuple[int, VerdictReview]],
    number: int,
) -> str:
    """Add one line to the contents; returns what is wrong with it, empty if nothing."""
    members = (line.judge, line.judge_status, line.standing, line.verdict, line.review)
    records = [record for record in members if record is not None]
    if len(records) != 1:
        return "expected exactly one of judge, judge_status, verdict and review"
    (record,) = records
    if isinstance(record, JudgeIdentity):
        contents.judges += [record] if record not in contents.judges else []
        return ""
    if line.sha256 != _sha256(record):
        return _CHANGED_LINE
    if isinstance(record, JudgeStatus):
        contents.statuses[record.judge] = merge_status(contents.statuses.get(record.judge), record)
        return ""
    if isinstance(record, VerdictReview):
        first_line, first_review = first_reviews.setdefault(review_key(record), (number, record))
        if first_review == record:
            return ""
        return f"another review of the item of line {first_line} by {record.reviewer!r} (expected one)"
    first_line, first = first_lines.setdefault(sample_key(record), (number, record))
    return "" if first == record else f"another verdict for the sample of line {first_line} (expected one)"


def _sha256(record: Verdict | JudgeStatus | VerdictReview) -> str:
    return hashlib.sha256(encode_canonical_json(record)).hexdigest()


def _clean_texts(record: Struct) -> dict[str, str]:
    """Return the text fields of a record with escapes for what UTF-8 cannot encode."""
    texts = {name: value for name, value in structs.asdict(record).items() if isinstance(value, str)}
    return {name: text.encode("utf-8", "backslashreplace").decode() for name, text in texts.items()}


def count_verdicts(verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]]) -> int:
    """Return the number of verdicts."""
    return sum(len(samples) for requests in verdicts.values() for samples in requests.values())

"""What a judge left to review, for the terminal and as JSON."""

from __future__ import annotations

import msgspec

from assay.calibration.review_verdicts import ReviewItem, VerdictsInReview
from assay.records.counts import format_count
from assay.report.findings.table import Table
from assay.report.screen.terminal import Screen, escape_table
from assay.text.escaping import escape_terminal, shorten_to_line

_MAX_TEXT = 60


def render_reviews_screen(in_review: VerdictsInReview) -> Screen:
    """Return the screen: how much is left to review, and a row for each item."""
    count = format_count(len(in_review.items), "item")
    rows = tuple(
        (item.case_id, item.config_id, item.metric, _describe_item(item), _describe_reason(item))
        for item in in_review.items
    )
    table = escape_table(Table("To review", ("Case", "Config", "Metric", "Item", "Why"), rows))
    return Screen((escape_terminal(f"{count} to review"),), (table,) if rows else (), ())


def _describe_item(item: ReviewItem) -> str:
    return f"{item.item}: {shorten_to_line(item.text, _MAX_TEXT)}" if item.text else item.item


def _describe_reason(item: ReviewItem) -> str:
    if not item.is_disagreed:
        return item.reason
    decisions = ", ".join(f"{review.reviewer}: {review.label}" for review in item.reviews)
    return f"reviewers disagree ({decisions}); {item.reason}"


def render_reviews_json(in_review: VerdictsInReview) -> str:
    """Return what is left to review as JSON."""
    content = {
        "items": in_review.items,
        "settled": in_review.settled,
        "other_answers": in_review.other_answers,
        "unasked": in_review.unasked,
    }
    return msgspec.json.format(msgspec.json.encode(content, order="sorted")).decode()

"""Whether the feedback on an answer is negative: for the monitor, and for the questions that people should look at."""

from __future__ import annotations

from assay.records.audit_records import Feedback

DOWN_WORDS = frozenset(
    {"down", "negative", "bad", "wrong", "dislike", "thumbs_down", "thumbs-down", "no", "false", "👎"}
)
UP_WORDS = frozenset({"up", "positive", "good", "right", "like", "thumbs_up", "thumbs-up", "yes", "true", "👍"})


def is_negative(feedback: Feedback | None) -> bool | None:
    """Return whether feedback is negative; None for none, or where it does not say.

    Numbers below 0.5 are negative, or below 0 where they are whole: -1 is down, 0 is undecided, 1 is up.

    >>> is_negative("down"), is_negative(True), is_negative({"rating": -1}), is_negative("too long")
    (True, False, True, None)
    """
    if isinstance(feedback, dict):
        verdicts = [is_negative(value) for name, value in sorted(feedback.items()) if value is not None]
        stated = [verdict for verdict in verdicts if verdict is not None]
        return any(stated) if stated else None
    if isinstance(feedback, bool):
        return not feedback
    if isinstance(feedback, str):
        word = feedback.strip().lower()
        return True if word in DOWN_WORDS else False if word in UP_WORDS else None
    if isinstance(feedback, (int, float)):
        return None if feedback == 0 else feedback < 0.5
    return None

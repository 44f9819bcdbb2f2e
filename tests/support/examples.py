"""How many examples Hypothesis tries of a law, where the number of the profile does not fit."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def try_examples(count: int) -> settings:
    """Return settings under which `count` examples are tried where other laws have a hundred, and in proportion in
    other profiles (`tests/conftest.py`)."""
    return settings(deadline=None, max_examples=max(5, count * settings().max_examples // USUAL))

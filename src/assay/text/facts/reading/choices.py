"""Whether a text leaves a choice between things that it joins by "or"; for text as it is written."""

from __future__ import annotations

import re

from assay.text.facts.cues.condition_cues import JOINS_ALTERNATIVES, OR_MORE
from assay.text.late_pattern import LatePattern

OR = LatePattern(rf"(?<=[\w)]),? {JOINS_ALTERNATIVES} (?!{OR_MORE}\b)", re.IGNORECASE)
"""Joins two things, and no value with "more"."""


def offers_choice(text: str) -> bool:
    """Return whether a text joins anything by "or".

    >>> offers_choice("Card or cash"), offers_choice("14 or more")
    (True, False)
    """
    return OR.search(text) is not None

"""What the rules for root causes share: stages beside the lists of a trace, and what counts as taken from a text."""

from __future__ import annotations

INDEX_STAGE, GENERATE_STAGE = "index", "generate"
MIN_SUPPORT = 0.6
"""The share of an answer's words that the evidence must contain for the answer to count as taken from it."""

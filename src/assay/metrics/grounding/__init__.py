"""Metrics of claims and citations: whether the sources hold what an answer says and cites."""

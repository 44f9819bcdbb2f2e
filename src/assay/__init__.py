"""Measure whether a retrieval-augmented system can be trusted, which part failed, and whether a change may ship."""

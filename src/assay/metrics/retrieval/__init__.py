"""Metrics of what was found: rankings, files and symbols, the codes and names of the question."""

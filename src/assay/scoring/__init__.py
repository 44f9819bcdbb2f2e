"""Score tables, slices, summaries and paired scores of a run."""

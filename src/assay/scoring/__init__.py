"""Score tables, summaries, comparisons, gates and attribution, computed without I/O."""

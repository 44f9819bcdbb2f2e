"""Statistics: intervals, paired tests, agreement, corrections for many tests. Arrays in, numbers out."""

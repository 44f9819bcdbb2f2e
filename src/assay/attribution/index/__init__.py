"""What all traces of a run show of the index: which chunks it holds, and defects of their texts."""

"""TREC runs and judgments of millions of lines, read as arrays."""

"""TREC qrels and run files, read a block of bytes at a time and scored in columns."""

"""A candidate compared with a baseline."""

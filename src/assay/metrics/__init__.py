"""The metrics, one file for each family: the formula next to its row in the catalogue."""

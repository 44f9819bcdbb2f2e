"""The formats of recorded outputs, one file for each, with the record of a line and its decoder."""

"""The formats of golden sets, one file for each, with the record of a row and the function that reads it."""

"""Systems under test, one file for each kind."""

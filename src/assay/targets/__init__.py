"""Adapters to systems under test, one file for each kind of target."""

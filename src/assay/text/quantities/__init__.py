"""Amounts, times, dates and other values that a text states, and when two of them agree."""

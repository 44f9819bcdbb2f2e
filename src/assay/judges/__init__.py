"""Judges: rendering, protocols, guards, and the book in which verdicts are kept."""

"""Findings as text, JSON and HTML."""

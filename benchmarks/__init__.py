"""Measurements: one command for each claim, side by side with peers, medians and ratios."""

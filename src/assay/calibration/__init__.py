"""Scorers compared with human labels, and samples of answers for people to label."""

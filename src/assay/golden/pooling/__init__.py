"""Pools of results that people or rubrics grade, and nuggets from what contributors found."""

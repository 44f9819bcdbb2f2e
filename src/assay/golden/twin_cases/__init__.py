"""Twins of cases: the same question with one changed detail, which must change the answer."""

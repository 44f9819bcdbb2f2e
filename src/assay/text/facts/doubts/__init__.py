"""What leaves open whether an answer asserts a fact: doubt, hearsay, the past, a contradiction elsewhere.

Begin at `doubtful_statements.judge_doubt`. "Some say that it costs 5 euros" has the price and does not vouch for it.
"""

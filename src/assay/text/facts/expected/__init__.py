"""What a case expects: the fact, its question and reference, the limit that is asked for, a mere yes or no.

Begin at `fact_texts.FactTexts`, which every rule is given.
"""

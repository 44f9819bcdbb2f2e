"""A text as the rules for facts read it: words, quantities, clauses, negations. Begin at `read_text.ReadText`.

Nothing here knows of a fact or a question: every function says what one text has.
"""

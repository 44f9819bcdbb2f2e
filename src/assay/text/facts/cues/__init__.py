"""The words by which the rules for facts read a sentence, as tables by role and language.

Begin at `cue_pattern`: `Cues` is a table, `build_pattern` makes a pattern of it. Each file has the tables of one role;
a table that rules of several files need is here once, and one of the same words that stands apart says why.
"""

"""What an answer adds to a fact that takes it back or limits it. Begin at `addition_rules.judge_added_terms`.

"From 09:00 to 17:00, except in August" has the fact, and more than anybody asked for.
"""

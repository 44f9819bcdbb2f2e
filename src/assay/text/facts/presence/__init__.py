"""What of a fact an answer has and where, and what follows from what it lacks. Begin at `occurrences.Occurrence`.

"12 days" is there in "twelve days"; "the manager" is not in "somebody signs it", which may yet mean the manager.
"""

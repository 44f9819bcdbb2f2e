"""Of what, of whom or of which event an answer says a fact. Begin at `stated_subject.SubjectJudge`.

"The Heron room seats 120" states "120" of another room than the one that the question asks about.
"""

"""The words by which the rules for facts read a sentence, as tables by what they mark. Begin at `word_classes`."""

"""What a number means: (case, observation) in, score columns out. Pure."""

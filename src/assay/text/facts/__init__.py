"""Whether an answer states a fact that its case requires, denies it, or leaves it open."""

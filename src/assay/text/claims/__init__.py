"""The claims of an answer, and the passages that support or contradict them."""

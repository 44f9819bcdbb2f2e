"""What an answer shows that its user must not see, and the metrics that count it."""

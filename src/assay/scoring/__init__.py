"""From scores to a decision: tables, summaries, rules. Pure."""

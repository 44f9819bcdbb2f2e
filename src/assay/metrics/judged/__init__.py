"""How a metric asks a judge without calling one, and what the votes of a judge come to."""

"""Release gates: rules, waivers, the decision, and what a scorer must show before it may gate."""

"""The use cases: they wire the edge to the pure core."""

"""Golden sets, one module for each format family."""

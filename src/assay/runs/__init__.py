"""A run from its request to the saved result: observe, score, score again, compare, save."""

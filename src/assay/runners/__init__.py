"""Ways to run the same pure function over many shards: here, in a process pool."""

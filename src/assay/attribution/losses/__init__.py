"""Which step lost evidence on the way to the generator, from its ranks and from what the run shows."""

"""Which step of the pipeline lost the evidence, and the root cause of a failed case."""

"""A third, small application for `benchmarks.attribution`: the help desk of a public library."""

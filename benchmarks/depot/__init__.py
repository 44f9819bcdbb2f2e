"""A second application for `benchmarks.attribution`: product sheets, price lists and news of an equipment maker."""

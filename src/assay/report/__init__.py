"""Text from results: strings out, no files touched. Pure."""

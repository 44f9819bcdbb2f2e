"""What the commands print: the short and the full screen of a run and of a comparison."""

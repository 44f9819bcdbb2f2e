"""What is told from many cases together: checks that failed, and which candidate the run supports."""

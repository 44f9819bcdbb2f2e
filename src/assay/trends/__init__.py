"""What changes over time: the history of runs, and monitors of production answers."""

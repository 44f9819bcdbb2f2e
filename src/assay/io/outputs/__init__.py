"""One module for each format of recorded outputs: how a line becomes an `Observation`."""

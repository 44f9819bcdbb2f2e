"""One case for people to read: in full, in 30 lines, and the texts that decide about its answer."""

"""The facts of one case that the rules read: its trace, its texts, and what its answer says."""

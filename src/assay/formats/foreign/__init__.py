"""Rows and replies in the shapes of other tools and frameworks, read into the members that Assay has."""

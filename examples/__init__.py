"""Example systems to point Assay at."""

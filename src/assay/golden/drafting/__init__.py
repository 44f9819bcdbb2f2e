"""Drafts of cases: questions made from a corpus by templates or a model, with their evidence."""

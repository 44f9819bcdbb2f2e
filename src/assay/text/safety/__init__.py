"""Copied, disguised and restricted text, and instructions that somebody planted in it."""

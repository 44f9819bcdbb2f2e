"""Calls that may fail: the protocols of targets and judges, retries, allowed addresses, templates, interruption."""

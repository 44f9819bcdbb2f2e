"""Metrics of what an answer says and does: correct, complete, answered or declined, in the form that was asked for."""

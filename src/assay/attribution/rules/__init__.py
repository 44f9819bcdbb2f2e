"""The rules for root causes, a file for each subject; `root_causes` has them in order."""

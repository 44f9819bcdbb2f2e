"""How reports write numbers, the names of metrics and the changes of a comparison."""

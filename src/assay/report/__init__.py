"""Reports as text, JSON and HTML. Pure: the functions return strings and touch no files."""

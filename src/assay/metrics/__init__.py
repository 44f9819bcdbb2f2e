"""Text rules and statistics: pure functions over text, ids, numbers and arrays, without records or I/O."""

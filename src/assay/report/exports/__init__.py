"""Reports for other programs: Markdown, JSON, JUnit, CSV, GitHub, Arrow, and metrics for monitoring systems."""

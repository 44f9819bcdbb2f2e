"""What a case expects and what its user may see, looked up once for all observations of the case."""

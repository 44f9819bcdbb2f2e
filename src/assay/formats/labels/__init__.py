"""What people decided, in files: labels, sheets and pages to fill in, and scores of other tools read as labels."""

"""The HTML report and the pages on trends: data for the islands of the built page, and the file that holds both."""

"""The application: from a table to an answer a person can read."""

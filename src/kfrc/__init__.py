"""Fuzzy clustering that does not collapse."""

"""The local page: a small server on this computer, for a person with a spreadsheet."""

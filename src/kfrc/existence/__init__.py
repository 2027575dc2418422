"""Is there more than one group at all? A test against tables of one group with the same columns and correlations."""

from kfrc.existence.sequential import LEVEL, N_DRAWS, Existence, test_existence

__all__ = ["LEVEL", "N_DRAWS", "Existence", "test_existence"]

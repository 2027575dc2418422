"""What is wrong with a model file."""

from __future__ import annotations

from kfrc.exceptions import KFRCError


class ModelError(KFRCError):
    """A model file cannot be used; the message says why."""


class ModelVersionWarning(UserWarning):
    """A model was made with other versions of the packages that it computes with."""

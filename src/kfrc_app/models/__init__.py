"""Fitted models on disk: written with the versions that made them, and looked at before and after they are loaded."""

from kfrc_app.models.errors import ModelError, ModelVersionWarning
from kfrc_app.models.files import dump_model, dump_object, load_model, load_object
from kfrc_app.models.files import is_own_class as _is_own_class  # noqa: F401
from kfrc_app.models.state import predicted_memberships

__all__ = [
    "ModelError",
    "ModelVersionWarning",
    "dump_model",
    "dump_object",
    "load_model",
    "load_object",
    "predicted_memberships",
]

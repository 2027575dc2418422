"""What may happen where values are missing; the command line offers it without importing what reads tables."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """What happens where values are missing: use the rest, take a blank for a level, stop, or leave the row out."""

    PARTIAL = "partial"
    LEVEL = "level"
    ERROR = "error"
    DROP = "drop"

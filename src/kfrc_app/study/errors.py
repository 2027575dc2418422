"""What keeps a study from going on; every message is one line that says why and what to do."""

from __future__ import annotations


class StudyError(Exception):
    """A study cannot go on; the message says why and what to do."""


class SettingsError(StudyError):
    """The folder belongs to another study, or to none."""


class DiskFullError(StudyError):
    """The disk or the quota of the output folder is full."""


class CorruptShardError(StudyError):
    """A shard does not hold what was written to it."""

"""All attacks: importing this module puts them into ``Attack.registry``."""

from hostile import arguments, environments, files, fits, mixed, models, signals  # noqa: F401

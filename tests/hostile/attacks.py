"""All attacks: importing this module puts them into ``Attack.registry``."""

from hostile import arguments, environments, files, fits, functions, mixed, models, results, signals  # noqa: F401

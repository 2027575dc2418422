"""All attacks: importing this module puts them into ``Attack.registry``."""

from hostile import files, fits  # noqa: F401

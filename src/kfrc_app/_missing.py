"""What to say when a package of the application is not installed; imports nothing but the standard library."""

from __future__ import annotations

INSTALL = "type pip install . in the folder of kfrc"
OURS = ("kfrc", "kfrc_app")


def is_ours(error: ImportError) -> bool:
    """Whether a module of this project is not found, which installing packages would not help.

    Examples
    --------
    >>> from kfrc_app._missing import is_ours
    >>> is_ours(ModuleNotFoundError("no fits", name="kfrc.fits"))
    True
    """
    return _package(error) in OURS


def missing_package(error: ImportError) -> str:
    """One line that names the missing package and says what to type.

    Examples
    --------
    >>> from kfrc_app._missing import missing_package
    >>> missing_package(ModuleNotFoundError("no rich", name="rich.console"))
    'the package rich is needed for this: type pip install . in the folder of kfrc'
    """
    package = _package(error)
    return f"{f'the package {package}' if package else 'another package'} is needed for this: {INSTALL}"


def _package(error: ImportError) -> str:
    return (error.name or "").partition(".")[0]

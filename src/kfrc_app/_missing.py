"""What to say when a package of the application is not installed; imports nothing but the standard library."""

from __future__ import annotations

INSTALL = "pip install kfrc"


def missing_package(error: ImportError) -> str:
    """One line that names the missing package and says what to type.

    Examples
    --------
    >>> from kfrc_app._missing import missing_package
    >>> missing_package(ModuleNotFoundError("no rich", name="rich.console"))
    'the package rich is needed for this: pip install kfrc'
    """
    package = (error.name or "").partition(".")[0]
    return f"{f'the package {package}' if package else 'another package'} is needed for this: {INSTALL}"

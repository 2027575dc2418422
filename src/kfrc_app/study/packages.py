"""Versions of what computes a study: numbers of other versions may differ in their last digits, or in more."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
import scipy
import sklearn

from kfrc_app.facts.text import clean

Packages = dict[str, str]
"""Versions by name. Results from before they were recorded have none: unknown, and like no other."""

UNKNOWN = "not recorded"


def installed_packages() -> Packages:
    """Versions in this process of all that the numbers of a study depend on, besides kfrc itself."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": _blas(),
    }


def are_packages(value: object) -> TypeGuard[Packages]:
    """Whether a value read from a file can be versions."""
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)


def told(packages: Packages) -> str:
    """Versions in one line."""
    return ", ".join(clean(f"{name} {version}") for name, version in packages.items()) or f"other versions {UNKNOWN}"


def differences(found: Packages, here: Packages) -> str:
    """Which versions differ, in one line; empty if none does."""
    if not found:
        return "" if not here else f"versions that were {UNKNOWN}"
    names = [name for name in dict.fromkeys((*found, *here)) if found.get(name) != here.get(name)]
    return ", ".join(
        f"{clean(name)} {clean(found.get(name, UNKNOWN))} (here {clean(here.get(name, UNKNOWN))})" for name in names
    )


def distinct(several: Iterable[Packages]) -> list[Packages]:
    """Each once, in an order that does not depend on which came first."""
    return [dict(items) for items in sorted({tuple(packages.items()) for packages in several})]


def _blas() -> str:
    """The library that numpy multiplies matrices with, as it was built."""
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()

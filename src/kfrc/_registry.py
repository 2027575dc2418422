"""Named families of small objects: defining a class registers it, a string finds it again."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, ClassVar, Self


class Registered:
    """Base of a family whose members are found by name.

    A direct subclass starts a family and owns its ``registry``; a class below it that passes ``name=`` is entered
    there. Members without a name (a user's own subclass) work everywhere an instance is accepted.
    """

    registry: ClassVar[dict[str, type[Any]]]
    name: ClassVar[str] = ""

    def __init_subclass__(cls, name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if Registered in cls.__bases__:
            cls.registry = {}
        if name is not None:
            cls.name = name
            cls.registry[name] = cls

    @classmethod
    def from_name(cls, name: str, **parameters: Any) -> Self:
        """Build the member called ``name``."""
        try:
            member = cls.registry[name]
        except KeyError:
            family = cls.__name__.lower()
            raise ValueError(f"unknown {family} {name!r}: choose one of {', '.join(cls.registry)}") from None
        return member(**parameters)

    @classmethod
    def resolve(cls, spec: str | Registered, **parameters: Any) -> Self:
        """Turn a name into an instance and let an instance pass; anything else is a ``TypeError``."""
        if isinstance(spec, cls):
            return spec
        if isinstance(spec, str):
            return cls.from_name(spec, **parameters)
        raise TypeError(
            f"expected a {cls.__name__} or one of the names {', '.join(cls.registry)}, got {type(spec).__name__}"
        )


def load_family(package_name: str) -> None:
    """Import every module of a package, so that the classes they define are registered."""
    package = importlib.import_module(package_name)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package_name}.{module.name}")

"""Named families of small objects: defining a class registers it, a string finds it again."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, ClassVar, Self


class Registered:
    """Base of a family whose members are found by name.

    A direct subclass starts a family and owns its ``registry``; a class below it that passes ``name=`` is entered
    there. Members without a name (a user's own subclass) work everywhere an instance is accepted. A name is never
    inherited, and belongs to one class: only the same class, defined again, may replace it.

    Attributes
    ----------
    registry : dict
        The named classes of the family, in the order of their definition.
    name : str
        The name of this class, empty if it has none.
    label : str
        What to call it in a text: its name, or what its class body says, or the name of the class.
    """

    registry: ClassVar[dict[str, type[Any]]]
    name: ClassVar[str] = ""
    label: ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        cls.label = name or vars(cls).get("label", cls.__name__)
        if Registered in cls.__bases__:
            cls.registry = {}
        if name:
            holder = cls.registry.get(name, cls)
            # A notebook cell that is run twice, or a reloaded module, defines the same class again.
            if _path(holder) != _path(cls):
                raise ValueError(
                    f"the name {name!r} is taken: it stands for {_path(holder)}, so {_path(cls)} needs another one"
                )
            cls.registry[name] = cls

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        """Instances that stand for this class wherever all members of the family are tested.

        A class whose interesting or quick settings are not its defaults overrides this.
        """
        return (cls(),)

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


def _path(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def load_family(package_name: str) -> None:
    """Import every module of a package, so that the classes they define are registered."""
    package = importlib.import_module(package_name)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package_name}.{module.name}")

"""What was typed: which options were given, and the command as a line that can be run again."""

from __future__ import annotations

import shlex

import typer


def typed(context: typer.Context, name: str) -> bool:
    """Whether a parameter was given rather than left at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def command_line(context: typer.Context, *, verb: str | None = None, only: frozenset[str] | None = None) -> str:
    """The command as it was typed, from its parsed parameters.

    Parameters
    ----------
    context : typer.Context
    verb : str, optional
        Another verb instead.
    only : frozenset of str, optional
        Parameters to keep.
    """
    words = ["kfrc", verb or str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        if not typed(context, name) or (only is not None and name not in only):
            continue
        value = context.params[name]
        flag = min(parameter.opts, key=len)
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words.append(flag if value else parameter.secondary_opts[0])
        else:
            for item in value if isinstance(value, (list, tuple)) else [value]:
                words.extend([flag, str(item)])
    return shlex.join(words)

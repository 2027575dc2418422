"""Public functions, and methods on new rows, called with arguments that are sensible, extreme or nonsense."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from copy import deepcopy
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hostile import calls, calls_of_data, calls_of_models, calls_of_theory
from hostile.attack import FINE, REFUSED, Attack, Broken, is_ours
from hostile.invariants import Refused, check_error, only_documented, same_content

_CALLS: dict[Callable[..., calls.Call], float] = {
    calls.fuzziness: 2,
    calls.agreement: 5,
    calls.geometry: 3,
    calls.importance: 1,
    calls_of_theory.stability_of: 2,
    calls_of_theory.hessian: 1,
    calls_of_theory.merging: 1,
    calls_of_theory.membership_step: 2,
    calls_of_theory.fuzzifier_curve: 1,
    calls_of_theory.spectrum: 3,
    calls_of_theory.search: 3,
    calls_of_theory.clustering: 3,
    calls_of_models.new_rows: 5,
    calls_of_models.refits: 2,
    calls_of_models.numbers_of_clusters: 2,
    calls_of_models.sources: 1.5,
    calls_of_data.mixtures: 2,
    calls_of_data.drawn_mixtures: 1,
    calls_of_data.simulated: 2,
    calls_of_data.benchmarks: 1,
}
"""What draws a call, and how often."""


class Functions(Attack, name="functions"):
    """One call, all that its docstring says of the result, and arguments that stay as they were."""

    tries: ClassVar[int] = 3000
    quick: ClassVar[int] = 100

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        shares = np.array(list(_CALLS.values()))
        draw = list(_CALLS)[rng.choice(len(_CALLS), p=shares / shares.sum())]
        call = draw(rng, folder) if "folder" in signature(draw).parameters else draw(rng)
        given = [*call.arguments, *call.keywords.values()]
        before = [deepcopy(value) for value in given]
        refused = False
        try:
            with only_documented(call.table):
                result = _refusing(call)
                call.check(result)
        except Refused as error:
            refused = True
            _check_deliberate(error.__cause__ or error)
        except Broken as error:
            raise Broken(f"{draw.__name__}: {error}") from error
        if not all(_same(old, new) for old, new in zip(before, given, strict=True)):
            raise Broken(f"{draw.__name__}: an argument was changed")
        return REFUSED if refused else FINE


def _refusing(call: calls.Call) -> Any:
    """The result; what needs more memory than there is, or a file that is not there, is refused as well."""
    try:
        return call.function(*call.arguments, **call.keywords)
    except (MemoryError, OSError) as error:
        check_error(error, call.table)
        raise Refused(str(error)) from error


def _check_deliberate(error: BaseException) -> None:
    """An error of ours was raised by a line that says so, and not by NumPy in the middle of a computation."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if " by inf" in str(error):
        raise Broken(f"an advice that cannot be followed: {str(error)[-60:]}") from error
    if is_ours(last.filename) and not (last.line or "").startswith("raise"):
        place = f"{Path(last.filename).name}:{last.name}"
        raise Broken(f"{type(error).__name__} without a check in {place}: {str(error)[:60]}") from error


def _same(before: Any, after: Any) -> bool:
    """Whether an argument that holds data was left as it was, to the bit."""
    if isinstance(before, np.ndarray) and before.dtype != object and not isinstance(before, np.ma.MaskedArray):
        return before.tobytes() == after.tobytes()
    return same_content(before, after) if isinstance(before, list) or hasattr(before, "shape") else True

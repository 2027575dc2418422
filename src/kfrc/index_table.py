"""A table of indices for several numbers of clusters, which knows what is good and says it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from kfrc.typing import FloatArray, IntArray

NUMBER = "n_clusters"
"""What the column with the numbers of clusters is called."""

_LARGE = 100.0
"""Values from which on one digit after the point is enough."""


@dataclass(frozen=True)
class Index:
    """What an index of a clustering is called, which end of it is the good one, and what it says."""

    name: str
    higher_is_better: bool
    meaning: str


INDICES = (
    Index("evidence", True, "how well such clusters describe the rows, their number paid for; only differences count"),
    Index("stability", True, "agreement with fits of parts of the rows: 1 all find the same, 0 as by chance"),
    Index("PC", True, "partition coefficient: 1 every row in one cluster; falls with the number by itself"),
    Index("MPC", True, "the same from 0, all memberships equal, to 1"),
    Index("PE", False, "partition entropy: 0 every row in one cluster; rises with the number by itself"),
    Index("XB", False, "Xie-Beni: width of the clusters over the distance between the nearest two"),
    Index("fuzzy silhouette", True, "1 rows lie far from the other clusters, 0 between them"),
)
"""The columns, in their order."""

_BY_KEY = {index.name.lower().replace(" ", "_"): index for index in INDICES}


class Indices(dict[str, Any]):
    """Indices for several numbers of clusters: columns by name, one entry per number; made by :func:`kfrc.indices`.

    It cannot be changed. ``result["PC"]`` is a column, ``result.columns`` are the names, ``len(result)`` is the number
    of rows, and ``pandas.DataFrame(result)`` or ``polars.DataFrame(result)`` is a data frame.

    Attributes
    ----------
    n_clusters : ndarray of shape (k,)
        The numbers, ascending; also the column ``"n_clusters"``.
    columns : tuple of str
        ``"n_clusters"``, ``"evidence"``, ``"stability"``, ``"PC"``, ``"MPC"``, ``"PE"``, ``"XB"``, ``"fuzzy
        silhouette"``. Each but the first is a float array of shape (k,), NaN where an index is not defined.
    best : dict of int or None
        For each index the number of clusters at its good end; None if it is nowhere defined.
    automatic : int or None
        What the automatic choice takes among these numbers, or one, if tables of a single group look as grouped or one
        cluster has the most evidence; None if there is no evidence.
    existence : float or None
        p-value of "there is only one group"; None if it was not needed or not found out.
    statuses : tuple of str
        How each fit ended: ``"converged"``, ``"max_iter"``, ``"collapsed"``, ``"done"`` (an estimator that does not
        say), or ``"failed"``.
    failures : dict of str
        Why, for numbers whose fit or evidence failed.
    models : dict
        The fitted estimators by number of clusters.
    """

    def __init__(
        self,
        n_clusters: Sequence[int],
        values: Mapping[str, Any],
        *,
        automatic: int | None = None,
        existence: float | None = None,
        statuses: Sequence[str] = (),
        failures: Mapping[int, str] | None = None,
        models: Mapping[int, Any] | None = None,
    ) -> None:
        numbers = _frozen(np.asarray(n_clusters, dtype=np.int64))
        filled = {index.name: np.full(len(numbers), np.nan) for index in INDICES}
        filled |= {name: np.asarray(column, dtype=np.float64) for name, column in values.items()}
        super().__init__({NUMBER: numbers, **{index.name: _frozen(filled[index.name]) for index in INDICES}})
        self._facts = {
            "automatic": automatic,
            "existence": existence,
            "statuses": tuple(statuses),
            "failures": dict(failures or {}),
            "models": dict(models or {}),
        }

    def __getattr__(self, name: str) -> Any:
        if name != "_facts" and name in self._facts:
            return self._facts[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __missing__(self, key: str) -> FloatArray:
        """Names in other letters: ``"pc"``, ``"fuzzy_silhouette"``."""
        index = _BY_KEY.get(str(key).lower().replace(" ", "_"))
        if index is None:
            raise KeyError(f"{key!r} is not one of {', '.join(self.columns)}")
        column: FloatArray = self[index.name]
        return column

    def __len__(self) -> int:
        """Number of rows, as of a data frame."""
        return len(self.n_clusters)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Indices) and all(
            np.array_equal(self[name], other[name], equal_nan=True) for name in self.columns
        )

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ({name: np.array(self[name]) for name in self.columns}, self._facts)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a table of indices cannot be changed: dict(result) is a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    @property
    def n_clusters(self) -> IntArray:
        """The numbers of clusters."""
        numbers: IntArray = dict.__getitem__(self, NUMBER)
        return numbers

    @property
    def index(self) -> IntArray:
        """The same, by the name that a data frame has for it."""
        return self.n_clusters

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(dict.keys(self))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), len(self.columns)

    @property
    def best(self) -> dict[str, int | None]:
        """For each index the number of clusters at its good end; the smallest of equal ones."""
        return {index.name: self._best(index) for index in INDICES}

    def _best(self, index: Index) -> int | None:
        values = self[index.name] if index.higher_is_better else -self[index.name]
        known = np.isfinite(values)
        return int(self.n_clusters[np.where(known, values, -np.inf).argmax()]) if known.any() else None

    @staticmethod
    def higher_is_better(name: str) -> bool:
        """Whether high values of an index are the good ones.

        Examples
        --------
        >>> from kfrc.index_table import Indices
        >>> Indices.higher_is_better("PC"), Indices.higher_is_better("XB")
        (True, False)
        """
        return _BY_KEY[name.lower().replace(" ", "_")].higher_is_better

    def to_frame(self) -> Any:
        """A pandas data frame with the numbers of clusters as index."""
        import pandas as pd

        return pd.DataFrame(dict(self)).set_index(NUMBER)

    def cells(self) -> list[list[str]]:
        """The table as text, best values with an asterisk; undefined ones are a dash."""
        best = self.best
        columns = [[str(number) for number in self.n_clusters]]
        for index in INDICES:
            values = self[index.name]
            known = values[np.isfinite(values)]
            digits = 1 if len(known) and np.abs(known).max() >= _LARGE else 3
            columns.append(
                [
                    ("*" if number == best[index.name] else "") + (f"{value:.{digits}f}" if np.isfinite(value) else "–")
                    for number, value in zip(self.n_clusters.tolist(), values, strict=True)
                ]
            )
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def remark(self) -> str:
        """What the automatic choice makes of it, in a sentence; empty if there is no evidence."""
        if self.automatic is None:
            return ""
        if self.automatic == 1:
            return "The evidence is for one group: none of these numbers should be believed."
        return f"The automatic choice takes {self.automatic} clusters."

    def __repr__(self) -> str:
        head = [NUMBER, *[index.name for index in INDICES]]
        rows = [head, *self.cells()]
        widths = [max(len(row[j]) for row in rows) for j in range(len(head))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *self._legend()])

    def _legend(self) -> list[str]:
        low = " and ".join(index.name for index in INDICES if not index.higher_is_better)
        collapsed = [str(n) for n, status in zip(self.n_clusters, self.statuses, strict=False) if status == "collapsed"]
        lines = [f"* best of its column: the lowest of {low}, the highest of the others"]
        lines += [f"collapsed to equal memberships: {', '.join(collapsed)} clusters"] if collapsed else []
        lines += [f"failed with {n} clusters: {reason}" for n, reason in self.failures.items()]
        return [*lines, *([self.remark] if self.remark else [])]

    def _repr_html_(self) -> str:
        titles = [f'<th title="{html.escape(index.meaning)}">{html.escape(index.name)}</th>' for index in INDICES]
        body = []
        for number, *cells in self.cells():
            marked = [
                f"<td><b>{cell.removeprefix('*')}</b></td>" if cell.startswith("*") else f"<td>{cell}</td>"
                for cell in cells
            ]
            body.append(f"<tr><th>{number}</th>{''.join(marked)}</tr>")
        notes = "<br>".join(html.escape(line.replace("* best", "Bold: best")) for line in self._legend())
        head = f"<tr><th>clusters</th>{''.join(titles)}</tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table><p>{notes}</p>"


def _frozen(values: Any) -> Any:
    values = values.copy()
    values.flags.writeable = False
    return values


def _restored(columns: dict[str, Any], facts: dict[str, Any]) -> Indices:
    numbers = columns.pop(NUMBER)
    return Indices(numbers, columns, **facts)

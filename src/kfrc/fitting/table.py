"""A table as the bandwidth search, the judge and the kernel see it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kfrc._numerics import in_deviations
from kfrc._validation import LARGEST_LEVEL, check_bandwidths
from kfrc.columns import Column, Rows, Schema, Table, on_columns, values_of
from kfrc.columns.variation import find_varying_columns, refuse_constant, refuse_unresolved
from kfrc.exceptions import MissingRowWarning, OutlierWarning
from kfrc.fitting.units import have_one_scale
from kfrc.outliers import (
    MANY_ROWS,
    Fences,
    describe_far_columns,
    describe_lone_values,
    find_fences,
    find_lone_values,
    least_unit,
    mean_and_deviation,
)
from kfrc.typing import ArrayLike, FloatArray, IntArray

_LARGEST = np.finfo(np.float64).max

_DECIDING_BITS = 20
"""Binary digits of a standard deviation that a choice sees."""


@dataclass(frozen=True)
class KernelSpace:
    """Rows of X as the kernel sees them: varying columns within their fences, in standard deviations, with bandwidths.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        Which columns of X vary and are used.
    n_columns : int
        How many columns X has.
    mean, scale : ndarray of shape (k,)
        Of these columns.
    fences : Fences
        What lies beyond them counts as lying there.
    bandwidths : ndarray of shape (k,)
        θ in standard deviations.
    types : tuple of Column or None
        What these columns are, with their units; None if all are numbers without blanks.
    one_scale : bool
        Whether all columns are on one scale, and ``scale`` is the same for all.
    """

    columns: IntArray
    n_columns: int
    mean: FloatArray
    scale: FloatArray
    fences: Fences
    bandwidths: FloatArray
    types: tuple[Column, ...] | None = None
    one_scale: bool = False

    def standardize(self, X: FloatArray) -> Rows:
        """The varying columns in standard units, of numbers or of codes."""
        chosen = self.fences.clip(X[:, self.columns])
        if self.types is not None:
            return Table(_standardized(chosen, self.types), self.types)
        return in_deviations(chosen, self.mean, self.scale)

    def far_values(self) -> dict[str, Any] | None:
        """Columns that were cut, one array per fact; None if there are none."""
        far = self.fences.far
        if not far:
            return None
        inside = np.array([column.column for column in far])
        return {
            "column": self.columns[inside],
            "n_values": np.array([column.n_values for column in far]),
            "row": np.array([column.row for column in far]),
            "value": np.array([column.value for column in far]),
            "low": self.fences.low[inside],
            "high": self.fences.high[inside],
            "ruled": np.array([column.ruled for column in far]),
        }

    def relative_bandwidths(self) -> FloatArray:
        """Bandwidths of all columns in standard deviations, of shape (n_columns,); infinite for constant columns."""
        return self._of_all_columns(self.bandwidths)

    def bandwidths_in_user_units(self) -> FloatArray:
        """Bandwidths of all columns in the units of X, of shape (n_columns,); infinite for constant columns."""
        with np.errstate(over="ignore"):
            products = self.bandwidths * self.scale
        # Infinite is what constant columns have.
        return self._of_all_columns(np.where(np.isinf(self.bandwidths), np.inf, np.minimum(products, _LARGEST)))

    def spread(self, shares: FloatArray) -> FloatArray:
        """Shares (n_clusters, k) of the columns that are used among all columns, zero for the others."""
        full = np.zeros((len(shares), self.n_columns))
        full[:, self.columns] = shares
        return full

    def _of_all_columns(self, values: FloatArray) -> FloatArray:
        full = np.full(self.n_columns, np.inf)
        full[self.columns] = values
        return full


@dataclass(frozen=True)
class TableView:
    """The varying columns of a table, in standard units and in the units that bandwidths are searched in.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        Which columns vary and are used.
    n_columns : int
        How many columns the table has.
    mean, scale : ndarray of shape (k,)
        Of the varying columns, with far values at the fences.
    fences : Fences
        Of the varying columns.
    unit : ndarray of shape (k,)
        What a one in ``searched`` is in the table.
    searched : ndarray of shape (n_samples, k) or Table
        What the bandwidth search sees: standard units, or those of the user.
    standardized : ndarray of shape (n_samples, k) or Table
        Mean zero, standard deviation one; if no scale is needed these are of the bulk only. Columns of any type, blanks
        and weights make it a table.
    one_scale : bool
        Whether all columns are on one scale (``kfrc.fitting.units.have_one_scale``): then one is the root mean
        square of their standard deviations.
    """

    columns: IntArray
    n_columns: int
    mean: FloatArray
    scale: FloatArray
    fences: Fences
    unit: FloatArray
    searched: Rows
    standardized: Rows
    one_scale: bool = False

    @classmethod
    def of(
        cls, X: FloatArray, names: Any, *, standardize: bool, clip: bool = True, robust_scale: bool = True
    ) -> TableView:
        """The view of X.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_columns)
        names : sequence of str or None
            What the columns are called, for warnings.
        standardize : bool
            Whether bandwidths are searched in standard deviations.
        clip : bool, default=True
            Whether values far outside the bulk are moved to fences.
        robust_scale : bool, default=True
            Whether there are fences to keep few values from ruling a scale, or only to bound the range of long tables.
        """
        columns = find_varying_columns(X, names)
        if clip and robust_scale:
            columns = _without_lone_values(X, columns, names)
        varying = X[:, columns]
        fences = find_fences(varying, robust_scale=robust_scale) if clip else Fences.none(len(columns))
        describe = partial(describe_far_columns, fences.far, columns, names)
        warning = describe()
        if warning is not None:
            warnings.warn(OutlierWarning(warning, describe), stacklevel=5)
        bulk = fences.clip(varying)
        # Given bandwidths do not depend on the unit: a robust one keeps the digits of the other rows.
        mean, scale = mean_and_deviation(bulk if robust_scale else find_fences(bulk).clip(bulk))
        if clip and robust_scale and len(X) > MANY_ROWS:
            scale = np.maximum(scale, [least_unit(bulk[:, j], mean[j]) for j in range(bulk.shape[1])])
        refuse_unresolved(scale, None if names is None else [str(names[j]) for j in columns.tolist()])
        one_scale = robust_scale and have_one_scale(varying)
        if one_scale:
            scale = np.full_like(scale, np.sqrt(np.mean(np.square(scale))))
        standardized = in_deviations(bulk, mean, scale)
        searched, unit = (standardized, scale) if standardize else (bulk, np.ones_like(scale))
        return cls(columns, X.shape[1], mean, scale, fences, unit, searched, standardized, one_scale)

    @classmethod
    def of_types(
        cls,
        codes: FloatArray,
        schema: Schema,
        weights: FloatArray | None,
        *,
        clip: bool = True,
        rows: IntArray | None = None,
    ) -> TableView:
        """The view of a table with columns of any type, blanks and weights.

        Parameters
        ----------
        codes : ndarray of shape (n_samples, n_columns)
            NaN where nothing is known.
        schema : Schema
        weights : ndarray of shape (n_samples,) or None
        clip : bool, default=True
            Whether numbers far outside the bulk are moved to fences.
        rows : ndarray of shape (n_samples,), optional
            What the user calls the rows, by default their positions.
        """
        rows = np.arange(len(codes)) if rows is None else rows
        given = codes[:, schema.positions]
        varying = np.array([column.varies(given[:, j]) for j, column in enumerate(schema.columns)])
        refuse_constant(varying, [column.title for column in schema.columns], len(codes))
        places = np.flatnonzero(varying)
        chosen, columns = [schema.columns[j] for j in places], schema.positions[places]
        fences = _fences_of_numbers(given[:, places], chosen, rows) if clip else Fences.none(len(places))
        names = {position: column.title for position, column in zip(columns.tolist(), chosen, strict=True)}
        describe = partial(describe_far_columns, fences.far, columns, names)
        warning = describe()
        if warning is not None:
            warnings.warn(OutlierWarning(warning, describe), stacklevel=5)
        bulk = fences.clip(given[:, places])
        types = tuple(column.scaled(bulk[:, j], weights) for j, column in enumerate(chosen))
        scale = np.array([column.scale for column in types])
        refuse_unresolved(scale, [column.title for column in chosen])
        table = Table(_standardized(bulk, types), types, weights)
        warn_of_blank_rows(rows[~table.observed.any(axis=1)], stacklevel=6)
        nothing = np.zeros(len(types))
        return cls(columns, len(schema.titles), nothing, scale, fences, scale, table, table)

    @property
    def types(self) -> tuple[Column, ...] | None:
        """What the columns are; None if all are numbers without blanks."""
        return self.standardized.columns if isinstance(self.standardized, Table) else None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.standardized)

    def subset(self, size: int, rng: np.random.Generator) -> TableView:
        """A random subset of the rows in which every column still varies, or the view itself if it is small enough."""
        if size >= self.n_samples:
            return self
        rows = np.sort(rng.choice(self.n_samples, size, replace=False))
        values = values_of(self.standardized)
        if not _all_vary(values[rows]):
            # A column that varies in few rows only: take one row of each extreme along.
            extremes = np.concatenate([np.nanargmin(values, axis=0), np.nanargmax(values, axis=0)])
            rows = np.union1d(rows, extremes)
        return replace(self, searched=self.searched[rows], standardized=self.standardized[rows])

    def restricted(self, columns: IntArray) -> TableView:
        """The view of some of its columns, given by their positions among the varying ones."""
        return replace(
            self,
            columns=self.columns[columns],
            mean=self.mean[columns],
            scale=self.scale[columns],
            fences=self.fences.restricted(columns),
            unit=self.unit[columns],
            searched=on_columns(self.searched, columns),
            standardized=on_columns(self.standardized, columns),
        )

    def rounded(self) -> TableView:
        """The same rows to about six digits of a standard deviation: what is decided by them is safe from rounding.

        A choice takes many yes-or-no decisions, and some are nearly ties. One rounding unit, or another unit of
        measurement, would flip one of them now and then, and end in other clusters.
        """
        if isinstance(self.standardized, Table):
            rounded = replace(self.standardized, values=_rounded(self.standardized.values, 1.0))  # codes are whole
            return replace(self, standardized=rounded, searched=rounded)
        return replace(
            self,
            standardized=_rounded(self.standardized, 1.0),
            searched=_rounded(values_of(self.searched), self.scale / self.unit),
        )

    def in_deviations(self, log_bandwidths: FloatArray) -> FloatArray:
        """Log-bandwidths of the search in standard deviations."""
        return log_bandwidths - np.log(self.scale / self.unit)

    def given_in_deviations(self, bandwidths: ArrayLike) -> FloatArray:
        """Log-bandwidths in standard deviations, from what a user gives for all columns in their own units.

        Raises
        ------
        ValueError
            If they are no bandwidths, or so far from the deviations that squares in them are no numbers.
        """
        given = check_bandwidths(bandwidths, self.n_columns)[self.columns]
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            found: FloatArray = np.log(given / self.scale)
        unusable = np.isfinite(given) & (np.abs(found) > LARGEST_LEVEL)
        if unusable.any():
            j = int(unusable.argmax())
            raise ValueError(
                f"a bandwidth of {given[j]:.3g} for column {self.columns[j]}, whose standard deviation is "
                f"{self.scale[j]:.3g}: squared distances in such units leave the range of floating-point numbers. Use "
                "bandwidths near the standard deviations, or divide X and the bandwidths so that they are"
            )
        return found

    def space(self, log_bandwidths: FloatArray) -> KernelSpace:
        """The rows as a kernel with these log-bandwidths (in standard deviations) sees them."""
        bandwidths = np.exp(log_bandwidths)
        return KernelSpace(
            self.columns, self.n_columns, self.mean, self.scale, self.fences, bandwidths, self.types, self.one_scale
        )


def _without_lone_values(X: FloatArray, columns: IntArray, names: Any) -> IntArray:
    """Columns without those that are constant but for one value, which are named, unless there are no others."""
    lone = find_lone_values(X[:, columns])
    describe = partial(describe_lone_values, X[:, columns], lone, columns, names)
    warning = describe()
    if warning is None or len(lone) == len(columns):
        return columns
    warnings.warn(OutlierWarning(warning, describe), stacklevel=6)
    return np.delete(columns, list(lone))


def _standardized(codes: FloatArray, types: Sequence[Column]) -> FloatArray:
    return np.column_stack([column.standardize(codes[:, j]) for j, column in enumerate(types)])


def _fences_of_numbers(codes: FloatArray, columns: Sequence[Column], rows: IntArray) -> Fences:
    """Fences of the columns of numbers, found where something is known."""
    fences = Fences.none(len(columns))
    far = []
    for j in np.flatnonzero([column.continuous for column in columns]).tolist():
        known = np.flatnonzero(~np.isnan(codes[:, j]))
        found = find_fences(codes[known, j : j + 1])
        fences.low[j], fences.high[j] = found.low[0], found.high[0]
        far += [replace(one, column=j, row=int(rows[known[one.row]])) for one in found.far]
    return replace(fences, far=tuple(far))


def warn_of_blank_rows(blank: IntArray, stacklevel: int) -> None:
    """Name rows of which nothing is known."""
    if len(blank):
        shown = ", ".join(str(row) for row in blank[:10]) + (" and more" if len(blank) > 10 else "")
        warnings.warn(
            f"nothing is known of {len(blank)} row(s), so that they belong equally to all clusters: row {shown}",
            MissingRowWarning,
            stacklevel=stacklevel,
        )


def _all_vary(values: FloatArray) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without any known value
        spread = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    return bool((spread > 0).all())


def _rounded(X: FloatArray, scale: FloatArray | float) -> FloatArray:
    """Multiples of powers of two that are about 10⁻⁶ of the scales of the columns."""
    exponents = np.frexp(scale)[1] - _DECIDING_BITS
    return np.ldexp(np.round(np.ldexp(X, -exponents)), exponents)

"""Choosing how the Gram matrices of a data set are held."""

from __future__ import annotations

import numpy as np

from kfrc._validation import check_positive_int
from kfrc.columns import Numeric, Rows, Table
from kfrc.gram.base import GramFamily
from kfrc.gram.column_grams import ColumnGrams
from kfrc.gram.dense import DenseGrams
from kfrc.gram.embedded import EmbeddedGrams
from kfrc.gram.factored import FactoredGrams
from kfrc.gram.low_rank import ChebyshevGrams
from kfrc.gram.nystrom import NystromGrams
from kfrc.kernels import AdditiveKernel, EmbeddedKernel, Kernel, Profile
from kfrc.kernels.column_product import ColumnProduct
from kfrc.kernels.gaussian import GaussianProduct
from kfrc.kernels.linear import Linear
from kfrc.typing import FloatArray

APPROXIMATIONS = ("auto", "none", "low_rank", "nystrom")

_LOW_RANK_MIN_SAMPLES = 150
"""From here on the low-rank form of an additive kernel is faster than the dense one (``make bench``)."""

_FEW_VALUES = 20
"""Distinct values per column up to which they are fewer than polynomials at the bandwidths that are compared."""

_DENSE_MAX_SAMPLES = 5000
"""Up to here other kernels are held densely."""


def gram_family(
    X: Rows, kernel: Kernel, approximation: str = "auto", rank: int | None = None, tol: float | None = None
) -> GramFamily:
    """The family of Gram matrices of X under ``kernel``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
        Complete numbers, or columns of any type with blanks and weights.
    kernel : Kernel
    approximation : {"auto", "none", "low_rank", "nystrom"}, default="auto"
        ``"low_rank"`` (additive kernels) is exact to about 1e-12 in the eigenvalues, unless bandwidths are too small to
        be resolved in more than 5000 rows, and measures its error; ``"nystrom"`` is an approximation that reports its
        own; ``"auto"`` takes the former when it can, the dense matrix for other kernels up to 5000 samples, and the
        latter beyond.
    rank : int, optional
        Landmarks of ``"nystrom"``.
    tol : float, optional
        Relative size of what ``"low_rank"`` may leave out, by default 10⁻¹⁴. Where Gram matrices are only compared a
        larger one makes them cheaper.

    Returns
    -------
    GramFamily

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc.gram import gram_family
    >>> from kfrc.kernels import Kernel
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]])
    >>> gram = gram_family(X, Kernel.from_name("sum")).at(np.array([1.0, 2.0]))
    >>> gram.matmul(np.eye(3)).shape
    (3, 3)
    """
    if approximation not in APPROXIMATIONS:
        raise ValueError(f"unknown approximation {approximation!r}: choose one of {', '.join(APPROXIMATIONS)}")
    rank = None if rank is None else check_positive_int(rank, "rank")
    if isinstance(X, Table):
        return _table_family(X, kernel, approximation, rank)
    if isinstance(kernel, EmbeddedKernel):
        return EmbeddedGrams(X, kernel, rank)
    if kernel.factor(X[:1], np.ones(X.shape[1])) is not None:
        return FactoredGrams(X, kernel)
    if approximation == "auto":
        approximation = _cheapest(kernel, len(X))
    if approximation == "nystrom":
        return NystromGrams(X, kernel, rank)
    if approximation == "low_rank":
        if not isinstance(kernel, AdditiveKernel):
            raise ValueError(
                f"approximation='low_rank' needs a kernel that is a sum over features, which {kernel.label!r} is not: "
                "use approximation='nystrom' or kernel='sum'"
            )
        if tol is None:
            return ChebyshevGrams(X, kernel)
        if _has_few_values(X):
            return ColumnGrams(Table(X, (Numeric(),) * X.shape[1]), kernel, tol)
        return ChebyshevGrams(X, kernel, tol)
    return DenseGrams(X, kernel)


def _table_family(table: Table, kernel: Kernel, approximation: str, rank: int | None) -> GramFamily:
    """Numbers under the linear kernel are points, other sums over columns blocks of features; products are dense."""
    if isinstance(kernel, Profile):
        if approximation == "nystrom":
            raise ValueError('approximation="nystrom" is for other kernels: a table has exact features under this one')
        if isinstance(kernel, Linear) and all(column.continuous for column in table.columns):
            return FactoredGrams(table.values, kernel, table.weights)
        return ColumnGrams(table, kernel)
    if not isinstance(kernel, GaussianProduct):
        raise ValueError(
            f'the {kernel.label} kernel needs complete numbers without weights: use kernel="sum" or kernel="product"'
        )
    product = ColumnProduct.of(table)
    if approximation == "auto":
        approximation = _cheapest(product, len(table))
    if approximation == "nystrom":
        return NystromGrams(table.values, product, rank, table.weights)
    if approximation == "low_rank":
        raise ValueError("approximation='low_rank' needs kernel='sum': use approximation='nystrom'")
    return DenseGrams(table.values, product, table.weights)


def _has_few_values(X: FloatArray) -> bool:
    """Whether columns are grades, counts or pixels, with fewer values than a kernel has polynomials."""
    sizes = [len(np.unique(column)) for column in X.T]
    return float(np.mean(sizes)) <= _FEW_VALUES


def _cheapest(kernel: Kernel, n_samples: int) -> str:
    if isinstance(kernel, AdditiveKernel):
        return "low_rank" if n_samples >= _LOW_RANK_MIN_SAMPLES else "none"
    return "none" if n_samples <= _DENSE_MAX_SAMPLES else "nystrom"


def places_of(X: Rows) -> FloatArray:
    """Rows as points: numbers as they are, of a table the features of its linear kernel, blanks at the center."""
    if not isinstance(X, Table):
        return X
    gram = gram_family(X, Linear()).at(np.ones(X.shape[1]))
    blocks = gram.feature_blocks()
    assert blocks is not None  # sums over columns have features
    return np.vstack([features for _, features in blocks])

"""Sources as estimators see them: names of columns, small ones as tables, and predictions chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc.blocks.reader import as_numbers
from kfrc.sources import Chunk, Source
from kfrc.typing import FloatArray


def refuse_weights(sample_weight: Any) -> None:
    """Stop if rows of a source are given weights from outside."""
    if sample_weight is not None:
        raise ValueError(
            "weights of a source are one of its columns: name it when the source is made, such as "
            'ParquetSource(path, weights="count")'
        )


def note_source(estimator: Any, source: Source) -> None:
    """Number and names of the columns, as scikit-learn keeps them."""
    estimator.n_features_in_ = len(source.names)
    if all(isinstance(name, str) for name in source.names):
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def table_of_source(source: Source) -> tuple[Any, FloatArray | None]:
    """All rows of a small source as a table in memory, and their weights."""
    chunks = list(source.chunks(0, source.n_rows))
    weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
    columns = [_joined([chunk.columns[j] for chunk in chunks]) for j in range(len(source.names))]
    return as_table(columns, source.names), np.concatenate(weights) if weights else None


def as_table(columns: list[Any], names: tuple[Any, ...]) -> Any:
    """Raw columns as an array, or as an Arrow table if they have names."""
    if not all(isinstance(name, str) for name in names):
        return np.column_stack([as_numbers(column) for column in columns]).astype(np.float64, copy=False)
    import pyarrow as pa

    return pa.table(dict(zip(names, columns, strict=True)))


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pyarrow as pa

    return pa.chunked_array([piece for part in parts for piece in getattr(part, "chunks", [part])])


@dataclass(frozen=True, eq=False)
class PredictChunk:
    """Memberships of the rows of a chunk, by a fitted estimator."""

    estimator: Any
    names: tuple[Any, ...]

    def __call__(self, chunk: Chunk) -> FloatArray:
        U: FloatArray = self.estimator._memberships_of(as_table(list(chunk.columns), self.names))
        return U

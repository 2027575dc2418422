"""The benchmark data sets of the paper: bundled, from a folder, from the local cache or from OpenML."""

from __future__ import annotations

import csv
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc.exceptions import KFRCError
from kfrc.typing import FloatArray

DATA_DIR_VARIABLE = "KFRC_DATA"
"""Environment variable that names a folder with ``<name>.csv`` files."""

LABEL_COLUMN = "label"


@dataclass(frozen=True)
class _Source:
    """Where a benchmark comes from and what it must look like when it comes over the network."""

    n_samples: int
    n_features: int
    n_clusters: int
    origin: str
    bundled: str | None = None
    openml_id: int | None = None
    drop_constant: bool = False


_SOURCES = {
    "diabetes": _Source(768, 8, 2, "the Pima Indians Diabetes Database", openml_id=37),
    "rice": _Source(3810, 7, 2, "Rice (Cammeo and Osmancik), UCI repository, data set 545"),
    "seeds": _Source(210, 7, 3, "Seeds, UCI repository, data set 236", openml_id=1499),
    "vehicle": _Source(846, 18, 4, "Statlog (Vehicle Silhouettes), UCI repository, data set 149", openml_id=54),
    "wine": _Source(178, 13, 3, "Wine, UCI repository, data set 109", bundled="load_wine"),
    "image_segmentation": _Source(
        2310, 18, 7, "Image Segmentation, UCI repository, data set 50", openml_id=36, drop_constant=True
    ),
    "iris": _Source(150, 4, 3, "Iris, UCI repository, data set 53", bundled="load_iris"),
}

BENCHMARK_NAMES = tuple(_SOURCES)
"""Names that :func:`load_benchmark` knows: the six sets of the paper's Table 1, and iris."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A labeled data set, in the rows and units of its source.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
        Features as float64, not standardized.
    target : ndarray of shape (n_samples,)
        Classes, as integers if all of them are, otherwise as strings.
    feature_names : tuple of str
    n_clusters : int
        Number of distinct classes.
    name : str
    source : str
        ``"scikit-learn"``, the file that was read, or ``"OpenML <id>"``.

    Examples
    --------
    >>> from kfrc.datasets import load_benchmark
    >>> load_benchmark("wine").feature_names[:2]
    ('alcohol', 'malic_acid')
    """

    data: FloatArray
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    n_clusters: int
    name: str
    source: str


def load_benchmark(name: str, data_dir: str | os.PathLike[str] | None = None) -> Benchmark:
    """Load one of the paper's benchmark data sets (and iris).

    Looked for in this order: scikit-learn's bundled copy (iris, wine); ``<name>.csv`` in ``data_dir``, or
    in the folder that the environment variable ``KFRC_DATA`` names; scikit-learn's cache of earlier
    downloads; OpenML.

    Parameters
    ----------
    name : {"diabetes", "rice", "seeds", "vehicle", "wine", "image_segmentation", "iris"}
    data_dir : path or None
        Folder with CSV files: a header, feature columns, and a last column ``label``. Takes precedence over
        ``KFRC_DATA``.

    Returns
    -------
    Benchmark

    Raises
    ------
    KFRCError
        If the data set is nowhere to be found, with the ways to provide it.

    Notes ----- The constant column of the image segmentation data (``REGION.PIXEL.COUNT``) is dropped,
    which leaves 18 features. Rice has no known OpenML copy and must be given as a file. A download is
    checked against the number of rows, features and classes in the paper; a file of yours is taken as it
    is.

    References
    ----------
    .. [1] The KFRC paper, Section "Benchmark data sets".
    .. [2] Vanschoren et al. (2013), OpenML: networked science in machine learning, SIGKDD Explorations 15(2).

    Examples
    --------
    >>> from kfrc.datasets import load_benchmark
    >>> iris = load_benchmark("iris")
    >>> iris.data.shape, iris.n_clusters, str(iris.target[0])
    ((150, 4), 3, 'setosa')
    """
    if not isinstance(name, str) or name not in _SOURCES:
        raise ValueError(f"unknown data set {name!r}: choose one of {', '.join(_SOURCES)}")
    source = _SOURCES[name]
    if source.bundled is not None:
        return _load_bundled(name, source.bundled)
    folder = _find_folder(data_dir)
    if folder is not None and (folder / f"{name}.csv").is_file():
        return _read_csv(name, folder / f"{name}.csv")
    if source.openml_id is None:
        raise KFRCError(f"{name} has no known copy on OpenML. {_explain(name, folder)}")
    return _fetch(name, source.openml_id, folder)


def _load_bundled(name: str, loader: str) -> Benchmark:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, loader)()
    target = np.asarray(bunch.target_names)[bunch.target]
    return _finish(name, bunch.data, target, tuple(bunch.feature_names), "scikit-learn")


def _find_folder(data_dir: str | os.PathLike[str] | None) -> Path | None:
    given = data_dir if data_dir is not None else os.environ.get(DATA_DIR_VARIABLE) or None
    if given is None:
        return None
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"data_dir must be a path, got {given!r}")
    folder = Path(given).expanduser()
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else f"the environment variable {DATA_DIR_VARIABLE}"
        raise FileNotFoundError(f"{origin} must name an existing folder, got {str(folder)!r}")
    return folder


def _read_csv(name: str, path: Path) -> Benchmark:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise KFRCError(f"{path} is no CSV file in UTF-8 ({error})") from None
    if len(header) < 2 or header[-1].strip() != LABEL_COLUMN:
        last = repr(header[-1]) if header else "nothing"
        raise KFRCError(f"the last column of {path} must be called {LABEL_COLUMN!r}, found {last}")
    if not rows:
        raise KFRCError(f"{path} has a header but no rows")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise KFRCError(f"{path}, row {line}: {len(row)} fields, but the header has {len(header)}")
    try:
        data = np.array([row[:-1] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise KFRCError(f"{path}: feature columns must be numbers ({error})") from None
    return _finish(name, data, np.array([row[-1].strip() for row in rows]), tuple(header[:-1]), str(path))


def _fetch(name: str, data_id: int, folder: Path | None) -> Benchmark:
    """From scikit-learn's data home if it was downloaded before, otherwise over the network."""
    import sklearn.datasets

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # retries are announced as warnings; the error below says it all
            # The liac-arff parser needs no pandas.
            bunch = sklearn.datasets.fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff")
    except OSError as error:  # URLError, HTTPError, timeouts
        raise KFRCError(
            f"{name} is not in the local cache and could not be downloaded from OpenML ({error}). "
            f"{_explain(name, folder)}"
        ) from error
    result = _finish(
        name,
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray([str(value) for value in bunch.target]),
        tuple(bunch.feature_names),
        f"OpenML {data_id}",
    )
    source = _SOURCES[name]
    expected = (source.n_samples, source.n_features, source.n_clusters)
    found = (*result.data.shape, result.n_clusters)
    if found != expected:
        raise KFRCError(
            f"OpenML {data_id} has (rows, features, classes) = {found}, but {name} must have {expected}. "
            f"{_explain(name, folder)}"
        )
    return result


def _finish(
    name: str, data: FloatArray, target: NDArray[Any], feature_names: tuple[str, ...], source: str
) -> Benchmark:
    """Checks and conventions shared by all sources."""
    if not np.isfinite(data).all():
        row, column = np.argwhere(~np.isfinite(data))[0]
        raise KFRCError(f"{name} from {source}: column {feature_names[column]!r} has a missing value in data row {row}")
    if _SOURCES[name].drop_constant:
        varying = np.ptp(data, axis=0) > 0
        data = data[:, varying]
        feature_names = tuple(feature for feature, keep in zip(feature_names, varying, strict=True) if keep)
    try:
        target = target.astype(np.int64)
    except ValueError:
        target = target.astype(str)
    return Benchmark(
        data=np.ascontiguousarray(data, dtype=np.float64),
        target=target,
        feature_names=feature_names,
        n_clusters=len(np.unique(target)),
        name=name,
        source=source,
    )


def _explain(name: str, folder: Path | None) -> str:
    source = _SOURCES[name]
    looked = f"there is no {name}.csv in {str(folder)!r}" if folder is not None else "no folder was given"
    download = (
        f", or call load_benchmark({name!r}) once with network access (OpenML {source.openml_id})"
        if source.openml_id is not None
        else ""
    )
    return (
        f"What to do ({looked}): save {source.origin} as {name}.csv ({source.n_features} numeric columns "
        f"with a header, then a last column {LABEL_COLUMN!r}) and pass its folder as data_dir or in the "
        f"environment variable {DATA_DIR_VARIABLE}{download}."
    )

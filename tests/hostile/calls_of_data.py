"""Calls that make or load data: mixtures and their overlap, data sets of studies and shapes, benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hostile.attack import Broken
from hostile.calls import Call, odd
from hostile.invariants import check_memberships
from hostile.parameters import NONSENSE
from hostile.tables import Table, draw_table
from kfrc.datasets import BENCHMARK_NAMES, load_benchmark
from kfrc.simulation import (
    GaussianMixtureSpec,
    HeavyTails,
    Imbalanced,
    Moons,
    Rings,
    StudyDesign,
    add_noise_features,
    make_gaussian_mixture,
    make_shape_dataset,
    make_study_dataset,
    overlap,
)


def _draw_mixture(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    c, p = int(rng.choice([1, 2, 2, 3, 4])), int(rng.choice([1, 2, 5]))
    weights, means = rng.dirichlet(np.full(c, 5.0)), rng.standard_normal((c, p))
    A = rng.standard_normal((c, p, p + 2))
    covariances = A @ A.transpose(0, 2, 1)
    kind = rng.integers(24)
    with np.errstate(all="ignore"):
        scale = 10.0 ** rng.integers(-308, 308)
        if kind == 0:
            means = means * scale
        elif kind == 1:
            covariances = covariances * scale
        elif kind == 2:
            means, covariances = means * scale, covariances * scale**2
        elif kind == 3:
            covariances = covariances * 10.0 ** rng.integers(-150, 150, (c, 1, 1))
        elif kind == 4:
            covariances[0] = rng.choice([0.0, np.nan, np.inf, 1e308])
        elif kind == 5:
            covariances[0] *= -1.0
        elif kind == 6:
            weights = np.append(weights[:-1], [1e-300])
        elif kind == 7:
            weights = weights * 2.0
        elif kind == 8:
            means = np.zeros_like(means)
            covariances = np.repeat(covariances[:1], c, axis=0)
        elif kind == 9:
            covariances = np.repeat(covariances[:1], c, axis=0)
        elif kind == 10:
            means = means[:, :0]
        elif kind == 11:
            weights, means, covariances = weights.tolist(), means.tolist(), covariances.tolist()
        elif kind == 12:
            weights = weights.astype(str)
        elif kind == 13:
            covariances = covariances + 1j
        elif kind == 14:
            covariances = covariances * 10.0 ** np.linspace(-rng.integers(1, 9), 0, p)[None, :, None]
            covariances = covariances * 10.0 ** np.linspace(-rng.integers(1, 9), 0, p)[None, None, :]
        elif kind == 15:
            parts = [weights, means, covariances]
            parts[rng.integers(3)] = NONSENSE[rng.integers(len(NONSENSE))]
            weights, means, covariances = parts
        elif kind == 16:
            weights = np.full(c, 1e-12)
            weights[0] = 1 - 1e-12 * (c - 1)
    return weights, means, covariances


def mixtures(rng: np.random.Generator) -> Call:
    """Overlap, samples and posteriors of a mixture that is given."""
    parts, kind = _draw_mixture(rng), rng.integers(3)
    if kind == 0:

        def check_overlap(found: Any) -> None:
            if not np.isfinite(found.omega_map).all() or (found.omega_map < 0).any() or (found.omega_map > 1).any():
                raise Broken("the map of overlaps is outside 0 and 1")
            if not 0 <= found.average <= found.maximum + 1e-12 <= 2 + 1e-9:
                raise Broken("the average overlap is larger than the largest")

        return Call(overlap, parts, {}, check_overlap)
    if kind == 1:
        count = [1, 5, 5, 100, 0, *NONSENSE][rng.integers(5 + len(NONSENSE))]
        count = 5 if count == 1e308 else count

        def check_sample(found: Any) -> None:
            X, labels = found
            if len(X) != count or labels.shape != (count,) or not np.isfinite(X).all():
                raise Broken("a sample is not finite, or has another number of rows")

        state = [0, None, 0, 0, *NONSENSE][rng.integers(4 + len(NONSENSE))]
        return Call(lambda *given: GaussianMixtureSpec(*given).sample(count, state), parts, {}, check_sample)
    table = draw_table(rng)
    X = table.X
    if np.ndim(parts[1]) == 2 and rng.random() < 0.7:
        p = np.shape(parts[1])[1]
        X = np.resize(table.values, (len(table.values), p))
        table = Table(X, X, False, ())

    def check_posteriors(found: Any) -> None:
        if len(found) != len(table.values):
            raise Broken("posteriors have another number of rows")
        check_memberships(found, "posteriors")

    return Call(lambda *given: GaussianMixtureSpec(*given[:3]).posteriors(given[3]), (*parts, X), {}, check_posteriors)


def _small(rng: np.random.Generator, values: list[Any]) -> Any:
    if rng.random() < 0.12:
        return NONSENSE[rng.integers(len(NONSENSE))]
    return values[rng.integers(len(values))]


def drawn_mixtures(rng: np.random.Generator) -> Call:
    """Mixtures of a prescribed overlap."""
    name = str(rng.choice(["average_overlap", "average_overlap", "max_overlap"]))
    target = _small(rng, [0.001, 0.01, 0.05, 0.1, 0.5, 1e-12, 1e-300, 0.999999, 1.0, 0.0])
    keywords: dict[str, Any] = {name: target, "max_draws": 3, "random_state": 0}
    keywords["spherical"] = bool(rng.random() < 0.5)
    keywords["homogeneous"] = bool(rng.random() < 0.5)
    keywords["min_proportion"] = _small(rng, [None, None, 0.1, 1.0, 1e-12, 0.5])
    keywords["max_eccentricity"] = _small(rng, [0.9, 0.9, 0.0, 0.999, 1 - 1e-12])
    odd(keywords, rng, never=("max_draws",))

    def check(found: Any) -> None:
        reached = found.overlap()
        reached = reached.average if name == "average_overlap" else reached.maximum
        if abs(reached - keywords[name]) > 1e-6:
            raise Broken("the overlap is not what was asked for")
        if not np.isfinite(found.covariances).all() or abs(found.weights.sum() - 1) > 1e-9:
            raise Broken("weights or covariances are wrong")

    return Call(make_gaussian_mixture, (_small(rng, [2, 2, 3, 4]), _small(rng, [1, 2, 5])), keywords, check)


def simulated(rng: np.random.Generator) -> Call:
    """Data sets of the study and of shapes, and columns of noise."""
    kind, state = rng.integers(3), _small(rng, [0, 0, 1, np.int64(3)])
    if kind == 0:
        table = draw_table(rng)
        keywords = {"random_state": state}
        return Call(add_noise_features, (table.X, _small(rng, [0, 1, 5])), keywords, _finite_rows, table)
    if kind == 1:
        shapes = ["moons", "rings", "heavy_tails", "imbalanced", Moons, Rings, HeavyTails, Imbalanced]
        shape = _small(rng, shapes)
        settings = {"n_samples": _small(rng, [1, 2, 5, 50]), "n_noise": _small(rng, [0, 1])}
        settings |= {"random_state": state, "standardize": bool(rng.random() < 0.5)}
        extreme = [0.0, 1e-300, 0.1, 1e-3, 6.0, 1e150, 1e308, np.inf]
        fields = {Moons: ["jitter"], Rings: ["jitter", "n_rings"], HeavyTails: ["degrees_of_freedom", "separation"]}

        def made() -> Any:
            family = shape
            if shape in list(fields):
                name = fields[shape][rng.integers(len(fields[shape]))]
                family = shape(**{name: _small(rng, [1, 2, 5] if name == "n_rings" else extreme)})
            elif shape is Imbalanced:
                shares = [(0.5, 0.5), (1.0,), (), (1 - 1e-12, 1e-12), (0.2, 0.2), 3, "ab", (np.nan, 1.0), [0.5, 0.5]]
                family = Imbalanced(shares[rng.integers(len(shares))], separation=_small(rng, extreme))
            return make_shape_dataset(family, **settings)

        return Call(made, (), {}, lambda found: _finite_rows(found.X))
    fields = {"n_clusters": _small(rng, [2, 3, 6]), "average_overlap": _small(rng, [0.01, 0.1, 0.9, 1e-10])}
    fields |= {"spherical": _small(rng, [True, False]), "balanced": _small(rng, [True, False])}
    fields |= {"n_signal": _small(rng, [1, 2, 5]), "n_noise": _small(rng, [0, 1]), "n_samples": _small(rng, [6, 50])}

    def check(found: Any) -> None:
        _finite_rows(found.X)
        check_memberships(found.posteriors, "posteriors")
        if len(np.unique(found.labels)) != found.design.n_clusters:
            raise Broken("a component does not occur")

    return Call(lambda: make_study_dataset(StudyDesign(**fields), random_state=state), (), {}, check)


def _finite_rows(X: Any) -> None:
    if not np.isfinite(X).all():
        raise Broken("simulated rows are not finite")


def benchmarks(rng: np.random.Generator, folder: Path) -> Call:
    """A data set from a folder; nothing is fetched."""
    name = _small(rng, [*BENCHMARK_NAMES, "Wine", "nobody"])
    rows = ["1,2,a", "3,4,b", "5,6,a"]
    odd_rows = ["x,2,a", "1,2", "1,2,a,4", "nan,1,b", ",,", '"1,2,a', "inf,1,a", "\0,1,a", "1,2,\ud800", "1e999,2,a"]
    header = ["a,b,label", "a,b,label", "a,b,label ", "a,b", "label", "", "a,a,label", "\ufeffa,b,label"][
        rng.integers(8)
    ]
    if rng.random() < 0.6:
        rows.insert(int(rng.integers(4)), odd_rows[rng.integers(len(odd_rows))])
    text = "\n".join([header, *rows]) if rng.random() < 0.9 else header
    data = text.encode("utf-8", "surrogatepass") if rng.random() < 0.9 else text.encode("utf-16", "surrogatepass")
    for known in BENCHMARK_NAMES:
        (folder / f"{known}.csv").write_bytes(data)
    given = [folder, str(folder), folder / "nowhere", folder / "rice.csv", str(folder).encode()][rng.integers(5)]
    if rng.random() < 0.1:
        pool = [value for value in NONSENSE if value is not None]
        given = pool[rng.integers(len(pool))]
    if name == "rice" and rng.random() < 0.2:
        (folder / "rice.csv").unlink()

    def check(found: Any) -> None:
        if not np.isfinite(found.data).all() or len(found.data) != len(found.target):
            raise Broken("a benchmark is not finite, or has another number of labels")
        if found.n_clusters != len(np.unique(found.target)) or len(found.feature_names) != found.data.shape[1]:
            raise Broken("a benchmark does not know its classes or columns")

    return Call(load_benchmark, (name, given), {}, check)

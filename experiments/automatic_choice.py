"""Automatic choice against what a user would do instead; prints the tables of docs/decisions/automatic-choice.md.

.venv/bin/python experiments/automatic_choice.py study --seeds 51-60 --out choice.csv --n-jobs 2
.venv/bin/python experiments/automatic_choice.py study --seeds 51-60 --every 8 --nuisance 4
.venv/bin/python experiments/automatic_choice.py shapes --seeds 51-60 --peers
.venv/bin/python experiments/automatic_choice.py real --data-dir FOLDER
.venv/bin/python experiments/automatic_choice.py count --seeds 51-60
.venv/bin/python experiments/automatic_choice.py count-shapes --seeds 51-60
.venv/bin/python experiments/automatic_choice.py table choice.csv

Seeds up to 50 were used to develop the method, seeds 51 to 60 to report on it.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.cluster import HDBSCAN
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from kfrc import FCM, KFRC
from kfrc._numerics import standardize
from kfrc.datasets import BENCHMARK_NAMES, load_benchmark
from kfrc.metrics import adjusted_rand_score, frobenius_adjusted_rand_score
from kfrc.simulation import Rings, Shape, make_shape_dataset, make_study_dataset, study_designs
from kfrc_app.study.methods import METHODS, Method
from kfrc_app.study.tables import published

TIED = "GaussianMixture (tied)"
PEERS = [
    "vFCM",
    "FRC (power)",
    "FRC (complementary_root)",
    "GaussianMixture (tied)",
    "GaussianMixture (best BIC)",
    "KMeans",
    "SpectralClustering",
]
NOISE_COLUMNS = (2, 6, 20)


@dataclass(frozen=True)
class Spirals(Shape):
    """Two interleaving spirals of one and a half turns."""

    jitter: float = 0.05

    @property
    def proportions(self) -> np.ndarray:
        """Equal shares."""
        return np.full(2, 0.5)

    def place(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(r cos φ, r sin φ) with r proportional to φ, and its mirror image."""
        angle = 3 * np.pi * np.sqrt(rng.uniform(0.05, 1, size=len(labels)))
        spiral = (angle / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.where(labels[:, None] == 0, spiral, -spiral) + self.jitter * rng.standard_normal(spiral.shape)


SHAPES: dict[str, str | Shape] = {
    "heavy_tails": "heavy_tails",
    "imbalanced": "imbalanced",
    "moons": "moons",
    "rings": "rings",
    "three rings": Rings(n_rings=3),
    "two spirals": Spirals(),
}
COUNTED = ("moons", "rings")

Record = dict[str, Any]


def diagonal_mixture(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Posterior of a Gaussian mixture with own diagonal covariances."""
    mixture = GaussianMixture(n_clusters, covariance_type="diag", n_init=5, reg_covar=1e-4, random_state=seed)
    return mixture.fit(X).predict_proba(X)


def fcm(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Memberships of fuzzy c-means."""
    return FCM(n_clusters, random_state=seed).fit(X).memberships_


def paper_defaults(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Memberships of KFRC with the paper's fixed settings."""
    return KFRC.paper(n_clusters, optimizer="lbfgs", random_state=seed).fit(X).memberships_


def hdbscan(X: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Clusters of HDBSCAN, which finds their number itself; what it calls noise is a cluster of its own."""
    labels = HDBSCAN(copy=True).fit_predict(X)
    return np.eye(labels.max() + 2)[labels]


OTHERS: dict[str, Method] = {
    **{name: METHODS[name] for name in PEERS},
    "GaussianMixture (diag)": diagonal_mixture,
    "HDBSCAN": hdbscan,
    "FCM": fcm,
    "KFRC.paper": paper_defaults,
}


ON_OUR_COLUMNS = ("SpectralClustering", "HDBSCAN", "GaussianMixture (best BIC)")
"""Peers that are also shown only the columns that KFRC used."""


def compare(
    X: np.ndarray, n_clusters: int, seed: int, score: Callable[[np.ndarray], Record], *, peers: bool = True
) -> tuple[list[Record], KFRC]:
    """Scores of the automatic choice and of the others, and the fit."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        fit = KFRC(n_clusters, random_state=seed).fit(X)
        used = np.isfinite(fit.bandwidths_)
        facts = {
            "kind": fit.opinion_.name,
            "fuzzifier": fit.fuzzifier_.label,
            "n_used": int(used.sum()),
            "agreement": float(fit.selection_["score"][0]),
            "seconds": time.process_time() - start,
        }
        records = [
            {"method": "KFRC"} | facts | score(fit.memberships_),
            {"method": "KFRC (posterior)"} | score(fit.posterior_memberships_),
        ]
        Z = standardize(X)
        for name, method in OTHERS.items() if peers else [(TIED, OTHERS[TIED])]:
            records += attempt(name, method, Z, n_clusters, seed, score)
        for name in ON_OUR_COLUMNS if peers and not used.all() else ():
            records += attempt(f"{name}, our columns", OTHERS[name], Z[:, used], n_clusters, seed, score)
    return records, fit


def attempt(
    name: str, method: Method, X: np.ndarray, n_clusters: int, seed: int, score: Callable[[np.ndarray], Record]
) -> list[Record]:
    """The score of a method, or nothing if it cannot do it."""
    try:
        return [{"method": name} | score(method(X, n_clusters, seed))]
    except ValueError as error:
        print(f"{name}: {error}")
        return []


def importance_auc(fit: KFRC, informative: np.ndarray, n_columns: int) -> float:
    """How well contributions tell columns with groups from noise: 1 if perfectly; NaN if there is no noise."""
    truth = np.isin(np.arange(n_columns), informative)
    return float(roc_auc_score(truth, fit.contributions_)) if not truth.all() else float("nan")


def scorer(labels: np.ndarray, posteriors: np.ndarray | None = None) -> Callable[[np.ndarray], Record]:
    """What measures memberships against the truth."""

    def score(U: np.ndarray) -> Record:
        record = {"ari": float(adjusted_rand_score(labels, U.argmax(axis=1)))}
        if posteriors is not None:
            record["fari_fuzzy"] = float(frobenius_adjusted_rand_score(posteriors, U))
        return record

    return score


def study_cell(position: int, seed: int, n_nuisance: int, peers: bool) -> list[Record]:
    """Records of one study design with one seed; nuisance columns depend on each other and on nothing else."""
    design = study_designs()[position]
    data = make_study_dataset(design, random_state=seed)
    X = data.X
    if n_nuisance:
        rng = np.random.default_rng([seed, position])
        X = np.hstack([X, rng.standard_normal((len(X), 1)) + rng.standard_normal((len(X), n_nuisance))])
    records, fit = compare(X, design.n_clusters, seed, scorer(data.labels, data.posteriors), peers=peers)
    facts = {"design": position, "seed": seed, "snr": _snr(design), "n_clusters": design.n_clusters}
    facts["auc"] = importance_auc(fit, data.informative, X.shape[1])
    return [facts | record for record in records]


def _snr(design: Any) -> float:
    return float("inf") if design.n_noise == 0 else design.n_signal / design.n_noise


def shape_cell(shape: str, n_noise: int, seed: int, peers: bool) -> list[Record]:
    """Records of one shape with noise columns."""
    data = make_shape_dataset(SHAPES[shape], n_noise=n_noise, random_state=seed)
    records, fit = compare(data.X, len(np.unique(data.labels)), seed, scorer(data.labels), peers=peers)
    facts = {"shape": shape, "n_noise": n_noise, "seed": seed}
    facts["auc"] = importance_auc(fit, data.informative, data.X.shape[1])
    return [facts | record for record in records]


def real_cell(name: str, data_dir: str | None) -> list[Record]:
    """Records of one benchmark data set, with the number of clusters found."""
    data = load_benchmark(name, data_dir=data_dir)
    X = np.asarray(data.data, dtype=float)
    X = X[:, X.std(axis=0) > 0]
    labels = np.asarray(data.target)
    records, _ = compare(X, len(np.unique(labels)), 0, scorer(labels))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KFRC("auto", random_state=0).fit(X)
    records.append({"method": "number of clusters", "ari": float(model.n_clusters_), "kind": _evidence(model)})
    return [{"dataset": name} | record for record in records]


def _evidence(model: KFRC) -> str:
    assert model.cluster_count_ is not None
    pairs = zip(model.cluster_count_["n_clusters"], model.cluster_count_["evidence"], strict=True)
    return " ".join(f"{c}:{evidence:.0f}" for c, evidence in pairs)


def count_cell(position: int, seed: int) -> list[Record]:
    """Whether the number of clusters is found on one study design."""
    design = study_designs()[position]
    data = make_study_dataset(design, random_state=seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = KFRC("auto", max_clusters=8, random_state=seed).fit(data.X).n_clusters_
    facts = {"design": position, "seed": seed, "snr": _snr(design), "n_clusters": design.n_clusters}
    return [facts | {"found": found, "right": found == design.n_clusters}]


def count_shape_cell(shape: str, n_noise: int, seed: int) -> list[Record]:
    """Whether the number of clusters is found on one shape with noise columns."""
    data = make_shape_dataset(SHAPES[shape], n_noise=n_noise, random_state=seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = KFRC("auto", max_clusters=8, random_state=seed).fit(data.X).n_clusters_
    n_clusters = len(np.unique(data.labels))
    facts = {"snr": shape, "n_noise": n_noise, "seed": seed, "n_clusters": n_clusters}
    return [facts | {"found": found, "right": found == n_clusters}]


def run(cells: Iterator[Any], n_jobs: int, out: str | None) -> pd.DataFrame:
    """Records of all cells, kept in a file on the way."""
    records: list[Record] = []
    for k, result in enumerate(Parallel(n_jobs=n_jobs, return_as="generator_unordered")(cells)):
        records += result
        if out is not None and k % 20 == 0:
            pd.DataFrame(records).to_csv(out, index=False)
    frame = pd.DataFrame(records)
    if out is not None:
        frame.to_csv(out, index=False)
    return frame


def show_study(frame: pd.DataFrame) -> None:
    """Print means by method and by group of designs."""
    print(f"{frame.groupby(['design', 'seed']).ngroups} data sets, mean FARI_fuzzy (standard error)\n")
    by_method = frame.groupby("method").fari_fuzzy
    table = frame.pivot_table(index="method", columns="n_clusters", values="fari_fuzzy")
    table.insert(0, "all", by_method.mean())
    table.insert(1, "se", by_method.sem())
    print(table.sort_values("all", ascending=False).round(3).to_string())
    ours = frame[frame.method == "KFRC"]
    print(f"\nAUC of contributions where there is noise: {ours.auc.mean():.3f} ({ours.auc.count()} data sets)")
    print(f"CPU seconds of a fit: {ours.seconds.mean():.2f}")
    groups = frame[frame.method == "KFRC"].groupby(["snr", "n_clusters"]).fari_fuzzy.agg(["mean", "sem"])
    table_c1 = published("table_c1").query("metric == 'fari_fuzzy' and method.str.startswith('KFRC')")
    groups["paper (labels)"] = (
        table_c1.assign(snr=table_c1.snr.astype(float)).groupby(["snr", "n_clusters"]).value.max()
    )
    wide = frame.pivot_table(index=["snr", "n_clusters", "design", "seed"], columns="method", values="fari_fuzzy")
    groups["posterior"] = wide["KFRC (posterior)"].groupby(level=[0, 1]).mean()
    groups["tied mixture"] = wide[TIED].groupby(level=[0, 1]).mean()
    for name, column in (("own − tied", "KFRC"), ("posterior − tied", "KFRC (posterior)")):
        ahead = (wide[column] - wide[TIED]).groupby(level=[0, 1])
        groups[name], groups[f"SE of {name}"] = ahead.mean(), ahead.sem()
    print(f"\nby signal-to-noise ratio and number of clusters\n{groups.round(3).to_string()}")


def show_groups(frame: pd.DataFrame, group: str) -> None:
    """Print mean ARI by method and group."""
    table = frame.pivot_table(index="method", columns=group, values="ari")
    table["mean"] = table.mean(axis=1)
    print(f"mean ARI\n{table.sort_values('mean', ascending=False).round(3).to_string()}")
    if "auc" in frame:
        ours = frame[frame.method == "KFRC"]
        print(f"\nAUC of contributions\n{ours.groupby(group).auc.mean().round(3).to_string()}")


def show_count(frame: pd.DataFrame) -> None:
    """Print how often the number of clusters is right."""
    print(f"right number of clusters: {frame.right.mean():.3f} of {len(frame)} data sets")
    print(frame.pivot_table(index="snr", columns="n_clusters", values="right").round(3).to_string())


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["study", "shapes", "real", "count", "count-shapes", "table"])
    parser.add_argument("file", nargs="?", help="results to show again, with table")
    parser.add_argument("--seeds", default="51-60")
    parser.add_argument("--every", type=int, default=1, help="every k-th design only, each seed one design later")
    parser.add_argument("--nuisance", type=int, default=0, help="correlated columns without groups to add")
    parser.add_argument("--peers", action="store_true", help="all other methods, not only the tied mixture")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--data-dir")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    first, _, last = arguments.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    cells = [
        (design, seed)
        for seed in seeds
        for design in range(seed % arguments.every, len(study_designs()), arguments.every)
    ]
    options = {"n_jobs": arguments.n_jobs, "out": arguments.out}
    if arguments.what == "study":
        extra = (arguments.nuisance, arguments.peers)
        show_study(run((delayed(study_cell)(*cell, *extra) for cell in cells), **options))
    elif arguments.what == "shapes":
        cells = itertools.product(SHAPES, NOISE_COLUMNS, seeds)
        frame = run((delayed(shape_cell)(*cell, arguments.peers) for cell in cells), **options)
        show_groups(frame, "shape")
        show_groups(frame[frame["shape"].isin(list(SHAPES)[:4])], "n_noise")
    elif arguments.what == "real":
        names = [name for name in BENCHMARK_NAMES if name != "iris"]
        frame = run((delayed(real_cell)(name, arguments.data_dir) for name in names), **options)
        counts = frame[frame.method == "number of clusters"]
        show_groups(frame.drop(counts.index), "dataset")
        print(f"\nnumber of clusters found, and evidence\n{counts[['dataset', 'ari', 'kind']].to_string(index=False)}")
    elif arguments.what == "count":
        designs = study_designs()
        easy = [cell for cell in cells if designs[cell[0]].balanced and designs[cell[0]].average_overlap <= 0.01]
        show_count(run((delayed(count_cell)(*cell) for cell in easy), **options))
    elif arguments.what == "count-shapes":
        cells = itertools.product(COUNTED, NOISE_COLUMNS, seeds)
        show_count(run((delayed(count_shape_cell)(*cell) for cell in cells), **options))
    else:
        show_study(pd.read_csv(Path(arguments.file)))


if __name__ == "__main__":
    main()

"""Automatic choice against what a user would do instead; prints the tables of docs/decisions/automatic-choice.md.

.venv/bin/python experiments/automatic_choice.py study --seeds 6-10 --out choice.csv --n-jobs 2
.venv/bin/python experiments/automatic_choice.py shapes --seeds 6-10
.venv/bin/python experiments/automatic_choice.py real --data-dir FOLDER
.venv/bin/python experiments/automatic_choice.py count --seeds 6-10
.venv/bin/python experiments/automatic_choice.py table choice.csv

Seeds 1 to 5 were used to develop the method, seeds 6 to 10 to report on it.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from kfrc import FCM, KFRC
from kfrc._numerics import standardize
from kfrc.datasets import BENCHMARK_NAMES, load_benchmark
from kfrc.fitting import KernelFit, TableView, fit_table, resolve_settings
from kfrc.metrics import adjusted_rand_score, frobenius_adjusted_rand_score
from kfrc.simulation import Shape, make_shape_dataset, make_study_dataset, study_designs
from kfrc_app.study.methods import METHODS, Method
from kfrc_app.study.tables import published

PEERS = [
    "vFCM",
    "FRC (power)",
    "FRC (complementary_root)",
    "GaussianMixture (tied)",
    "GaussianMixture (best BIC)",
    "KMeans",
    "SpectralClustering",
]
NOISE_COLUMNS = (2, 6)

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


OTHERS: dict[str, Method] = {
    **{name: METHODS[name] for name in PEERS},
    "GaussianMixture (diag)": diagonal_mixture,
    "FCM": fcm,
    "KFRC.paper": paper_defaults,
}


def fit_default(X: np.ndarray, n_clusters: int, seed: int) -> KernelFit:
    """What ``KFRC(n_clusters, random_state=seed)`` computes, with all candidates of its choice."""
    settings = resolve_settings(KFRC().get_params(deep=False), n_clusters)
    view = TableView.of(X, None, standardize=True)
    return fit_table(view, settings, np.random.default_rng(seed), lambda text: None)


def compare(X: np.ndarray, n_clusters: int, seed: int, score: Callable[[np.ndarray], Record]) -> list[Record]:
    """Scores of the automatic choice, of the best of its candidates (with labels), and of the others."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = fit_default(X, n_clusters, seed)
        selection = fit.selection
        records = [
            {"method": "KFRC", "kind": selection.opinion.name, "support": selection.support}
            | score(fit.solution.memberships),
            {"method": "KFRC (posterior)"} | score(fit.posterior.memberships),
        ]
        if len(selection.opinion.posterior) == len(X):
            candidates = [score(candidate.solution.memberships) for candidate in selection.candidates]
            best = max(candidates, key=lambda record: record.get("fari_fuzzy", record["ari"]))
            records.append({"method": "best candidate (with labels)"} | best)
        for name, method in OTHERS.items():
            try:
                records.append({"method": name} | score(method(standardize(X), n_clusters, seed)))
            except ValueError as error:
                print(f"{name}: {error}")
    return records


def scorer(labels: np.ndarray, posteriors: np.ndarray | None = None) -> Callable[[np.ndarray], Record]:
    """What measures memberships against the truth."""

    def score(U: np.ndarray) -> Record:
        record = {"ari": float(adjusted_rand_score(labels, U.argmax(axis=1)))}
        if posteriors is not None:
            record["fari_fuzzy"] = float(frobenius_adjusted_rand_score(posteriors, U))
        return record

    return score


def study_cell(position: int, seed: int) -> list[Record]:
    """Records of one study design with one seed."""
    design = study_designs()[position]
    data = make_study_dataset(design, random_state=seed)
    facts = {"design": position, "seed": seed, "snr": _snr(design), "n_clusters": design.n_clusters}
    records = compare(data.X, design.n_clusters, seed, scorer(data.labels, data.posteriors))
    return [facts | record for record in records]


def _snr(design: Any) -> float:
    return float("inf") if design.n_noise == 0 else design.n_signal / design.n_noise


def shape_cell(shape: str, n_noise: int, seed: int) -> list[Record]:
    """Records of one shape with noise columns."""
    data = make_shape_dataset(shape, n_noise=n_noise, random_state=seed)
    records = compare(data.X, len(np.unique(data.labels)), seed, scorer(data.labels))
    return [{"shape": shape, "n_noise": n_noise, "seed": seed} | record for record in records]


def real_cell(name: str, data_dir: str | None) -> list[Record]:
    """Records of one benchmark data set, with the number of clusters found."""
    data = load_benchmark(name, data_dir=data_dir)
    X = np.asarray(data.data, dtype=float)
    X = X[:, X.std(axis=0) > 0]
    labels = np.asarray(data.target)
    records = compare(X, len(np.unique(labels)), 0, scorer(labels))
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
    means = by_method.mean()
    print(f"\nshare of the best candidate: {means['KFRC'] / means['best candidate (with labels)']:.4f}")
    groups = frame[frame.method == "KFRC"].groupby(["snr", "n_clusters"]).fari_fuzzy.agg(["mean", "sem"])
    table_c1 = published("table_c1").query("metric == 'fari_fuzzy' and method.str.startswith('KFRC')")
    groups["paper (labels)"] = (
        table_c1.assign(snr=table_c1.snr.astype(float)).groupby(["snr", "n_clusters"]).value.max()
    )
    groups["tied mixture"] = (
        frame[frame.method == "GaussianMixture (tied)"].groupby(["snr", "n_clusters"]).fari_fuzzy.mean()
    )
    print(f"\nby signal-to-noise ratio and number of clusters\n{groups.round(3).to_string()}")


def show_groups(frame: pd.DataFrame, group: str) -> None:
    """Print mean ARI by method and group."""
    table = frame.pivot_table(index="method", columns=group, values="ari")
    table["mean"] = table.mean(axis=1)
    print(f"mean ARI\n{table.sort_values('mean', ascending=False).round(3).to_string()}")


def show_count(frame: pd.DataFrame) -> None:
    """Print how often the number of clusters is right."""
    print(f"right number of clusters: {frame.right.mean():.3f} of {len(frame)} data sets")
    print(frame.pivot_table(index="snr", columns="n_clusters", values="right").round(3).to_string())


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["study", "shapes", "real", "count", "table"])
    parser.add_argument("file", nargs="?", help="results to show again, with table")
    parser.add_argument("--seeds", default="6-10")
    parser.add_argument("--every", type=int, default=1, help="every k-th design only")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--data-dir")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    first, _, last = arguments.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    designs = range(0, len(study_designs()), arguments.every)
    options = {"n_jobs": arguments.n_jobs, "out": arguments.out}
    if arguments.what == "study":
        show_study(run((delayed(study_cell)(*cell) for cell in itertools.product(designs, seeds)), **options))
    elif arguments.what == "shapes":
        cells = itertools.product(sorted(Shape.registry), NOISE_COLUMNS, seeds)
        show_groups(run((delayed(shape_cell)(*cell) for cell in cells), **options), "shape")
    elif arguments.what == "real":
        names = [name for name in BENCHMARK_NAMES if name != "iris"]
        frame = run((delayed(real_cell)(name, arguments.data_dir) for name in names), **options)
        counts = frame[frame.method == "number of clusters"]
        show_groups(frame.drop(counts.index), "dataset")
        print(f"\nnumber of clusters found, and evidence\n{counts[['dataset', 'ari', 'kind']].to_string(index=False)}")
    elif arguments.what == "count":
        easy = [k for k in designs if study_designs()[k].balanced and study_designs()[k].average_overlap <= 0.01]
        show_count(run((delayed(count_cell)(*cell) for cell in itertools.product(easy, seeds)), **options))
    else:
        show_study(pd.read_csv(Path(arguments.file)))


if __name__ == "__main__":
    main()

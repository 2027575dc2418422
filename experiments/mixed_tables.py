"""Tables of any type with known classes: adjusted Rand index of KFRC and of other methods, without labels.

    python experiments/mixed_tables.py FOLDER [--names penguins lymph] [--peers | --prices | --existence]

FOLDER holds one ``NAME.csv`` per table, with a last column ``label``, and ``types.json`` with the types of the columns
and the number of classes. If it holds ``peers_ari.csv``, those scores are printed beside ours. ``--peers`` runs
k-prototypes (kmodes) and latent classes (StepMix) here if they are installed; neither is needed by the library. Labels
are used for the score only. ``--prices`` compares two prices of levels on mixtures from random starts, and
``--existence`` tests whether there is more than one group.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from missing_values import filled, read_typed

from kfrc import KFRC
from kfrc.columns import table_of
from kfrc.existence import test_existence
from kfrc.metrics import adjusted_rand_score
from kfrc.mixtures import Diagonal, MixtureKind, Parts, fit_mixed
from kfrc.mixtures.mixed import price_of_levels


def k_prototypes(table: pd.DataFrame, n_clusters: int) -> np.ndarray:
    """Huang's k-prototypes on standardized numbers and modes, blanks filled in."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    complete = filled(table)
    numeric = [title for title in complete if pd.api.types.is_numeric_dtype(complete[title])]
    levels = [title for title in complete if title not in numeric]
    numbers = (complete[numeric] - complete[numeric].mean()) / complete[numeric].std()
    if not levels:
        from sklearn.cluster import KMeans

        return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(numbers)
    if not numeric:
        return KModes(n_clusters, random_state=0).fit_predict(complete.astype(str).to_numpy())
    values = np.column_stack([numbers.to_numpy().astype(object), complete[levels].astype(str).to_numpy()])
    places = list(range(len(numeric), values.shape[1]))
    return KPrototypes(n_clusters, random_state=0).fit_predict(values, categorical=places)


def latent_classes(table: pd.DataFrame, n_clusters: int) -> np.ndarray:
    """StepMix with Gaussian and categorical measurements, blanks left to it."""
    from stepmix.stepmix import StepMix
    from stepmix.utils import get_mixed_descriptor

    coded = table.copy()
    numeric = [title for title in coded if pd.api.types.is_numeric_dtype(coded[title])]
    levels = [title for title in coded if title not in numeric]
    for title in levels:
        coded[title] = coded[title].cat.codes.replace(-1, np.nan).astype(float)
    coded[numeric] = (coded[numeric] - coded[numeric].mean()) / coded[numeric].std()
    kinds = {"continuous_nan": numeric, "categorical_nan": levels}
    data, descriptor = get_mixed_descriptor(coded, **{kind: titles for kind, titles in kinds.items() if titles})
    return StepMix(n_clusters, measurement=descriptor, n_init=10, random_state=0, verbose=0).fit(data).predict(data)


PEERS = {"k-prototypes": k_prototypes, "latent classes": latent_classes}


def peer_score(cluster, table: pd.DataFrame, labels: pd.Series, n_clusters: int) -> str:
    """Its score, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f"{adjusted_rand_score(labels, cluster(table, n_clusters)):.3f}"
    except ImportError:
        return "not installed"
    except Exception as error:  # what another program does with such a table is part of the comparison
        return f"failed ({type(error).__name__})"


def compare_prices(table: pd.DataFrame, labels: pd.Series, n_clusters: int, n_starts: int = 24) -> None:
    """The best of many mixtures by BIC and by the price of Cheeseman and Stutz, with the lead of each."""
    typed = table_of(table)
    parts, rng, found = Parts(typed), np.random.default_rng(0), []
    n_shares = n_clusters * sum(int((shares > 0).sum()) - 1 for shares in parts.overall)
    kind = MixtureKind(Diagonal())
    for _ in range(n_starts):
        U = rng.dirichlet(np.full(n_clusters, 0.3), size=len(typed))
        fit = fit_mixed(typed, U, kind, max_iter=200, tol=1e-6, parts=parts)
        U = fit.expectation.posterior
        likelihood = float(typed.mass @ fit.expectation.log_densities)
        score = adjusted_rand_score(labels, U.argmax(axis=1))
        found.append((likelihood - 0.5 * np.log(typed.total) * n_shares, likelihood - price_of_levels(parts, U), score))
    by_bic, by_marginal = (max(found, key=lambda one, k=k: one[k]) for k in (0, 1))
    print(f"  {n_shares // n_clusters} shares for each of {n_clusters} components")
    print(f"  best by BIC: ARI {by_bic[2]:.2f}; best by the price of levels: ARI {by_marginal[2]:.2f}")
    print(f"  BIC prefers the first by {by_bic[0] - by_marginal[0]:.0f}, ", end="")
    print(f"the price of levels the second by {by_marginal[1] - by_bic[1]:.0f}")


def main() -> None:
    """Print a line per table, then all scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--prices", action="store_true")
    parser.add_argument("--existence", action="store_true")
    options = parser.parse_args()
    told = json.loads((options.folder / "types.json").read_text())
    known = options.folder / "peers_ari.csv"
    published = pd.read_csv(known, index_col=0) if known.exists() else None
    rows = {}
    for name in options.names or list(told):
        table, labels = read_typed(options.folder, name)
        if options.prices or options.existence:
            print(name)
            if options.prices:
                compare_prices(table, labels, told[name]["classes"])
            if options.existence:
                print(f"  one group: p = {test_existence(table_of(table), random_state=0).p_value:.2g}")
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KFRC(told[name]["classes"], random_state=0).fit(table)
        seconds = time.process_time() - began
        rows[name] = {
            "KFRC": adjusted_rand_score(labels, model.labels_),
            "posterior": adjusted_rand_score(labels, model.posterior_memberships_.argmax(axis=1)),
        }
        print(f"{name:12s} KFRC {rows[name]['KFRC']:.3f}  posterior {rows[name]['posterior']:.3f}", end="  ")
        print(f"({model.opinion_.name}, {seconds:.1f} s of CPU)", end="  ")
        if options.peers:
            scores = {peer: peer_score(run, table, labels, told[name]["classes"]) for peer, run in PEERS.items()}
            print("  ".join(f"{peer} {value}" for peer, value in scores.items()), end="")
        print(flush=True)
    if not rows:
        return
    found = pd.DataFrame(rows).T
    if published is not None:
        found = found.join(published)
    print(found.round(3).to_string())
    print(found.mean().round(3).to_string())


if __name__ == "__main__":
    main()

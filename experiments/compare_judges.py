"""Ways to judge the same candidates without labels; prints the tables of docs/decisions/automatic-choice.md.

OMP_NUM_THREADS=1 .venv/bin/python experiments/compare_judges.py --every 13

Development data only: study designs with seeds 1 to 5 and the shapes with seeds 1 and 2. With ``--every k`` each seed
takes every k-th design, and the next seed begins one design later.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from kfrc import KFRC
from kfrc._numerics import standardize
from kfrc.dissimilarity import Dissimilarity
from kfrc.fitting import resolve_settings
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import gram_family
from kfrc.judges import MixtureJudge, Opinion
from kfrc.metrics import (
    adjusted_rand_score,
    frobenius_adjusted_rand_score,
    fuzzy_silhouette_score,
    xie_beni_index,
)
from kfrc.mixtures import Mixture, resolution
from kfrc.relational import Spectral, Start
from kfrc.relational.solver import descend, is_uniform
from kfrc.selection import Grid, SearchOptions, TunedKernel, fuzziness_path, propose, solve_candidates, tune_kernels
from kfrc.selection.tuned_kernels import MAX_ITER, PROPOSING, TOL
from kfrc.simulation import make_shape_dataset, make_study_dataset, study_designs
from kfrc.spectrum import spectrum_of

STUDY_SEEDS = range(1, 6)
SHAPE_SEEDS = range(1, 3)
SHAPES = ("heavy_tails", "imbalanced", "moons", "rings")
NOISE_COLUMNS = (2, 6)

KINDS = {kind.name: kind for kind in MixtureJudge().kinds}
DEFAULT = "mixture: best BIC of five kinds, EM converged (default)"
EM_STEPS = (1, 5, 20)
FIXED_M = 1
"""Position of m = 1.3 among the proposals of a kernel, for judges that cannot see m."""

N_PERMUTATIONS = 5
N_SPLITS = 3

FIRST, AGAIN, POSTERIOR = "first round", "solved again", "posterior"

Record = dict[str, Any]
Score = Callable[[np.ndarray], float]


@dataclass(frozen=True)
class Problem:
    """A data set with the partitions that every judge is shown: three, from hard to fuzzy, under each kernel."""

    facts: Record
    X: np.ndarray
    n_clusters: int
    score: Score
    seed: int
    grid: Grid = field(init=False)
    kernels: list[TunedKernel] = field(init=False)
    proposals: list[np.ndarray] = field(init=False)
    seconds: float = field(init=False)

    def __post_init__(self) -> None:
        start = time.process_time()
        rng = np.random.default_rng(self.seed)
        grid = resolve_settings(KFRC().get_params(deep=False), self.n_clusters).tuning.grid
        kernels = tune_kernels(self.X, self.n_clusters, grid, SearchOptions(), rng)
        proposals = propose(kernels, self.n_clusters, grid.fuzzifiers[0], Spectral(), rng)
        seconds = time.process_time() - start
        for name, value in {"grid": grid, "kernels": kernels, "proposals": proposals, "seconds": seconds}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def usable(self) -> np.ndarray:
        """Which proposals are not (nearly) uniform and leave at least two clusters with members."""
        return np.array([not is_uniform(U) and len(set(U.argmax(axis=1))) > 1 for U in self.proposals])

    @property
    def path(self) -> tuple[Fuzzifier, ...]:
        """The fuzzifiers of the proposals under each kernel."""
        return fuzziness_path(type(self.grid.fuzzifiers[0])(), PROPOSING)

    @property
    def names(self) -> list[str]:
        """Settings of the proposals, for people."""
        return [
            f"α = {s.max_anisotropy:g}, level {s.search.level:g}, m = {t.m:.1f}"
            for s in self.kernels
            for t in self.path
        ]

    def by_kernel(self, values: Sequence[float]) -> np.ndarray:
        """Values of kernels as values of proposals: only the one with the fixed m can be chosen."""
        return np.array([v if k == FIXED_M else -np.inf for v in values for k in range(len(self.path))])


# --- judges that rank proposals -------------------------------------------------------------------------------------


def calibrated_eigenvalues(problem: Problem) -> dict[str, np.ndarray]:
    """Sum of the leading c − 1 eigenvalues against its mean on permuted columns, as a difference and as a ratio."""
    rng = np.random.default_rng(problem.seed)
    found = np.array([_leading_sum(s.dissimilarity.gram, problem.n_clusters) for s in problem.kernels])
    chance = np.zeros_like(found)
    for _ in range(N_PERMUTATIONS):
        permuted = rng.permuted(problem.X, axis=0)
        families = {s.kernel: gram_family(permuted, s.kernel) for s in problem.kernels}
        grams = [families[s.kernel].at(s.search.bandwidths) for s in problem.kernels]
        chance += [_leading_sum(gram, problem.n_clusters) / N_PERMUTATIONS for gram in grams]
    return {
        "eigenvalues minus permuted, m = 1.3": problem.by_kernel(found - chance),
        "eigenvalues over permuted, m = 1.3": problem.by_kernel(found / chance),
    }


def _leading_sum(gram: Any, n_clusters: int) -> float:
    return float(spectrum_of(gram, n_clusters).eigenvalues[: n_clusters - 1].sum())


def stability(problem: Problem) -> dict[str, np.ndarray]:
    """Agreement on all rows of the partitions found on two halves of them, mean over random splits."""
    rng = np.random.default_rng(problem.seed)
    scores = np.zeros(len(problem.proposals))
    for _ in range(N_SPLITS):
        halves = np.array_split(rng.permutation(len(problem.X)), 2)
        one, other = ([U for s in problem.kernels for U in _extended(problem, s, rows, rng)] for rows in halves)
        scores += [_agreement(U, V) / N_SPLITS for U, V in zip(one, other, strict=True)]
    return {f"stability, {N_SPLITS} random halvings": scores}


def _extended(problem: Problem, tuned: TunedKernel, rows: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Partitions of a subset under a kernel, with the other rows joining the centers found."""
    gram = gram_family(problem.X[rows], tuned.kernel).at(tuned.search.bandwidths)
    dissimilarity = Dissimilarity(gram)
    U = Start.from_name("spectral").memberships(dissimilarity, problem.n_clusters, rng)
    for t in problem.path:
        solution = descend(dissimilarity, t, U, MAX_ITER, TOL)
        U = solution.memberships
        distances = gram.centers(solution.prototypes).squared_distances(problem.X)
        yield t.memberships(np.where(np.isfinite(solution.squared_norms), distances, np.inf))


def silhouette_in_kernel_space(problem: Problem) -> dict[str, np.ndarray]:
    """Fuzzy silhouette with the distances thunder each kernel's kernel induces."""
    scores = []
    per_kernel = len(problem.path)
    for k, tuned in enumerate(problem.kernels):
        R = tuned.dissimilarity.columns(range(len(problem.X)))
        distances = np.sqrt(0.5 * (R + R.T))
        proposals = problem.proposals[k * per_kernel : (k + 1) * per_kernel]
        scores += [_or_worst(fuzzy_silhouette_score, distances, U, metric="precomputed") for U in proposals]
    return {"fuzzy silhouette, induced space": np.array(scores)}


def silhouette_in_data(problem: Problem) -> dict[str, np.ndarray]:
    """Fuzzy silhouette in the standardized data."""
    scores = [_or_worst(fuzzy_silhouette_score, problem.X, U) for U in problem.proposals]
    return {"fuzzy silhouette, data": np.array(scores)}


def xie_beni(problem: Problem) -> dict[str, np.ndarray]:
    """Xie-Beni index in the standardized data, negative as smaller is better."""
    scores = [-_or_worst(xie_beni_index, problem.X, U, worst=np.inf) for U in problem.proposals]
    return {"Xie-Beni, data": np.array(scores)}


def _or_worst(index: Callable[..., float], *arguments: Any, worst: float = -np.inf, **options: Any) -> float:
    try:
        return index(*arguments, **options)
    except ValueError:  # one cluster has everything, or nothing
        return worst


RANKERS = (calibrated_eigenvalues, stability, silhouette_in_kernel_space, silhouette_in_data, xie_beni)


# --- judges with an opinion -----------------------------------------------------------------------------------------


def mixture_opinions(problem: Problem) -> Iterator[tuple[str, np.ndarray, float]]:
    """Posteriors of the mixture judges by name, with the seconds spent on each."""
    by_kind: list[Opinion] = []
    spent: dict[str, float] = {}
    for name, kind in KINDS.items():
        opinions, spent[name] = timed(MixtureJudge(kinds=(kind,)).examine, problem.X, problem.proposals)
        by_kind += opinions
        yield f"mixture: {name}", opinions[0].posterior, spent[name]
    total = sum(spent.values())
    yield DEFAULT, max(by_kind, key=lambda opinion: opinion.evidence).posterior, total
    gaussian = max((o for o in by_kind if not o.name.endswith("_t")), key=lambda opinion: opinion.evidence)
    seconds = sum(value for name, value in spent.items() if not name.endswith("_t"))
    yield "mixture: best BIC of the Gaussian kinds", gaussian.posterior, seconds
    yield "mixture: best ICL of five kinds", max(by_kind, key=icl).posterior, total
    U, seconds = timed(best_first_step, problem)
    yield "mixture: best BIC, no EM step", U, seconds
    for steps in EM_STEPS:
        # The judge counts the step after which it picks finalists separately.
        opinions, seconds = timed(MixtureJudge(max_iter=steps - 1).examine, problem.X, problem.proposals)
        yield f"mixture: best BIC, {steps} EM step{'s' * (steps > 1)}", opinions[0].posterior, seconds


def icl(opinion: Opinion) -> float:
    """Integrated classification likelihood: BIC minus the entropy of the posterior."""
    P = opinion.posterior
    return opinion.evidence + float(np.sum(P * np.log(np.maximum(P, np.finfo(float).tiny))))


def best_first_step(problem: Problem) -> np.ndarray:
    """The proposal with the best BIC when the mixture is what its memberships imply, without an expectation step."""
    X, n_clusters = problem.X, problem.n_clusters
    half_log = 0.5 * math.log(len(X))
    ridge = resolution(X)

    def evidence(U: np.ndarray) -> float:
        return max(
            Mixture.from_memberships(X, U, kind, ridge=ridge).expectation(X).log_likelihood
            - half_log * kind.n_parameters(n_clusters, X.shape[1])
            for kind in KINDS.values()
        )

    return max(problem.proposals, key=evidence)


# --- what comes of a judgment ---------------------------------------------------------------------------------------


def compare(problem: Problem) -> list[Record]:
    """Scores, with labels, of what every judge chooses without."""
    scores = [problem.score(U) for U in problem.proposals]
    records = [
        {"judge": "best (with labels)", "use": FIRST, "score": max(scores), "seconds": problem.seconds},
        {"judge": "mean of all", "use": FIRST, "score": float(np.mean(scores))},
        *({"judge": f"fixed {name}", "use": FIRST, "score": s} for name, s in zip(problem.names, scores, strict=True)),
    ]
    for ranker in RANKERS:
        rankings, seconds = timed(ranker, problem)
        for name, values in rankings.items():
            chosen = int(np.where(problem.usable, values, -np.inf).argmax())
            records.append({"judge": name, "use": FIRST, "score": scores[chosen], "seconds": seconds})
    followed: list[tuple[np.ndarray, list[Record]]] = []
    for name, posterior, seconds in mixture_opinions(problem):
        outcome = next((known for seen, known in followed if seen is posterior), None)
        if outcome is None:
            outcome = follow(problem, posterior, scores)
            followed.append((posterior, outcome))
        records += [record | {"judge": name, "seconds": seconds} for record in outcome]
        if name == DEFAULT:
            records += best_solved_again(problem, posterior)
    return [problem.facts | record for record in records]


def follow(problem: Problem, posterior: np.ndarray, scores: Sequence[float]) -> list[Record]:
    """Scores of an opinion itself, of the proposal nearest to it, and of the nearest after solving again from it."""
    nearest = int(np.argmax([_agreement(posterior, U) for U in problem.proposals]))
    candidates = solve_again(problem, posterior)
    chosen = max(candidates, key=lambda U: _agreement(posterior, U))
    return [
        {"use": FIRST, "score": scores[nearest]},
        {"use": AGAIN, "score": problem.score(chosen)},
        {"use": POSTERIOR, "score": problem.score(posterior)},
    ]


def best_solved_again(problem: Problem, posterior: np.ndarray) -> list[Record]:
    """The best, with labels, of the candidates that the default judge chooses from."""
    candidates, seconds = timed(solve_again, problem, posterior)
    best = max(problem.score(U) for U in candidates)
    return [{"judge": "best (with labels)", "use": AGAIN, "score": best, "seconds": seconds}]


def solve_again(problem: Problem, posterior: np.ndarray) -> list[np.ndarray]:
    """Memberships under every kernel, at every m from the opinion, as KFRC does it."""
    candidates = solve_candidates(problem.kernels, problem.grid.fuzzifiers, problem.n_clusters, posterior)
    return [candidate.solution.memberships for candidate in candidates]


def _agreement(U: np.ndarray, V: np.ndarray) -> float:
    return float(np.nan_to_num(frobenius_adjusted_rand_score(U, V)))


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What a function returns, and the CPU seconds it took."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


# --- data and tables ------------------------------------------------------------------------------------------------


def study_problems(every: int) -> Iterator[Problem]:
    """Study designs, each seed with other ones."""
    designs = study_designs()
    for seed in STUDY_SEEDS:
        for k in range((seed - 1) % every, len(designs), every):
            data = make_study_dataset(designs[k], random_state=seed)

            def score(U: np.ndarray, truth: np.ndarray = data.posteriors) -> float:
                return float(frobenius_adjusted_rand_score(truth, U))

            facts = {"data": "study", "column": f"c = {designs[k].n_clusters}", "case": f"{k}/{seed}"}
            yield Problem(facts, standardize(data.X), designs[k].n_clusters, score, seed)


def shape_problems() -> Iterator[Problem]:
    """Shapes with few and many noise columns."""
    for shape in SHAPES:
        for n_noise in NOISE_COLUMNS:
            for seed in SHAPE_SEEDS:
                data = make_shape_dataset(shape, n_noise=n_noise, random_state=seed)

                def score(U: np.ndarray, labels: np.ndarray = data.labels) -> float:
                    return float(adjusted_rand_score(labels, U.argmax(axis=1)))

                facts = {"data": "shapes", "column": shape, "case": f"{shape}/{n_noise}/{seed}"}
                yield Problem(facts, standardize(data.X), len(np.unique(data.labels)), score, seed)


def table(frame: pd.DataFrame, use: str, digits: int = 3) -> str:
    """Markdown: judges by mean FARI_fuzzy on the study designs, with groups, shapes (ARI) and CPU seconds."""
    frame = frame[frame.use == use]
    study = frame[frame.data == "study"]
    scores = study.pivot_table(index="judge", columns="case", values="score", sort=False)
    summary = pd.DataFrame({"all": scores.mean(axis=1), "SE": scores.sem(axis=1)})
    if DEFAULT in scores.index:
        behind = scores - scores.loc[DEFAULT]
        summary["− default"], summary["SE of it"] = behind.mean(axis=1), behind.sem(axis=1)
    groups = frame.pivot_table(index="judge", columns="column", values="score", sort=False)
    summary = summary.join(groups[[*sorted(study.column.unique()), *SHAPES]])
    summary["CPU s"] = study.groupby("judge").seconds.mean()
    fixed = summary.index.str.startswith("fixed")
    if fixed.any():
        best = summary[fixed].sort_values("all").tail(1).rename(index=lambda name: f"best {name} (with labels)")
        summary = pd.concat([summary[~fixed], best])
    return markdown(summary.sort_values("all", ascending=False), digits)


def markdown(frame: pd.DataFrame, digits: int) -> str:
    """A data frame as a Markdown table."""
    lines = [["", *frame.columns], ["---", *["---:"] * len(frame.columns)]]
    for name, row in frame.iterrows():
        lines.append([str(name), *("–" if np.isnan(value) else f"{value:.{digits}f}" for value in row)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=19, help="every k-th design only")
    parser.add_argument("--out", help="where to keep all scores (CSV)")
    arguments = parser.parse_args()
    records: list[Record] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problems in (study_problems(arguments.every), shape_problems()):
            for problem in problems:
                records += compare(problem)
    frame = pd.DataFrame(records)
    if arguments.out is not None:
        frame.to_csv(arguments.out, index=False)
    print(f"{frame[frame.data == 'study'].case.nunique()} study data sets, FARI_fuzzy; shapes, ARI")
    print(f"CPU {time.process_time():.0f} s")
    for use in (FIRST, AGAIN, POSTERIOR):
        print(f"\n### {use}\n\n{table(frame, use)}")


if __name__ == "__main__":
    main()

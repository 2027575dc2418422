"""One evaluation of the criterion with its gradient, against scikit-learn's kernel and a naive transcription."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Row, cpu_seconds, mixture
from sklearn.metrics.pairwise import rbf_kernel

from kfrc.bandwidth.problem import Problem
from kfrc.criteria import Criterion
from kfrc.gram import gram_family
from kfrc.kernels import Kernel

CRITERION = Criterion.from_name("log_sum")


def evaluate(X, kernel: str, n_clusters: int, log_bandwidths):
    """A function that computes value and gradient once, as the search does."""
    n_features = X.shape[1]
    family = gram_family(X, Kernel.from_name(kernel))
    problem = Problem(family, n_clusters, np.inf, np.zeros(n_features), (-np.inf, np.inf))

    def run():
        evaluation = problem.evaluate_for(CRITERION, log_bandwidths)
        return evaluation.gradients([problem.criterion_weights(CRITERION, evaluation)])

    return run


def naive(X, kernel: str, n_clusters: int, log_bandwidths):
    """The paper's formulas written down: full F, full eigendecomposition, one n × n derivative per feature."""
    n = len(X)
    H = np.eye(n) - 1.0 / n
    theta = np.exp(log_bandwidths)

    def run():
        squares = [np.subtract.outer(x, x) ** 2 / t**2 for x, t in zip(X.T, theta, strict=True)]
        parts = [np.exp(-0.5 * s) for s in squares]
        K = sum(parts) if kernel == "sum" else np.prod(parts, axis=0)
        centered = H @ K @ H
        D = np.diagonal(centered)
        F = centered / np.sqrt(np.outer(D, D)) / n
        values, vectors = np.linalg.eigh(F)
        gradient = np.zeros((n_clusters - 1, X.shape[1]))
        for d in range(X.shape[1]):
            slope = H @ ((parts[d] if kernel == "sum" else K) * squares[d]) @ H
            pull = np.diagonal(slope) / D
            dF = slope / np.sqrt(np.outer(D, D)) / n - 0.5 * F * np.add.outer(pull, pull)
            for i in range(n_clusters - 1):
                v = vectors[:, -1 - i]
                gradient[i, d] = v @ dF @ v
        return gradient.T @ (1.0 / values[:-n_clusters:-1])

    return run


def rows() -> Iterator[Row]:
    bounds = {("sum", 1000): "<= 1", ("sum", 2310): "<= 0.5", ("product", 1000): "<= 4", ("product", 2310): "<= 5"}
    for n, p, c in [(200, 10, 4), (1000, 10, 4), (2310, 18, 7)]:
        X, _ = mixture(n, p, c)
        rng = np.random.default_rng(1)
        for level in (0.5, 3.0):
            log_bandwidths = level + 0.2 * rng.standard_normal(p)
            for kernel in ("sum", "product"):
                ours, theirs = cpu_seconds(evaluate(X, kernel, c, log_bandwidths), lambda X=X: rbf_kernel(X))
                what = f"{kernel} criterion + gradient / rbf_kernel(X), n={n} p={p} c={c} log θ={level:g}"
                yield Row(what, ours / theirs, bounds.get((kernel, n), ""), f"{1e3 * ours:.2f} ms")
    X, _ = mixture(1000, 10, 4)
    log_bandwidths = np.full(10, 0.5)
    for kernel, bound in (("product", ">= 20"), ("sum", ">= 80")):
        functions = [make(X, kernel, 4, log_bandwidths) for make in (naive, evaluate)]
        assert np.allclose(functions[0](), functions[1]()[0], rtol=1e-6, atol=1e-9)
        slow, fast = cpu_seconds(*functions, repeats=3)
        yield Row(f"naive transcription / {kernel} criterion + gradient, n=1000 p=10 c=4", slow / fast, bound)

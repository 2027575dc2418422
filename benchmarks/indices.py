"""Agreement indices at n = 10⁴, against filling one n × n matrix with scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Row, cpu_seconds
from sklearn.metrics.pairwise import rbf_kernel

from kfrc.metrics import frobenius_adjusted_rand_score, fuzzy_adjusted_rand_score


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(4), size=10_000)
    labels = rng.integers(4, size=10_000)
    X = rng.standard_normal((10_000, 10))
    fuzzy, frobenius, yardstick = cpu_seconds(
        lambda: fuzzy_adjusted_rand_score(labels, U),
        lambda: frobenius_adjusted_rand_score(U, np.eye(4)[labels]),
        lambda: rbf_kernel(X),
        repeats=3,
    )
    yield Row("fuzzy_adjusted_rand_score / rbf_kernel, n=10^4", fuzzy / yardstick, "", f"{fuzzy:.2f} s")
    yield Row(
        "frobenius_adjusted_rand_score / rbf_kernel, n=10^4", frobenius / yardstick, "", f"{1e3 * frobenius:.1f} ms"
    )

"""How the Gram matrix is held: the choice, its limits, and messages before memory runs out."""

import numpy as np
import pytest

from kfrc import FRC, KFRC, _numerics
from kfrc.gram import ChebyshevGrams, DenseGrams, FactoredGrams, NystromGrams, gram_family
from kfrc.kernels.gaussian import GaussianProduct, GaussianSum
from kfrc.kernels.linear import Linear


@pytest.mark.parametrize(
    ("kernel", "n_samples", "expected"),
    [
        (GaussianSum(), 100, DenseGrams),
        (GaussianSum(), 1000, ChebyshevGrams),
        (GaussianProduct(), 1000, DenseGrams),
        (GaussianProduct(), 6000, NystromGrams),
        (Linear(), 100, FactoredGrams),
        (Linear(), 6000, FactoredGrams),
    ],
)
def test_auto_takes_the_cheapest_form_that_is_exact_while_it_can(kernel, n_samples, expected):
    X = np.random.default_rng(0).standard_normal((n_samples, 3))
    assert type(gram_family(X, kernel, "auto", rank=20)) is expected


def test_a_form_that_a_kernel_does_not_have_is_refused_with_the_alternative():
    with pytest.raises(ValueError, match=r"needs a kernel that is a sum over features.*nystrom"):
        gram_family(np.eye(4), GaussianProduct(), "low_rank")


def test_a_kernel_without_a_name_is_called_by_its_class_in_a_refusal():
    class OwnKernel(GaussianProduct):
        """A user's kernel."""

    with pytest.raises(ValueError, match="which 'OwnKernel' is not"):
        gram_family(np.eye(4), OwnKernel(), "low_rank")
    with pytest.raises(ValueError, match="unknown approximation 'fast': choose one of auto, none"):
        KFRC(2, approximation="fast").fit(np.random.default_rng(0).standard_normal((20, 2)))


@pytest.mark.slow
def test_a_matrix_that_cannot_fit_is_refused_before_it_is_allocated(monkeypatch):
    monkeypatch.setattr(_numerics, "available_memory", lambda: 2.0**20)
    X = np.random.default_rng(0).standard_normal((1000, 3))
    with pytest.raises(MemoryError, match=r"1000 x 1000 Gram matrix needs 8,000,000 bytes.*approximation=.nystrom"):
        KFRC(2, kernel="product", approximation="none").fit(X)
    with pytest.raises(MemoryError, match=r"dissimilarity matrix needs 16,000,000 bytes.*sqeuclidean"):
        FRC(2, metric="cityblock").fit(X)
    KFRC(2, kernel="sum", n_starts=1, random_state=0).fit(X)


def test_available_memory_is_a_positive_number():
    assert _numerics.available_memory() > 0

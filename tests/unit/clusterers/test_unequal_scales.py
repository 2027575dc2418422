"""Columns whose scales differ a hundredfold: methods that count units say so, the others need not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kfrc import FANNY, FCM, FRC, KFRC
from kfrc.exceptions import UnequalScalesWarning
from strategies import CLUSTERERS

COUNTING_UNITS = [method for method in CLUSTERERS if method is not KFRC]
METRICS = ["euclidean", "manhattan", "chebyshev"]


def table(seed, scales, n_rows=40):
    """Two groups, with columns of these scales."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 2
    return (rng.normal(size=(n_rows, len(scales))) + 4 * group[:, None]) * np.asarray(scales)


def scale_warnings(estimator, X, **arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, **arguments)
    return [warning for warning in caught if warning.category is UnequalScalesWarning]


@pytest.mark.parametrize("method", COUNTING_UNITS)
@pytest.mark.parametrize("seed", [1, 2])
def test_scales_that_differ_a_hundredfold_are_named_once_at_the_line_of_the_user(method, seed):
    X = table(seed, [1.0, 3e4, 5.0])
    (warning,) = scale_warnings(method(2, random_state=0), X)
    assert warning.filename == __file__
    message = str(warning.message)
    assert message.startswith("column 1 varies ")
    assert "column 0" in message
    assert "StandardScaler" in message
    assert "KFRC" in message


@pytest.mark.parametrize("method", COUNTING_UNITS)
def test_scales_that_differ_less_are_nobodys_concern(method):
    assert scale_warnings(method(2, random_state=0), table(3, [1.0, 40.0, 5.0])) == []


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
@pytest.mark.parametrize("seed", [4, 5])
def test_what_a_scaler_made_never_warns_however_odd_the_columns_are(scaler, seed):
    rng = np.random.default_rng(seed)
    rare = np.zeros(20_000)
    rare[:1] = 1.0
    odd = np.column_stack([rng.normal(size=20_000), rng.lognormal(sigma=3, size=20_000), 1e7 * rare])
    model = FCM(2, n_init=1, max_iter=5, tol=0.1, random_state=0)
    assert scale_warnings(model, scaler.fit_transform(odd)) == []


def test_pixels_that_are_hardly_ever_set_are_on_the_scale_of_the_others():
    assert scale_warnings(FCM(3, n_init=1, random_state=0, m=1.1), load_digits().data) == []


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", [FRC, FANNY])
def test_metrics_that_add_up_columns_count_units(metric, method):
    assert len(scale_warnings(method(2, metric=metric), table(6, [1.0, 1e3]))) == 1


@pytest.mark.parametrize(
    "model",
    [
        FRC(2, metric="gower"),
        FANNY(2, metric="gower"),
        FRC(2, metric="seuclidean", metric_params={"V": [1.0, 1e6]}),
        FRC(2, metric="canberra"),
        FRC(2, metric="cosine"),
        FRC(2, metric="minkowski", metric_params={"p": 2, "w": [1.0, 1e-6]}),
        FRC(2, metric=lambda a, b: abs(a[0] - b[0])),
        KFRC(2, level=1.0, m=1.5, n_starts=1),
    ],
    ids=lambda model: repr(model).partition(" at 0x")[0],
)
def test_methods_that_do_not_count_units_say_nothing(model):
    assert (
        scale_warnings(
            model.set_params(random_state=0) if "random_state" in model.get_params() else model, table(7, [1.0, 1e3])
        )
        == []
    )


@pytest.mark.parametrize("method", [m for m in COUNTING_UNITS if "metric" in m().get_params()])
def test_a_matrix_of_dissimilarities_has_no_columns_with_scales(method):
    X = table(8, [1.0, 1.0])
    X[0] *= 1e4  # the distances from one row are far larger than all others
    R = pairwise_distances(X, metric="sqeuclidean")
    assert scale_warnings(method(2, metric="precomputed"), R) == []


def test_blanks_constant_columns_and_rows_without_weight_do_not_count():
    X = table(9, [1.0, 1e3, 1.0])
    X[:, 2] = 7.0
    X[::5, 0] = np.nan
    found = scale_warnings(FCM(2, random_state=0), X)
    assert len(found) == 1
    assert "column 2" not in str(found[0].message)
    Z = table(10, [1.0, 1.0])
    Z[0, 1] = 1e9
    assert scale_warnings(FCM(2, random_state=0), Z, sample_weight=np.r_[0.0, np.ones(39)]) == []
    assert len(scale_warnings(FCM(2, random_state=0), Z)) == 1


@pytest.mark.parametrize("method", [FCM, FRC])
def test_rows_in_blocks_and_in_memory_are_told_the_same(method):
    from kfrc.sources import ArraySource

    X = table(11, [1.0, 1e4, 1.0], n_rows=20_100)
    X[:, 2] = 7.0  # and a constant column
    model = method(2, m=1.3, n_init=1, random_state=0)
    (in_memory,), (in_blocks,) = scale_warnings(model, X), scale_warnings(model, ArraySource(X))
    assert str(in_memory.message) == str(in_blocks.message)
    assert in_memory.filename == in_blocks.filename == __file__


def test_wine_as_it_is_bottled():
    (warning,) = scale_warnings(FCM(3, random_state=0), load_wine(as_frame=True).data)
    assert str(warning.message).startswith("column 'proline' varies 2,5")
    assert "as much as column 'nonflavanoid_phenols'" in str(warning.message)
    assert scale_warnings(FCM(3, random_state=0), StandardScaler().fit_transform(load_wine().data)) == []

"""Every estimator passes every check of scikit-learn, with no list of expected failures."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kfrc
from kfrc import FANNY, FCM, FRC
from kfrc.clusterers import FuzzyClusterer
from strategies import CLUSTERERS

# Settings that read other input than the defaults do.
OTHERS = [
    FRC(metric="gower"),
    FANNY(metric="gower"),
    FRC(metric="euclidean"),
    FRC(missing="error"),
    FCM(missing="error"),
]


# The data of the checks are grids and noise, where a method may well find nothing, or need long.
@pytest.mark.filterwarnings(
    "ignore::kfrc.UniformCollapseWarning",
    "ignore::kfrc.TrivialPartitionWarning",
    "ignore::kfrc.exceptions.NearTieWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)
@parametrize_with_checks([cls() for cls in CLUSTERERS] + OTHERS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def descendants(cls):
    return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))


def test_no_clusterer_escapes_the_contract():
    own = {cls for cls in descendants(FuzzyClusterer) if cls.__module__.startswith("kfrc.")}
    methods = {cls for cls in own if not inspect.isabstract(cls)}
    assert methods == set(CLUSTERERS)
    assert {cls.__name__ for cls in methods} <= set(kfrc.__all__)


@pytest.mark.parametrize("method", CLUSTERERS)
def test_a_clusterer_inherits_from_abstract_classes_only(method):
    bases = [cls for cls in method.__mro__[1:] if issubclass(cls, FuzzyClusterer)]
    assert bases
    assert all(inspect.isabstract(cls) for cls in bases)

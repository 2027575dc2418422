"""Every estimator passes every check of scikit-learn, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kfrc
from kfrc.clusterers import FuzzyClusterer
from strategies import CLUSTERERS


@pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning", "ignore::kfrc.TrivialPartitionWarning")
@parametrize_with_checks([cls() for cls in CLUSTERERS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_no_clusterer_escapes_the_contract():
    def descendants(cls):
        return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))

    methods = {cls for cls in descendants(FuzzyClusterer) if cls.__module__.startswith("kfrc.")} - {FuzzyClusterer}
    assert methods == set(CLUSTERERS)
    assert {cls.__name__ for cls in methods} <= set(kfrc.__all__)

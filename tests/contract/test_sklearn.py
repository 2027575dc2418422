"""Every estimator passes every check of scikit-learn, with no list of expected failures."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc.clusterers import FuzzyClusterer

ESTIMATORS = [KFRC(), FRC(), FANNY(), FCM(), RFCM(), NERFCM(), FCMMK(), MSFCM(), VFCM()]


@pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning", "ignore::kfrc.TrivialPartitionWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def descendants(cls):
    return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))


def test_no_clusterer_escapes_the_contract():
    own = {cls for cls in descendants(FuzzyClusterer) if cls.__module__.startswith("kfrc.")}
    assert {cls for cls in own if not inspect.isabstract(cls)} == {type(estimator) for estimator in ESTIMATORS}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_a_clusterer_inherits_from_abstract_classes_only(estimator):
    bases = [cls for cls in type(estimator).__mro__[1:] if issubclass(cls, FuzzyClusterer)]
    assert bases
    assert all(inspect.isabstract(cls) for cls in bases)

"""Every estimator passes every check of scikit-learn, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc.clusterers import FuzzyClusterer

ESTIMATORS = [KFRC(), FRC(), FANNY(), FCM(), RFCM(), NERFCM(), FCMMK(), MSFCM(), VFCM()]


@pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning", "ignore::kfrc.TrivialPartitionWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_no_clusterer_escapes_the_contract():
    def descendants(cls):
        return {cls}.union(*(descendants(sub) for sub in cls.__subclasses__()))

    methods = {cls for cls in descendants(FuzzyClusterer) if cls.__module__.startswith("kfrc.")} - {FuzzyClusterer}
    assert methods == {type(estimator) for estimator in ESTIMATORS}

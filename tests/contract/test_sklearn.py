"""Every estimator passes every check of scikit-learn, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfrc import FRC, KFRC

ESTIMATORS = [KFRC(), FRC()]


@pytest.mark.filterwarnings("ignore::kfrc.UniformCollapseWarning", "ignore::kfrc.TrivialPartitionWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)

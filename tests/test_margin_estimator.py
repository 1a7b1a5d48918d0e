"""The maximum-margin classifier keeps scikit-learn's contract and its own proofs."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from linsep.estimators.margin import MaxMarginClassifier

ignore_not_separable = pytest.mark.filterwarnings("ignore::linsep.errors.NotSeparableWarning")


@ignore_not_separable
@parametrize_with_checks([MaxMarginClassifier()])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)

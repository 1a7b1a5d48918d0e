"""The kernel Perceptron keeps scikit-learn's contract, and is the Perceptron."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from linsep.estimators.kernel import KernelPerceptronClassifier

KEEPS = ["last", "average", "vote", "best"]


@parametrize_with_checks([KernelPerceptronClassifier(keep=keep) for keep in KEEPS])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)

"""Claims: intervals against scipy and by coverage, verdicts by their definition."""

import numpy as np
import pytest
from scipy import stats

from gameproof.paper import claims


def test_a_ratio_is_that_of_geometric_means_with_the_paired_t_interval() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.lognormal(size=20), rng.lognormal(size=20)
    claim = claims.smaller("text", "measure", first, second)
    test = stats.ttest_rel(np.log(first), np.log(second)).confidence_interval(0.95)
    assert claim.effect == pytest.approx(stats.gmean(first) / stats.gmean(second))
    assert (claim.low, claim.high) == pytest.approx((np.exp(test.low), np.exp(test.high)))
    assert claim.n == 20


def test_a_mean_has_the_t_interval() -> None:
    numbers = np.random.default_rng(1).normal(1.0, 2.0, size=12)
    claim = claims.larger("text", "measure", numbers)
    test = stats.ttest_1samp(numbers, 0.0).confidence_interval(0.95)
    assert (claim.low, claim.high) == pytest.approx((test.low, test.high))


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_the_interval_of_a_ratio_of_spreads_holds_the_truth_in_95_of_100(
    correlation: float,
) -> None:
    """4,000 draws of 20 pairs, true ratio 1/2: the count that covers is binomial, and leaves its
    interval of 99.9 % once in a thousand seeds."""
    rng, runs, truth = np.random.default_rng(2), 4000, 0.5
    shared = np.array([[1.0, correlation], [correlation, 1.0]])
    root = np.linalg.cholesky(shared)
    covered = 0
    for _ in range(runs):
        a, b = root @ rng.standard_normal((2, 20))
        claim = claims.less_spread("text", "measure", truth * a, b)
        covered += claim.low <= truth <= claim.high
    low, high = stats.binom.interval(0.999, runs, 0.95)
    assert low <= covered <= high


@pytest.mark.parametrize(
    ("low", "high", "above", "verdict"),
    [
        (0.5, 0.9, False, "holds"),
        (0.9, 1.1, False, "undecided"),
        (1.1, 1.2, False, "does not hold"),
        (0.5, 0.9, True, "does not hold"),
        (1.1, 1.2, True, "holds"),
        (1.0, 1.2, True, "undecided"),
    ],
)
def test_a_verdict_needs_the_whole_interval(
    low: float, high: float, above: bool, verdict: str
) -> None:
    claim = claims.Claim("text", "measure", (low + high) / 2, low, high, 1.0, above, 20)
    assert claim.verdict == claim.row()["verdict"] == verdict


def test_below_a_border_is_the_mirror_of_above() -> None:
    numbers = [-0.4, -0.5, -0.45]
    assert claims.lower("text", "measure", numbers, -0.24).verdict == "holds"
    assert claims.larger("text", "measure", numbers, -0.24).verdict == "does not hold"


def test_too_few_seeds_decide_nothing() -> None:
    assert claims.less_spread("text", "measure", [1.0, 1.01], [1.0, 9.0]).verdict == "undecided"
    assert claims.larger("text", "measure", [5.0]).verdict == "undecided"
    assert claims.smaller("text", "measure", [1e-9], [1.0]).verdict == "undecided"

"""Claims: intervals and p-values against SciPy and by coverage; verdicts and Holm's correction by
definition."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gameproof.auditing.multiple_tests import holm
from gameproof.paper import paper_claims


def test_ratio_of_geometric_means_has_the_paired_t_interval() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.lognormal(size=20), rng.lognormal(size=20)
    claim = paper_claims.ratio_below_one("text", "measure", first, second)
    test = stats.ttest_rel(np.log(first), np.log(second)).confidence_interval(0.95)
    assert claim.effect == pytest.approx(stats.gmean(first) / stats.gmean(second))
    assert (claim.low, claim.high) == pytest.approx((np.exp(test.low), np.exp(test.high)))
    assert claim.n == 20
    assert claim.p == pytest.approx(stats.ttest_rel(np.log(first), np.log(second)).pvalue)


def test_a_mean_has_the_t_interval() -> None:
    numbers = np.random.default_rng(1).normal(1.0, 2.0, size=12)
    claim = paper_claims.mean_above("text", "measure", numbers)
    test = stats.ttest_1samp(numbers, 0.0).confidence_interval(0.95)
    assert (claim.low, claim.high) == pytest.approx((test.low, test.high))
    for border in (0.0, 0.7):
        found = paper_claims.mean_below("text", "measure", numbers, border)
        assert found.p == pytest.approx(stats.ttest_1samp(numbers, border).pvalue)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.4])
def test_spread_test_is_the_correlation_of_sum_and_difference(ratio: float) -> None:
    rng = np.random.default_rng(3)
    first, second = rng.standard_normal((2, 30))
    first = ratio * (first + 0.5 * second)
    claim = paper_claims.less_spread("text", "measure", first, second)
    assert claim.p == pytest.approx(stats.pearsonr(first + second, first - second).pvalue)
    assert (claim.p < 0.05) == (claim.verdict != "undecided")


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_interval_of_a_spread_ratio_has_95_percent_coverage(
    correlation: float,
) -> None:
    """4,000 draws of 20 pairs with true ratio 1/2. The number of intervals that cover it is
    binomial and leaves its 99.9 % interval for one seed in a thousand."""
    rng, runs, truth = np.random.default_rng(2), 4000, 0.5
    shared = np.array([[1.0, correlation], [correlation, 1.0]])
    root = np.linalg.cholesky(shared)
    covered = 0
    for _ in range(runs):
        a, b = root @ rng.standard_normal((2, 20))
        claim = paper_claims.less_spread("text", "measure", truth * a, b)
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
    claim = paper_claims.PaperClaim(
        "text", "measure", (low + high) / 2, low, high, 1.0, above, 20, 0.01
    )
    (judged,) = paper_claims.judge([claim])
    assert claim.verdict == judged.row()["verdict"] == verdict


def test_below_a_border_is_the_mirror_of_above() -> None:
    numbers = [-0.4, -0.5, -0.45]
    assert paper_claims.mean_below("text", "measure", numbers, -0.24).verdict == "holds"
    assert paper_claims.mean_above("text", "measure", numbers, -0.24).verdict == "does not hold"


def test_too_few_seeds_decide_nothing() -> None:
    assert (
        paper_claims.less_spread("text", "measure", [1.0, 1.01], [1.0, 9.0]).verdict == "undecided"
    )
    assert paper_claims.mean_above("text", "measure", [5.0]).verdict == "undecided"
    assert paper_claims.ratio_below_one("text", "measure", [1e-9], [1.0]).verdict == "undecided"
    assert paper_claims.mean_above("text", "measure", [5.0]).p == 1.0
    assert paper_claims.less_spread("text", "measure", [1.0, 1.01], [1.0, 9.0]).p == 1.0


def test_equal_numbers_have_a_p_value_too() -> None:
    assert paper_claims.mean_above("text", "measure", [0.5, 0.5, 0.5]).p == 0.0
    assert paper_claims.mean_above("text", "measure", [0.5, 0.5, 0.5], border=0.5).p == 1.0


def closed_test(p: list[float]) -> list[float]:
    """Holm's adjusted p-values by brute force: a hypothesis is rejected if Bonferroni's test (size
    times smallest p-value) rejects every set of hypotheses that contains it."""
    every = range(len(p))
    sets = [s for size in range(1, len(p) + 1) for s in combinations(every, size)]
    return [min(1.0, max(len(s) * min(p[k] for k in s) for s in sets if i in s)) for i in every]


@pytest.mark.parametrize("seed", range(5))
def test_the_correction_is_the_closed_test_of_bonferroni(seed: int) -> None:
    p = (np.random.default_rng(seed).random(8) ** 4).tolist()
    p[3] = p[5]  # ties
    np.testing.assert_allclose(holm(p), closed_test(p), rtol=1e-12)


def test_at_most_five_percent_of_true_null_families_have_a_survivor() -> None:
    """2,000 families of 20 claims on noise. The number of families with a survivor is binomial with
    probability at most 5 % and exceeds this bound for one seed in a thousand."""
    rng, families, wrong = np.random.default_rng(4), 2000, 0
    for _ in range(families):
        noise = rng.standard_normal((20, 10))
        found = paper_claims.judge(
            [paper_claims.mean_above("text", "measure", row) for row in noise]
        )
        wrong += any(each.survives for each in found)
    assert wrong <= stats.binom.ppf(0.999, families, 0.05)


def test_an_undecided_claim_does_not_survive_and_a_strong_one_does() -> None:
    strong = paper_claims.mean_above("text", "measure", [1.0, 1.1, 0.9, 1.05])
    weak = paper_claims.mean_above("text", "measure", [1.0, 0.1, 0.5, 0.2])
    none = paper_claims.mean_above("text", "measure", [1.0, -1.1, 0.9, -0.8])
    judged = paper_claims.judge([none, weak, strong])
    assert [found.survives for found in judged] == [False, False, True]
    assert [found.claim for found in judged] == [none, weak, strong]
    row = judged[2].row()
    assert row["p_adjusted"] == pytest.approx(3 * row["p"])

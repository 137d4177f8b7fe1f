"""Tests and intervals, against closed forms, enumeration and other packages."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom, expon, hypergeom, mannwhitneyu, rankdata

from gameproof.auditing.intervals import share_interval
from gameproof.auditing.multiple_tests import holm
from gameproof.tables.budget_learning.evidence import (
    mean,
    quantiles,
    rank_test,
    share,
    shares_a_stratum,
    sign_test,
    strata_of,
)


@pytest.mark.parametrize("p", [0.5, 0.75, 0.9, 0.95])
def test_order_statistics_hold_the_quantile_as_often_as_stated(p: float) -> None:
    """By the binomial distribution of how many numbers are below the quantile: exact, not drawn."""
    for m in range(1, 200):
        (found,) = quantiles(np.arange(1.0, m + 1), [p], 0.95)
        # The quantile lies between the k-th and the next number with probability P(Bin = k).
        held = [k for k in range(m + 1) if found.low <= k and k + 1 <= found.high]
        assert binom.pmf(held, m, p).sum() >= 0.95 - 1e-12
        assert found.value == np.quantile(np.arange(1.0, m + 1), p, method="inverted_cdf")


def test_order_statistics_hold_the_quantile_of_drawn_moves() -> None:
    """4,000 samples: the rate of a correct interval is below 0.936 once in 20,000 times."""
    rng = np.random.default_rng(0)
    truth, n = expon.ppf(0.9), 4000
    held = sum(
        q.low <= truth <= q.high
        for (q,) in (quantiles(rng.exponential(size=60), [0.9], 0.95) for _ in range(n))
    )
    assert held / n > 0.936


def test_few_moves_have_no_upper_end() -> None:
    (found,) = quantiles(np.arange(1.0, 21.0), [0.95], 0.95)
    assert found.high == np.inf
    assert quantiles(np.array([]), [0.5], 0.95) == ()


def test_share_has_the_interval_of_audits() -> None:
    found = share(np.arange(40) < 13, 0.95)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(share_interval(13, 40))
    assert share(np.array([], dtype=bool), 0.95) is None


def test_mean_of_one_number_is_not_known() -> None:
    assert mean(np.array([3.0]), 0.95) == (3.0, -np.inf, np.inf, 1)
    assert mean(np.array([]), 0.95) is None


def test_sign_test_is_the_sum_of_two_tails() -> None:
    assert sign_test(9, 1) == pytest.approx(2 * (1 + 10) / 2**10)
    assert sign_test(0, 0) == 1.0


@pytest.mark.parametrize(("N", "n", "m"), [(505, 5, 3), (1000, 300, 5), (200, 20, 10)])
def test_rank_test_of_rare_moves_follows_the_hypergeometric_tail(N: int, n: int, m: int) -> None:
    """Where a normal tail would be wrong by many orders of magnitude."""
    first = np.arange(N) < n
    for k in range(1, min(n, m) + 1):
        values = np.zeros(N)
        values[:k] = values[n : n + m - k] = 1.0
        exact = hypergeom.sf(k - 1, N, m, n)
        high, _ = rank_test(values, first, np.zeros(N, dtype=np.int64))
        if exact > 0.003:
            assert high == pytest.approx(exact, rel=0.35)
        assert high > 0.85 * exact


def test_rank_test_in_strata_agrees_with_every_exchange_of_labels() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        strata = np.repeat([0, 1], [7, 6])
        first = np.isin(np.arange(13), [0, 1, 2, 7, 8])
        values = np.where(rng.random(13) < 0.5, 0.0, rng.standard_normal(13) + first)
        scores = np.zeros(13)
        for s in (0, 1):
            rows = strata == s
            scores[rows] = (rankdata(values[rows]) - (rows.sum() + 1) / 2) / (rows.sum() + 1)
        every = [
            scores[list(one)].sum() + scores[list(two)].sum()
            for one, two in product(combinations(range(7), 3), combinations(range(7, 13), 2))
        ]
        exact = np.mean(np.array(every) >= scores[first].sum() - 1e-12)
        high, low = rank_test(values, first, strata)
        assert 0.8 * exact <= high <= 2.5 * exact + 0.02
        assert high + low >= 1.0


def test_rank_test_of_one_stratum_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal(300)
    first = rng.random(300) < 0.4
    values[first] += 0.2
    expected = mannwhitneyu(values[first], values[~first], alternative="greater").pvalue
    found, _ = rank_test(values, first, np.zeros(300, dtype=np.int64))
    assert found == pytest.approx(expected, rel=0.02)


def test_groups_that_share_no_stratum_tell_nothing() -> None:
    assert rank_test(np.arange(6.0), np.arange(6) < 3, np.repeat([0, 1], 3)) == (1.0, 1.0)
    near = shares_a_stratum(np.array([True, True, False]), np.array([0, 1, 1]))
    assert near.tolist() == [False, True, True]


def test_holm_is_the_closed_test_of_bonferroni() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        p = rng.random(5) ** 3
        for i, found in enumerate(holm(p)):
            sets = (c for k in range(1, 6) for c in combinations(range(5), k) if i in c)
            assert found == pytest.approx(max(min(1.0, len(c) * p[list(c)].min()) for c in sets))


def test_equal_values_are_in_one_stratum() -> None:
    values = np.repeat([1.0, 2.0, 5.0], [50, 3, 47])
    for most in (1, 3, 40):
        found = strata_of(values, most)
        assert all(np.unique(found[values == v]).size == 1 for v in (1.0, 2.0, 5.0))
        assert np.unique(found).size <= most

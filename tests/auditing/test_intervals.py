"""Intervals against other packages, and their coverage."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import gameproof as gp
from audited import BUDGETS, people
from gameproof.auditing.accuracy_section import cautions
from gameproof.auditing.applicants import Applicants
from gameproof.auditing.intervals import paired_interval, share_interval, split_interval
from gameproof.auditing.scored_applicants import ScoredApplicants
from gameproof.auditing.shift_rows import shift_rows


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (612, 800)])
def test_share_interval_is_the_one_of_scipy(k: int, n: int) -> None:
    found = stats.binomtest(k, n).proportion_ci(0.9, method="wilson")
    assert share_interval(k, n, 0.9) == pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.parametrize(("radius", "label_cost"), [(0.05, 0.5), (0.2, 0.5), (0.05, 0.02)])
def test_interval_of_the_least_accuracy_has_its_nominal_coverage(
    radius: float, label_cost: float
) -> None:
    # 400 samples of 150 people against a population of 100,000. An interval with 95 %
    # coverage covers the truth less than 360 times with a probability below 1e-4. Half its width is
    # 1.96 standard errors, which 400 samples estimate to 3.5 %, so 15 % is about four standard
    # errors and leaves room for Wilson's correction and for curvature.
    X, y, model = people(100_000, seed=1)
    other = gp.LinearModel(model.coefficients * [1, 1, 1, 0], 0.2, model.names, "other")

    scale = X.std(axis=0)

    def measured(rows):
        """The least accuracy of the second model, and its difference to that of the first."""
        people = Applicants.of(X[rows], y[rows], BUDGETS, None, model.names)
        cases = [ScoredApplicants.of(line, people, scale) for line in (model, other)]
        least, pairs = shift_rows(cases, [radius], label_cost)
        return least[-1], pairs[-1]

    whole, rng = measured(slice(None)), np.random.default_rng(2)
    found = [measured(rng.choice(y.size, 150, replace=False)) for _ in range(400)]
    assert 0.05 < whole[0].accuracy < 0.9
    for k, centre in enumerate(("accuracy", "difference")):
        truth = getattr(whole[k], centre)
        rows = [each[k] for each in found]
        assert sum(row.low <= truth <= row.high for row in rows) >= 360
        half = np.mean([row.high - row.low for row in rows]) / 2
        spread = np.std([getattr(row, centre) for row in rows])
        assert half == pytest.approx(1.96 * spread, rel=0.15)


def test_least_accuracy_is_a_share_at_radius_0_and_0_at_a_large_radius() -> None:
    X, y, model = people(60)
    found = gp.audit(model, X, y, budgets=BUDGETS, radii=(0.0, 50.0))
    none, all_bought = found.shifts
    gamed = found.at("mine", 1.0)
    assert (none.low, none.accuracy, none.high) == (gamed.low, gamed.accuracy, gamed.high)
    assert (all_bought.low, all_bought.accuracy) == (0.0, 0.0)


@pytest.mark.parametrize(("p", "q"), [(0.1, 0.1), (0.2, 0.05), (0.02, 0.0), (0.3, 0.1)])
def test_paired_interval_holds_the_difference_nearly_always(p: float, q: float) -> None:
    # Exactly, by summing over all outcomes of 60 people: at least 93 %, nominal 95 %.
    n, held = 60, 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            low, high = paired_interval(a, b, n)
            if low <= p - q <= high:
                held += stats.multinomial.pmf([a, b, n - a - b], n, [p, q, 1 - p - q])
    assert held >= 0.93


def test_split_interval_without_overlap_is_the_one_of_scipy() -> None:
    numbers = np.random.default_rng(0).standard_normal(12)
    found = stats.t.interval(0.95, 11, numbers.mean(), stats.sem(numbers))
    assert split_interval(numbers, 0.0) == pytest.approx(found)


def test_splits_that_share_rows_need_the_wider_interval() -> None:
    # The mean of test rows over 10 overlapping splits of a table of 60, against the true mean 0, in
    # 400 tables. The wide interval should cover it in 95 %; below 90 % has a chance under 1e-4.
    rng = np.random.default_rng(1)
    held = {0.0: 0, 0.5: 0}
    for _ in range(400):
        table = rng.standard_normal(60)
        means = np.array([rng.permutation(table)[:20].mean() for _ in range(10)])
        for overlap in held:
            low, high = split_interval(means, overlap)
            held[overlap] += low <= 0 <= high
    assert held[0.5] >= 360 > held[0.0]


def test_interval_of_splits_that_agree_by_chance_has_a_width() -> None:
    # The paired difference of two classifiers, right by one alone for 5 % each, on 2 splits of a
    # table of 200: 400 tables. An interval that holds the truth in 95 % does so less than 360 times
    # with a chance under 1e-4. Splits that give the same number have no spread of their own.
    rng, n, held = np.random.default_rng(3), 40, {True: 0, False: 0}
    for _ in range(400):
        table = rng.choice([1, -1, 0], 200, p=[0.05, 0.05, 0.9])
        splits = [rng.permutation(table)[:n] for _ in range(2)]
        ends = [paired_interval((part > 0).sum(), (part < 0).sum(), n) for part in splits]
        alone = np.mean([high - low for low, high in ends]) / 2
        for known in held:
            means = np.array([part.mean() for part in splits])
            low, high = split_interval(means, 0.25, alone if known else 0.0)
            held[known] += low <= 0 <= high
    assert held[True] >= 360 > held[False]


def test_splits_are_as_precise_as_the_people_they_contain() -> None:
    """Four times as many people if no row is shared; twice, if a split holds half of the table."""
    same = np.full(4, 0.5)
    assert split_interval(same, 0.0, 0.1) == pytest.approx((0.45, 0.55))
    assert split_interval(same, 1.0, 0.1) == pytest.approx((0.5 - 0.1 / 2**0.5, 0.5 + 0.1 / 2**0.5))


def test_one_split_has_no_interval() -> None:
    assert split_interval(np.array([0.5]), 0.1) == (-np.inf, np.inf)


LEAST = {"accuracy": 0, "difference": -1}
KEYS = ("model", "against", "movers", "multiple", "power", "radius", "feature")


def test_averages_over_splits_are_means_row_by_row() -> None:
    """Student's intervals, clipped to possible values; that of three parts is never narrower than
    that of three times as many people."""
    X, y, model = people(120)
    other = gp.LinearModel(model.coefficients * [1, 1, 1, 0], 0.2, model.names, "other")
    edges = pairwise((0, 40, 80, 120))
    parts = [
        gp.compare_models([model, other], X[a:b], y[a:b], budgets=BUDGETS, scale=X.std(axis=0))
        for a, b in edges
    ]
    found = gp.average_splits(parts)
    assert found.splits == 3
    assert found.bins == ()
    tables = ("quality", "gaming", "shifts", "weaknesses", "differences", "shift_differences")
    for table in (*tables, "by_power"):
        for row in getattr(found, table):
            same = [
                other
                for part in parts
                for other in getattr(part, table)
                if all(
                    getattr(other, key) == getattr(row, key) for key in KEYS if hasattr(row, key)
                )
            ]
            assert len(same) == 3
            centre = "difference" if "differences" in table else "accuracy"
            numbers = [getattr(other, centre) for other in same]
            assert getattr(row, centre) == pytest.approx(np.mean(numbers))
            if hasattr(row, "low"):
                alone = np.mean([other.high - other.low for other in same]) / 2
                half = max(stats.t.ppf(0.975, 2) * stats.sem(numbers), alone / 3**0.5)
                ends = np.clip(np.add(np.mean(numbers), [-half, half]), LEAST[centre], 1)
                assert (row.low, row.high) == pytest.approx(tuple(ends))


def test_audits_that_differ_cannot_be_averaged() -> None:
    X, y, model = people()
    one = gp.audit(model, X, y, powers=(0.0, 1.0))
    with pytest.raises(ValueError, match="different multiples, radii, powers"):
        gp.average_splits([one, gp.audit(model, X, y, powers=(0.0, 2.0))])
    with pytest.raises(ValueError, match="cannot be averaged; state the same budgets"):
        gp.average_splits([one, gp.audit(model, X, y, budgets=["income"], powers=(0.0, 1.0))])
    with pytest.raises(ValueError, match="audits is empty"):
        gp.average_splits([])


def weighted(*thetas: list[float]) -> gp.Audit:
    """The average of audits of the same people, with different coefficients each time."""
    X, y, _ = people(120)
    models = [gp.LinearModel(theta, -0.5, ("a", "b", "c", "d")) for theta in thetas]
    budgets = {"a": (-0.5, 0.5), "d": (-0.5, 0.5)}
    parts = [gp.audit(model, X / X.std(axis=0), y, budgets=budgets) for model in models]
    return gp.average_splits(parts)


def test_weak_spots_stand_in_the_order_of_their_means() -> None:
    found = weighted([2.0, 0, 0, 1], [1.0, 0, 0, 3], [1.0, 0, 0, 3])
    assert [row.feature for row in found.weaknesses] == ["d", "a"]
    assert found.weaknesses[0].share == pytest.approx((1 / 3 + 3 / 4 + 3 / 4) / 3)


def test_splits_where_gaming_gains_nothing_are_counted_and_left_out() -> None:
    weighing, none = [1.0, 0, 0, 3], [0.0, 1, 0, 0]
    found = weighted(weighing, none, weighing)
    alone = weighted(weighing, weighing)
    assert found.quality[0].idle == pytest.approx(1 / 3)
    for row, own in zip(found.weaknesses, alone.weaknesses, strict=True):
        assert row.share == pytest.approx(own.share)
    for row, own in zip(found.hurt, alone.hurt, strict=True):
        assert row.q50 >= own.q50 > 0  # on the other split, nobody can be accepted
    # The first caution is about the width of intervals.
    said = "in 1 of 3 splits no change within the budgets raises a score of model"
    assert [caution.partition(";")[0] for caution in cautions(found)[1:]] == [said]
    assert cautions(alone)[1:] == []
    assert {row.share for row in weighted(none, none).weaknesses} == {None}

"""Tables of people who are not matched: weaker evidence, and marked as such."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

import gameproof as gp
from gameproof.tables.budget_learning.shifted import (
    MIDDLE,
    RANKS,
    REFUSED,
    SAFE,
    Cells,
    Sides,
    by_rank,
    changed_at_all,
    shifts,
)
from movers import NAMES, told


def learn(people, **options):
    before, after = people.before[NAMES], people.after[NAMES]
    return gp.learn_budgets(before, after, **options)


def test_no_pairing_has_a_smaller_largest_move_than_that_of_ranks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        before, after = rng.standard_normal(6), rng.standard_normal(6)
        least = min(np.abs(after[list(p)] - before).max() for p in permutations(range(6)))
        assert np.abs(by_rank(before, after, rng) - before).max() == pytest.approx(least)


def test_shift_of_everyone_is_the_difference_of_quantiles() -> None:
    rng = np.random.default_rng(1)
    for n, m in ((50, 80), (3000, 2500)):  # the second in cells
        before, after = rng.exponential(size=n), 2 * rng.exponential(size=m)
        cells = [Cells.of(part, np.full(part.size, SAFE)) for part in (before, after)]
        expected = [np.quantile(part, RANKS, method="inverted_cdf") for part in (after, before)]
        np.testing.assert_allclose(
            shifts(*cells), expected[0] - expected[1], atol=0.04 * (n > 1000)
        )


def test_refused_after_are_what_is_left_without_the_accepted() -> None:
    """Uniform on [0, 1] before; those below 1/2 are refused, and half of them go up by 1/2. Then
    they are uniform on [0, 1] after, so that the rank u shifts by u / 2."""
    n = 40_000
    before = (np.arange(n) + 0.5) / n
    after = before + 0.5 * ((before < 0.5) & (np.arange(n) % 2 == 0))
    sides = np.where(before < 0.5, REFUSED, MIDDLE)
    cells = Cells.of(before, sides), Cells.of(after, np.full(n, MIDDLE))
    np.testing.assert_allclose(shifts(*cells), RANKS / 2, atol=0.005)


def test_sides_are_by_rank_of_the_score() -> None:
    before, after = np.arange(-40.0, 60.0), np.arange(-20.0, 80.0)
    sides = Sides.of(before, after)
    assert sides is not None
    assert (sides.before == REFUSED).sum() == 41
    assert (sides.before == SAFE).sum() == (sides.after == SAFE).sum() == 30
    assert Sides.of(before, np.full(100, np.nan)) is None
    assert Sides.of(np.abs(before) + 1, after) is None


def test_change_of_a_distribution_is_that_of_kolmogorov_and_smirnov() -> None:
    rng = np.random.default_rng(2)
    one, two = rng.standard_normal(200), rng.standard_normal(150) + 0.2
    assert changed_at_all(one, two) == pytest.approx(ks_2samp(one, two).pvalue)


def test_budgets_of_the_refused_lie_between_their_mean_move_and_what_they_can_do() -> None:
    """Half of them use a budget that is only a little larger than they need."""
    people = told(8000, seed=0, budget=0.4)
    found = learn(people, model=people.model)
    assert found.budgets.keys() == {"savings", "utilisation"}
    assert found.budgets["savings"][0] == found.budgets["utilisation"][1] == 0
    assert 1000 < found.budgets["savings"][1] < 2000
    assert -0.08 < found.budgets["utilisation"][0] < -0.04
    for row in (found.row("savings"), found.row("utilisation")):
        assert row.helps
        assert row.people == "refused"
        assert row.interval is not None
        assert row.interval[0] <= row.interval[1]


def test_without_a_model_budgets_are_no_larger_than_the_moves() -> None:
    people = told(6000, seed=1, noise=0.0)
    found = learn(people)
    assert found.row("utilisation").down is not None
    assert 0 < found.budgets["savings"][1] < 5000
    assert -0.2 < found.row("utilisation").down.at(0.95).value < 0
    assert found.acceptance is None


def test_shift_of_everyone_is_drift() -> None:
    people = told(4000, seed=2)
    older = people.before.assign(age=people.before["age"] + 5)
    for model in (None, people.model):
        found = gp.learn_budgets(people.before[NAMES], older[NAMES], model=model)
        age = found.row("age")
        assert (age.verdict, age.budget) == ("drift", None)
        assert age.drift == pytest.approx(5, abs=1)
        assert "probably drift common to everyone" in age.why


def test_weaker_evidence_is_marked_everywhere() -> None:
    people = told(800, seed=3)
    found = learn(people, model=people.model)
    assert found.evidence == "unpaired"
    assert found.record()["weaker_evidence"]
    text = repr(found)
    assert "UNPAIRED, which is weaker evidence" in text
    assert "proposed budgets (unpaired: weaker evidence)" in text
    assert "people may have moved further" in " ".join(text.split())
    assert found.acceptance is not None
    assert found.acceptance.won is None


def test_column_that_would_match_people_is_named() -> None:
    people = told(100, seed=4)
    notes = gp.learn_budgets(people.before, people.after).notes
    assert any("values in id are unique in each table" in note for note in notes)
    assert not any("as the key" in note for note in learn(people).notes)


def test_same_seed_gives_the_same_intervals() -> None:
    people = told(300, seed=5)
    one, two, other = (learn(people, model=people.model, seed=seed) for seed in (0, 0, 1))
    assert one.record() == two.record()
    assert one.record() != other.record()


@pytest.mark.parametrize("given", [False, True])
def test_people_who_do_not_game_are_rarely_reported(given: bool) -> None:
    """Of 12 pairs of tables, 5 % may have a column that moved: more than 3 happen once in 450
    tests."""
    moved = 0
    for seed in range(12):
        one, two = told(250, seed=seed, share=0.0), told(250, seed=1000 + seed, share=0.0)
        model = one.model if given else None
        found = gp.learn_budgets(one.before[NAMES], two.before[NAMES], model=model)
        moved += bool(found.budgets)
    assert moved <= 3


def test_bootstrap_interval_of_a_shift_holds_the_true_one() -> None:
    """The whole of a normal distribution moves by 1 (and is stretched, so that it is no drift): the
    median shift is 1. Of 60 intervals of 95 %, fewer than 51 hold it once in 1,000 tests."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        before = pd.DataFrame({"x": rng.standard_normal(400)})
        after = pd.DataFrame({"x": 1 + 1.5 * rng.standard_normal(400)})
        up = gp.learn_budgets(before, after, quantile=0.5, seed=seed).row("x").up
        # Ranks shift by 1 + z / 2, up above z = -2, which is beyond the ranks looked at.
        truth = 1 + 0.5 * np.quantile(_normal(RANKS), 0.5)
        assert up is not None
        held += up.at(0.5).low <= truth <= up.at(0.5).high
    assert held >= 51


def _normal(ranks: np.ndarray) -> np.ndarray:
    from scipy.stats import norm

    return norm.ppf(ranks)

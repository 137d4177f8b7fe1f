"""Budgets in the table's units, before and after preparation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets, as_budgets
from gameproof.strategic.budgets import BoxBudget

FEATURES = Features(
    ("savings", "job", "rate", "home"),
    {"job": ("none", "retired", "student"), "home": ("owned", "rented")},
)
TABLE = np.array(
    [
        [1000.0, 0, 0.1, 0],
        [3000.0, 1, 0.3, 1],
        [100_000.0, 2, 0.2, 1],
        [np.nan, np.nan, 0.2, 0],
        [-50.0, 1, 0.9, np.nan],
    ]
)


def budgets(**given: Any) -> Budgets:
    return Budgets.of(given, FEATURES, TABLE)


def test_keys_are_names_or_positions() -> None:
    by_name = Budgets.of({"savings": (0, 5), "job": ["student"]}, FEATURES, TABLE)
    by_position = Budgets.of({0: (0, 5), 1: ["student"]}, FEATURES, TABLE)
    assert by_name == by_position
    assert by_name.columns == ("savings", "job")


def test_a_column_without_a_range_gets_half_a_standard_deviation() -> None:
    found = Budgets.of(["rate", "home"], FEATURES, TABLE)
    half = np.std([0.1, 0.3, 0.2, 0.2, 0.9]) / 2
    assert found.ranges[2] == pytest.approx((-half, half))
    assert found.claims == {3: (0, 1)}
    said = f"rate: {-half:.6g} to +{half:.6g} (half a standard deviation)"
    assert found.describe() == f"{said}; home: can claim owned, rented"


@pytest.mark.parametrize("value", [0.0, 3.0, 1e200])
def test_a_column_of_one_value_gets_no_range(value: float) -> None:
    constant = TABLE.copy()
    constant[:, 2] = value
    assert Budgets.of(["rate"], FEATURES, constant).ranges[2] == (0.0, 0.0)


def test_multiples_are_of_ranges_and_nobody_claims_anything_at_0() -> None:
    found = budgets(savings=(-10, 5000), job=["student"])
    assert found.times(0.5).ranges == {0: (-5.0, 2500.0)}
    assert found.times(4).claims == found.claims
    assert found.times(0).claims == {}
    assert found.times(2).times(2).factor == 4
    with pytest.raises(ValueError, match="finite and at least 0, got -1"):
        found.times(-1)


def test_a_budget_wider_than_its_column_is_noted() -> None:
    (note,) = budgets(rate=(-0.1, 2.0)).notes
    assert note == "the budget of 'rate', -0.1 to +2, exceeds the column's whole range of 0.8"
    assert budgets(rate=(-0.1, 0.5)).notes == ()


def test_a_default_range_ignores_few_large_numbers_and_says_so() -> None:
    """Against the standard deviation of the column cut off at its 1st and 99th percentiles."""
    table = np.append(np.linspace(0, 1, 199), 1e6)[:, None]
    found = Budgets.of(["use"], Features(("use",)), table)
    half = np.clip(table, 0.0100505, 0.995).std() / 2
    assert found.ranges[0] == pytest.approx((-half, half), rel=1e-5)
    assert found.notes == (
        "half a standard deviation of 'use' is 35,266.8, while 98 % of the column lies between "
        "0.0100505 and 0.995; its budget is 0.145665 instead, half a standard deviation without "
        "the extreme values; state a range if people can change another amount",
    )
    assert Budgets.of(["use"], Features(("use",)), table[:-1]).notes == ()
    table[:-1] = 0.5  # nothing is left without the extreme value
    found = Budgets.of(["use"], Features(("use",)), table)
    assert found.ranges[0] == pytest.approx((-table.std() / 2, table.std() / 2))
    assert found.notes[0].endswith("lies between 0.5 and 0.5; state a range for it")


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"wages": (0, 1)}, ValueError, "the column 'wages', which is not among savings, job"),
        ({9: (0, 1)}, ValueError, "the column 9, and X has columns 0 to 3"),
        ({True: (0, 1)}, TypeError, "columns by name or position, got True"),
        ({"savings": (5, 0)}, ValueError, "'savings' is empty: it goes from 5 to 0"),
        ({"savings": (1, 5)}, ValueError, "from 1 to 5, and must include 0"),
        ({"savings": (0, np.nan)}, ValueError, "must be finite, got 0 to nan"),
        ({"savings": (0, np.inf)}, ValueError, "must be finite, got 0 to inf"),
        ({"savings": 5}, TypeError, r"a pair such as \(0, 5000\), got 5"),
        ({"savings": (0, 1, 2)}, TypeError, "a pair such as"),
        ({"savings": ("a", "b")}, TypeError, "a pair such as"),
        ({"savings": ["retired"]}, TypeError, "a pair such as"),
        ({"job": (0, 1)}, TypeError, "'job' is a category: its budget is a list of levels"),
        ({"job": "retired"}, TypeError, "such as \\['none'\\], got 'retired'"),
        ({"job": ["boss"]}, ValueError, "the level 'boss', which is not among none, retired"),
        ({"job": []}, ValueError, "has no level; leave the column out"),
        ({"savings": (0, 1), 0: (0, 2)}, ValueError, "names the column 'savings' twice"),
        ("savings", TypeError, "must map columns to ranges or levels"),
        (5, TypeError, "must map columns to ranges or levels"),
    ],
)
def test_bad_budgets_are_refused_in_a_sentence(given: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        Budgets.of(given, FEATURES, TABLE)


# --- through a preparation


@pytest.fixture
def prepare() -> Prepare:
    return Prepare(FEATURES).fit(TABLE)


@settings(max_examples=30, deadline=None)
@given(low=st.floats(-1e5, 0), high=st.floats(0, 1e5))
def test_moves_are_the_difference_that_the_preparation_makes(low: float, high: float) -> None:
    """The definition: prepare the changed table and compare."""
    prepare = Prepare(FEATURES).fit(TABLE)
    moves = prepare.moves(TABLE, budgets(savings=(low, high)))
    here = prepare.transform(TABLE)
    for change, found in ((low, moves.lower), (high, moves.upper)):
        table = TABLE.copy()
        table[:, 0] += change
        expected = prepare.transform(table) - here
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert not found[3].any()  # their savings are missing
    assert not moves.lower[:, 1:].any()
    assert not moves.upper[:, 1:].any()


def test_claims_give_the_columns_of_the_claimed_level(prepare: Prepare) -> None:
    """People who claim a level report the prepared columns of that level."""
    here = prepare.transform(TABLE)
    moves = prepare.moves(TABLE, budgets(job=["student"], home=["rented"]))
    response, everyone = BoxBudget(*moves), np.arange(len(TABLE))
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = rng.standard_normal(here.shape[1])
        tried = []
        for job in (None, 2.0):
            for home in (None, 1.0):
                table = TABLE.copy()
                table[:, 1] = TABLE[:, 1] if job is None else job
                table[:, 3] = TABLE[:, 3] if home is None else home
                tried.append(prepare.transform(table) @ theta)
        answered = response.answers(theta, here, everyone) @ theta
        np.testing.assert_allclose(answered, np.max(tried, axis=0), atol=1e-12)


def test_budgets_do_not_fit_a_table_with_other_levels() -> None:
    made = Budgets.of({"job": [FEATURES.levels["job"][0]]}, FEATURES, TABLE)
    others = Features(FEATURES.names, levels={"job": ("other", "levels")})
    with pytest.raises(ValueError, match="or other levels"):
        as_budgets(made, others, TABLE)

"""The same people before and after: what moved, how far, and whether it is gaming or drift."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import gameproof as gp
from gameproof.auditing.json_safe import json_safe
from gameproof.tables.budget_learning.moves import Setting
from gameproof.tables.budget_learning.paired_numbers import PairedNumber
from movers import NAMES, WEIGHTS, Rule, told

SETTING = Setting(0.95, 0.95)


def learn(people, **options):
    return gp.learn_budgets(people.before, people.after, "id", model=people.model, **options)


def verdicts(found) -> dict[str, str]:
    return {row.column: row.verdict for row in found.rows}


def test_known_budgets_are_found_and_drift_is_distinguished() -> None:
    people = told(1500, seed=0, noise=0.0)
    found = learn(people)
    assert verdicts(found) == {
        "savings": "moved",
        "utilisation": "moved",
        "late": "undirected",
        "age": "drift",
    }
    assert found.budgets == {"savings": (0.0, 5000.0), "utilisation": (-0.2, 0.0)}
    assert found.movable == "savings:0..5000,utilisation:-0.2..0"
    age = found.row("age")
    assert age.drift == 1.0
    assert "drift common to everyone, not gaming" in age.why
    assert found.evidence == "paired"
    savings = found.row("savings")
    assert savings.helps
    assert savings.up is not None
    assert savings.up.n == people.gamed.sum()
    assert savings.ordinary == 0.0


def test_numbers_are_those_of_the_definition() -> None:
    """Counted with pandas and scikit-learn alone."""
    people = told(800, seed=1)
    found = learn(people)
    both = people.before.merge(people.after, on="id", suffixes=("", "_after"))
    start = people.model.decision_function(both[NAMES])
    ends = both[[f"{name}_after" for name in NAMES]].set_axis(NAMES, axis=1)
    end = people.model.decision_function(ends)
    refused = start <= 0
    assert found.acceptance is not None
    assert found.acceptance.won is not None
    assert found.acceptance.won.value == np.mean(end[refused] > 0)
    assert found.acceptance.lost is not None
    assert found.acceptance.lost.value == np.mean(end[~refused] <= 0)
    assert found.acceptance.raised is not None
    assert found.acceptance.raised.value == np.mean((end - start)[refused] > 0)
    assert found.acceptance.refused_gain is not None
    assert found.acceptance.refused_gain.value == pytest.approx(np.mean((end - start)[refused]))
    for name in ("savings", "utilisation"):
        row, moves = found.row(name), (both[f"{name}_after"] - both[name]).to_numpy()
        alone = people.model.decision_function(both[NAMES].assign(**{name: ends[name]})) - start
        assert row.refused is not None
        assert row.refused.raised is not None
        assert row.refused.gain is not None
        changed = refused & (moves != 0)
        assert row.refused.raised.value == np.mean(alone[changed] > 0)
        assert row.refused.gain.value == pytest.approx(alone[changed].mean())
        assert row.refused.n == refused.sum()
        direction = 1 if name == "savings" else -1
        sizes = (direction * moves)[refused & (direction * moves > 0)]
        chosen = row.up if name == "savings" else row.down
        assert chosen is not None
        assert chosen.n == sizes.size
        for each in chosen.quantiles:
            expected = np.quantile(sizes, each.at, method="inverted_cdf")
            assert each.value == pytest.approx(direction * expected)


def test_interval_of_a_budget_holds_the_true_quantile() -> None:
    """Of moves drawn 300 times; a correct interval holds less than 91 % of the time once in a
    thousand such tests."""
    rng = np.random.default_rng(2)

    def moves(n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.4, 5000 * rng.random(n), rng.normal(0, 300, n))

    many = moves(2_000_000)
    truth = np.quantile(many[many > 0], 0.95)
    held = 0
    for _ in range(300):
        drawn = moves(250)
        column = PairedNumber("x", 0, 0, None, None, SETTING, np.zeros(250), drawn)
        row = column.row({"moved": 0.0, "further": 1.0, "away": 1.0, "accepted": 1.0})
        assert row.interval is not None
        held += row.interval[0] <= truth <= row.interval[1]
    assert held / 300 > 0.91


def test_scale_of_the_score_changes_nothing() -> None:
    people = told(400, seed=3)
    one, two = learn(people), learn(people._replace(model=Rule(40 * WEIGHTS)))
    assert one.budgets == two.budgets
    assert [row.p_value for row in one.rows] == [row.p_value for row in two.rows]
    assert [row.why for row in one.rows] == [row.why for row in two.rows]


def test_budget_is_what_goes_beyond_the_drift() -> None:
    people = told(1500, seed=4, noise=0.0)
    after = people.after.assign(savings=people.after["savings"] + 700)
    found = gp.learn_budgets(people.before, after, "id", model=people.model)
    savings = found.row("savings")
    assert savings.drift == pytest.approx(700)
    assert savings.budget == (0.0, 5000.0)


def test_drift_of_half_of_everyone_is_not_subtracted() -> None:
    """Half of all people have a birthday between the tables."""
    people = told(1000, seed=5)
    older = people.after["age"] - (np.arange(1000) % 2)
    found = gp.learn_budgets(
        people.before, people.after.assign(age=older), "id", model=people.model
    )
    age = found.row("age")
    assert (age.verdict, age.drift, age.budget) == ("drift", 0.0, None)


def wandering(seed: int, kind: str) -> tuple[pd.DataFrame, pd.DataFrame, LogisticRegression]:
    """People who do not game: their values return to the mean, grow in proportion, or vary."""
    rng = np.random.default_rng(seed)
    n, names = 400, list("abcd")
    steady = rng.standard_normal(n)
    lasting = steady[:, None] * [1, 0.8, 0.6, 0.4] + 0.5 * rng.standard_normal((n, 4))
    X = lasting + 0.6 * rng.standard_normal((n, 4))
    model = LogisticRegression().fit(
        pd.DataFrame(np.exp(X) if kind == "grow" else X, columns=names), steady > 0
    )
    if kind == "grow":
        X = np.exp(X)
        Y = X * 1.1
    elif kind == "return":
        Y = lasting + 0.6 * rng.standard_normal((n, 4))
    else:
        Y = X + 0.3 * rng.standard_normal((n, 4))
    frames = [pd.DataFrame(part, columns=names).assign(id=np.arange(n)) for part in (X, Y)]
    return frames[0], frames[1], model


@pytest.mark.parametrize("kind", ["return", "grow", "vary"])
def test_people_who_do_not_game_are_rarely_reported(kind: str) -> None:
    """Of 20 tables, 5 % may have a column that moved: more than 4 happen once in 390 tests."""
    moved = 0
    for seed in range(20):
        before, after, model = wandering(seed, kind)
        found = gp.learn_budgets(before, after, "id", model=model)
        moved += "moved" in verdicts(found).values()
    assert moved <= 4


def test_without_a_model_chance_is_rarely_a_direction() -> None:
    """Of 20 tables of five columns, 5 % may have one: more than 4 happen once in 390 tests."""
    moved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        before = pd.DataFrame(rng.random((80, 5)), columns=list("abcde")).assign(id=np.arange(80))
        after = before[list("abcde")] + rng.standard_normal((80, 5))
        found = gp.learn_budgets(before, after.assign(id=np.arange(80)), "id")
        moved += bool(found.budgets)
    assert moved <= 4


def test_without_a_model_drift_shows_where_nearly_everyone_moves() -> None:
    people = told(300, seed=6)
    found = gp.learn_budgets(people.before, people.after, "id")
    assert found.row("age").verdict == "drift"
    assert "a model would tell" in found.row("age").why
    assert found.row("utilisation").verdict == "moved"
    assert "drift cannot be ruled out" in found.row("utilisation").why
    assert found.acceptance is None


def test_swapped_tables_mirror_the_budgets() -> None:
    people = told(500, seed=7)
    one = gp.learn_budgets(people.before, people.after, "id").budgets
    two = gp.learn_budgets(people.after, people.before, "id").budgets
    assert {"savings", "utilisation"} <= one.keys() == two.keys()
    for name, (lower, upper) in one.items():
        assert two[name] == (-upper, -lower)


def test_moves_that_lower_the_score_are_not_gaming() -> None:
    people = told(900, seed=8)
    found = learn(people._replace(model=Rule(WEIGHTS * [0, 1, 1, 1])))
    assert not found.row("savings").helps
    assert "gives this column no weight" in found.row("savings").why
    refused = people.model.decision_function(people.before[NAMES]) <= 0
    worse = people.before.assign(utilisation=people.before["utilisation"] + 0.3 * refused)
    found = gp.learn_budgets(people.before, worse, "id", model=people.model)
    row = found.row("utilisation")
    assert (row.verdict, row.helps, row.budget) == ("away", False, None)


def test_gaps_are_counted_and_not_compared() -> None:
    people = told(200, seed=9)
    before = people.before.assign(savings=people.before["savings"].mask(people.before.index < 7))
    after = people.after.assign(savings=people.after["savings"].mask(people.after["id"] == "P3"))
    here = people.before.loc[people.before["id"] == "P3"].index[0] >= 7
    row = gp.learn_budgets(before, after, "id").row("savings")
    assert (row.n, row.became_missing, row.became_known) == (193 - here, int(here), 7 - (not here))


def test_rows_that_a_model_cannot_score_are_noted() -> None:
    people = told(200, seed=10)
    before = people.before.assign(age=people.before["age"].mask(people.before.index < 7))
    notes = gp.learn_budgets(before, people.after, "id", model=people.model).notes
    assert any(note.startswith("7 rows before and 0 after are not scored") for note in notes)


@pytest.mark.parametrize("n", range(1, 6))
def test_a_few_people_are_too_few_to_tell(n: int) -> None:
    people = told(200, seed=11)
    some = people.before[people.gamed].head(n)
    found = gp.learn_budgets(some, people.after, "id", model=people.model)
    assert found.n_before == n
    assert found.budgets == {}
    assert found.row("savings").verdict == "too few"
    assert "proposed budgets: none" in repr(found)
    assert found.verdict == "No column moved significantly, so no budget is proposed."
    json.dumps(json_safe(found.record()), allow_nan=False)


def test_ordinary_moves_as_large_as_the_budget_are_noted() -> None:
    people = told(1500, seed=12, noise=4000.0)
    found = learn(people)
    assert found.row("savings").verdict == "moved"
    assert any("partly ordinary change" in note for note in found.notes)


def test_another_numeric_type_is_not_a_move() -> None:
    people = told(200, seed=13)
    found = gp.learn_budgets(people.before, people.before.astype({"savings": "float32"}), "id")
    assert set(verdicts(found).values()) == {"unchanged"}


def test_record_holds_what_a_program_needs() -> None:
    people = told(300, seed=14)
    found = learn(people)
    record = json.loads(json.dumps(json_safe(found.record()), allow_nan=False))
    assert record["evidence"] == "paired"
    assert not record["weaker_evidence"]
    assert record["budgets"] == {name: list(ends) for name, ends in found.budgets.items()}
    row = record["rows"][0]
    assert row["column"] == "savings"
    assert {"at", "value", "low", "high"} == set(row["up"]["quantiles"][0])
    assert replace(found, notes=("x",)).notes == ("x",)  # frozen, and a plain dataclass

"""Categories: levels that people switch to."""

import numpy as np
import pandas as pd
import pytest

import gameproof as gp

JOBS = ["office", "trade", "retired", "none"]


class Rule:
    """Accepts people with savings, and retired people a little more easily."""

    feature_names_in_ = ("savings", "job")

    def __init__(self, weight: float = 0.5) -> None:
        self.weight = weight

    def decision_function(self, table: pd.DataFrame) -> np.ndarray:
        """Positive for accepted people."""
        return table["savings"].to_numpy() + self.weight * (table["job"] == "retired").to_numpy()


def people(n: int, seed: int, share: float = 0.3, chance: float = 0.05):
    """A share of the refused claims to be retired; anyone may switch to any job by chance."""
    rng = np.random.default_rng(seed)
    before = pd.DataFrame(
        {"id": np.arange(n), "savings": rng.standard_normal(n), "job": rng.choice(JOBS, n)}
    )
    refused = Rule().decision_function(before) <= 0
    job = before["job"].mask(rng.random(n) < chance, rng.choice(JOBS, n))
    claims = refused & (rng.random(n) < share)
    return before, before.assign(job=job.mask(claims, "retired")), refused & (before["job"] != job)


@pytest.mark.parametrize("key", ["id", None])
@pytest.mark.parametrize("model", [Rule(), None])
def test_level_that_people_claim_is_found(key, model) -> None:
    before, after, _ = people(1500, seed=0)
    found = gp.learn_budgets(before, after, key, model=model, drop=[] if key else ["id"])
    assert found.row("job").verdict == "moved"
    assert found.budgets == {"job": ("retired",)}
    assert found.movable == "job:=retired"
    assert "retired" in found.row("job").why
    assert found.evidence == ("paired" if key else "unpaired")


def test_switches_are_counted_as_they_are() -> None:
    before, after, _ = people(600, seed=1)
    rows = gp.learn_budgets(before, after, "id").row("job").levels
    for each in rows:
        assert each.came == ((after["job"] == each.level) & (before["job"] != each.level)).sum()
        assert each.left == ((after["job"] != each.level) & (before["job"] == each.level)).sum()
    shares = gp.learn_budgets(before, after, drop=["id"]).row("job").levels
    for each in shares:
        assert each.before is not None
        assert each.before.value == (before["job"] == each.level).mean()
        assert each.after is not None
        assert each.after.value == (after["job"] == each.level).mean()


@pytest.mark.parametrize("key", ["id", None])
def test_level_that_lowers_the_score_is_not_claimed(key) -> None:
    before, after, _ = people(1500, seed=2)
    found = gp.learn_budgets(before, after, key, model=Rule(-0.5), drop=[] if key else ["id"])
    assert found.row("job").verdict == "away"
    assert found.budgets == {}


def test_switches_of_everyone_are_drift() -> None:
    before, _, _ = people(1500, seed=3)
    rng = np.random.default_rng(0)
    after = before.assign(job=before["job"].mask(rng.random(1500) < 0.2, "retired"))
    for key in ("id", None):
        found = gp.learn_budgets(before, after, key, model=Rule(), drop=[] if key else ["id"])
        assert found.row("job").verdict == "drift"
        assert found.budgets == {}


def test_switches_by_chance_are_rarely_taken_for_claims() -> None:
    """Of 40 tables of two columns, 5 % may have a claim: more than 7 happen once in 1,000 tests.
    Refused people rarely are retired, so that chance alone makes more of them so."""
    for model in (Rule(), None):
        moved = 0
        for seed in range(40):
            before, after, _ = people(300, seed, share=0.0, chance=0.4)
            moved += bool(gp.learn_budgets(before, after, "id", model=model).budgets)
        assert moved <= 7


def test_missing_values_and_new_levels_are_not_claims() -> None:
    before, _, _ = people(200, seed=4)
    job = before["job"].mask(before["id"] < 9).mask(before["id"] == 50, "pilot")
    after = before.assign(job=job)
    row = gp.learn_budgets(before, after, "id").row("job")
    assert (row.verdict, row.became_missing, row.n) == ("too few", 9, 191)
    assert row.budget is None

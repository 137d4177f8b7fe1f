"""What is kept of the rows that a model learned from, against counting them."""

import numpy as np
import pytest

import gameproof as gp
from gameproof.classify.seen import KEPT, equal_rows, kept


def people(n: int, values: int | None, seed: int):
    """Different rows, or rows of so few values that many are equal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) if values is None else rng.integers(values, size=(n, 3)) * 1.0
    X[rng.random((n, 3)) < 0.1] = np.nan
    return X, np.sign(rng.standard_normal(n))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_share_of_rows_learned_from_is_found_from_a_few_digests(share: float) -> None:
    # A binomial count of about 512 rows: five standard errors, a false alarm in 1e6.
    X, y = people(5000, None, 0)
    fresh, labels = people(5000, None, 1)
    same = np.random.default_rng(2).random(5000) < share
    mixed = np.where(same[:, None], X, fresh), np.where(same, y, labels)
    equal, looked_at, by_chance = equal_rows(kept(X, y), *mixed)
    assert 350 < looked_at < 700
    assert by_chance == pytest.approx((np.isnan(X).all(axis=1)).mean(), abs=0.002)
    assert equal / looked_at == pytest.approx(share, abs=5 * np.sqrt(0.25 / KEPT) * (0 < share < 1))


def test_few_rows_are_all_known() -> None:
    X, y = people(200, None, 3)
    assert equal_rows(kept(X, y), X[:77], y[:77])[:2] == (77, 77)
    assert equal_rows(kept(X, y), -X, y)[0] <= 1
    assert equal_rows(kept(X, y), np.where(X == 0, -0.0, X), y)[0] == 200


def test_rows_that_are_equal_by_chance_are_told_beforehand() -> None:
    """Leaving one out, by brute force; fresh people of few values equal others as often. Of 3,000
    rows the shares are known to 0.01: five standard errors."""
    X, y = people(3000, 12, 4)
    fresh, labels = people(3000, 12, 5)
    learned = kept(X, y)
    seen = [repr(row) for row in np.column_stack([X, y]).tolist()]
    repeated = np.mean([seen.count(row) > 1 for row in seen])
    assert learned["repeated"] == pytest.approx(repeated)
    assert 0.3 < repeated < 0.9
    found = np.isin([repr(row) for row in np.column_stack([fresh, labels]).tolist()], seen).mean()
    assert found == pytest.approx(repeated, abs=0.05)


def test_audit_of_a_classifier_knows_its_own_people() -> None:
    X, y = gp.synthetic_people(n=120, d=2, seed=0)
    model = gp.StrategicLogisticRegression().fit(X[:80], y[:80])
    assert gp.audit(model, X[:80], y[:80]).learned_from == 1.0
    assert gp.audit(model, X[80:], y[80:]).learned_from is None

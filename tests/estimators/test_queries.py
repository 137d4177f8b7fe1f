"""Fits by queries: which queries are made, in which units, and with what result."""

import pickle
import traceback
from typing import Any

import numpy as np
import pytest

import gameproof as gp

SCALE, SHIFT = np.array([1e3, 1e-2, 5.0]), np.array([4e3, 0.0, -1.0])
METHOD = gp.ogda_rr(gradient=gp.TwoPoint(), step=gp.Power(0.03, 0.5), radius=0.3)
POWER = 0.2


def people(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X, y = gp.synthetic_people(n=n, d=3, seed=7)
    return X * SCALE + SHIFT, y


class Survey:
    """People whose cost is quadratic in standard deviations, and who answer in table units:
    z + power theta is x + power coef scale^2."""

    def __init__(self, X: np.ndarray, scores: bool = False, against: bool = False) -> None:
        self.X, self.scores, self.asked, self.thetas = X, scores, 0, []
        # People with even numbers may move against theta, which refutes every model.
        self.sign = np.where(against & (np.arange(len(X)) % 2 == 0), -0.5, 1.0)[:, None]

    def __call__(self, coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        self.asked += agents.size
        self.thetas.append(coef)
        answers = self.X[agents] + self.sign[agents] * POWER * coef * self.X.var(axis=0)
        return answers @ coef if self.scores else answers


@pytest.mark.parametrize("kind", [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression])
def test_enough_queries_come_near_the_exact_fit(kind) -> None:
    X, y = people()
    exact = kind(power=POWER).fit(X, y)
    asked = kind(power=POWER, solver=METHOD, epochs=300, random_state=0).fit(X, y)
    assert isinstance(exact.result_, gp.Saddle)
    assert isinstance(asked.result_, gp.Result)
    assert 0 <= asked.worst_case_risk_ - exact.worst_case_risk_ < 0.01
    assert asked.n_queries_ == asked.result_.n_queries > 0
    assert (asked.predict(X) == exact.predict(X)).mean() > 0.95


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("favourable", [-1.0, 1.0])
def test_black_box_uses_the_units_of_the_table(scores, intercept, favourable) -> None:
    """The steps are the same as with a known response in the units of the fit."""
    X, y = people()
    survey = Survey(X, scores)
    common = {"solver": METHOD, "epochs": 3, "random_state": 1, "favourable": favourable}
    common["fit_intercept"] = intercept
    model = gp.RobustStrategicClassifier(power=POWER, **common).fit(X, y)
    box = gp.BlackBox(survey, scores=scores)
    asked = gp.RobustStrategicClassifier(response=box, **common).fit(X, y)
    np.testing.assert_allclose(asked.coef_, model.coef_, rtol=1e-6)
    np.testing.assert_allclose(asked.intercept_, model.intercept_, rtol=1e-6, atol=1e-9)
    assert survey.asked == asked.n_queries_ == model.n_queries_
    towards = np.sign(favourable) * asked.coef_[0]
    assert np.mean([theta @ towards > 0 for theta in survey.thetas[-50:]]) > 0.5


CHANGED = {
    "boxed": lambda base: gp.Boxed(base, [0.0, -0.01, -2.0], [4500.0, 0.01, 0.0]),
    "limited": lambda base: gp.Limited(base, 30.0),
    "rounded": lambda base: gp.Rounded(base, 0.5),
    "noisy": lambda base: gp.Noisy(base, 0.1, seed=3),
    "rounded and boxed": lambda base: gp.Boxed(gp.Rounded(base, 0.5), -3.0, 5000.0),
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("weighted", [False, True])
def test_modified_black_box_uses_the_units_of_the_table(changed, weighted: bool) -> None:
    """Rows with positive weight are renumbered; the last feature, no multiple of 0.5, stays."""
    X, y = people()
    weights = (np.arange(y.size) % 5 > 0).astype(float) if weighted else np.ones(y.size)
    rows = np.flatnonzero(weights)

    def survey(coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        return X[agents] + POWER * coef * X.var(axis=0) * [1, 1, 0]

    model = gp.RobustStrategicClassifier(
        response=changed(gp.BlackBox(survey)), solver=METHOD, epochs=1, fit_intercept=False
    ).fit(X, y, weights)
    theta, asked = np.array([0.5, -1.0, 2.0]), np.flatnonzero(y[rows] < 0)
    answers = model.problem(X, y, weights).population.ask(theta, asked)
    plain = changed(gp.BlackBox(lambda coef, agents: survey(coef, rows[agents])))
    expected = plain.answers(theta / model.units_.scale, X[rows][asked], asked)
    np.testing.assert_allclose(answers, expected / model.units_.scale, rtol=1e-12)


def test_answers_of_a_wrong_shape_are_refused() -> None:
    X, y = people()
    box = gp.BlackBox(lambda coef, agents: (X[agents] @ coef)[:, None])
    model = gp.RobustStrategicClassifier(response=box, solver=METHOD, epochs=1, random_state=0)
    with pytest.raises(gp.EvaluationError, match=r"answers of shape \(1, 1\), expected \(1, 3\)"):
        model.fit(X, y)


def test_queries_are_the_limit_and_what_a_black_box_risks_is_estimated() -> None:
    X, y = people()
    survey = Survey(X)
    model = gp.RobustStrategicClassifier(
        response=gp.BlackBox(survey), solver=METHOD, queries=500, random_state=0
    ).fit(X, y)
    assert 490 < survey.asked == model.n_queries_ <= 500
    assert np.isnan(model.worst_case_risk_)
    known = gp.RobustStrategicClassifier(power=POWER).fit(X, y).problem(X, y)
    truth = gp.worst_case(known, model.theta_, model.offset_).value
    estimate = gp.estimate_risk(model.problem(X, y), model.theta_, model.offset_)
    assert estimate.value == pytest.approx(truth, abs=1e-9)
    assert model.gamed_score(X, y) <= 1


def test_random_state_makes_a_fit_repeatable() -> None:
    X, y = people()
    fits = [
        gp.StrategicLogisticRegression(solver=METHOD, epochs=2, random_state=seed).fit(X, y).coef_
        for seed in (0, 0, 1, np.random.RandomState(0))
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[3])
    assert not np.array_equal(fits[0], fits[2])


@pytest.mark.parametrize("favourable", [-1.0, 1.0])
def test_warm_start_begins_where_the_previous_fit_ended(favourable) -> None:
    """A step size of 0 shows where a run starts: at the earlier fit, in the new table's units."""
    X, y = people()
    still = gp.ogda_rr(gradient=gp.TwoPoint(), step=1e-12, radius=1e-3)
    model = gp.RobustStrategicClassifier(0.02, warm_start=True, favourable=favourable).fit(X, y)
    before = model.coef_.copy(), model.intercept_.copy()
    model.set_params(solver=still, epochs=1, random_state=0).fit(X[:150] + 1e-9, y[:150])
    np.testing.assert_allclose(model.coef_, before[0], rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, before[1], rtol=1e-6, atol=1e-6)
    model.set_params(warm_start=False).fit(X, y)
    assert np.abs(model.theta_).max() < 1e-6


def test_warm_start_of_a_loaded_model_starts_at_its_coefficients(tmp_path) -> None:
    X, y = people()
    still = gp.ogda_rr(gradient=gp.TwoPoint(), step=1e-12, radius=1e-3)
    model = gp.RobustStrategicClassifier(1e-3, np.inf, power=0.01, warm_start=True).fit(X, y)
    assert np.linalg.norm(model.theta_) > 1
    model.save(tmp_path / "model.json")
    loaded = gp.load_model(tmp_path / "model.json")
    loaded.set_params(solver=still, epochs=1, random_state=0).fit(X, y)
    np.testing.assert_allclose(loaded.coef_, model.coef_, rtol=1e-6)


def test_warm_start_on_other_columns_starts_afresh() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(warm_start=True).fit(X, y)
    model.set_params(solver=METHOD, epochs=1, random_state=0).fit(X[:, :2], y)
    assert model.coef_.shape == (1, 2)


def test_interrupted_fit_keeps_its_progress() -> None:
    X, y = people()
    survey = Survey(X)

    def impatient(coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        if survey.asked > 200:
            raise KeyboardInterrupt
        return survey(coef, agents)

    model = gp.StrategicLogisticRegression(
        gp.BlackBox(impatient), solver=METHOD, epochs=50, random_state=0
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.result_.reason == "interrupted"
    assert model.n_queries_ == survey.asked
    assert model.coef_.shape == (1, 3)


@pytest.mark.parametrize(
    ("solver", "fault"),
    [(METHOD, RuntimeError), (METHOD, KeyboardInterrupt), ("auto", RuntimeError)],
)
def test_resumed_fit_gives_the_same_bits_and_repeats_no_query(solver, fault) -> None:
    X, y = people()
    # A model that fits would leave nothing to ask.
    whole, broken = (Survey(X, against=True) for _ in range(2))
    faults = iter([fault("line is dead")])

    def failing(coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        for error in faults if broken.asked > 200 else ():
            raise error
        return broken(coef, agents)

    def model(ask) -> gp.RobustStrategicClassifier:
        response, given = gp.BlackBox(ask), {"solver": solver, "queries": 500, "warm_start": True}
        return gp.RobustStrategicClassifier(0.02, response=response, random_state=0, **given)

    straight, halting = model(whole).fit(X, y), model(failing)
    expected = gp.EvaluationError if fault is RuntimeError else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        halting.fit(X, y)
    assert "warm_start=True" in "".join(traceback.format_exception(caught.value))
    assert 200 < broken.asked < 300
    halting.fit(X, y)
    np.testing.assert_array_equal(halting.coef_, straight.coef_)
    assert halting.n_queries_ == straight.n_queries_ == broken.asked == whole.asked
    # It was resumed once; the next fit starts anew.
    asked = broken.asked
    assert halting.fit(X, y).n_queries_ == broken.asked - asked


def test_resumed_fit_queries_only_people_without_a_usable_answer() -> None:
    X, y = people()
    whole, broken, faults = Survey(X), Survey(X), iter([np.nan])

    def mumbling(coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        answers = broken(coef, agents)
        if broken.asked > 100 and len(agents) > 2:
            answers[1] += next(faults, 0.0)
        return answers

    solver = gp.ogda_rr(gradient=gp.TwoPoint(), step=0.01, radius=0.1, batch=8)
    given = {"solver": solver, "queries": 400, "warm_start": True, "random_state": 0}
    straight, halting = (
        gp.RobustStrategicClassifier(0.02, response=gp.BlackBox(ask), **given)
        for ask in (whole, mumbling)
    )
    with pytest.raises(gp.EvaluationError, match="the others' answers are kept"):
        halting.fit(X, y)
    halting.fit(X, y)
    np.testing.assert_array_equal(halting.coef_, straight.fit(X, y).coef_)
    assert broken.asked == whole.asked + 1


def broken_off(survey: Survey, **given: Any) -> gp.RobustStrategicClassifier:
    """A classifier whose black box fails once, after about 200 answers."""
    X, y = people()
    faults = iter([RuntimeError("line is dead")])

    def failing(coef: np.ndarray, agents: np.ndarray) -> np.ndarray:
        for error in faults if survey.asked > 200 else ():
            raise error
        return survey(coef, agents)

    given = {"solver": METHOD, "queries": 400, "warm_start": True, "random_state": 0} | given
    model = gp.RobustStrategicClassifier(0.02, response=gp.BlackBox(failing), **given)
    with pytest.raises(gp.EvaluationError):
        model.fit(X, y)
    assert 200 < survey.asked < 210
    return model


@pytest.mark.parametrize(
    ("rows", "changed"),
    [
        (150, {}),
        (None, {"warm_start": False}),
        (None, {"solver": gp.sgda_rr(gradient=gp.TwoPoint(), step=0.01, radius=0.1)}),
        (None, {"radius": 0.03}),
    ],
    ids=["other people", "not warm", "another solver", "another problem"],
)
def test_failed_fit_is_not_resumed_on_another_problem(
    rows: int | None, changed: dict[str, Any]
) -> None:
    X, y = people()
    survey = Survey(X)
    model, before = broken_off(survey), survey.asked
    model.set_params(**changed).fit(X[:rows], y[:rows])
    assert survey.asked - before == model.n_queries_ > 300


def test_resumed_fit_uses_the_current_limit_of_queries() -> None:
    X, y = people()
    whole, survey = Survey(X), Survey(X)
    straight = gp.RobustStrategicClassifier(
        0.02, response=gp.BlackBox(whole), solver=METHOD, queries=600, random_state=0
    ).fit(X, y)
    model = broken_off(survey).set_params(queries=600).fit(X, y)
    np.testing.assert_array_equal(model.coef_, straight.coef_)
    assert model.n_queries_ == straight.n_queries_ == survey.asked == whole.asked > 590


def test_fit_by_a_solver_can_be_pickled() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(solver=METHOD, epochs=1, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.result_.status == model.result_.status


def test_chosen_solver_stays_within_the_queries_and_counts_its_pilot() -> None:
    X, y = people()
    survey = Survey(X)
    model = gp.RobustStrategicClassifier(
        response=gp.BlackBox(survey), solver="auto", queries=400, random_state=0
    ).fit(X, y)
    assert survey.asked == model.n_queries_ <= 400
    assert model.result_.n_queries < model.n_queries_
    known = gp.RobustStrategicClassifier(power=POWER).fit(X, y)
    risk = gp.worst_case(known.problem(X, y), model.theta_, model.offset_).value
    assert 0 <= risk - known.worst_case_risk_ < 0.05


SHUFFLED = np.random.default_rng(0).permutation(200)
OTHERS = {
    "reordered": lambda X, y: (X[SHUFFLED], y[SHUFFLED]),
    "fewer": lambda X, y: (X[:150], y[:150]),
    "changed": lambda X, y: (X + 1e-9, y),
}


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS)
def test_black_box_refuses_other_rows_than_those_of_the_fit(others) -> None:
    X, y = people()
    survey = Survey(X)
    options = {"solver": METHOD, "epochs": 1, "random_state": 0}
    asked = gp.RobustStrategicClassifier(response=gp.BlackBox(survey), **options).fit(X, y)
    noisy = gp.Noisy(gp.BlackBox(survey), 0.1)
    for model in (asked, gp.StrategicLogisticRegression(noisy, **options).fit(X, y)):
        before = survey.asked
        for use in (model.gamed_score, model.problem):
            with pytest.raises(ValueError, match="not the rows of the fit in their order"):
                use(*others(X, y))
        assert survey.asked == before
        assert model.gamed_score(X, y) == pickle.loads(pickle.dumps(model)).gamed_score(X, y)
    # A black box that was set later may be about other people.
    X2, y2 = others(X, y)
    asked.set_params(response=gp.BlackBox(Survey(X2))).gamed_score(X2, y2)


def test_individual_powers_need_the_rows_of_the_fit_and_a_common_one_does_not() -> None:
    X, y = people()
    own = np.random.default_rng(1).random(200)
    for given in ({"power": own}, {"response": gp.QuadraticCost(own)}):
        model = gp.RobustStrategicClassifier(**given).fit(X, y)
        assert model.gamed_score(X, y) <= 1
        with pytest.raises(ValueError, match="PowerCost is keyed by row position"):
            model.gamed_score(X[SHUFFLED], y[SHUFFLED])
    common = gp.RobustStrategicClassifier(power=POWER).fit(X, y)
    assert common.gamed_score(X[SHUFFLED], y[SHUFFLED]) == common.gamed_score(X, y)
    noisy = gp.RobustStrategicClassifier(
        response=gp.Noisy(gp.QuadraticCost(POWER), 0.1), solver=METHOD, epochs=1, random_state=0
    )
    assert noisy.fit(X, y).gamed_score(X[:150], y[:150]) <= 1

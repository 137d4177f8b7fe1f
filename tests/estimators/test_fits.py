"""Fits against saddle points, scikit-learn's logistic regression and manual scaling."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import gameproof as gp

BOTH = [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression]


def people(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features of very different sizes and locations, and labels that are not separable."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    y = np.sign(Z @ [1.0, -0.5, 0.5, 0.0] + 0.7 * rng.standard_normal(n) + 0.3)
    return Z * [1e4, 1e-3, 1.0, 30.0] + [5e4, 0.0, -7.0, 100.0], y


@pytest.mark.parametrize("intercept", [True, False])
def test_with_no_radius_and_no_response_it_is_unpenalised_logistic_regression(intercept) -> None:
    X, y = people()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = LogisticRegression(C=np.inf, fit_intercept=intercept, tol=1e-10).fit(X, y)
    for model in (
        gp.StrategicLogisticRegression(gp.NoResponse(), fit_intercept=intercept),
        gp.RobustStrategicClassifier(0.0, np.inf, gp.NoResponse(), fit_intercept=intercept),
    ):
        model.fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
        np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
        risk = log_loss(y, theirs.predict_proba(X))
        assert model.worst_case_risk_ == pytest.approx(risk, abs=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_fit_is_the_saddle_point_of_hand_standardised_people(intercept, label_cost) -> None:
    X, y = people()
    centre = X.mean(axis=0) if intercept else 0.0
    Z = (X - centre) / X.std(axis=0)
    response = gp.PowerCost(0.3, 1.5, 3.0, features=[0, 2])
    problem = gp.StrategicProblem(
        gp.Population(Z, y, response), 0.05, label_cost, intercept=9.0 if intercept else None
    )
    saddle = gp.saddle_point(problem)
    theta, offset = problem.split(saddle.x)[0], problem.offset(saddle.x)
    model = gp.RobustStrategicClassifier(0.05, label_cost, response, fit_intercept=intercept)
    model.fit(X, y)
    np.testing.assert_allclose(model.theta_, theta, atol=1e-5)
    assert model.offset_ == pytest.approx(offset, abs=1e-5)
    np.testing.assert_allclose(model.coef_[0], theta / X.std(axis=0), rtol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), Z @ theta + offset, atol=1e-4)
    assert model.result_.value == pytest.approx(saddle.value, abs=1e-9)
    worst = gp.worst_case(problem, model.theta_, model.offset_ if intercept else None)
    assert model.worst_case_risk_ == pytest.approx(worst.value, abs=1e-12)
    assert model.worst_case_risk_ == pytest.approx(saddle.value, abs=1e-8)
    assert model.worst_case(X, y).value == pytest.approx(model.worst_case_risk_, abs=1e-12)
    assert model.n_queries_ == 0


def test_regression_is_the_white_box_baseline() -> None:
    X, y = people()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theta, offset = gp.strategic_regression(
        gp.Population(Z, y, gp.QuadraticCost(0.2, features=[1])), intercept=9.0
    )
    model = gp.StrategicLogisticRegression(power=0.2, features=[1]).fit(X, y)
    np.testing.assert_allclose(model.theta_, theta, atol=1e-5)
    assert model.offset_ == pytest.approx(offset, abs=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_other_units_give_the_same_classifier(kind) -> None:
    X, y = people()
    scale, shift = np.array([1e-6, 40.0, -3.0, 1e3]), np.array([1.0, -5.0, 0.0, 1e4])
    one, other = kind(power=0.2).fit(X, y), kind(power=0.2).fit(X * scale + shift, y)
    np.testing.assert_allclose(one.coef_, other.coef_ * scale, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(X * scale + shift), atol=1e-5
    )
    assert one.worst_case_risk_ == pytest.approx(other.worst_case_risk_, abs=1e-9)


def test_without_standardising_units_are_the_users() -> None:
    X, y = gp.synthetic_people(n=200, d=3, seed=0)
    problem = gp.StrategicProblem(
        gp.Population(X, y, gp.QuadraticCost(0.1)), 0.1, 0.5, intercept=5.0
    )
    theta, _ = problem.split(gp.saddle_point(problem).x)
    model = gp.RobustStrategicClassifier(0.1, power=0.1, standardise=False).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], theta, atol=1e-5)
    np.testing.assert_array_equal(model.theta_, model.coef_[0])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("standardise", [True, False])
def test_constant_and_repeated_columns_do_no_harm(kind, standardise: bool) -> None:
    X, y = gp.synthetic_people(n=200, d=3, seed=0)
    alone = kind(power=0.1, standardise=standardise).fit(X, y)
    padded = np.column_stack([X, np.full(200, 0.1)])
    model = kind(power=0.1, standardise=standardise).fit(padded, y)
    np.testing.assert_allclose(
        model.decision_function(padded), alone.decision_function(X), atol=1e-3
    )
    twice = np.column_stack([X, X[:, 0]])
    model = kind(power=0.1, standardise=standardise).fit(twice, y)
    assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 3], abs=1e-4)


def test_gamed_score_is_accuracy_at_what_people_report() -> None:
    X, y = people()
    model = gp.RobustStrategicClassifier(0.05, power=0.5, features=[0, 3]).fit(X, y)
    theta, scale = model.theta_, X.std(axis=0)
    moved = X + (y < 0)[:, None] * 0.5 * theta * [1, 0, 0, 1] * scale
    assert model.gamed_score(X, y) == model.score(moved, y)
    assert model.gamed_score(X, y) < model.score(X, y)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_gamed_score_of_one_class_or_one_person_is_that_of_their_rows(class_weight) -> None:
    X, y = people()
    model = gp.RobustStrategicClassifier(0.05, power=0.5, class_weight=class_weight).fit(X, y)
    moved = X + (y < 0)[:, None] * 0.5 * model.theta_ * X.std(axis=0)
    for rows in (y < 0, y > 0, np.arange(y.size) == 0):
        assert model.gamed_score(X[rows], y[rows]) == model.score(moved[rows], y[rows])


@pytest.mark.parametrize("cost", [{"power": 0.5}, {"response": gp.QuadraticCost(0.5)}])
def test_parameters_given_after_the_fit_say_how_people_answer_from_then_on(cost) -> None:
    X, y = people()
    model = gp.RobustStrategicClassifier(0.05, features=[0], **cost).fit(X, y)
    moved = X + (y < 0)[:, None] * 0.5 * model.theta_ * [1, 1, 1, 0] * X.std(axis=0)
    before = model.gamed_score(X, y)
    after = model.set_params(features=[0, 1, 2]).gamed_score(X, y)
    assert after == model.score(moved, y) < before
    assert model.movable_.tolist() == [0]  # as at the time of the fit


def test_separable_classes_reach_the_bound_with_a_readable_warning() -> None:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1])
    with pytest.warns(gp.CapWarning, match="only the bound of 5 keeps the classifier finite"):
        model = gp.StrategicLogisticRegression(gp.NoResponse(), bound=5.0).fit(X, y)
    assert abs(model.theta_[0]) == pytest.approx(5.0, rel=1e-3)
    assert model.score(X, y) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gp.RobustStrategicClassifier(0.01).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("radius", [1e-4, 1e-3, 0.01])
def test_cap_never_binds_where_a_radius_bounds_the_classifier(radius: float) -> None:
    """alpha radius is at most the risk of theta = 0, so a larger bound changes nothing."""
    X, y = gp.synthetic_people(n=100, d=2, noise=0.0, seed=0)
    one = gp.RobustStrategicClassifier(radius, np.inf, gp.NoResponse()).fit(X, y)
    other = gp.RobustStrategicClassifier(radius, np.inf, gp.NoResponse(), bound=9e3).fit(X, y)
    assert np.linalg.norm(one.theta_) < np.log(2) / radius
    assert one.worst_case_risk_ == pytest.approx(other.worst_case_risk_, abs=1e-8)


def test_too_large_a_radius_warns_that_the_data_is_ignored() -> None:
    X, y = gp.synthetic_people(n=100, d=2, seed=0)
    with pytest.warns(gp.IgnoresDataWarning, match="a smaller radius may"):
        gp.RobustStrategicClassifier(5.0).fit(X, y)


@pytest.mark.parametrize("label_cost", [0.5, np.inf])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_classifier_that_ignores_the_data_is_zero_and_decides_for_the_majority(
    label_cost: float, share: float
) -> None:
    """Without cheap labels the best constant score is the logarithm of the odds. With them the
    adversary turns labels +1 until they are as many as the others, and no constant score has a
    smaller risk than log 2; where they are the minority already, turning them does not hurt."""
    X, _ = gp.synthetic_people(n=200, d=3, seed=0)
    y = np.where(np.arange(200) < 200 * share, 1, -1)
    with pytest.warns(gp.IgnoresDataWarning, match="a smaller radius may"):
        model = gp.RobustStrategicClassifier(5.0, label_cost).fit(X, y)
    assert (model.coef_ == 0).all()
    assert (model.predict(X) == (1 if share > 0.5 else -1)).all()
    odds = np.log(share / (1 - share))
    tied = share > 0.5 and label_cost < 1
    assert model.intercept_[0] == pytest.approx(0.0 if tied else odds, abs=1e-5)
    risk = np.log(2) if tied else -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert model.worst_case_risk_ == pytest.approx(risk, abs=1e-5)
    assert model.result_.duality_gap < 1e-5


def test_solver_made_for_another_problem_is_refused() -> None:
    """Its start has no intercept; the classifier's problem has one."""
    X, y = gp.synthetic_people(n=60, d=2, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.1))
    solver = gp.Solver(start=gp.StrategicProblem(people, 0.05, 0.5).start)
    model = gp.RobustStrategicClassifier(0.05, solver=solver, queries=50)
    message = "made for another problem: its start has 3 coordinates of x, .* 4"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    model = gp.RobustStrategicClassifier(0.05, solver=solver, queries=50, fit_intercept=False)
    assert model.fit(X, y).n_queries_ > 0


def test_parameters_that_contradict_each_other_are_refused() -> None:
    X, y = gp.synthetic_people(n=50, d=2, seed=0)
    box = gp.BlackBox(lambda theta, agents: X[agents])
    for parameters, message in (
        ({"response": gp.NoResponse(), "power": 0.1}, "a response has its own"),
        (
            {"response": gp.QuadraticCost(0.1, features=[0]), "features": [1]},
            "already says what people can move",
        ),
        (
            {"response": box, "features": [1], "solver": gp.ogda_rr()},
            "already says what people can move",
        ),
        (
            {"response": lambda theta, agents: X[agents]},
            r"wrap a function of your own as BlackBox\(function\)",
        ),
        ({"response": box}, "so they must be queried"),
        ({"solver": "ogda"}, "solver must be a Solver"),
        ({"bound": "20"}, "bound must be a number"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            gp.StrategicLogisticRegression(**parameters).fit(X, y)
    for radius, message in ((-0.1, "at least 0"), (np.inf, "finite"), ("0.1", 'number or "auto"')):
        with pytest.raises((ValueError, TypeError), match=f"radius must .*{message}"):
            gp.RobustStrategicClassifier(radius).fit(X, y)


@pytest.mark.parametrize("favourable", ["a", "b"])
@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0}, {"a": 0.1, "b": 2.0}])
def test_class_weights_are_those_of_scikit_learn(class_weight, favourable: str) -> None:
    X, y = people(seed=3)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    named = np.where(y > 0, "a", "b")
    theirs = LogisticRegression(C=np.inf, class_weight=class_weight, tol=1e-10).fit(X, named)
    model = gp.StrategicLogisticRegression(
        gp.NoResponse(), class_weight=class_weight, favourable=favourable
    ).fit(X, named)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_class_weight_3_is_equivalent_to_repeating_the_class_3_times(label_cost) -> None:
    X, y = gp.synthetic_people(n=150, d=3, seed=0)
    rows = np.repeat(np.arange(150), np.where(y < 0, 3, 1))
    common = {"radius": 0.03, "label_cost": label_cost, "power": 0.2, "standardise": False}
    one = gp.RobustStrategicClassifier(class_weight={-1.0: 3}, **common).fit(X, y)
    many = gp.RobustStrategicClassifier(**common).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.coef_, many.coef_, atol=1e-5)
    np.testing.assert_allclose(one.intercept_, many.intercept_, atol=1e-5)
    assert one.worst_case_risk_ == pytest.approx(many.worst_case_risk_, abs=1e-9)
    scaled = gp.RobustStrategicClassifier(class_weight={-1.0: 30, 1.0: 10}, **common).fit(X, y)
    np.testing.assert_allclose(scaled.coef_, one.coef_, atol=1e-7)


def test_weights_do_not_change_the_units_of_the_fit() -> None:
    X, y = people()
    model = gp.RobustStrategicClassifier(class_weight={1.0: 3.0}).fit(X, y)
    np.testing.assert_allclose(model.units_.mean, X.mean(axis=0))
    np.testing.assert_allclose(model.units_.scale, X.std(axis=0))


@pytest.mark.parametrize("weight", [0.0, -1.0, np.inf, np.nan])
def test_class_weights_must_be_positive(weight: float) -> None:
    X, y = people()
    with pytest.raises(ValueError, match=r"class_weight must be positive, got .* for -1.0"):
        gp.RobustStrategicClassifier(class_weight={-1.0: weight}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        gp.RobustStrategicClassifier(class_weight={7: 1.0}).fit(X, y)


@pytest.mark.parametrize("favourable", [-1.0, 1.0])
@pytest.mark.filterwarnings("ignore:.*ignores the data:gameproof.core.errors.IgnoresDataWarning")
def test_where_nobody_moves_gaming_changes_nothing(favourable: float) -> None:
    """Also if every score is 0 and the class is a convention."""
    X, y = gp.synthetic_people(n=101, d=2, seed=0)
    for parameters in ({"power": 0.0}, {"features": []}, {"response": gp.NoResponse()}):
        for radius in (0.05, 9.0):
            model = gp.RobustStrategicClassifier(
                radius, favourable=favourable, fit_intercept=False, **parameters
            ).fit(X, y)
            if radius == 9.0:
                model.coef_[:] = 0.0
            assert model.gamed_score(X, y) == model.score(X, y)


def test_warning_points_to_the_line_that_called_fit() -> None:
    with pytest.warns(gp.CapWarning) as caught:
        gp.StrategicLogisticRegression(gp.NoResponse()).fit([[-1.0], [1.0]], [0, 1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", BOTH)
def test_fit_that_fails_leaves_the_model_as_it_was(kind) -> None:
    X, y = people()
    model = kind().fit(X, y)
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    named = np.where(y > 0, "a", "b")
    for table, labels, wrong in (
        (X, named, {"favourable": "b", "bound": -1.0}),
        (X[:, :2], y, {"features": [3]}),
        (X[:, :2], np.ones_like(y), {}),
        (X * 7, y, {"solver": "ogda"}),
    ):
        with pytest.raises((ValueError, TypeError)):
            model.set_params(**wrong).fit(table, labels)
        model.set_params(favourable=None, bound=20.0, features=None, solver=None)
        after = {name: value for name, value in vars(model).items() if name.endswith("_")}
        assert after == fitted
    assert model.score(X, y) == kind().fit(X, y).score(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_first_fit_that_fails_leaves_a_model_that_is_not_fitted(kind) -> None:
    X, y = people()
    model = kind(bound=-1.0)
    with pytest.raises(ValueError, match="bound must be positive"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_warm_start_ends_at_the_same_exact_fit() -> None:
    X, y = gp.synthetic_people(n=9000, d=4, seed=0)
    budgets = {0: (-0.5, 0.5), 1: (0.0, 0.3)}
    cold = gp.RobustStrategicClassifier(0.05, budgets=budgets).fit(X, y)
    warm = gp.RobustStrategicClassifier(0.03, budgets=budgets, warm_start=True).fit(X, y)
    warm.set_params(radius=0.05).fit(X, y)
    assert warm.result_.duality_gap < 1e-8
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-7)


def test_a_table_too_wide_for_an_exact_fit_is_refused_unless_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = gp.synthetic_people(n=60, d=4, seed=0)
    wide = np.tile(X, 501)
    with pytest.raises(gp.DataError, match=r"2,004 columns .* limit of 2,000 .*--drop"):
        gp.RobustStrategicClassifier().fit(wide, y)
    monkeypatch.setenv("GAMEPROOF_MAX_COLUMNS", "3")
    with pytest.raises(gp.DataError, match="limit of 3 "):
        gp.RobustStrategicClassifier().fit(X, y)
    monkeypatch.setenv("GAMEPROOF_MAX_COLUMNS", "4")
    gp.RobustStrategicClassifier().fit(X, y)
    monkeypatch.setenv("GAMEPROOF_MAX_COLUMNS", "many")
    with pytest.raises(ValueError, match="must be a number of columns, got 'many'"):
        gp.RobustStrategicClassifier().fit(X, y)

"""Classifiers for Dask collections: the fit on one machine, whatever happens to the cluster."""

import os
import pickle
import signal
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

import gameproof as gp
from clusters import FREE_PORTS
from gameproof.core.errors import ClusterError, DataError
from gameproof.dask import RobustStrategicClassifier, StrategicLogisticRegression
from gameproof.estimators import choice_rows, row_summary
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.rows.dask_source import DaskRows
from gameproof.strategic import row_problem

N, D = 9000, 3
NAMES = ["age", "income", "rooms"]
# Warnings of Dask and its libraries about themselves.
pytestmark = pytest.mark.filterwarnings("ignore::Warning:(dask|distributed|tornado|asyncio).*")


@pytest.fixture
def client(cluster_client: Any) -> Any:
    return cluster_client


@pytest.fixture(autouse=True)
def _nothing_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_problem, "SMALL", 0)


def people() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * [1.0, 2.0, 0.5] + [0.0, 1.0, 2.0]
    y = (X @ [1.0, -0.5, 1.0] + rng.normal(size=N) > 1.5).astype(np.int64)
    return X, y, rng.integers(0, 3, N).astype(np.float64)


def collections(parts: int) -> tuple[Any, Any, Any]:
    X, y, weights = people()
    size = -(-N // parts)
    return da.from_array(X, chunks=(size, 2)), da.from_array(y, chunks=1000), da.from_array(weights)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_arrays_give_the_fit_in_memory(client: Any, parts: int) -> None:
    X, y, weights = people()
    expected = gp.RobustStrategicClassifier(features=[0]).fit(X, y, weights)
    found = RobustStrategicClassifier(features=[0]).fit(*collections(parts))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    assert found.worst_case_risk_ == pytest.approx(expected.worst_case_risk_, abs=1e-12)
    assert found.result_.duality_gap < 1e-9


def test_the_number_of_workers_does_not_change_a_bit(client: Any) -> None:
    found = RobustStrategicClassifier(features=[0]).fit(*collections(7))
    with Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        **FREE_PORTS,
        set_as_default=False,
    ) as alone:
        other = RobustStrategicClassifier(features=[0], client=alone).fit(*collections(7))
    assert found.coef_.tobytes() == other.coef_.tobytes()


def test_frames_with_budgets_and_a_preparation(client: Any) -> None:
    X, y, _ = people()
    frame = pd.DataFrame(X, columns=NAMES).assign(y=np.where(y > 0, "yes", "no"))
    table = dd.from_pandas(frame, npartitions=3)
    budgets = {"income": (0, 1.0), "rooms": (-0.2, 0.2)}
    options = {"budgets": budgets, "prepare": gp.Prepare(), "class_weight": "balanced"}
    expected = gp.StrategicLogisticRegression(**options).fit(frame[NAMES], frame["y"])
    found = StrategicLogisticRegression(**options).fit(table[NAMES], table["y"])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    assert found.predict(table[NAMES]).compute().tolist() == expected.predict(frame[NAMES]).tolist()
    share = found.gamed_score(table[NAMES], table["y"], multiple=2.0)
    assert share == pytest.approx(expected.gamed_score(frame[NAMES], frame["y"], multiple=2.0))


def test_a_radius_is_chosen_on_the_cluster_as_in_memory(client: Any) -> None:
    X, y, _ = (each[:900] for each in people())
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    table = dd.from_pandas(frame, npartitions=2)
    options: Any = {"radius": "auto", "budgets": {"income": (0, 1.0)}}
    found = RobustStrategicClassifier(**options).fit(table[NAMES], table["y"])
    expected = gp.RobustStrategicClassifier(**options).fit(frame[NAMES], y)
    assert found.radius_ == expected.radius_
    assert found.radius_curve_.rows() == expected.radius_curve_.rows()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    with pytest.raises(TypeError, match="X is a Dask collection, expected a table in memory"):
        gp.RobustStrategicClassifier(**options).fit(table[NAMES], table["y"])


@pytest.mark.parametrize("radius", [True, False])
def test_selection_on_a_small_collection_is_that_in_memory(client: Any, radius: bool) -> None:
    X, y, weights = people()
    few = slice(0, 400)
    frame = pd.DataFrame(X[few], columns=NAMES).assign(y=y[few], w=weights[few])
    table = dd.from_pandas(frame, npartitions=3)
    select: Any = gp.select_radius if radius else gp.select_budget
    options: Any = {"radii" if radius else "multiples": [0.0, 0.1], "folds": 3, "seed": 4}
    model: Any = gp.RobustStrategicClassifier(budgets={"income": (0, 1.0)}, prepare=gp.Prepare())
    found, expected = (
        select(rows[NAMES], rows["y"], model, sample_weight=rows["w"], **options)
        for rows in (table, frame)
    )
    assert repr(found) == repr(expected)
    assert found.clean.tobytes() == expected.clean.tobytes()
    assert found.gamed.tobytes() == expected.gamed.tobytes()
    assert found.n_rows == found.n_total == np.count_nonzero(weights[few])


def test_selection_on_a_collection_is_what_auto_chooses(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both see 300 rows of a sample of 2,000 of all rows, in any partitions."""
    monkeypatch.setattr(row_summary, "SAMPLE", 2000)
    monkeypatch.setattr(choice_rows, "MOST", 300)
    X, y, weights = collections(3)
    n = np.count_nonzero(people()[2])
    auto = RobustStrategicClassifier("auto", budgets={0: (0, 1.0)}).fit(X, y, weights)
    others = [RobustStrategicClassifier(budgets={0: (0, 1.0)}, client=client)]
    others.append(make_pipeline(others[0]))
    for parts, model in enumerate(others, start=1):
        X, y, weights = collections(parts)
        curve = gp.select_radius(X, y, model, sample_weight=weights)
        assert repr(curve) == repr(auto.radius_curve_)
        assert (curve.n_rows, curve.n_total) == (300, n)
        assert curve.clean.tobytes() == auto.radius_curve_.clean.tobytes()
    logistic = StrategicLogisticRegression(budgets="auto", features=[0]).fit(X, y, weights)
    by_budget = gp.select_budget(
        X, y, gp.StrategicLogisticRegression(budgets=[0]), sample_weight=weights
    )
    assert repr(by_budget) == repr(logistic.budget_curve_)
    assert repr(by_budget).endswith(f"Chosen on 300 of {n:,} rows.")
    assert f"Chosen on 300 of {n:,} rows." in by_budget._repr_html_()
    assert by_budget.gamed.tobytes() == logistic.budget_curve_.gamed.tobytes()


def test_parquet_directories_whose_partitions_dask_joins(client: Any, tmp_path: Any) -> None:
    X, y, weights = people()
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y, w=weights)
    dd.from_pandas(frame, npartitions=6).to_parquet(tmp_path)
    table = dd.read_parquet(tmp_path)
    found = RobustStrategicClassifier().fit(table[NAMES], table["y"], table["w"])
    expected = gp.RobustStrategicClassifier().fit(frame[NAMES], y, weights)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)


def test_predictions_are_lazy_and_those_of_the_local_model(client: Any) -> None:
    X, y, weights = collections(4)
    model = RobustStrategicClassifier(features=[0]).fit(X, y)
    local = model.to_local()
    rows = people()[0]
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        found = getattr(model, method)(X)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), getattr(local, method)(rows))
        np.testing.assert_array_equal(getattr(model, method)(rows), getattr(local, method)(rows))
    found = model.gamed_decisions(X, multiple=2.0)
    np.testing.assert_array_equal(found.compute(), local.gamed_decisions(rows, multiple=2.0))
    exact = local.score(rows, *(each.compute() for each in (y, weights)))
    assert model.score(X, y, weights) == pytest.approx(exact)


def test_to_local_is_the_ordinary_classifier(client: Any, tmp_path: Any) -> None:
    model = RobustStrategicClassifier(radius=0.1, features=[0]).fit(*collections(2))
    local = model.to_local()
    assert type(local) is gp.RobustStrategicClassifier
    assert local.radius == 0.1
    model.save(tmp_path / "model.json")
    loaded = gp.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(people()[0]), local.predict(people()[0]))


def test_a_client_is_never_pickled_and_survives_a_clone(client: Any) -> None:
    model = RobustStrategicClassifier(features=[0], client=client).fit(*collections(2))
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None
    assert copy.coef_.tobytes() == model.coef_.tobytes()
    assert clone(model).client is client


def test_unknown_sizes_empty_partitions_and_partitions_of_one_class(client: Any) -> None:
    X, y, _ = people()
    order = np.argsort(y, kind="stable")
    frame = pd.DataFrame(X[order], columns=NAMES).assign(y=y[order], k=np.arange(N))
    table = dd.from_pandas(frame, npartitions=6)
    table = table[(table["k"] < 1500) | (table["k"] >= 3200)]  # the second partition is empty
    chosen = frame[(frame["k"] < 1500) | (frame["k"] >= 3200)]
    found = RobustStrategicClassifier().fit(table[NAMES].values, table["y"].values)
    expected = gp.RobustStrategicClassifier().fit(chosen[NAMES].to_numpy(), chosen["y"])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    assert len(found.predict(table[NAMES].values).compute()) == len(chosen)


def test_a_fitted_transformer_may_be_frozen(client: Any) -> None:
    X, y, _ = people()
    prepare = FrozenEstimator(QuantileTransformer(n_quantiles=50).fit(X))
    found = StrategicLogisticRegression(prepare=prepare, features=[0]).fit(*collections(3)[:2])
    expected = gp.StrategicLogisticRegression(prepare=prepare, features=[0]).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    with pytest.raises(TypeError, match="FrozenEstimator"):
        StrategicLogisticRegression(prepare=QuantileTransformer()).fit(*collections(3)[:2])


def test_bad_partitions_are_named(client: Any) -> None:
    X, y, _ = people()
    X[-1, 1] = np.nan
    chunked = da.from_array(X, chunks=(3000, D)), da.from_array(y, chunks=3000)
    with pytest.raises(DataError, match="partition 2: column 1 has nan in row 2999"):
        RobustStrategicClassifier().fit(*chunked)
    with pytest.raises(TypeError, match="for a table in memory, use"):
        RobustStrategicClassifier().fit(X, y)
    with pytest.raises(TypeError, match="X must be a Dask data frame or a Dask array with two"):
        gp.select_radius(dd.from_pandas(pd.Series(y), npartitions=2), chunked[1])
    with pytest.raises(DataError, match="partition 2: column 1 has nan in row 2999"):
        gp.select_radius(*chunked)
    with pytest.raises(TypeError, match="known and the same for all rows"):
        RobustStrategicClassifier(power=np.ones(N)).fit(*collections(2)[:2])
    parts = [dask.delayed(pd.DataFrame({"a": [1.0, 2.0], name: [0.0, 1.0]})) for name in ("b", "c")]
    frame = dd.from_delayed(parts, meta={"a": float, "b": float}, verify_meta=False)
    labels = dd.from_pandas(pd.Series([0, 1, 0, 1]), npartitions=2)
    with pytest.raises(DataError, match="partition 1 has the columns a, c, and the first block"):
        RobustStrategicClassifier().fit(frame, labels)


def test_without_a_cluster_the_error_says_how_to_start_one(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> Any:
        raise ValueError("No clients found")

    monkeypatch.setattr("distributed.default_client", nobody)
    for use in (RobustStrategicClassifier().fit, gp.select_radius):
        with pytest.raises(ClusterError, match=r"start one with dask\.distributed\.Client\(\)"):
            use(*collections(2)[:2])
    X, y = (each[:300] for each in collections(2)[:2])
    own = RobustStrategicClassifier(client=client)
    assert gp.select_radius(X, y, own, radii=[0.0], folds=2).n_rows == 300


def test_killed_workers_do_not_change_a_bit(
    client: Any, process_cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = RobustStrategicClassifier(features=[0]).fit(*collections(3))
    passes, killed, whole = [], [], DaskRows.map

    def killing(self: Any, function: Any, *parameters: Any) -> Any:
        passes.append(function)
        if len(passes) in (3, 8):
            pid = next(iter(process_cluster.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return whole(self, function, *parameters)

    monkeypatch.setattr(DaskRows, "map", killing)
    model = RobustStrategicClassifier(features=[0], client=process_cluster).fit(*collections(3))
    assert len(set(killed)) == 2
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.worst_case_risk_ == expected.worst_case_risk_


def test_a_lost_scheduler_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    passes, whole = [], DaskRows.map
    cluster = LocalCluster(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        **FREE_PORTS,
    )
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), cluster:
        lost = Client(cluster, set_as_default=False)

        def losing(self: Any, function: Any, *parameters: Any) -> Any:
            passes.append(function)
            if len(passes) == 3:
                cluster.close()
            return whole(self, function, *parameters)

        monkeypatch.setattr(DaskRows, "map", losing)
        model = RobustStrategicClassifier(features=[0], client=lost)
        with pytest.raises(ClusterError, match=r"the Dask scheduler at .* was lost, and nothing"):
            model.fit(*collections(2))
        assert not hasattr(model, "coef_")
        lost.close()


def _square(k: int) -> dict[str, Any]:
    return {"square": k * k, "pid": os.getpid()}


def test_many_seeds_and_experiments_use_the_cluster_through_joblib(
    process_cluster: Any, tmp_path: Any
) -> None:
    game = gp.QuadraticGame.random(n=20, seed=0)
    options: Any = {"seeds": range(3), "epochs": 5}
    expected = gp.solve_many(game, gp.ogda_rr(step=0.02), **options)
    counted = game.queries.tally.sum()
    process_cluster.wait_for_workers(2)
    with joblib.parallel_config(backend="dask", client=process_cluster):
        found = gp.solve_many(game, gp.ogda_rr(step=0.02), **options)
        study = ExperimentStudy("squares", tmp_path, jobs=2)
        squares = study.map(_square, [{"k": k} for k in range(6)])
        workers = set(process_cluster.run(os.getpid).values())
    assert [one.x.tobytes() for one in found] == [two.x.tobytes() for two in expected]
    assert game.queries.tally.sum() == 2 * counted
    assert [part["square"] for part in squares] == [k * k for k in range(6)]
    assert {part["pid"] for part in squares} <= workers

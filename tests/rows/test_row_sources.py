"""The same fit from arrays, memory-mapped files, Parquet files and any blocks."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gameproof as gp
from array_source import ArraySource
from gameproof.core.errors import DataError
from gameproof.estimators import row_summary
from gameproof.estimators.row_fit import fit_blocks
from gameproof.rows.parquet_source import ParquetSource
from gameproof.rows.row_source import RowSource
from gameproof.strategic import row_problem

N, D, BLOCK = 12_000, 4, 2048
NAMES = [f"x{k}" for k in range(D)]


@pytest.fixture(autouse=True)
def _nothing_is_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are solved block by block too."""
    monkeypatch.setattr(row_problem, "SMALL", 0)


def people(seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * [1.0, 2.0, 3.0, 1.0] + [0.0, 1.0, 2.0, 0.0]
    X[:, 2] = np.exp(X[:, 2] / 3)
    y = (X @ rng.normal(size=D) / 2 + rng.normal(size=N) > 0).astype(np.int64)
    return X, y, rng.integers(0, 3, N).astype(np.float64)


def write(folder: Path, X: Any, y: Any, ends: list[int], weights: Any = None) -> None:
    for k, (start, end) in enumerate(zip([0, *ends], [*ends, len(y)], strict=True)):
        columns = dict(zip(NAMES, X[start:end].T, strict=True)) | {"y": y[start:end]}
        if weights is not None:
            columns["w"] = weights[start:end]
        pq.write_table(pa.table(columns), folder / f"part-{k}.parquet", row_group_size=1000)


def fitted(model: Any, source: RowSource) -> Any:
    return fit_blocks(model, source, D)


def fitted_of(model: Any, X: Any, y: Any) -> Any:
    return fit_blocks(model, ArraySource(X, y, block=2000), X.shape[1])


MODELS: dict[str, Callable[[], Any]] = {
    "power": lambda: gp.RobustStrategicClassifier(features=[0, 1]),
    "no flips": lambda: gp.StrategicLogisticRegression(features=[0, 1]),
    "budgets": lambda: gp.RobustStrategicClassifier(budgets={0: (0, 1.0), 1: (-0.5, 0.5)}),
    "own boxes": lambda: gp.RobustStrategicClassifier(
        budgets={0: (0, 1.0), 2: (-0.5, 0.5)}, prepare=gp.Prepare(), class_weight="balanced"
    ),
    "free labels": lambda: gp.RobustStrategicClassifier(label_cost=0.0, radius=0.01),
    "large radius": lambda: gp.RobustStrategicClassifier(radius=5.0),
    "plain units": lambda: gp.StrategicLogisticRegression(standardise=False, fit_intercept=False),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore::gameproof.IgnoresDataWarning")
def test_blocks_give_the_fit_in_memory(name: str, weighted: bool) -> None:
    X, y, weights = people()
    own = weights if weighted else None
    expected = MODELS[name]().fit(X, y, sample_weight=own)
    found = fitted(MODELS[name](), ArraySource(X, y, own, block=1999))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=0, atol=1e-10)
    assert found.worst_case_risk_ == pytest.approx(expected.worst_case_risk_, abs=1e-11)
    assert found.result_.duality_gap < 1e-9
    np.testing.assert_array_equal(found.predict(X[:100]), expected.predict(X[:100]))


@pytest.mark.parametrize("name", ["power", "budgets", "no flips"])
def test_the_fit_in_memory_has_the_bits_of_blocks_that_end_where_its_own_do(name: str) -> None:
    X, y = (np.concatenate([each] * 4) for each in people(10)[:2])
    X += np.random.default_rng(0).normal(size=X.shape) / 10
    expected, found = MODELS[name]().fit(X, y), fitted(MODELS[name](), ArraySource(X, y))
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.intercept_.tobytes() == expected.intercept_.tobytes()
    assert found.worst_case_risk_ == expected.worst_case_risk_


def undecided() -> tuple[Any, Any, Callable[[], Any]]:
    """People of few kinds, and a classifier under which many of their labels are undecided."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (N, 3)).astype(float)
    y = (X @ [-0.2, -0.8, 0.3] + rng.normal(size=N) > -1).astype(int)
    model = gp.RobustStrategicClassifier
    return X, y, lambda: model(radius=0.03, label_cost=0.1, budgets={0: (0, 0.5)})


def test_where_many_labels_are_undecided_rows_are_gathered() -> None:
    X, y, make = undecided()
    expected, found = make().fit(X, y), fitted_of(make(), X, y)
    assert found.result_.duality_gap < 1e-9
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    X, y, _ = people()
    with pytest.warns(gp.IgnoresDataWarning, match="radius 0.3 is so large"):
        assert not fitted_of(gp.RobustStrategicClassifier(radius=0.3), X, y).coef_.any()


def test_a_gap_that_stays_open_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_problem, "whole_limit", lambda: 0)
    X, y, make = undecided()
    with pytest.warns(UserWarning, match="certified to .* only, .* too large to solve it in mem"):
        assert fitted_of(make(), X, y).result_.duality_gap > 1e-8


def test_categories_that_one_block_has_are_claimed_as_in_memory() -> None:
    X, y, _ = people(1)
    # Blocks other than the last have levels 0 and 1 only.
    X[:, 3] = np.where(np.arange(N) < N - 900, np.arange(N) % 2, 2)
    features = gp.Features(tuple(NAMES), {"x3": ("none", "retired", "student")})
    budgets = {"x0": (0, 0.5), "x3": ["retired"]}

    def make() -> Any:
        return gp.RobustStrategicClassifier(budgets=budgets, prepare=gp.Prepare(features))

    expected, found = make().fit(X, y), fitted(make(), ArraySource(X, y, block=1000))
    # The indicators of all levels add up to the intercept, so only scores are unique.
    scores = [model.decision_function(X) for model in (found, expected)]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-10)


def test_prepare_has_exact_medians_whatever_the_blocks() -> None:
    X, y, _ = people(2)
    X[::7, 0], X[:5000, 1], X[:, 2] = np.nan, 0.0, np.nan
    model = gp.RobustStrategicClassifier(prepare=gp.Prepare())
    expected = gp.RobustStrategicClassifier(prepare=gp.Prepare()).fit(X, y).prepare_.encoders_
    found = fitted(model, ArraySource(X, y, block=700)).prepare_.encoders_
    for one, other in zip(found, expected, strict=True):
        assert (one.unit, one.median, one.gaps) == (other.unit, other.median, other.gaps)
        assert one.mean == pytest.approx(other.mean, abs=1e-12)
        assert one.deviation == pytest.approx(other.deviation, rel=1e-12)


def test_what_is_auto_is_chosen_as_in_memory() -> None:
    X, y, _ = people(8)
    X, y = X[:1500], y[:1500]

    def make() -> Any:
        return gp.RobustStrategicClassifier(radius="auto", budgets="auto", features=[0])

    expected, found = make().fit(X, y), fitted(make(), ArraySource(X, y, block=700))
    assert found.radius == "auto"
    multiple = found.budget_curve_.recommended
    assert (found.radius_, multiple) == (expected.radius_, expected.budget_curve_.recommended)
    assert multiple != 1
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_is_the_same_whatever_the_blocks(
    weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_summary, "SAMPLE", 1000)
    X, y, weights = people(9)
    found = []
    for block in (700, N):
        model = gp.RobustStrategicClassifier(radius=0.01, budgets=[0, 1])
        source = ArraySource(X, y, weights if weighted else None, block=block)
        found.append(fitted(model, source).budgets_.ranges)
    assert found[0] == found[1]
    for at, (low, high) in found[0].items():
        assert -low == high == pytest.approx(X[:, at].std() / 2, rel=0.2)


def test_files_mapped_arrays_and_any_number_of_cores_give_the_same_bits(tmp_path: Path) -> None:
    X, y, weights = people(3)
    write(tmp_path, X, y, [17, 17, 5000], weights)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sources = [
        ArraySource(X, y, weights, block=BLOCK, cores=1),
        ArraySource(X, y, weights, block=BLOCK, cores=3),
        ArraySource(mapped, y, weights, block=BLOCK),
        ParquetSource(tmp_path, "y", weight="w", block=BLOCK, cores=1),
        ParquetSource(str(tmp_path / "part-*.parquet"), "y", weight="w", block=BLOCK),
    ]
    models = [fitted(MODELS["own boxes"](), source) for source in sources]
    for model in models[1:]:
        assert model.coef_.tobytes() == models[0].coef_.tobytes()
        assert model.worst_case_risk_ == models[0].worst_case_risk_


def test_memory_stays_small_beside_the_files(tmp_path: Path) -> None:
    X, y, _ = people(4)
    many = 120
    for k in range(many):
        columns = dict(zip(NAMES, X.T, strict=True)) | {"y": y}
        pq.write_table(pa.table(columns), tmp_path / f"{k:02}.parquet")
    code = f"""
import pyarrow as pa
from gameproof.rows.parquet_source import ParquetSource
rows = sum(ParquetSource({str(tmp_path)!r}, "y").map(lambda raw: len(raw.y)))
print(rows, pa.default_memory_pool().max_memory())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    rows, peak = map(int, done.split())
    assert rows == many * N
    assert peak < X.nbytes * many / 2


def spoil(folder: Path, **columns: Any) -> str:
    """Writes a file whose columns differ from those of the others; returns its name."""
    X, y, _ = people(5)
    whole = dict(zip(NAMES, X[:50].T, strict=True)) | {"y": y[:50]} | columns
    kept = {name: column for name, column in whole.items() if column is not None}
    pq.write_table(pa.table(kept), folder / "zz-last.parquet")
    return "zz-last.parquet"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x2": None}, "has no column 'x2'; it has x0, x1, x3, y"),
        ({"x2": ["a"] * 50}, "column 'x2' is of type string, but must hold numbers"),
        ({"y": ["yes"] * 50}, "column 'y' is of type string, but of type int64 in"),
        ({"x1": [1.0] * 49 + [np.nan]}, r"column 'x1' has nan in row \d+; fill missing numbers"),
        ({"y": pa.array([1] * 49 + [None], pa.int64())}, "has no label in row"),
    ],
)
def test_a_file_that_does_not_fit_is_named(
    tmp_path: Path, columns: dict[str, Any], message: str
) -> None:
    X, y, _ = people(5)
    write(tmp_path, X, y, [])
    name = spoil(tmp_path, **columns)
    model = gp.RobustStrategicClassifier()
    with pytest.raises(DataError, match=message) as caught:
        fit_blocks(model, ParquetSource(tmp_path, "y"), D, NAMES)
    assert name in str(caught.value)
    assert not hasattr(model, "coef_")


def test_empty_files_and_files_of_one_class_change_nothing(tmp_path: Path) -> None:
    X, y, _ = people(6)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    write(tmp_path, X, y, [100, 100, 3000])
    found = fitted(MODELS["power"](), ParquetSource(tmp_path, "y", block=BLOCK))
    expected = MODELS["power"]().fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)


def test_labels_of_one_class_or_three_are_rejected() -> None:
    X, y, _ = people(7)
    with pytest.raises(ValueError, match="y has one class, 1"):
        fitted(MODELS["power"](), ArraySource(X, np.ones_like(y)))
    with pytest.raises(ValueError, match="merge them into two"):
        fitted(MODELS["power"](), ArraySource(X, np.arange(N) % 3))


def test_missing_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no Parquet file at"):
        ParquetSource(tmp_path, "y")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match=r"broken\.parquet is not a Parquet file, or damaged"):
        ParquetSource(tmp_path, "y")

"""The data sets of ``gameproof demo``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gameproof.cli.console import Console

if TYPE_CHECKING:
    from gameproof.core.arguments import Matrix, Vector
    from gameproof.tables.dataset import Dataset

TRAIN, TEST = 2000, 800
FEATURES, MOVABLE = 10, 5  # of the paper's synthetic people


class DemoPeople(NamedTuple):
    """Prepared training and test rows, and the positions of the columns that people can change."""

    X: Matrix
    y: Vector
    X_test: Matrix
    y_test: Vector
    movable: list[int]


def data_sets(splits: int, console: Console) -> Iterator[tuple[str, float, Iterator[DemoPeople]]]:
    """Yields name, overlap and draws of each data set.

    The overlap is that of the training rows of two draws: 0 for synthetic people, which are drawn
    anew.
    """
    from gameproof.core.errors import DataNotFound
    from gameproof.tables.load_published import load_bank, load_credit

    yield "synthetic applicants", 0.0, (_prepared(_applicants(k), k) for k in range(splits))
    yield "the paper's synthetic people", 0.0, (synthetic_draw(k) for k in range(splits))
    missing = []
    for name, load in (("credit", load_credit), ("bank", load_bank)):
        try:
            data = load()
        except DataNotFound:
            missing.append(name)
            continue
        draws = (_prepared(data.balanced(TRAIN + TEST, k), k) for k in range(splits))
        yield name, TEST / TRAIN, draws
    if missing:
        console.say(f"to include {' and '.join(missing)}: gameproof data get {' '.join(missing)}")


def _applicants(seed: int) -> Dataset:
    """The applicants of ``gameproof data write people``."""
    import numpy as np

    from gameproof.estimators.features import Features
    from gameproof.tables.dataset import Dataset
    from gameproof.tables.made_up_people import MOVABLE as changed
    from gameproof.tables.made_up_people import TARGET, made_up_people

    columns = made_up_people(TRAIN + TEST, seed)
    kept = [name for name in columns if name not in ("id", "applied", TARGET)]
    levels = {name: tuple(sorted(set(columns[name]))) for name in ("home", "job")}
    coded = [
        [levels[name].index(cell) for cell in columns[name]] if name in levels else columns[name]
        for name in kept
    ]
    y = np.where(np.array(columns[TARGET]) == "yes", 1.0, -1.0)
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in coded])
    return Dataset("people", table, y, Features(tuple(kept), levels, changed))


def _prepared(data: Dataset, seed: int) -> DemoPeople:
    from gameproof.estimators.prepare import Prepare

    train, test = data.split(TRAIN, TEST, seed=seed)
    prepare = Prepare(data.features).fit(train.X)
    rows = prepare.transform(train.X), train.y, prepare.transform(test.X), test.y
    return DemoPeople(*rows, prepare.movable_.tolist())


def synthetic_draw(seed: int) -> DemoPeople:
    """The paper's synthetic people, drawn with this seed."""
    from gameproof.tables.synthetic import synthetic_people

    X, y = synthetic_people(TRAIN + TEST, FEATURES, seed=seed)
    return DemoPeople(X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:], list(range(MOVABLE)))

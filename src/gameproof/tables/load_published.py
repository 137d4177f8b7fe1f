"""Loading a published data set from the data folder, with the network left alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from gameproof.core.arguments import as_count
from gameproof.estimators.features import Features
from gameproof.tables.cache import data_folder, find
from gameproof.tables.catalog import BANK, CREDIT, Published
from gameproof.tables.dataset import Dataset


def load_credit(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Give Me Some Credit: 150,000 people; those who were seriously late within two years have
    label -1.

    From `folder`, or else from the folder of ``GAMEPROOF_DATA``, or else from the usual one, where
    ``gameproof data get credit`` puts it. Rows stand in sorted order.
    """
    return _load(CREDIT, folder)


def load_bank(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Bank Marketing: 45,211 people; those who did not take the deposit have label -1.

    From the same places as `load_credit`. The duration of the call is left out: it is known only
    afterwards, and gives the label away.
    """
    return _load(BANK, folder)


def published_columns(
    about: Published, rows: int | None, seed: int, balanced: bool = False
) -> dict[str, Any]:
    """The columns of a published data set and its target, as text where they are categories: all
    rows, or so many drawn at random, on request as many of each outcome."""
    data = _load(about, None)
    if balanced:
        if rows is not None and rows % 2:
            raise ValueError(f"as many rows of each outcome make an even number, got {rows:,}")
        data = data.balanced(rows, seed)
    elif rows is not None:
        if as_count("rows", rows) > len(data):
            raise ValueError(f"{about.name} has {len(data):,} rows, {rows:,} were asked for")
        data = data.take(np.random.default_rng(seed).permutation(len(data))[:rows])
    columns = {name: data.column(name) for name in data.features.names}
    names = {label: value for value, label in about.outcomes.items()}
    return {**columns, about.target: [names[label] for label in data.y.tolist()]}


def _load(about: Published, folder: str | os.PathLike[str] | None) -> Dataset:
    table, source = find(about, data_folder() if folder is None else Path(folder))[1]
    names = tuple(name for name in about.columns if name not in about.left_out)
    columns = list(about.columns)
    return Dataset(
        name=about.name,
        X=np.ascontiguousarray(table[:, [columns.index(name) for name in names]]),
        y=table[:, -1].copy(),
        features=Features(
            names=names,
            levels={name: about.columns[name] for name in names if about.columns[name]},
            movable=about.movable,
        ),
        source=source,
        licence=about.licence,
        citation=about.citation,
    )

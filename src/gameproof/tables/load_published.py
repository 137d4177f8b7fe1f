"""Loads a published data set from the data folder, without using the network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from gameproof.core.arguments import as_count
from gameproof.estimators.features import Features
from gameproof.tables.cache import data_folder, find
from gameproof.tables.catalog import BANK, CREDIT, GERMAN, Published
from gameproof.tables.dataset import Dataset


def load_credit(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load Give Me Some Credit: 150,000 people.

    People who were seriously late with a payment within two years have label -1. Rows are sorted.

    Parameters
    ----------
    folder : path, optional
        The data folder. By default the one that ``GAMEPROOF_DATA`` names, or else ``gameproof`` in
        your cache folder, where ``gameproof data get credit`` stores the data.

    Returns
    -------
    Dataset

    Raises
    ------
    DataNotFound
        If the data is not in the folder; the message says how to get it.

    Examples
    --------
    >>> import gameproof as gp
    >>> try:
    ...     data = gp.load_credit("empty folder")
    ... except gp.DataNotFound as error:
    ...     print(str(error).partition(".")[0])
    credit is not in empty folder
    """
    return _load(CREDIT, folder)


def load_bank(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load Bank Marketing: 45,211 people.

    People who did not take the deposit have label -1. The duration of the call is left out: it is
    known only afterwards and reveals the label.

    Parameters
    ----------
    folder : path, optional
        The data folder, as in `load_credit`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataNotFound
        If the data is not in the folder; the message says how to get it.

    Examples
    --------
    >>> import gameproof as gp
    >>> try:
    ...     data = gp.load_bank("empty folder")
    ... except gp.DataNotFound as error:
    ...     print(str(error).partition(".")[0])
    bank is not in empty folder
    """
    return _load(BANK, folder)


def load_german(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Load German credit: 1,000 people, with eight attributes.

    People who were a bad credit risk have label -1. Sex is left out: a credit decision must not
    depend on it.

    Parameters
    ----------
    folder : path, optional
        The data folder, as in `load_credit`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataNotFound
        If the data is not in the folder; the message says how to get it.

    Examples
    --------
    >>> import gameproof as gp
    >>> try:
    ...     data = gp.load_german("empty folder")
    ... except gp.DataNotFound as error:
    ...     print(str(error).partition(".")[0])
    german is not in empty folder
    """
    return _load(GERMAN, folder)


def published_columns(
    about: Published, rows: int | None, seed: int, balanced: bool = False
) -> dict[str, Any]:
    """The columns of a published data set and its target; categories and outcomes are text.

    `rows` is the number of rows to draw at random, None for all, and `balanced` draws equally many
    rows of each outcome.
    """
    data = _load(about, None)
    if balanced:
        if rows is not None and rows % 2:
            raise ValueError(f"a balanced draw needs an even number of rows, got {rows:,}")
        data = data.balanced(rows, seed)
    elif rows is not None:
        if as_count("rows", rows) > len(data):
            raise ValueError(f"{about.name} has {len(data):,} rows, got a request for {rows:,}")
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

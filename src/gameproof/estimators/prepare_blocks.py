"""Fits `Prepare` to a table in blocks: with the same medians, and the same means up to rounding, as
in memory."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from gameproof.core.arguments import Vector, as_positive
from gameproof.estimators.column_encoders import CategoryEncoder, NumberEncoder, signed_log
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.row_recipe import Columns
from gameproof.rows.moments import Moments
from gameproof.rows.quantile_sketch import exact_middles
from gameproof.rows.row_source import RawRows, RowSource


def fit_prepare(given: Prepare, source: RowSource, columns: Columns) -> tuple[Prepare, Moments]:
    """A fitted copy, and the moments of its columns."""
    prepare: Prepare = clone(given)
    unit = None if prepare.unit is None else as_positive("unit", prepare.unit)
    prepare.n_features_in_ = columns.d
    if columns.names is not None:
        prepare.feature_names_in_ = np.array(columns.names, dtype=object)
    features = prepare._features(columns.d)
    numbers = [k for k, name in enumerate(features.names) if name not in features.levels]
    middles = exact_middles(source, _numbers_and_sizes, columns, numbers)
    known, sizes = middles[: len(numbers)], middles[len(numbers) :]
    units = [unit or (1.0 if size is None else sum(size) / 2) for size in sizes]
    medians = []
    for one, own in zip(known, units, strict=True):
        logs = signed_log(np.array([0.0, 0.0] if one is None else one), own)
        medians.append(float(logs.mean()))
    parts = list(source.map(_filled, columns, numbers, units, medians))
    moments = Moments.total(part[0] for part in parts)
    gaps = np.any([part[1] for part in parts], axis=0)
    spread = np.sqrt(moments.squares / moments.mass)
    spread = np.where(moments.least == moments.most, 0.0, spread)
    learned = zip(
        units, medians, moments.mean.tolist(), spread.tolist(), gaps.tolist(), strict=True
    )
    encoders = dict(zip(numbers, map(_encoder, learned), strict=True))
    prepare.encoders_ = [
        encoders[k] if k in encoders else CategoryEncoder(features.levels[name])
        for k, name in enumerate(features.names)
    ]
    whole = Moments.total(source.map(_prepared_moments, columns, prepare))
    return prepare, whole


def _encoder(learned: tuple[float, float, float, float, bool]) -> NumberEncoder:
    unit, median, mean, spread, gaps = learned
    return NumberEncoder(unit, median, mean, spread or 1.0, gaps)


def _numbers_and_sizes(raw: RawRows, columns: Columns, numbers: list[int]) -> list[Vector]:
    """The known numbers of each numeric column, and then the sizes of those that are not 0."""
    X = columns.checked(raw).X
    known = [X[~np.isnan(X[:, k]), k] for k in numbers]
    return [*known, *(np.abs(column[column != 0]) for column in known)]


def _filled(
    raw: RawRows, columns: Columns, numbers: list[int], units: list[float], medians: list[float]
) -> tuple[Moments, list[bool]]:
    """The moments of the logarithms of each numeric column with gaps filled, and whether it has
    gaps."""
    X = columns.checked(raw).X
    logs = np.empty((len(X), len(numbers)))
    missing = [bool(np.isnan(X[:, k]).any()) for k in numbers]
    for at, (k, unit, median) in enumerate(zip(numbers, units, medians, strict=True)):
        column = signed_log(X[:, k], unit)
        logs[:, at] = np.where(np.isnan(column), median, column)
    return Moments.of(logs), missing


def _prepared_moments(raw: RawRows, columns: Columns, prepare: Prepare) -> Moments:
    people = columns.checked(raw)
    width = len(prepare.owners_)
    preparation = FittedPreparation(prepare, columns.names, columns.d)
    made = preparation.transform(people.X) if len(people.X) else np.empty((0, width))
    return Moments.of(made, people.weights)

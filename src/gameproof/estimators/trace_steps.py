"""The effects of scikit-learn's transformers, found from their fitted attributes.

`trace_transformer` walks through pipelines, column transformers and unions. Each step maps the
effects on its input columns to the effects on its output columns. Steps of unknown types raise
`UnknownStep`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline

from gameproof.core.arguments import Matrix, Vector
from gameproof.estimators.column_effects import (
    BINS,
    LEVELS,
    OTHER,
    Column,
    ColumnEffects,
    Effect,
    combined,
)
from gameproof.estimators.features import default_names
from gameproof.estimators.prepare import Prepare

# Increasing functions of numpy that FunctionTransformer may apply.
INCREASING = (
    *(np.log, np.log1p, np.log2, np.log10, np.exp, np.expm1, np.sqrt, np.cbrt),
    *(np.arcsinh, np.arctan, np.tanh, np.sinh, np.sign, np.floor, np.ceil, np.rint, np.positive),
)


class UnknownStep(TypeError):
    """A transformer whose effect on columns is not known."""


class TransformerTrace:
    """A walk through a fitted transformer, which collects levels and bins on its way."""

    def __init__(self) -> None:
        self.levels: dict[int, tuple[Any, ...]] = {}
        self.edges: dict[int, Vector] = {}

    def through(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        """The effects on the output columns of a step."""
        from sklearn.feature_selection import SelectorMixin  # takes long to import

        if step is None or (isinstance(step, str) and step == "passthrough"):
            return columns
        kind = type(step).__name__
        called = f"{path} ({kind})" if path else kind
        if isinstance(step, Pipeline):
            for name, inner in step.steps:
                columns = self.through(inner, columns, _joined(path, name))
            return columns
        if isinstance(step, FeatureUnion):
            return [
                column
                for name, inner in step.transformer_list
                if not (isinstance(inner, str) and inner == "drop")
                for column in self.through(inner, columns, _joined(path, name))
            ]
        if isinstance(step, SelectorMixin):
            return [
                column for column, kept in zip(columns, step.get_support(), strict=True) if kept
            ]
        own: Callable[..., list[Column]] | None = getattr(self, f"_{kind}", None)
        module = type(step).__module__
        if own is None or not (module.startswith("sklearn.") or isinstance(step, Prepare)):
            raise UnknownStep(f"the effect of {called} on the columns of the table is not known")
        return own(step, columns, called if path else kind)

    # --- steps that contain others

    def _ColumnTransformer(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        names = getattr(step, "feature_names_in_", None)
        found: dict[int, Column] = {}
        prefix = path.removesuffix("(ColumnTransformer)").strip().removesuffix("ColumnTransformer")
        for name, inner, chosen in step.transformers_:
            if isinstance(inner, str) and inner == "drop":
                continue
            places = _positions(chosen, names, len(columns))
            if not places:
                continue
            made = self.through(inner, [columns[at] for at in places], _joined(prefix, name))
            outputs = step.output_indices_[name]
            found |= dict(zip(range(outputs.start, outputs.stop), made, strict=True))
        return [found[k] for k in sorted(found)]

    # --- affine steps

    def _StandardScaler(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return _scaled(columns, None if step.scale_ is None else 1 / step.scale_)

    _RobustScaler = _StandardScaler

    def _MaxAbsScaler(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        found = _scaled(columns, 1 / step.scale_)
        return _rising(found, path) if getattr(step, "clip", False) else found

    def _MinMaxScaler(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        found = _scaled(columns, step.scale_)
        return _rising(found, path) if step.clip else found

    def _PCA(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        weights = step.components_
        if step.whiten:
            weights = weights / np.sqrt(step.explained_variance_)[:, None]
        return _mixed(columns, weights)

    def _TruncatedSVD(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return _mixed(columns, step.components_)

    # --- missing values

    def _SimpleImputer(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        """Values that are present pass unchanged, and nobody can change whether one is missing."""
        given = getattr(step, "feature_names_in_", None)
        names = list(default_names(len(columns)) if given is None else given)
        own = dict(zip(names, columns, strict=True))
        return [own.get(name, {}) for name in step.get_feature_names_out()]

    def _MissingIndicator(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return [{} for _ in step.get_feature_names_out()]

    # --- increasing functions of one column

    def _QuantileTransformer(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return _rising(columns, path)

    _PowerTransformer = _Binarizer = _QuantileTransformer

    def _FunctionTransformer(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        if step.func is None:
            return columns
        if step.func is np.negative:
            return _scaled(columns, -np.ones(len(columns)))
        if step.func in INCREASING and not step.kw_args:
            return _rising(columns, path)
        raise UnknownStep(
            f"{path} applies {getattr(step.func, '__name__', step.func)}, which is not known to be "
            "increasing in each column"
        )

    # --- categories and bins

    def _OneHotEncoder(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return self._encoded(step.categories_, columns, step._n_features_outs, path)

    def _OrdinalEncoder(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        return self._encoded(step.categories_, columns, [1] * len(columns), path)

    _TargetEncoder = _OrdinalEncoder

    def _KBinsDiscretizer(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        if step.encode == "ordinal":
            return _rising(columns, path)
        found: list[Column] = []
        for column, edges in zip(columns, step.bin_edges_, strict=True):
            plain = [at for at, effect in column.items() if effect == Effect()]
            if len(column) == len(plain) == 1:
                self.edges[plain[0]] = np.asarray(edges, dtype=np.float64)
                made: Column = {plain[0]: Effect(BINS)}
            else:
                made = _blocked(column, f"{path} cuts a transformed column into bins")
            found += [made] * (len(edges) - 1)
        return found

    def _Prepare(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        found: list[Column] = []
        for column, encoder in zip(columns, step.encoders_, strict=True):
            width = len(encoder.names(""))
            if hasattr(encoder, "levels"):
                found += self._encoded([tuple(range(len(encoder.levels)))], [column], [width], path)
            else:
                found += [*_rising([column], path), *[{}] * (width - 1)]
        return found

    def _encoded(
        self, categories: Sequence[Any], columns: list[Column], widths: Sequence[int], path: str
    ) -> list[Column]:
        found: list[Column] = []
        for column, levels, width in zip(columns, categories, widths, strict=True):
            made: dict[int, Effect] = {}
            for at, effect in column.items():
                if effect == Effect() and len(column) == 1:
                    self.levels.setdefault(at, tuple(np.asarray(levels, dtype=object).tolist()))
                    made[at] = Effect(LEVELS)
                else:
                    made[at] = Effect(OTHER, 1.0, f"{path} encodes a transformed column")
            found += [made] * int(width)
        return found

    # --- steps that mix columns in ways that are not affine

    def _mixing(self, step: Any, columns: list[Column], path: str) -> list[Column]:
        sources = sorted({at for column in columns for at in column})
        made = {at: Effect(OTHER, 1.0, f"{path} is not affine and mixes columns") for at in sources}
        names = len(columns)
        if hasattr(step, "get_feature_names_out"):
            names = len(step.get_feature_names_out())
        return [made] * names

    _PolynomialFeatures = _SplineTransformer = _Normalizer = _mixing
    _KNNImputer = _IterativeImputer = _KernelPCA = _Nystroem = _RBFSampler = _mixing


def trace_transformer(transformer: Any, names: Sequence[str]) -> ColumnEffects:
    """The effects of a fitted transformer on a table with these columns.

    Raises `UnknownStep` if a step is of an unknown type.
    """
    walk = TransformerTrace()
    columns: list[Column] = [{at: Effect()} for at in range(len(names))]
    made = walk.through(transformer, columns, "")
    return ColumnEffects(tuple(names), made, walk.levels, walk.edges)


def _scaled(columns: list[Column], factors: Any) -> list[Column]:
    if factors is None:
        return columns
    return [
        {at: effect.times(float(factor)) for at, effect in column.items()}
        for column, factor in zip(columns, factors, strict=True)
    ]


def _rising(columns: list[Column], path: str) -> list[Column]:
    """The effects after an increasing function of each column."""
    return [
        {at: effect.rising() for at, effect in column.items()}
        if len(column) <= 1
        else _blocked(column, f"{path} is not affine, and its input mixes columns")
        for column in columns
    ]


def _mixed(columns: list[Column], weights: Matrix) -> list[Column]:
    """The effects after a linear map, with one row of weights for each new column."""
    found: list[Column] = []
    sources = sorted({at for column in columns for at in column})
    for row in np.asarray(weights, dtype=np.float64):
        pairs = list(zip(columns, row.tolist(), strict=True))
        terms = {
            at: combined(column[at].times(weight) for column, weight in pairs if at in column)
            for at in sources
        }
        found.append({at: effect for at, effect in terms.items() if effect is not None})
    return found


def _blocked(column: Column, why: str) -> Column:
    return dict.fromkeys(column, Effect(OTHER, 1.0, why))


def _joined(path: str, name: str) -> str:
    return f"{path} / {name}" if path else name


def _positions(chosen: Any, names: Any, d: int) -> list[int]:
    """Positions of the columns that a column transformer gives to one of its parts."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):
            known = list(names)
            first = 0 if chosen.start is None else known.index(chosen.start)
            last = d - 1 if chosen.stop is None else known.index(chosen.stop)
            return list(range(first, last + 1))
        return list(range(d))[chosen]
    listed: list[Any] = [chosen] if isinstance(chosen, (str, int, np.integer)) else list(chosen)
    if listed and all(isinstance(each, (bool, np.bool_)) for each in listed):
        return np.flatnonzero(listed).tolist()
    known = [] if names is None else list(names)
    return [known.index(each) if isinstance(each, str) else int(each) % d for each in listed]

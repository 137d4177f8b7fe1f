"""What people gain, and how far they can move, through a transformer with known effects.

See `column_effects.py` for the kinds of effects. Where a closed form exists, it is used. A rising
function is evaluated by transforming the table with the changed column. People whose value is
missing cannot change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector
from gameproof.estimators.column_effects import AFFINE, BINS, LEVELS, OTHER, RISING, ColumnEffects
from gameproof.estimators.table_budgets import Budgets, MoveBounds
from gameproof.estimators.table_columns import column, numeric_table, repeated_row, with_column
from gameproof.strategic.category_claims import Claim

Transform = Callable[[Any], Matrix]


@final
@dataclass(frozen=True, eq=False)
class EffectGains:
    """A table, what a transformer makes of it, and the effects of the transformer."""

    effects: ColumnEffects
    transform: Transform
    X: Any
    Z: Matrix
    # What the transformer makes of the values of a column: asked again for every multiple.
    _made: dict[Any, Matrix] = field(default_factory=dict, init=False)

    def gains(self, budgets: Budgets, theta: Vector, times: float | Vector = 1.0) -> Vector:
        """The largest gain in score of each person within `times` their budget.

        `theta` holds coefficients of the prepared columns, positive towards the favourable class.
        """
        total = np.zeros(len(self.Z))
        for at, (low, high) in budgets.ranges.items():
            effect = self.effects.on_score(at, theta)
            if effect is None:
                continue
            if effect.kind == AFFINE:
                gain = times * max(low * effect.factor, high * effect.factor)
                total += np.where(np.isnan(self._numbers(at)), 0.0, gain)
            elif effect.kind == RISING:
                end = high if effect.factor > 0 else low
                total += np.maximum(self._shifted(at, times * np.float64(end)) @ theta, 0.0)
            else:
                total += self._bin_gains(at, times, (low, high), theta)
        for at, allowed in budgets.claims.items():
            if self.effects.on_score(at, theta) is not None:
                total += self._claim_gains(at, list(allowed), theta)
        return total

    def level_changes(self, values: Mapping[int, Any], theta: Vector) -> Vector:
        """The change in score if everyone has these values in categorical columns."""
        total = np.zeros(len(self.Z))
        for at, value in values.items():
            places = self.effects.places(at)
            worth = self._rows(at, [value])[0, places] @ theta[places]
            total += worth - self.Z[:, places] @ theta[places]
        return total

    def moves(self, budgets: Budgets) -> MoveBounds:
        """Boxes and claims in the prepared columns; raises if the moves are not of this form."""
        lower = np.zeros((1, self.Z.shape[1]))
        upper, claims = lower.copy(), []
        for at, (low, high) in budgets.ranges.items():
            places = self.effects.places(at)
            if not places:
                continue
            self._require_one_place(at, places)
            (k,) = places
            ends = self._ends(at, k, low, high)
            if len(ends[0]) > 1 and len(lower) == 1:
                lower, upper = (np.repeat(bound, len(self.Z), axis=0) for bound in (lower, upper))
            lower[:, k], upper[:, k] = ends
        for at, allowed in budgets.claims.items():
            claims += self._claims(at, list(allowed))
        return MoveBounds(lower, upper, tuple(claims))

    def _numbers(self, at: int) -> Vector:
        found: Vector = numeric_table(column(self.X, at)[:, None], {})[:, 0]
        return found

    def _shifted(self, at: int, by: float | Vector) -> Matrix:
        """The change of the prepared columns if a number changes by `by`."""
        values = self._numbers(at)
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            moved = np.clip(values + by, -most, most)
        name = self.effects.names[at]
        try:
            change = self.transform(with_column(self.X, at, moved)) - self.Z
        except ValueError as error:
            low, high = np.nanmin(by), np.nanmax(by)
            raise ValueError(
                f"prepare cannot take {name!r} changed by {low if low < 0 else high:+,.6g}, which "
                f"the budget allows: {error}; state a range that prepare can take, or use another "
                "preparation"
            ) from error
        change[np.isnan(values)] = 0.0
        return change

    def _ends(self, at: int, k: int, low: float, high: float) -> tuple[Vector, Vector]:
        """Bounds on the change of prepared column k, for one person or for each."""
        effect = self.effects.columns[k][at]
        if effect.kind == AFFINE:
            ends = sorted((low * effect.factor, high * effect.factor))
            missing = np.isnan(self._numbers(at))
            if not missing.any():
                return np.array(ends[:1]), np.array(ends[1:])
            lower, upper = (np.where(missing, 0.0, end) for end in ends)
            return lower, upper
        still = np.zeros(len(self.Z))
        below, above = (
            self._shifted(at, end)[:, k] if end else still
            for end in ((low, high) if effect.factor > 0 else (high, low))
        )
        return np.minimum(below, 0.0), np.maximum(above, 0.0)

    def _require_one_place(self, at: int, places: list[int]) -> None:
        name, effects = self.effects.names[at], [self.effects.columns[k][at] for k in places]
        why = next((effect.why for effect in effects if effect.kind == OTHER), "")
        if not why and any(effect.kind == BINS for effect in effects):
            why = "KBinsDiscretizer cuts it into bins"
        if not why and len(places) > 1:
            why = f"it enters {len(places)} prepared columns, which people cannot move separately"
        if why:
            raise TypeError(
                f"budgets need a preparation that maps columns one to one, and {name!r} does not "
                f"fit: {why}; use a preparation that scales or encodes each column by itself"
            )

    # --- categories and bins

    def _rows(self, at: int, values: list[Any]) -> Matrix:
        """The prepared columns of the first person with each of these values."""
        key = (at, *values)
        if key not in self._made:
            held = np.empty(len(values), dtype=object)
            held[:] = values
            if all(isinstance(value, (bool, int, float)) for value in values):
                held = np.asarray(values, dtype=np.float64)
            rows = with_column(repeated_row(self.X, len(values)), at, held)
            self._made[key] = self.transform(rows)
        return self._made[key]

    def _claim_gains(self, at: int, allowed: list[int], theta: Vector) -> Vector:
        places = self.effects.places(at)
        levels = self.effects.levels[at]
        worth = self._rows(at, [levels[k] for k in allowed])[:, places] @ theta[places]
        found: Vector = np.maximum(worth.max() - self.Z[:, places] @ theta[places], 0.0)
        return found

    def _bin_gains(
        self, at: int, times: float | Vector, ends: tuple[float, float], theta: Vector
    ) -> Vector:
        places, edges = self.effects.places(at), self.effects.edges[at]
        worth = self._rows(at, ((edges[1:] + edges[:-1]) / 2).tolist())[:, places] @ theta[places]
        values = self._numbers(at)
        own, first, last = (
            np.searchsorted(edges[1:-1], values + times * np.float64(by), side="right")
            for by in (0.0, *ends)
        )
        best = worth[own]
        for k, each in enumerate(worth):
            best = np.where((first <= k) & (k <= last), np.maximum(best, each), best)
        found: Vector = best - worth[own]
        return found

    def _claims(self, at: int, allowed: list[int]) -> list[Claim]:
        """A claim whose levels have one prepared column each, as indicator columns do."""
        places, levels = self.effects.places(at), self.effects.levels[at]
        if not places:
            return []
        rows = self._rows(at, list(levels))[:, places]
        base = rows.min(axis=0)
        above = rows > base
        levels_only = all(self.effects.columns[k][at].kind == LEVELS for k in places)
        numbered = len(places) == 1 and len(levels) > 2
        if numbered or not levels_only or (above.sum(axis=1) > 1).any():
            raise TypeError(
                f"a fit for levels of {self.effects.names[at]!r} that people can claim needs "
                "indicator columns: encode it with OneHotEncoder, or with gameproof's Prepare"
            )
        number = len(levels)
        columns, steps = np.full(number + 1, -1, dtype=np.int64), np.ones(number + 1)
        for k in np.flatnonzero(above.any(axis=1)):
            own = int(np.argmax(above[k]))
            columns[k], steps[k] = places[own], rows[k, own] - base[own]
        able = np.isin(np.arange(number + 1), allowed)
        return [Claim(columns, steps, able, self._current_levels(at, rows))]

    def _current_levels(self, at: int, rows: Matrix) -> Indices:
        """The level of each person; the number of levels for a level without a prepared column.

        An imputer may give people whose level is missing one of the levels.
        """
        places, levels = self.effects.places(at), self.effects.levels[at]
        known = numeric_table(column(self.X, at)[:, None], {0: levels})[:, 0]
        found = np.where(np.isnan(known), len(levels), known).astype(np.int64)
        for person in np.flatnonzero(np.isnan(known)):
            same = (rows == self.Z[person, places]).all(axis=1)
            found[person] = int(np.argmax(same)) if same.any() else len(levels)
        return found

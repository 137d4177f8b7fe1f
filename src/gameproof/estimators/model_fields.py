"""Parts of a model in its file: columns, budgets, a `Prepare`, and how people answer.

What is restored may come from a stranger: everything is checked, and what is wrong raises.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, shown
from gameproof.estimators.features import Features
from gameproof.estimators.model_files import Record
from gameproof.estimators.prepare import Category, Number, Prepare
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.category_claims import Claim
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import Response

UNSAVED = "not saved: "
# Responses that a file holds, and what they are made of.
RESPONSES: dict[type[Response], tuple[str, ...]] = {
    PowerCost: ("power", "degree", "norm", "features"),
    BallBudget: ("radius", "features", "norm"),
    PriceBudget: ("budget", "prices"),
    BoxBudget: ("lower", "upper", "claims"),
}


def text(value: Any) -> str:
    """Text, or an error."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    return value


def saved_features(features: Features) -> Record:
    """As a file holds it: pairs, since names may be those that JSON's numbers take."""
    return {
        "names": features.names,
        "levels": [[name, levels] for name, levels in features.levels.items()],
        "movable": features.movable,
    }


def restored_features(saved: Any) -> Features:
    """Back from a file."""
    return Features(
        tuple(map(text, saved["names"])),
        {text(name): tuple(map(text, levels)) for name, levels in saved["levels"]},
        tuple(map(text, saved["movable"])),
    )


def saved_encoders(prepare: Prepare) -> list[Any]:
    """What a `Prepare` has learned of each column; None for a category, whose levels say all."""
    return [[*encoder] if isinstance(encoder, Number) else None for encoder in prepare.encoders_]


def restored_prepare(features: Features | None, unit: Any, saved: list[Any]) -> Prepare:
    """A fitted `Prepare` with these encoders."""
    prepare = Prepare(features, unit=unit)
    names = [f"x{k}" for k in range(len(saved))] if features is None else features.names
    levels = {} if features is None else features.levels
    encoders: list[Number | Category] = []
    for name, numbers in zip(names, saved, strict=True):
        if name in levels:
            encoders.append(Category(levels[name]))
            continue
        size, median, mean, deviation, gaps = numbers
        found = Number(float(size), float(median), float(mean), float(deviation), gaps is True)
        if not (np.isfinite(found[:4]).all() and found.unit > 0 and found.deviation > 0):
            raise ValueError(f"the column {name!r} has units that are none")
        encoders.append(found)
    prepare.encoders_ = encoders
    prepare.n_features_in_ = len(names)
    return prepare


def saved_transformer(fitted: Any) -> Record | None:
    """A fitted preparation; only gameproof's own can be saved, as numbers and text."""
    if fitted is None:
        return None
    if not isinstance(fitted, Prepare):
        raise TypeError(
            "a model file holds numbers and text, so prepare can only be saved where it is "
            f"gameproof's Prepare, got {type(fitted).__name__}; use Prepare, or prepare the table "
            "yourself and give the classifier what comes of it"
        )
    features = None if fitted.features is None else saved_features(fitted.features)
    return {"features": features, "unit": fitted.unit, "encoders": saved_encoders(fitted)}


def restored_transformer(saved: Any) -> Prepare | None:
    """Back from a file."""
    if saved is None:
        return None
    features = None if saved["features"] is None else restored_features(saved["features"])
    return restored_prepare(features, saved["unit"], saved["encoders"])


def saved_budgets(budgets: Any) -> Any:
    """Checked budgets, or budgets as they were given; pairs in place of keys, as above."""
    if budgets is None:
        return None
    if not isinstance(budgets, Budgets):
        if not hasattr(budgets, "items"):
            return {"columns": list(budgets)}
        return {
            "stated": [
                [key, sorted(value) if isinstance(value, (set, frozenset)) else value]
                for key, value in budgets.items()
            ]
        }
    return {
        "features": saved_features(budgets.features),
        "ranges": [[at, *ends] for at, ends in budgets.ranges.items()],
        "claims": [[at, levels] for at, levels in budgets.claims.items()],
        "assumed": sorted(budgets.assumed),
        "factor": budgets.factor,
        "notes": budgets.notes,
    }


def restored_budgets(saved: Any) -> Any:
    """Back from a file."""
    if saved is None:
        return None
    if "columns" in saved:
        return list(saved["columns"])
    if "stated" in saved:
        return dict(saved["stated"])
    features = restored_features(saved["features"])
    names = features.names
    given: dict[int | str, Any] = {at: (low, high) for at, low, high in saved["ranges"]}
    given |= {at: [features.levels[names[at]][k] for k in ks] for at, ks in saved["claims"]}
    # The checks of a user's own budgets; the rows play no part where everything is stated.
    found = Budgets.of(given, features, np.zeros((1, len(names))))
    return Budgets(
        features,
        found.ranges,
        found.claims,
        frozenset(as_count("assumed", at, 0) for at in saved["assumed"]),
        float(saved["factor"]),
        tuple(map(text, saved["notes"])),
    )


def restored_checked(saved: Any) -> Budgets | None:
    """Back from a file, where budgets had been checked."""
    found = restored_budgets(saved)
    if not (found is None or isinstance(found, Budgets)):
        raise TypeError(f"expected budgets with their columns, got {shown(found)}")
    return found


def saved_response(response: Response | None) -> Any:
    """A response made of numbers, or what another one is called."""
    if response is None:
        return None
    fields = RESPONSES.get(type(response))
    if fields is None:
        return UNSAVED + described(response)
    found = {name: getattr(response, name) for name in fields}
    if "claims" in found:
        found["claims"] = [[*claim] for claim in found["claims"]]
    return {"kind": type(response).__name__, **found}


def restored_response(saved: Any) -> Response | None:
    """Back from a file; before there were budgets, files held costs without their kind."""
    if isinstance(saved, str):
        return Unsaved(saved)
    if saved is None:
        return None
    named = {kind.__name__: kind for kind in RESPONSES}
    kind: Any = named[saved.pop("kind", PowerCost.__name__)]
    if "claims" in saved:
        saved["claims"] = tuple(
            Claim(*(np.array(part, dtype) for part, dtype in zip(claim, CLAIM, strict=True)))
            for claim in saved["claims"]
        )
    found: Response = kind(**saved)
    return found


CLAIM = (np.int64, np.float64, np.bool_, np.int64)


def described(response: Response) -> str:
    """In a few words."""
    return repr(response) if isinstance(response, PowerCost) else type(response).__name__


@final
class Unsaved(Response):
    """Stands in a loaded model for a response that no file holds. The model predicts; to be
    fitted again it wants the response."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description

    def fit(self, n: int, d: int) -> None:
        raise TypeError(
            "the file of this model did not hold its response, only a cost such as PowerCost or a "
            "budget can be saved; give the response again: model.set_params(response=…)"
        )

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        raise AssertionError("nobody is asked before `fit`, which refuses")

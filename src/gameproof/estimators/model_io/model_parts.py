"""Records of the parts of a model: columns, budgets, a `Prepare`, and a response.

A file may come from an untrusted source, so everything that is restored is checked.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from gameproof.core.arguments import Indices, Matrix, Vector, as_count, shown
from gameproof.estimators.column_encoders import CategoryEncoder, NumberEncoder
from gameproof.estimators.features import Features, default_names
from gameproof.estimators.model_io.model_files import Record
from gameproof.estimators.prepare import Prepare
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.budgets import BallBudget, BoxBudget, PriceBudget
from gameproof.strategic.category_claims import Claim
from gameproof.strategic.power_costs import PowerCost
from gameproof.strategic.responses import Response

UNSAVED = "not saved: "
# Responses that can be saved, and their fields.
RESPONSES: dict[type[Response], tuple[str, ...]] = {
    PowerCost: ("power", "degree", "norm", "features"),
    BallBudget: ("radius", "features", "norm"),
    PriceBudget: ("budget", "prices"),
    BoxBudget: ("lower", "upper", "claims"),
}


def as_text(value: Any) -> str:
    """Checks that a value is text."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    return value


def features_record(features: Features) -> Record:
    """The record of columns; levels are pairs, so that no column name can be taken for a marker."""
    return {
        "names": features.names,
        "levels": [[name, levels] for name, levels in features.levels.items()],
        "movable": features.movable,
    }


def restore_features(saved: Any) -> Features:
    """Columns from their record."""
    return Features(
        tuple(map(as_text, saved["names"])),
        {as_text(name): tuple(map(as_text, levels)) for name, levels in saved["levels"]},
        tuple(map(as_text, saved["movable"])),
    )


def encoders_record(prepare: Prepare) -> list[Any]:
    """What a `Prepare` learned about each column; None for a category, which only has levels."""
    return [
        [*encoder] if isinstance(encoder, NumberEncoder) else None for encoder in prepare.encoders_
    ]


def restore_prepare(features: Features | None, unit: Any, saved: list[Any]) -> Prepare:
    """A fitted `Prepare` from the records of its encoders."""
    prepare = Prepare(features, unit=unit)
    names = default_names(len(saved)) if features is None else features.names
    levels = {} if features is None else features.levels
    encoders: list[NumberEncoder | CategoryEncoder] = []
    for name, numbers in zip(names, saved, strict=True):
        if name in levels:
            encoders.append(CategoryEncoder(levels[name]))
            continue
        size, median, mean, deviation, gaps = numbers
        found = NumberEncoder(
            float(size), float(median), float(mean), float(deviation), gaps is True
        )
        if not (np.isfinite(found[:4]).all() and found.unit > 0 and found.deviation > 0):
            raise ValueError(f"the column {name!r} has invalid units")
        encoders.append(found)
    prepare.encoders_ = encoders
    prepare.n_features_in_ = len(names)
    return prepare


def transformer_record(fitted: Any) -> Record | None:
    """The record of a fitted preparation; only gameproof's own can be saved."""
    if fitted is None:
        return None
    if not isinstance(fitted, Prepare):
        raise TypeError(
            "a model file holds numbers and text, so it can only hold gameproof's Prepare, got "
            f"{type(fitted).__name__}; use Prepare, or prepare the table before you give it to the "
            "classifier"
        )
    features = None if fitted.features is None else features_record(fitted.features)
    return {"features": features, "unit": fitted.unit, "encoders": encoders_record(fitted)}


def restore_transformer(saved: Any) -> Prepare | None:
    """A fitted preparation from its record."""
    if saved is None:
        return None
    features = None if saved["features"] is None else restore_features(saved["features"])
    return restore_prepare(features, saved["unit"], saved["encoders"])


def budgets_record(budgets: Any) -> Any:
    """The record of budgets, checked or as the user gave them."""
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
        "features": features_record(budgets.features),
        "ranges": [[at, *ends] for at, ends in budgets.ranges.items()],
        "claims": [[at, levels] for at, levels in budgets.claims.items()],
        "assumed": sorted(budgets.assumed),
        "factor": budgets.factor,
        "notes": budgets.notes,
    }


def restore_budgets(saved: Any) -> Any:
    """Budgets from their record."""
    if saved is None:
        return None
    if "columns" in saved:
        return list(saved["columns"])
    if "stated" in saved:
        return dict(saved["stated"])
    features = restore_features(saved["features"])
    names = features.names
    given: dict[int | str, Any] = {at: (low, high) for at, low, high in saved["ranges"]}
    given |= {at: [features.levels[names[at]][k] for k in ks] for at, ks in saved["claims"]}
    # The same checks as for a user's budgets; the rows do not matter if all ranges are stated.
    found = Budgets.of(given, features, np.zeros((1, len(names))))
    return Budgets(
        features,
        found.ranges,
        found.claims,
        frozenset(as_count("assumed", at, 0) for at in saved["assumed"]),
        float(saved["factor"]),
        tuple(map(as_text, saved["notes"])),
    )


def restore_checked_budgets(saved: Any) -> Budgets | None:
    """Checked budgets from their record."""
    found = restore_budgets(saved)
    if not (found is None or isinstance(found, Budgets)):
        raise TypeError(f"expected budgets with their columns, got {shown(found)}")
    return found


def response_record(response: Response | None) -> Any:
    """The record of a response, or the description of one that cannot be saved."""
    if response is None:
        return None
    fields = RESPONSES.get(type(response))
    if fields is None:
        return UNSAVED + describe_response(response)
    found = {name: getattr(response, name) for name in fields}
    if "claims" in found:
        found["claims"] = [[*claim] for claim in found["claims"]]
    return {"kind": type(response).__name__, **found}


def restore_response(saved: Any) -> Response | None:
    """A response from its record; version 1 held costs without their kind."""
    if isinstance(saved, str):
        return UnsavedResponse(saved)
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


def describe_response(response: Response) -> str:
    """A short description of a response."""
    return repr(response) if isinstance(response, PowerCost) else type(response).__name__


@final
class UnsavedResponse(Response):
    """The placeholder for a response that could not be saved.

    A loaded model with this response can predict; to fit it again, set the response first.
    """

    def __init__(self, description: str) -> None:
        self.description = description

    def __repr__(self) -> str:
        return self.description

    def fit(self, n: int, d: int) -> None:
        raise TypeError(
            "the model was loaded from a file, which can hold a cost such as PowerCost or a budget "
            "but not this response; set it again: model.set_params(response=…)"
        )

    def answers(self, theta: Vector, features: Matrix, agents: Indices) -> Matrix:
        raise AssertionError("`fit` raises before anyone is queried")

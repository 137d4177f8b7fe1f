"""`TableModel`: a classifier with all that turns a table into what it sees.

A raw table goes through the plan of its columns, then through `Prepare`, then to the classifier.
The three are one model, in one file: a table that is met later is treated as the first one was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from gameproof.arguments import Matrix, Vector
from gameproof.classify.base import Linear
from gameproof.classify.files import Record, decoded, encoded, write
from gameproof.classify.record import record, restored
from gameproof.data.dataset import Features
from gameproof.data.labels import Target
from gameproof.data.naming import listed, quoted
from gameproof.data.plan import Plan
from gameproof.data.prepare import Category, Number, Prepare
from gameproof.data.reading import Table, as_table
from gameproof.data.usable import OTHER


class Scored(NamedTuple):
    """Scores row by row, and what to note: which columns have gaps and levels that are not known,
    how many, and what they were taken for."""

    scores: Vector
    notes: list[str]


class Prepared(NamedTuple):
    """What the classifier sees, and the same notes about it."""

    Z: Matrix
    notes: list[str]


@final
@dataclass(frozen=True, eq=False)
class TableModel:
    """What ``gameproof fit`` makes and ``gameproof predict`` uses.

    `classifier` was fitted to labels -1 and +1, so that scores are positive for the favourable
    outcome. `training` says what the model was made of; ``gameproof fit`` fills it.
    """

    plan: Plan
    prepare: Prepare
    classifier: Linear
    training: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"TableModel({self.plan.target.name} = {self.plan.target.favourable} from "
            f"{', '.join(self.plan.features.names)} by {type(self.classifier).__name__})"
        )

    @property
    def names(self) -> list[str]:
        """The columns that the classifier sees."""
        return [str(name) for name in self.prepare.get_feature_names_out()]

    def predict(self, table: Any) -> NDArray[Any]:
        """The outcome of each row, in the words of the table that it was fitted to. The table is
        a file's name or a data frame."""
        return np.array(self.outcomes(self.decision_function(table)))

    def decision_function(self, table: Any) -> Vector:
        """The score of each row, positive for the favourable outcome."""
        return self.scored(as_table(table)).scores

    def prepared(self, table: Table) -> Prepared:
        """What the classifier sees of a table, and what it has not seen before."""
        X, unknown = self.plan.encoded(table)
        return Prepared(self.prepare.transform(X), self._notes(X, unknown))

    def scored(self, table: Table) -> Scored:
        """Scores, and what the model has not seen before."""
        Z, notes = self.prepared(table)
        return Scored(self.classifier.decision_function(Z), notes)

    def _notes(self, X: Matrix, unknown: Mapping[str, int]) -> list[str]:
        """On cells of levels that are not known, and on missing ones."""
        features = self.plan.features
        notes = [
            f"{quoted(name)}: {_unknown(count, len(X), features.levels[name])}"
            for name, count in unknown.items()
        ]
        counts = np.isnan(X).sum(axis=0).tolist()
        for name, encoder, count in zip(
            features.names, self.prepare.encoders_, counts, strict=True
        ):
            pooled = OTHER in features.levels.get(name, ())
            missing = count - (0 if pooled else unknown.get(name, 0))
            if missing:
                notes.append(f"{quoted(name)}: {missing:,} missing, {encoder.instead()}")
        return notes

    def outcomes(self, scores: Vector) -> list[str]:
        """What is predicted for people with these scores, in the words of the table."""
        target = self.plan.target
        return [target.favourable if score > 0 else target.other for score in scores.tolist()]

    def save(self, path: str | Path) -> None:
        """Writes a file that `load_model` reads: JSON text, safe to open whoever made it."""
        write(Path(path), table_record(self))


def table_record(model: TableModel) -> Record:
    """A model as a file holds it."""
    plan, features = model.plan, model.plan.features
    return {
        "kind": TableModel.__name__,
        "plan": encoded(
            {
                "target": plan.target.name,
                "favourable": plan.target.favourable,
                "others": plan.target.others,
                "names": features.names,
                # Pairs, since names may be those that JSON's numbers take.
                "levels": [[name, levels] for name, levels in features.levels.items()],
                "movable": features.movable,
                "left_out": [[name, why] for name, why in plan.left_out.items()],
                "pooled": [[name, count] for name, count in plan.pooled.items()],
            }
        ),
        "encoders": [
            encoded([*encoder] if isinstance(encoder, Number) else None)
            for encoder in model.prepare.encoders_
        ],
        "classifier": record(model.classifier, None),
        "training": encoded(dict(model.training)),
    }


def restored_table(content: Record, kinds: Mapping[str, type[Linear]]) -> TableModel:
    """The model of a record; raises nearly anything where the record is not one."""
    saved = decoded(content["plan"])
    features = Features(
        tuple(map(_text, saved["names"])),
        {_text(name): tuple(map(_text, levels)) for name, levels in saved["levels"]},
        tuple(map(_text, saved["movable"])),
    )
    target = Target(
        _text(saved["target"]), _text(saved["favourable"]), tuple(map(_text, saved["others"]))
    )
    left_out = {_text(name): _text(why) for name, why in saved["left_out"]}
    pooled = {_text(name): int(count) for name, count in saved["pooled"]}
    plan = Plan(target, features, left_out, pooled)
    prepare = _prepared(features, decoded(content["encoders"]))
    inner = content["classifier"]
    classifier = restored(kinds[inner["kind"]], inner)
    if classifier.n_features_in_ != len(prepare.get_feature_names_out()):
        raise ValueError("the classifier does not fit the columns")
    return TableModel(plan, prepare, classifier, decoded(content["training"]))


def _prepared(features: Features, saved: list[Any]) -> Prepare:
    """A fitted `Prepare` with these encoders."""
    prepare = Prepare(features)
    encoders: list[Number | Category] = []
    for name, numbers in zip(features.names, saved, strict=True):
        if name in features.levels:
            encoders.append(Category(features.levels[name]))
            continue
        unit, median, mean, deviation, gaps = numbers
        found = Number(float(unit), float(median), float(mean), float(deviation), gaps is True)
        if not (np.isfinite(found[:4]).all() and found.unit > 0 and found.deviation > 0):
            raise ValueError(f"the column {name!r} has units that are none")
        encoders.append(found)
    prepare.encoders_ = encoders
    prepare.n_features_in_ = len(features.names)
    return prepare


def _unknown(count: int, n: int, levels: tuple[str, ...]) -> str:
    """What became of cells whose levels are not known; if they are most of n, it is perhaps another
    column."""
    said = f"{count:,} cells have levels that the model has not seen; they count as missing"
    if OTHER in levels:
        said = f"{count:,} cells have levels that are rare or new to the model; they count as other"
    if 2 * count <= n:
        return said
    return f"{said}, and are most of {n:,}; it knows {listed([quoted(x) for x in levels], 4)}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r}")
    return value

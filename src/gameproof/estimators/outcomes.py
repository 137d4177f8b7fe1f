"""The two classes, and which of them is favourable."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from gameproof.core.arguments import Vector


class Outcomes(NamedTuple):
    """The two classes in sorted order, and the favourable one, which the problem labels +1."""

    classes: NDArray[Any]
    favourable: Any

    @classmethod
    def learned(cls, y: NDArray[Any], favourable: Any) -> Self:
        """The classes of labels `y`; raises if there are not exactly two."""
        check_classification_targets(y)
        classes = np.unique(y)
        named = classes.tolist()
        if classes.size > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                f"y has {classes.size} classes; merge them into two"
            )
        if classes.size < 2:
            raise ValueError(f"y has one class, {named[0]!r}; a classifier needs two")
        wanted = named[1] if favourable is None else favourable
        if wanted not in named:
            raise ValueError(f"favourable is {wanted!r}, and the classes are {_listed(named)}")
        return cls(classes, wanted)

    def signs(self, y: NDArray[Any]) -> Vector:
        """+1 for the favourable class, -1 for the other."""
        unknown = y[~np.isin(y, self.classes)].tolist()
        if unknown:
            classes = _listed(self.classes.tolist())
            raise ValueError(f"y has {unknown[0]!r}, and the classes are {classes}")
        return np.where(y == self.favourable, 1.0, -1.0)

    def weights(
        self, y: NDArray[Any], class_weight: Any, own: Vector | None = None
    ) -> Vector | None:
        """Sample weights `own` times class weights; None if all rows count the same."""
        if class_weight is None:
            return own
        by_class = compute_class_weight(class_weight, classes=self.classes, y=y)
        if own is not None and isinstance(class_weight, str):
            # "balanced" refers to the weights of the classes, not to their numbers of rows.
            sums = np.array([own[y == label].sum() for label in self.classes])
            by_class = sums.sum() / (2 * sums)
        for label, weight in zip(self.classes.tolist(), by_class, strict=True):
            if not (np.isfinite(weight) and weight > 0):
                raise ValueError(f"class_weight must be positive, got {weight} for {label!r}")
        weights: Vector = np.where(y == self.classes[1], by_class[1], by_class[0])
        return weights if own is None else weights * own

    @property
    def towards(self) -> float:
        """The sign of scikit-learn's scores for the favourable class."""
        return 1.0 if self.favourable == self.classes[1] else -1.0


def _listed(classes: list[Any]) -> str:
    return " and ".join(map(repr, classes))

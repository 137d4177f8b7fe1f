"""Labels of two kinds, of any type, and which of them is favourable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Vector, require_unmasked

# Pairs of labels in which the larger one is favourable unless the user says otherwise.
ORDERED = ({0, 1}, {-1, 1})


class Labels(NamedTuple):
    """Labels as signs: +1 for the favourable label and -1 for the other."""

    signs: Vector
    favourable: Any
    other: Any

    @property
    def names(self) -> tuple[str, ...]:
        """The two labels as text, the favourable one first; empty for -1 and +1."""
        own = (self.favourable, self.other)
        plain = all(isinstance(each, (int, float)) for each in own) and set(own) == {-1, 1}
        return () if plain else tuple(map(str, own))


def as_labels(
    y: ArrayLike, favourable: Any = None, known: Sequence[Any] = (), stated: Any = None
) -> Labels:
    """Checks labels and finds out which one is favourable.

    `known` are the classes of the model, if it has any, and `stated` is the class that the model
    was fitted for. `favourable` is what the user says, which comes first. Of 0 and 1, -1 and 1, or
    False and True, the larger is favourable by default. For other labels the user has to say.
    """
    require_unmasked("y", y)
    values: NDArray[Any] = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {values.shape}")
    found = _distinct(values)
    classes = list(known) if len(known) else found
    unknown = [label for label in found if label not in classes]
    if unknown:
        raise ValueError(
            f"y has the label {unknown[0]!r}, and the model knows {_listed(classes)}; give y with "
            "the labels that the model was fitted to"
        )
    if len(found) != 2:
        raise ValueError(f"y must have two different labels, got {_listed(found)}")
    wanted = stated if favourable is None else favourable
    if wanted is None:
        if not all(isinstance(label, (bool, int, float)) for label in found) or (
            set(found) not in ORDERED
        ):
            raise ValueError(
                f"y has the labels {_listed(found)}; say which of them people want, such as "
                f"favourable={found[1]!r}"
            )
        wanted = max(found)
    if wanted not in found:
        raise ValueError(f"favourable must be one of {_listed(found)}, got {wanted!r}")
    (other,) = [label for label in found if label != wanted]
    return Labels(np.where(values == wanted, 1.0, -1.0), wanted, other)


def _distinct(values: NDArray[Any]) -> list[Any]:
    """The different labels in order; raises if one is missing."""
    missing = [k for k, label in enumerate(values.tolist()) if _is_missing(label)]
    if missing:
        raise ValueError(f"y has no label in row {missing[0]}; leave out rows without a label")
    try:
        found: list[Any] = np.unique(values).tolist()
    except TypeError:  # labels of several types
        found = list(dict.fromkeys(values.tolist()))
    return found


def _is_missing(label: Any) -> bool:
    return label is None or label is not label or bool(label != label)


def _listed(labels: Sequence[Any]) -> str:
    return " and ".join(repr(getattr(label, "item", lambda own=label: own)()) for label in labels)

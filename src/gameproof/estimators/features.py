"""`Features`: what the columns of a table are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(frozen=True)
class Features:
    """What the columns of a table are: names, the levels of categories, which can be moved.

    >>> Features(("income", "home"), {"home": ("owned", "rented")}, movable=("income",))
    Features(2 columns, categories: home, movable: income)
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    movable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"columns must have different names, got {', '.join(self.names)}")
        for what, named in (("levels", self.levels), ("movable", self.movable)):
            for name in named:
                if name not in self.names:
                    raise ValueError(
                        f"{what} names {name!r}, which is not among {', '.join(self.names)}"
                    )

    def __repr__(self) -> str:
        return (
            f"Features({len(self.names)} columns, categories: {', '.join(self.levels) or 'none'}, "
            f"movable: {', '.join(self.movable) or 'none'})"
        )

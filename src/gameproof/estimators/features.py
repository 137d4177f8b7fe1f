"""`Features`: names, categories and movable columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from gameproof.core.naming import quoted_list


@final
@dataclass(frozen=True)
class Features:
    """The columns of a table: their names, which are categories, and which people can change.

    Parameters
    ----------
    names : tuple of str
        Names of the columns, in order.
    levels : mapping of str to tuple of str, optional
        Levels of each categorical column. The table holds level numbers, starting at 0.
    movable : tuple of str, optional
        Names of the columns that people can change.

    Raises
    ------
    ValueError
        If names repeat, or if `levels` or `movable` name an unknown column.

    Examples
    --------
    >>> import gameproof as gp
    >>> gp.Features(("income", "home"), {"home": ("owned", "rented")}, movable=("income",))
    Features(2 columns, categories: home, movable: income)
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    movable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.names)
        if len(known) < len(self.names):
            raise ValueError(f"columns must have different names, got {quoted_list(self.names)}")
        for what, named in (("levels", self.levels), ("movable", self.movable)):
            for name in named:
                if name not in known:
                    raise ValueError(
                        f"{what} names {name!r}, which is not among {quoted_list(self.names)}"
                    )

    def __repr__(self) -> str:
        return (
            f"Features({len(self.names)} columns, "
            f"categories: {quoted_list(self.levels) or 'none'}, "
            f"movable: {quoted_list(self.movable) or 'none'})"
        )


def default_names(d: int) -> tuple[str, ...]:
    """Names for columns without names: x0, x1, …"""
    return tuple(f"x{k}" for k in range(d))

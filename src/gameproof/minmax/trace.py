"""What a run recorded along the way, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray


class TraceRow(NamedTuple):
    """One record; score is NaN where none was asked for."""

    epoch: float  # fractional within an epoch
    steps: int
    queries: int
    deployments: int
    seconds: float  # of solving: the clock stops while scores and callbacks run
    step_size: float
    radius: float
    score: float


COUNTS = ("steps", "queries", "deployments")


@final
class Trace(Mapping[str, NDArray[Any]]):
    """Columns by name: ``trace["score"]``, ``dict(trace)``, ``trace.to_frame()``.

    Parameters
    ----------
    rows
        The records of a run.

    Examples
    --------
    >>> list(Trace([]))[:3]
    ['epoch', 'steps', 'queries']
    """

    def __init__(self, rows: list[TraceRow]) -> None:
        columns = zip(*rows, strict=True) if rows else [()] * len(TraceRow._fields)
        self._columns = {
            name: np.array(column, dtype=np.int64 if name in COUNTS else np.float64)
            for name, column in zip(TraceRow._fields, columns, strict=True)
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    # By identity, because comparing arrays would be neither true nor false.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Trace({self['steps'].size} records of {', '.join(self)})"

    def to_frame(self) -> Any:
        """A pandas DataFrame (pandas comes with ``pip install gameproof[frames]``)."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame() needs pandas: pip install gameproof[frames], or use dict(trace)"
            ) from error
        return pd.DataFrame(dict(self))

"""`Limits`: when a run must end."""

from __future__ import annotations

from typing import final

from gameproof.core.arguments import as_count
from gameproof.core.progress import Progress
from gameproof.kernels import layout as at
from gameproof.minmax.final_check import values_kept
from gameproof.minmax.run import Run
from gameproof.minmax.run_engine import UNLIMITED

DEFAULT_EPOCHS = 100


@final
class Limits:
    """When a run must end."""

    def __init__(self, run: Run, epochs: int | None, queries: int | None) -> None:
        if epochs is None and queries is None:
            epochs = DEFAULT_EPOCHS
        gradient = run.solver.gradient
        if epochs is None and gradient.code.offset == at.NO_VALUES:
            raise ValueError(
                f"{gradient!r} asks for no values, so queries never end the run; give epochs"
            )
        self.epochs = None if epochs is None else as_count("epochs", epochs)
        self.queries = (
            UNLIMITED if queries is None else min(as_count("queries", queries), UNLIMITED)
        )
        limited = run.solver.fallback is not None and queries is not None
        self.kept = values_kept(self.queries) if limited else 0
        self.last_step = UNLIMITED if self.epochs is None else self.epochs * run.steps_per_epoch
        self._run = run

    @property
    def for_run(self) -> int:
        """The most values of the run: all but those for the comparison at its end."""
        return self.queries - self.kept

    @property
    def done(self) -> float:
        """How far the run is, in the unit of the bar."""
        if self.epochs is None:
            return self._run.state.queries
        return self._run.state.steps / self._run.steps_per_epoch

    def progress(self, wanted: bool | None) -> Progress:
        """The bar of this run."""
        name = self._run.solver.name
        if self.epochs is None:
            return Progress(wanted, self.for_run, "values", name)
        return Progress(wanted, self.epochs, "epochs", name)

"""Warnings during a fit, collected as notes: each once, with the classifiers that it is about."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from gameproof.auditing.number_format import listed
from gameproof.core.errors import BudgetWarning, CapWarning
from gameproof.strategic.saddle_point import HOW_TO_FIND_ONE

UNBOUNDED = (
    "only a bound on the coefficients keeps the classifier finite: the classes can be separated "
    "without error, or features are far from unit size"
)
LARGER_RADIUS = "; a larger radius would keep the coefficients small"
# For programmers, and what the audit reports itself.
IGNORED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, BudgetWarning)


class FitNotes:
    """Collects warnings by their text."""

    def __init__(self) -> None:
        self._about: dict[str, list[str]] = {}

    @contextmanager
    def collected(self, about: str, *, has_radius: bool = False) -> Iterator[None]:
        """Turns warnings inside into notes about a classifier or a step of the fit."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, IGNORED):
                continue
            text = " ".join(str(warning.message).split())
            if issubclass(warning.category, CapWarning):
                # The bound is not an option of a table fit, so its name would mislead.
                text = UNBOUNDED + (LARGER_RADIUS if has_radius else "")
            self._add(text.removesuffix(HOW_TO_FIND_ONE), about)

    def _add(self, text: str, about: str) -> None:
        known = self._about.setdefault(text, [])
        if about not in known:
            known.append(about)

    @classmethod
    def joined(cls, several: Iterable[FitNotes]) -> FitNotes:
        """The notes of several fits, each text once."""
        found = cls()
        for notes in several:
            for text, names in notes._about.items():
                for about in names:
                    found._add(text, about)
        return found

    def sentences(self) -> tuple[str, ...]:
        """All notes, in the order of their first warning."""
        return tuple(f"{listed(about)}: {text}" for text, about in self._about.items())

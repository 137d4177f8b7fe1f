"""`Format`: one kind of file, with sound examples, ways to damage them, and what they contain."""

import random
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzzing.damage import BYTES

BOMBS = 0.005  # share of the cases; they take long to make
MEANING: dict[str, Any] = {"target": "repaid", "favourable": "yes"}


class Damaged(NamedTuple):
    """A damaged file, the sound one it was made from, and whether its checksums were forged."""

    data: bytes
    original: int
    how: str
    forged: bool = False


class Format(ABC):
    """One kind of file."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.originals = self.sound(Path(folder))
            self._references = [
                self.content(data, k, Path(folder)) for k, data in enumerate(self.originals)
            ]

    def reference(self, original: int) -> Any:
        """The content of a sound file."""
        return self._references[original]

    @abstractmethod
    def sound(self, folder: Path) -> list[bytes]:
        """Sound files."""

    @abstractmethod
    def content(self, data: bytes, original: int, folder: Path) -> Any:
        """What a file contains, after everything in it has been used."""

    @abstractmethod
    def damaged(self, rng: random.Random) -> Damaged:
        """A damaged file."""

    def _chosen(self, rng: random.Random) -> tuple[int, bytes]:
        original = rng.randrange(len(self.originals))
        return original, self.originals[original]

    def _by_bytes(self, rng: random.Random, *more: Callable[..., bytes]) -> Damaged:
        original, data = self._chosen(rng)
        damage = rng.choice((*BYTES, *more))
        return Damaged(damage(rng, data), original, damage.__name__)


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def people_table(n: int = 60) -> dict[str, Any]:
    """Columns of numbers, texts, dates and gaps, and an outcome."""
    rng = np.random.default_rng(0)
    savings, age = rng.normal(1000, 400, n).round(2), rng.integers(18, 80, n).astype(float)
    age[3] = np.nan
    homes = rng.choice(["rent", "own", "with parents, or so"], n).tolist()
    days = [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(n)]
    repaid = np.where(savings + 8 * np.nan_to_num(age) + rng.normal(0, 150, n) > 1300, "yes", "no")
    return {"savings": savings, "age": age, "home": homes, "since": days, "repaid": repaid.tolist()}

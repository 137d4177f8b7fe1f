"""Imports point upward: a module imports only from its own room and from the rooms above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = (
    "core",
    "kernels",
    "minmax",
    "strategic",
    "estimators",
    "auditing",
    "tables",
    "paper",
    "cli",
    "__main__",
)
"""The rooms from top to bottom."""

ISOLATED = {"kernels"}
"""Rooms that import no other room, not even one above."""

PACKAGE = Path(__file__).parents[1] / "src" / "gameproof"


def imported_names(node: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The dotted names, split, that a statement in a module of `package` imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield tuple(alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        # One dot is the package of the module, each further dot its parent. Python itself
        # refuses an import that climbs out of the tree.
        base = package[: max(0, len(package) + 1 - node.level)] if node.level else ()
        module = tuple(node.module.split(".")) if node.module else ()
        for alias in node.names:
            yield (*base, *module, alias.name)


def complaint(room: str, target: str) -> str | None:
    """What is wrong with an import from `target` in a module of `room`."""
    if target not in ROOMS:
        return f"{target!r} is no room; import from the room that defines the name"
    if target == room:
        return None
    if room in ISOLATED:
        return f"{room} imports no sibling, not even {target}"
    if ROOMS.index(target) > ROOMS.index(room):
        return f"{room} may not import from {target}, which stands below it"
    return None


def misplaced_imports(package: Path) -> list[str]:
    """One sentence for each import that does not point upward, and for each unknown room."""
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place == Path("__init__.py"):
            continue
        room = place.parts[0].removesuffix(".py")
        if room not in ROOMS:
            found.append(f"{place.as_posix()}: {room!r} is no room; there are {', '.join(ROOMS)}")
            continue
        parents = (package.name, *place.parts[:-1])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            names = imported_names(node, parents)
            # `import gameproof` alone reaches the list of public names, which is no room.
            targets = {(*name, package.name)[1] for name in names if name[0] == package.name}
            for target in sorted(targets):
                if wrong := complaint(room, target):
                    found.append(f"{place.as_posix()}:{node.lineno}: {wrong}")
    return found


def plant(root: Path, files: dict[str, str]) -> Path:
    """A package `gameproof` under `root` that holds these files."""
    package = root / "gameproof"
    for name, source in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return package


def test_no_two_files_share_a_name() -> None:
    names = [path.name for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted(names) == sorted(set(names))


def test_imports_of_the_package_point_upward() -> None:
    assert list(PACKAGE.rglob("*.py")), f"there is no source in {PACKAGE}"
    assert misplaced_imports(PACKAGE) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("__init__.py", "from gameproof.cli import main\nfrom .minmax import solve"),
        ("kernels/jit.py", "import numpy as np\nfrom numba import njit"),
        ("estimators/base.py", "from gameproof.core.errors import DataError"),
        ("minmax/sets.py", "from .. import kernels"),
        ("minmax/games/matrix.py", "from ..sets import Ball\nfrom ...kernels import project"),
        ("strategic/__init__.py", "from .loop import solve\nfrom ..minmax import SaddleProblem"),
        ("cli/audit.py", "from ..auditing import audit\nimport gameproof.minmax.sets as sets"),
        ("cli/main.py", "from gameproof import core, paper\nimport gameproofing"),
    ],
)
def test_import_from_own_room_or_above_is_accepted(tmp_path: Path, name: str, source: str) -> None:
    assert misplaced_imports(plant(tmp_path, {name: source})) == []


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("estimators/base.py", "import gameproof.auditing", "auditing"),
        ("estimators/base.py", "import numpy, gameproof.auditing.loop as loop", "auditing"),
        ("estimators/base.py", "from gameproof.auditing.loop import solve", "auditing"),
        ("estimators/base.py", "from gameproof import core, auditing", "auditing"),
        ("estimators/base.py", "from ..auditing import solve", "auditing"),
        ("estimators/base.py", "from .. import core, auditing", "auditing"),
        ("estimators/__init__.py", "from ..cli import main", "cli"),
        ("estimators/files/csv.py", "from ...tables import Dataset", "tables"),
        ("core/errors.py", "from ..kernels import project", "kernels"),
        ("core/errors.py", "from .. import kernels", "kernels"),
        ("minmax/loop.py", "from ..strategic import Population", "strategic"),
        ("estimators/base.py", "def read():\n    from ..auditing import tables", "auditing"),
        (
            "estimators/base.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..tables import Dataset",
            "tables",
        ),
    ],
)
def test_import_from_below_is_found(tmp_path: Path, name: str, source: str, target: str) -> None:
    (sentence,) = misplaced_imports(plant(tmp_path, {name: source}))
    line = source.count("\n") + 1
    assert sentence.startswith(f"{name}:{line}: ")
    assert sentence.endswith(f"may not import from {target}, which stands below it")


@pytest.mark.parametrize("source", ["from .core import QueryError", "import gameproof.core.errors"])
def test_kernels_may_not_import_even_from_above(tmp_path: Path, source: str) -> None:
    (sentence,) = misplaced_imports(plant(tmp_path, {"kernels.py": source}))
    assert sentence == "kernels.py:1: kernels imports no sibling, not even core"


@pytest.mark.parametrize("name", ["utils.py", "utils/arrays.py", "Minmax/loop.py", "solvers.py"])
def test_module_in_an_unknown_room_is_found(tmp_path: Path, name: str) -> None:
    (sentence,) = misplaced_imports(plant(tmp_path, {name: ""}))
    assert sentence.startswith(f"{name}: ")
    assert "is no room" in sentence


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("from ..utils import first", "utils"),
        ("import gameproof.utils", "utils"),
        ("from gameproof import solve", "solve"),
        ("from gameproof import *", "*"),
        ("import gameproof as gp", "gameproof"),
    ],
)
def test_import_from_no_room_is_found(tmp_path: Path, source: str, target: str) -> None:
    (sentence,) = misplaced_imports(plant(tmp_path, {"cli/main.py": source}))
    assert sentence.startswith(f"cli/main.py:1: {target!r} is no room")


def test_every_misplaced_import_is_listed(tmp_path: Path) -> None:
    files = {
        "estimators/base.py": "from ..auditing import solve\nfrom ..tables import Dataset",
        "minmax/sets.py": "from ..cli import main",
        "strategic/loop.py": "from ..minmax import SaddleProblem",
    }
    places = [sentence.split(": ")[0] for sentence in misplaced_imports(plant(tmp_path, files))]
    assert places == ["estimators/base.py:1", "estimators/base.py:2", "minmax/sets.py:1"]

"""Imports point upward, and never in a circle.

A module imports only from its own room and from the rooms above it, and no chain of imports leads
back to its start. Imports inside functions and under TYPE_CHECKING count: they bind two modules as
closely as others do, and only hide it. The one link that is no import is `Problem.chooser`, the
name of a module that is loaded when a solver is chosen.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOMS = (
    "core",
    "kernels",
    "minmax",
    "rows",
    "strategic",
    "estimators",
    "dask",
    "auditing",
    "tables",
    "live",
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


def module_name(path: Path, package: Path) -> tuple[str, ...]:
    """The dotted name of a file, split; a package has the name of its directory."""
    place = path.relative_to(package.parent).with_suffix("").parts
    return place[:-1] if place[-1] == "__init__" else place


def imports_by_module(package: Path) -> dict[str, set[str]]:
    """The modules of the package that each of its modules imports, anywhere in its source.

    `gameproof/__init__.py` is left out: it lists the public names, and no module imports it."""
    paths = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        if module == (package.name,):
            continue
        parent = module if path.name == "__init__.py" else module[:-1]
        found = graph.setdefault(".".join(module), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            for name in imported_names(node, parent):
                # What is imported is a module, or a name in one.
                target = name if name in paths else name[:-1]
                if target in paths and target not in (module, (package.name,)):
                    found.add(".".join(target))
    return graph


def import_cycle(package: Path) -> list[str]:
    """The modules of one circle of imports, from a module back to itself; empty if there is
    none."""
    try:
        TopologicalSorter(imports_by_module(package)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


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


def test_no_chain_of_imports_leads_back_to_its_start() -> None:
    graph = imports_by_module(PACKAGE)
    assert "gameproof.minmax.problem" in graph["gameproof.strategic.robust_objective"]
    assert import_cycle(PACKAGE) == []


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


UNDER_TYPE_CHECKING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}"


@pytest.mark.parametrize(
    "back",
    [
        "from gameproof.strategic.problem import Problem",
        "from gameproof.strategic import problem",
        "import gameproof.strategic.problem",
        "from ..problem import Problem",
        "from .. import problem",
        "def solve():\n    from gameproof.strategic.problem import Problem",
        UNDER_TYPE_CHECKING.format("from gameproof.strategic.problem import Problem"),
    ],
)
def test_circle_of_imports_is_found_however_it_is_written(tmp_path: Path, back: str) -> None:
    files = {
        "strategic/problem.py": "from gameproof.strategic.newton.minimum import minimum",
        "strategic/newton/minimum.py": "from gameproof.strategic.newton.barrier import minimise",
        "strategic/newton/barrier.py": back,
    }
    found = import_cycle(plant(tmp_path, files))
    assert found[0] == found[-1]
    assert {name.rsplit(".")[-1] for name in found} == {"problem", "minimum", "barrier"}


def test_a_package_that_imports_from_its_own_module_closes_a_circle(tmp_path: Path) -> None:
    files = {"minmax/__init__.py": "from .solve import solve", "minmax/solve.py": "from . import x"}
    assert import_cycle(plant(tmp_path, files)) != []


@pytest.mark.parametrize(
    "files",
    [
        {"minmax/a.py": "from .b import one, two\nfrom . import b", "minmax/b.py": "import ast"},
        {"minmax/a.py": "chooser = 'gameproof.minmax.b'", "minmax/b.py": "from .a import chooser"},
        {"__init__.py": "from .minmax.a import f", "minmax/a.py": "def f():\n    return 1"},
    ],
)
def test_modules_without_a_circle_are_accepted(tmp_path: Path, files: dict[str, str]) -> None:
    assert import_cycle(plant(tmp_path, files)) == []

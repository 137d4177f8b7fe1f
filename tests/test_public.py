"""The public names: each loads, none loads early."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import gameproof as gp

SOURCE = Path(gp.__file__)


def test_import_alone_loads_nothing_heavy() -> None:
    code = (
        "import sys, gameproof;"
        "heavy = ('numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'tqdm');"
        "print([m for m in heavy if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert found.strip() == "[]"


@pytest.mark.parametrize("name", gp.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(gp, name) is not None
    assert name in dir(gp)


def test_names_for_type_checkers_are_the_names_that_load() -> None:
    listed = {
        alias.asname
        for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert listed == set(gp.__all__)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gp.nothing


def test_version_is_the_one_of_the_project_file() -> None:
    project = (SOURCE.parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{gp.__version__}"\n' in project


def test_no_two_classes_share_a_name() -> None:
    # The classifiers for Dask have the names of those that they stand for.
    paths = [path for path in SOURCE.parent.rglob("*.py") if path.parent.name != "dask"]
    places = defaultdict(list)
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.name)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}

"""What the documentation shows runs as it stands: README, docs, docstrings, examples."""

import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

import gameproof as gp

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PACKAGE = Path(gp.__file__).parent
MODULES = sorted(
    ".".join(("gameproof", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py"
)


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.name)
def test_python_blocks_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if any("gp.load_" in block for block in blocks(page)):
        monkeypatch.setenv("GAMEPROOF_DATA", str(request.getfixturevalue("published")))
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks(page), start=1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), namespace)


def test_readme_has_one_example_of_twelve_lines() -> None:
    (example,) = blocks(ROOT / "README.md")
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 12


@pytest.mark.parametrize("name", ["gameproof", *MODULES])
def test_examples_in_docstrings_give_what_they_show(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_modules_have_examples_to_run() -> None:
    found = sum(
        len(test.examples)
        for name in MODULES
        for test in doctest.DocTestFinder().find(importlib.import_module(name))
    )
    assert found > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_errata_name_tests_that_exist() -> None:
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(tests/[\w/]+\.py)::(\w+)", text))
    assert named
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


SHOWN = {
    "four_algorithms": (
        {"SEEDS": range(2), "CHECKPOINTS": [10, 20]},
        ("OGDA-RR", "OGDA-WR", "SGDA-RR", "SGDA-WR"),
    ),
}


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples").glob("*.py")))
def test_examples_print_a_table_and_draw_a_figure(
    name: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    smaller, rows = SHOWN[name]
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name=name)
    example["main"].__globals__.update(smaller)
    example["main"]()
    printed = capsys.readouterr().out
    assert all(row in printed for row in rows)
    assert (tmp_path / "out" / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_no_gaps_to_fill(page: Path) -> None:
    assert "@@" not in page.read_text(encoding="utf-8")

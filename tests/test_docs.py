"""Everything that the documentation shows must run: README, docs, docstrings, examples."""

import doctest
import importlib
import json
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

import gameproof as gp
from gameproof.cli.main import main
from live_service import call, served_by_process

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PACKAGE = Path(gp.__file__).parent
MODULES = sorted(
    ".".join(("gameproof", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py"
)


def blocks(page: Path) -> list[str]:
    """Returns the Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


TUTORIAL = ROOT / "docs" / "tutorial.md"
# What a page shows, and what runs instead: the test has less time than its reader.
SMALLER = {
    "classifiers.md": ("queries=20_000", "queries=5_000"),
    "data.md": ("range(20)", "range(2)"),
}


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p) and p != TUTORIAL], ids=lambda page: page.name
)
def test_python_blocks_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if any("gp.load_" in block for block in blocks(page)):
        monkeypatch.setenv("GAMEPROOF_DATA", str(request.getfixturevalue("published")))
    namespace: dict[str, object] = {}
    long, short = SMALLER.get(page.name, ("", ""))
    assert long in page.read_text(encoding="utf-8")
    for number, block in enumerate(blocks(page), start=1):
        code = compile(block.replace(long, short), f"{page.name}, block {number}", "exec")
        exec(code, namespace)


def test_tutorial_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch, capsys, request: pytest.FixtureRequest
) -> None:
    """Runs commands and Python blocks in order; numbers may differ in the last digits."""
    monkeypatch.chdir(tmp_path)
    text = TUTORIAL.read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.findall(r"^```(python|console)\n(.*?)^```", text, re.M | re.S)
    assert sum(kind == "console" for kind, _ in found) >= 5
    for kind, block in found:
        if kind == "python":
            exec(compile(block, TUTORIAL.name, "exec"), {})
            capsys.readouterr()
            continue
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            if "credit.csv" in command or "data get" in command:
                monkeypatch.setenv("GAMEPROOF_DATA", str(request.getfixturevalue("published")))
            printed = output_of(command, capsys)
            if shown:
                assert_same_output(printed, shown, command)


def test_the_five_commands_of_a_live_study_end_at_its_page(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "live.md").read_text(encoding="utf-8").replace("\\\n", " ")
    [block] = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    *commands, last = re.findall(r"^\$ (.*)$", block, re.M)
    assert len(commands) == 4
    for command in commands:
        output_of(command, capsys)
    gp.load_model("model.json")
    assert last == "gameproof live serve study.db"
    with served_by_process("study.db") as (url, _):
        page = call(url, "GET", "/")
    assert page.status == 200
    assert b"<html" in page.data


def output_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Runs a command, which must succeed, and returns what it prints."""
    program, *arguments = shlex.split(command)
    if program != "gameproof":
        return subprocess.run(
            [program, *arguments], check=True, capture_output=True, text=True
        ).stdout
    assert main(arguments) == 0, f"{command}: {capsys.readouterr().err}"
    return capsys.readouterr().out


def assert_same_output(printed: str, shown: str, command: str) -> None:
    """Compares word by word; numbers with a fraction may differ by about one row in a hundred."""
    found, expected = (re.split(r"[\s,]+|(?<=\d)-(?=\d)", text) for text in (printed, shown))
    assert len(found) == len(expected), f"{command} prints\n{printed}"
    for one, two in zip(found, expected, strict=True):
        numbers = [re.fullmatch(r"[(]?(-?\d+\.\d+)([);,%]*)", word) for word in (one, two)]
        if all(numbers):
            first, second = (float(number[1]) for number in numbers)
            assert first == pytest.approx(second, abs=0.011, rel=0.03), f"{command}: {one}, {two}"
        else:
            assert one == two, f"{command} prints\n{printed}"


def test_readme_examples_are_short() -> None:
    examples = blocks(ROOT / "README.md")
    assert len(examples) == 3
    for example in examples:
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


def anchors(page: Path) -> set[str]:
    """Returns the anchors that GitHub makes of a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8"))
    for target, anchor in links:
        linked = page.parent / target if target else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{page.name} links to {target}#{anchor}"


def test_errata_name_tests_that_exist() -> None:
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(tests/[\w/]+\.py)::(\w+)", text))
    assert named
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"
    theory = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests/minmax").glob("test_theory*.py")
    )
    for test in re.findall(r"`(test_\w+)`", text):
        assert f"def {test}(" in theory, test


# For each example: smaller settings for the test, and words that it must print.
SHOWN = {
    "gaming": ({"ROWS": 400}, ("logistic regression", "trained for the budget")),
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


NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_from_the_first_cell_to_the_last(
    notebook: Path, tmp_path: Path, published: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert notebook.stat().st_size < 200_000
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] or cell is [c for c in cells if c["cell_type"] == "code"][-1]
            # Fewer rows than in the notebook: the test has less time than its reader.
            exec("".join(cell["source"]).replace("ROWS = 20000", "ROWS = 4000"), names)
    printed = capsys.readouterr().out
    assert str(names["fit"].audit) in printed
    assert names["found"].verdict.sentence in printed
    assert (tmp_path / "page.html").stat().st_size > 10_000

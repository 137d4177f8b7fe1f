"""The page of ``gameproof reproduce`` in a browser: its charts show the numbers of the tables."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from browser import Browser, box, middle
from gameproof.auditing.number_format import cell
from gameproof.cli.main import main

CHART = "document.querySelector('figure.chart')"
TIP = f"{CHART}.querySelector('.tip')"
LINES = f"[...{CHART}.querySelectorAll('path[data-series]')].map(p => p.dataset.series).sort()"
# Where the axes of a chart begin and end, beside its left and its right edge.
LEFT, RIGHT = 52, 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a smoke run leaves: 300 epochs from 3 seeds, of a game and of a strategic problem."""
    found = tmp_path_factory.mktemp("rate")
    page, out = str(found / "page.html"), str(found / "out")
    options = ["--quick", "--jobs", "1", "--quiet", "--report", page, "--out", out]
    assert main(["reproduce", "rate", *options]) == 0
    return found


@pytest.fixture(scope="module")
def gaps(folder: Path) -> pd.DataFrame:
    """By epoch, over the seeds: the first chart's mean and standard deviation."""
    frame = pd.read_csv(folder / "out" / "rate" / "gaps.csv")
    return frame[frame["case"] == "quadratic game"].groupby("epoch")["score"].agg(["mean", "std"])


def written(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def line_of(row: pd.Series) -> str:
    """An epoch as the chart tells it."""
    low, high = row["mean"] - 2 * row["std"], row["mean"] + 2 * row["std"]
    return f"OGDA-RR: {written(row['mean'])} ({written(low)} to {written(high)})"


def broken_paths(browser: Browser) -> list[str]:
    """Those that a logarithm of 0 has spoilt."""
    paths = browser.run(
        "[...document.querySelectorAll('.plot path')].map(p => p.attributes.d.value)"
    )
    return [path for path in paths if re.search("NaN|Infinity", path)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_opens_without_complaint_and_every_figure_is_a_chart(
    browser: Browser, folder: Path, theme: str
) -> None:
    page = folder / "page.html"
    browser.open(page, theme=theme)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    assert page.stat().st_size < 6_000_000
    assert browser.run("document.querySelectorAll('figure.chart .plot svg').length") == 2
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert not broken_paths(browser)


def test_axes_are_logarithmic_and_the_line_goes_through_the_means(
    browser: Browser, folder: Path, gaps: pd.DataFrame
) -> None:
    browser.open(folder / "page.html")
    path = browser.run(f"{CHART}.querySelector('path[data-series=OGDA-RR]').attributes.d.value")
    places = np.array([part.split() for part in re.split("[ML]", path)[1:]], dtype=float)
    assert len(places) == len(gaps)
    for drawn, meant in ((places[:, 0], gaps.index), (places[:, 1], gaps["mean"])):
        logs = np.log10(meant.to_numpy())
        fitted = np.polyval(np.polyfit(logs, drawn, 1), logs)
        # Coordinates have one decimal.
        np.testing.assert_allclose(drawn, fitted, atol=0.1)
    assert np.ptp(places[:, 0]) > 300
    assert np.ptp(places[:, 1]) > 50
    ticks = (
        f"[...{CHART}.querySelectorAll('.plot text[text-anchor=middle]')].map(t => t.textContent)"
    )
    assert browser.run(ticks) == ["1", "10", "100"]


def test_line_to_compare_with_has_no_markers(browser: Browser, folder: Path) -> None:
    browser.open(folder / "page.html")
    markers = f"{CHART}.querySelectorAll('.plot g {{}}').length"
    look = browser.run(f"{CHART}.querySelector('path[data-series=theorem]').className.baseVal[1]")
    assert browser.run(markers.format(f".f{look}")) == 0
    assert browser.run(markers.format("circle.f0")) > 10


def test_pointer_reads_the_numbers_of_the_table(
    browser: Browser, folder: Path, gaps: pd.DataFrame
) -> None:
    browser.open(folder / "page.html")
    at = box(browser, f"{CHART}.querySelector('.plot')")
    epochs = gaps.index.to_numpy()
    for share in (0.0, 0.3, 0.5, 1.0):
        x = at["x"] + LEFT + share * (at["width"] - LEFT - RIGHT)
        browser.mouse("mouseMoved", x, at["y"] + 100)
        nearest = epochs[np.abs(np.log(epochs) - share * np.log(epochs[-1])).argmin()]
        said = browser.run(f"{TIP}.textContent")
        assert said.startswith(f"epochs {nearest}OGDA-RR")
        assert line_of(gaps.loc[nearest]) in said
        theorem = gaps["mean"].iloc[0] * nearest**-0.24
        assert f"theorem: {written(theorem)}" in said
    browser.mouse("mouseMoved", 2, 2)
    assert browser.run(f"{TIP}.hidden")


def test_arrow_keys_read_the_numbers_of_the_table(
    browser: Browser, folder: Path, gaps: pd.DataFrame
) -> None:
    browser.open(folder / "page.html")
    browser.run(f"{CHART}.querySelector('.frame').focus()")
    for epoch in gaps.index[:3]:
        browser.key("ArrowRight", 39)
        said = browser.run(f"{CHART}.querySelector('[aria-live]').textContent")
        assert said.startswith(f"epochs {epoch}; {line_of(gaps.loc[epoch])}; theorem: ")


def test_legend_hides_a_line_and_shows_it_again(browser: Browser, folder: Path) -> None:
    browser.open(folder / "page.html")
    assert browser.run(LINES) == ["OGDA-RR", "theorem"]
    band = f"{CHART}.querySelectorAll('.plot .band').length"
    assert browser.run(band) == 1
    key = f"{CHART}.querySelector('.key')"
    browser.click(*middle(browser, key))
    assert browser.run(LINES) == ["theorem"]
    assert browser.run(band) == 0
    browser.click(*middle(browser, key))
    assert browser.run(LINES) == ["OGDA-RR", "theorem"]
    browser.run(f"{CHART}.querySelectorAll('.key').forEach(key => key.click())")
    assert browser.run(LINES) == []
    browser.mouse("mouseMoved", *middle(browser, f"{CHART}.querySelector('.plot')"))
    assert browser.complaints() == []
    assert not broken_paths(browser)


def test_drag_zooms_on_a_logarithmic_axis_and_reset_shows_all(
    browser: Browser, folder: Path, gaps: pd.DataFrame
) -> None:
    browser.open(folder / "page.html")
    drawing = f"{CHART}.querySelector('.plot').innerHTML"
    before = browser.run(drawing)
    at = box(browser, f"{CHART}.querySelector('.plot')")
    inside, y = at["width"] - LEFT - RIGHT, at["y"] + 100
    ends = [at["x"] + LEFT + share * inside for share in (1 / 3, 2 / 3)]
    browser.drag((ends[0], y), (ends[1], y))
    browser.mouse("mouseMoved", 2, 2)
    browser.run(f"{CHART}.querySelector('.frame').focus()")
    said = set()
    for _ in range(len(gaps)):
        browser.key("ArrowRight", 39)
        said.add(int(browser.run(f"{TIP}.querySelector('b').textContent").split()[1]))
    low, high = (gaps.index[-1] ** share for share in (1 / 3, 2 / 3))
    assert sorted(said) == [epoch for epoch in gaps.index if low <= epoch <= high]
    browser.click(*middle(browser, f"{CHART}.querySelector('.zoom button:last-child')"))
    browser.mouse("mouseMoved", 2, 2)
    assert browser.run(drawing) == before
    browser.run(f"{CHART}.querySelector('.zoom button').click()")
    assert browser.run(drawing) != before
    browser.run(f"{CHART}.querySelector('.zoom button:nth-child(2)').click()")
    assert browser.run(drawing) == before


def test_phone_needs_no_sideways_scrolling(browser: Browser, folder: Path) -> None:
    browser.open(folder / "page.html", width=400)
    for opened in ("false", "true"):
        browser.run(f"document.querySelectorAll('details').forEach(d => d.open = {opened})")
        browser.rest_a_moment()
        assert browser.run("document.documentElement.scrollWidth") == 400
    widths = browser.run("[...document.querySelectorAll('.plot svg')].map(s => s.clientWidth)")
    assert max(widths) <= 400
    assert min(widths) > 300


def test_phone_shows_verdicts_without_scrolling(browser: Browser, folder: Path) -> None:
    browser.open(folder / "page.html", width=360)
    ends = browser.run(
        "[...document.querySelectorAll('.verdict')].map(v => v.getBoundingClientRect().right)"
    )
    assert len(ends) == 2
    assert max(ends) <= 360


def test_on_paper_nothing_is_cut_off(browser: Browser, folder: Path) -> None:
    browser.open(folder / "page.html", width=718, theme="dark", media="print")
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.rest_a_moment()
    assert browser.run("document.documentElement.scrollWidth") <= 718
    assert browser.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_charts_have_a_description_and_a_table_of_numbers(
    browser: Browser, folder: Path, gaps: pd.DataFrame
) -> None:
    browser.open(folder / "page.html")
    said = browser.run(f"{CHART}.querySelector('[role=img]').getAttribute('aria-label')")
    first, last = (written(gaps["mean"].iloc[k]) for k in (0, -1))
    assert said.endswith(f"gap by epochs. From left to right, OGDA-RR from {first} to {last}.")
    table = f"{CHART}.closest('section').querySelector('details table')"
    rows = browser.run(
        f"[...{table}.querySelectorAll('tbody tr')]"
        ".map(r => [...r.children].map(c => c.textContent))"
    )
    assert [int(row[0]) for row in rows] == gaps.index.tolist()
    ends = [
        (r["mean"], r["mean"] - 2 * r["std"], r["mean"] + 2 * r["std"]) for _, r in gaps.iterrows()
    ]
    assert [row[1] for row in rows] == [cell(each, "interval") for each in ends]

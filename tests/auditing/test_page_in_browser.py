"""Pages in a browser. Without Chromium, these tests are skipped with a reason."""

import re
from pathlib import Path

import numpy as np
import pytest

from audited import HOSTILE, NAMES, audits
from browser import Browser, box, middle
from gameproof.auditing.audit_page import audit_sections, audit_tiles
from gameproof.auditing.figures import line_chart
from gameproof.auditing.page import write_page
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Panels, Section, Series

ALONE, BESIDE = audits()
MADE = {"command": "gameproof audit model table.csv"}
# The chart of accuracy by multiples of the budgets, the second of a page.
GAMING = "document.querySelectorAll('figure.chart')[1]"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    hostile = audits(tuple(f"{HOSTILE} {name}" for name in NAMES))[1]
    for name, audit in (("alone", ALONE), ("beside", BESIDE), ("hostile", hostile)):
        title = HOSTILE if name == "hostile" else name
        made = {HOSTILE: HOSTILE} if name == "hostile" else MADE
        write_page(
            folder / f"{name}.html", title, audit_sections(audit), made, tiles=audit_tiles(audit)
        )
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.mark.parametrize("name", ["alone", "beside", "hostile"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_opens_without_errors_and_makes_no_requests(
    browser: Browser, pages: dict[str, Path], name: str, theme: str
) -> None:
    browser.open(pages[name], theme=theme)
    assert browser.complaints() == []
    assert browser.requests() == [pages[name].as_uri()]
    drawn = browser.run(
        "[...document.querySelectorAll('.plot')].every(p => p.querySelector('svg'))"
    )
    assert drawn
    assert browser.run("document.querySelectorAll('figure.chart').length") >= 5


CURVES = {
    "ends on the line": ([0.9, 0.8, 0.7, 0.6, 0.51],),
    "starts on the line": ([0.51, 0.6, 0.7, 0.8, 0.9],),
    "stays above it": ([0.9, 0.85, 0.8, 0.75, 0.7],),
    "crosses it": ([0.9, 0.7, 0.5, 0.3, 0.1],),
    "three at the end": ([0.9, 0.7, 0.52, 0.5, 0.5], [0.8, 0.7, 0.6, 0.6, 0.56], [0.7, 0.5, 0.4]),
}


@pytest.mark.parametrize("width", [1000, 420])
def test_name_of_a_line_across_is_clear_of_curves_and_upright_lines(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """No point of a drawn curve is inside the box of the text."""
    charts = [
        Chart(
            "lines",
            name,
            name,
            [
                Series(f"curve {k}", y, [j / 4 for j in range(len(y))], look=k)
                for k, y in enumerate(curves)
            ],
            across=[(0.5, "majority baseline")],
            upright=[(0.05, "expected")],
        )
        for name, curves in CURVES.items()
    ]
    write_page(tmp_path / "p.html", "names", [Section("all", "", charts)], MADE)
    browser.open(tmp_path / "p.html", width=width)
    found = browser.run(
        """[...document.querySelectorAll('figure.chart')].map((figure) => {
          const texts = [...figure.querySelectorAll('text')];
          const named = texts.find((t) => t.textContent === 'majority baseline');
          const b = named.getBoundingClientRect(), svg = named.ownerSVGElement;
          const lines = [...figure.querySelectorAll('path[data-series]')];
          const refers = [...svg.querySelectorAll('path.refer')];
          const upright = refers.filter((p) => p.getBBox().width === 0);
          const inside = [...lines, ...upright].flatMap((path) => {
            const to = path.getScreenCTM(), long = path.getTotalLength();
            return Array.from({ length: 1001 }, (_, k) =>
              path.getPointAtLength((k * long) / 1000).matrixTransform(to));
          }).filter((p) => p.x > b.left && p.x < b.right && p.y > b.top + 2 && p.y < b.bottom - 2);
          const box = svg.getBoundingClientRect();
          const within = b.left >= box.left && b.right <= box.right;
          return [lines.length, upright.length, inside.length, within];
        })"""
    )
    assert found == [[len(curves), 1, 0, True] for curves in CURVES.values()]


@pytest.mark.parametrize("width", [1000, 360])
def test_name_of_an_upright_line_keeps_its_distance_from_the_title_of_the_axis(
    browser: Browser, pages: dict[str, Path], width: int
) -> None:
    browser.open(pages["beside"], width=width)
    title, name, line = browser.run(
        f"""(() => {{
          const texts = [...{GAMING}.querySelectorAll('text')];
          const title = texts.find((t) => t.textContent === 'share of correct decisions');
          const name = texts.find((t) => t.textContent === 'as stated');
          const refers = [...{GAMING}.querySelectorAll('path.refer')];
          const line = refers.find((p) => p.getBBox().width === 0);
          return [title, name, line].map((e) => e.getBBox()).map((b) => [b.y, b.y + b.height]);
        }})()"""
    )
    assert name[0] - title[1] >= 6
    assert line[0] - title[1] >= 3


def test_policy_of_the_page_blocks_requests(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["alone"])
    refused = browser.run("fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert refused
    assert any("Content Security Policy" in str(said) for said in browser.complaints())


def test_names_from_the_table_are_shown_as_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    assert browser.run("document.title") == HOSTILE
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE
    assert browser.run("document.querySelectorAll('.evil, img').length") == 0
    labels = browser.run("[...document.querySelectorAll('.plot text')].map(t => t.textContent)")
    assert f"{HOSTILE} income" in labels
    # Also in the tooltip, which the script fills.
    spot = middle(browser, "document.querySelectorAll('.bar[data-series]')[0]")
    browser.mouse("mouseMoved", *spot)
    assert browser.run("[...document.querySelectorAll('.tip b')].map(b => b.textContent)") == [
        f"{HOSTILE} income"
    ]
    assert browser.run("document.querySelectorAll('.evil, img').length") == 0


def test_pointer_reads_the_numbers_of_the_rows(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"])
    marks = f"{GAMING}.querySelectorAll('path[data-series]')"
    assert browser.run(f"{marks}.length") == 3
    at = box(browser, f"{GAMING}.querySelector('.plot')")
    browser.mouse("mouseMoved", at["x"] + 52, at["y"] + 100)
    shown = browser.run(f"{GAMING}.querySelector('.tip').textContent")
    for model in BESIDE.models:
        first = BESIDE.at(model, 0.0)
        share, low, high = (f"{100 * v:.1f}" for v in (first.accuracy, first.low, first.high))
        assert f"{model}: {share}\u00a0% ({low} to {high}\u00a0%)" in shown
    browser.mouse("mouseMoved", at["x"] + at["width"] - 16, at["y"] + 100)
    shown = browser.run(f"{GAMING}.querySelector('.tip').textContent")
    last = BESIDE.at("robust", 4.0)
    assert "multiple of the budgets (1: income 0 to +60; debt -1.5 to +0.5) 4" in shown
    assert f"robust: {100 * last.accuracy:.1f}\u00a0%" in shown
    browser.mouse("mouseMoved", 2, 2)
    assert browser.run(f"{GAMING}.querySelector('.tip').hidden")


def test_legend_hides_a_line_and_shows_it_again(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"])
    key = f"{GAMING}.querySelector('.key')"
    shown = f"[...{GAMING}.querySelectorAll('path[data-series]')].map(p => p.dataset.series).sort()"
    before = browser.run(shown)
    name = browser.run(f"{key}.textContent")
    assert name in before
    browser.click(*middle(browser, key))
    assert browser.run(shown) == [other for other in before if other != name]
    assert browser.run(f"{key}.getAttribute('aria-pressed')") == "false"
    browser.click(*middle(browser, key))
    assert browser.run(shown) == before
    assert browser.run(f"{key}.getAttribute('aria-pressed')") == "true"


def test_all_lines_can_be_hidden(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"])
    browser.run("document.querySelectorAll('.key').forEach(key => key.click())")
    assert browser.run("document.querySelectorAll('.plot [data-series]').length") == 0
    at = middle(browser, f"{GAMING}.querySelector('.plot')")
    browser.mouse("mouseMoved", *at)
    assert browser.complaints() == []


def test_drag_zooms_and_reset_shows_all_again(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"])
    drawing = f"{GAMING}.querySelector('.plot').innerHTML"
    ticks = (
        f"[...{GAMING}.querySelectorAll('.plot text[text-anchor=middle]')].map(t => +t.textContent)"
    )
    before = browser.run(drawing)
    assert (min(browser.run(ticks)), max(browser.run(ticks))) == (0, 4)
    at = box(browser, f"{GAMING}.querySelector('.plot')")
    y = at["y"] + 100
    browser.drag((at["x"] + 0.3 * at["width"], y), (at["x"] + 0.6 * at["width"], y))
    found = browser.run(ticks)
    assert min(found) >= 0.8
    assert max(found) <= 2.8
    reset = f"{GAMING}.querySelector('.zoom button:last-child')"
    browser.click(*middle(browser, reset))
    browser.mouse("mouseMoved", 2, 2)
    assert browser.run(drawing) == before
    browser.run(f"{GAMING}.querySelector('.zoom button').click()")
    assert max(browser.run(ticks)) <= 3.2
    browser.run(f"{GAMING}.querySelector('.zoom button:nth-child(2)').click()")
    assert browser.run(drawing) == before


def test_keyboard_reaches_everything_and_reads_values(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["beside"])
    browser.key("Tab", 9)
    assert browser.run("document.activeElement.className") == "skip"
    seen = []
    for _ in range(80):
        browser.key("Tab", 9)
        seen.append(
            browser.run(
                "(() => { const e = document.activeElement, s = getComputedStyle(e);"
                "return [e.className || e.id || e.tagName, parseFloat(s.outlineWidth)]; })()"
            )
        )
        if seen[-1][0] == "frame":
            break
    assert {"theme", "A", "key"} <= {name for name, _ in seen}
    assert all(width >= 2 for name, width in seen if name != "BODY")
    browser.key("ArrowRight", 39)
    browser.key("ArrowRight", 39)
    said = browser.run("document.activeElement.querySelector('[aria-live]').textContent")
    # The second mark of the first chart: models from the last to the first.
    assert "strategic: " in said
    browser.key("Escape", 27)
    assert browser.run("document.activeElement.querySelector('.tip').hidden")


def test_arrow_keys_stay_within_what_is_zoomed_to(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"])
    at = box(browser, f"{GAMING}.querySelector('.plot')")
    y = at["y"] + 100
    browser.drag((at["x"] + 0.12 * at["width"], y), (at["x"] + 0.6 * at["width"], y))
    browser.mouse("mouseMoved", 2, 2)
    browser.run(f"{GAMING}.querySelector('.frame').focus()")
    said = []
    for _ in range(30):
        browser.key("ArrowRight", 39)
        said.append(browser.run(f"{GAMING}.querySelector('.tip b').textContent"))
    assert [float(text.rpartition(" ")[2]) for text in dict.fromkeys(said)] == [0.5, 1, 2]


def test_secondary_part_is_closed_and_its_charts_fill_it_once_opened(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["beside"])
    part = "document.querySelector('details.more')"
    assert not browser.run(f"{part}.open")
    assert not browser.run(f"{part}.querySelector('.plot').checkVisibility()")
    browser.click(*middle(browser, f"{part}.querySelector('h2')"))
    browser.rest_a_moment()
    assert browser.run(f"{part}.open")
    assert browser.run(f"{part}.querySelector('.plot').checkVisibility()")
    widths = browser.run(
        f"[...{part}.querySelectorAll('.plot')].map(p => "
        "[p.clientWidth, +p.querySelector('svg').getAttribute('viewBox').split(' ')[2]])"
    )
    assert len(widths) == 2
    assert all(width > 500 and width == drawn for width, drawn in widths)


def test_values_stay_after_a_touch(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["beside"], width=390)
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    tip = f"{GAMING}.querySelector('.tip')"
    x, y = middle(browser, f"{GAMING}.querySelector('.plot')")
    browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.rest_a_moment()
    assert not browser.run(f"{tip}.hidden")
    assert "robust: " in browser.run(f"{tip}.textContent")
    assert browser.run("document.documentElement.scrollWidth") == 390
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_is_enough_to_read(browser: Browser, pages: dict[str, Path], theme: str) -> None:
    # WCAG 2 AA: 4.5 for text, 3 for lines and controls.
    browser.open(pages["beside"], theme=theme)
    style = "getComputedStyle(document.querySelector('{}')).{}"
    ground = browser.run(style.format("body", "backgroundColor"))
    card = browser.run(style.format(".tiles div", "backgroundColor"))
    assert (luminance(ground) < 0.5) == (theme == "dark")
    texts = ("h1", ".finding", ".note", "figcaption", "summary", "nav a", "caption", ".made dt")
    for part in texts:
        assert contrast(browser.run(style.format(part, "color")), ground) >= 4.5, part
    for part in (".tiles dt", ".tiles dd", ".tiles small", "button"):
        assert contrast(browser.run(style.format(part, "color")), card) >= 4.5, part
    assert contrast(browser.run(style.format(".plot text", "fill")), ground) >= 4.5
    for look in range(3):
        assert contrast(browser.run(style.format(f".plot .l{look}", "stroke")), ground) >= 3
        assert contrast(browser.run(style.format(f".plot .f{look}", "fill")), ground) >= 3


def test_theme_follows_the_system_until_the_button_is_pressed(
    browser: Browser, pages: dict[str, Path]
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('.plot .l0')).stroke"
    browser.open(pages["beside"], theme="dark")
    dark = browser.run(ground), browser.run(line)
    browser.show(theme="light")
    light = browser.run(ground), browser.run(line)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    browser.click(*middle(browser, "document.getElementById('theme')"))
    assert (browser.run(ground), browser.run(line)) == dark
    assert browser.run("document.getElementById('theme').textContent") == "Light theme"
    browser.click(*middle(browser, "document.getElementById('theme')"))
    assert (browser.run(ground), browser.run(line)) == light


def test_numbers_below_a_chart_are_whole(browser: Browser, tmp_path: Path) -> None:
    """Wherever the first one is; dots and bars begin close to the edge of the picture."""
    charts = []
    for low in np.linspace(0.984, 0.987, 12):
        series = [Series("s", [low + 0.004], low=[low], high=[0.9926])]
        for kind in ("dots", "bars"):
            charts.append(Chart(kind, "t", "t", series, labels=["all"], percent=True))
    path = tmp_path / "edges.html"
    write_page(path, "Edges", [Section("Q?", "", charts)], MADE)
    browser.open(path)
    assert browser.complaints() == []
    ends = browser.run(
        "[...document.querySelectorAll('.plot text[text-anchor=middle]')].map(t => {"
        "const b = t.getBBox(), whole = t.ownerSVGElement.viewBox.baseVal.width;"
        "return [b.x, whole - b.x - b.width]; })"
    )
    assert len(ends) > 4 * len(charts)
    assert min(min(pair) for pair in ends) >= 0


@pytest.mark.parametrize("width", [390, 1000])
def test_titles_below_a_chart_are_whole(browser: Browser, tmp_path: Path, width: int) -> None:
    series = [Series("s", [0.5, 0.6], [0, 1])]
    said = "multiple of the budgets (1: savings 0 to +5,000; utilisation -0.2 to 0; home owned)"
    titles = [said, "short", f"multiple\n1: {said}"]
    charts = [line_chart("t", title, "share", series) for title in titles]
    path = tmp_path / "titles.html"
    write_page(path, "Titles", [Section("Q?", "", charts)], MADE)
    browser.open(path, width=width)
    found = browser.run(
        "[...document.querySelectorAll('.plot svg')].map(s => [...s.querySelectorAll("
        "'text[text-anchor=end]')].filter(t => /[a-z]/.test(t.textContent)).map(t => {"
        "const b = t.getBBox(), {width, height} = s.viewBox.baseVal;"
        "return [t.textContent, b.x, width - b.x - b.width, height - b.y - b.height]; }))"
    )
    for title, lines in zip(titles, found, strict=True):
        assert " ".join(line[0] for line in lines) == title.replace("\n", " ")
        assert min(edge for line in lines for edge in line[1:]) >= 0


def test_long_text_in_a_table_keeps_a_readable_width_on_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    rows = [["income", "words " * 30, 1.0, 2.0, 3.0]]
    numbers = [PageColumn(f"a number, {k}", "number") for k in range(3)]
    table = PageTable("t", [PageColumn("column"), PageColumn("why"), *numbers], rows)
    path = tmp_path / "table.html"
    write_page(path, "Table", [Section("Q?", "", tables=[table], open=True)], MADE)
    browser.open(path, width=390)
    assert browser.run("document.querySelector('td').clientWidth") >= 200
    assert browser.run("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("name", ["alone", "beside", "hostile"])
def test_phone_needs_no_sideways_scrolling(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name], width=390)
    for opened in ("false", "true"):
        browser.run(f"document.querySelectorAll('details').forEach(d => d.open = {opened})")
        browser.rest_a_moment()
        assert browser.run("document.documentElement.scrollWidth") == 390
        assert browser.run("innerWidth") == 390
    widths = "[...document.querySelectorAll('.plot svg')].map(s => s.clientWidth)"
    assert max(browser.run(widths)) <= 390
    counts = (
        "[...document.querySelectorAll('.plot svg')].filter(s => s.checkVisibility())"
        ".map(s => s.querySelectorAll('text[text-anchor=middle]').length)"
    )
    assert min(browser.run(counts)) >= 2  # numbers on the horizontal axis


def test_charts_are_drawn_anew_where_the_window_changes(
    browser: Browser, pages: dict[str, Path]
) -> None:
    """The charts of the collapsed section once it is opened."""
    browser.open(pages["beside"], width=1000)
    browser.show(width=390)
    browser.rest_a_moment()
    widths = (
        "[...document.querySelectorAll('.plot svg')].filter(s => s.checkVisibility())"
        ".map(s => [s.viewBox.baseVal.width, s.clientWidth])"
    )
    boxes = browser.run(widths)
    assert all(drawn == shown for drawn, shown in boxes)
    browser.run("document.querySelector('details.more').open = true")
    browser.rest_a_moment()
    closed, boxes = len(boxes), browser.run(widths)
    assert len(boxes) == closed + 2
    assert all(drawn == shown for drawn, shown in boxes)


def test_on_paper_tables_are_open_and_colours_are_light(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["beside"], theme="dark")
    open_ones = "document.querySelectorAll('details[open]').length"
    browser.run(
        f"addEventListener('beforeprint', () => {{ window.seen = [{open_ones},"
        "getComputedStyle(document.body).color]; })"
    )
    assert browser.run(open_ones) == 0
    printed = browser.call("Page.printToPDF", preferCSSPageSize=True)
    assert len(printed["data"]) > 20_000
    seen = browser.run("window.seen[0]")
    assert seen == browser.run("document.querySelectorAll('details').length")
    assert browser.run(open_ones) == 0
    browser.open(pages["beside"], theme="dark", media="print")
    assert browser.run("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    for left_out in ("#theme", ".zoom", "nav", "summary"):
        display = f"getComputedStyle(document.querySelector('{left_out}')).display"
        assert browser.run(display) == "none"
    # A4 without margins of 10 mm is 718 px wide: nothing is cut off, tables included.
    browser.show(width=718, theme="dark", media="print")
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.rest_a_moment()
    assert browser.run("document.documentElement.scrollWidth") <= 718
    heights = "[...document.querySelectorAll('.plot svg')].map(s => s.clientHeight)"
    assert max(browser.run(heights)) <= 6.5 * 96  # a chart and its title fit a page
    line = browser.run("getComputedStyle(document.querySelector('.plot .l0')).stroke")
    assert contrast(line, "rgb(255, 255, 255)") >= 4.5


@pytest.mark.parametrize("name", ["alone", "beside"])
def test_page_describes_its_charts_for_screen_readers(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    assert browser.run("document.documentElement.lang") == "en"
    assert browser.run("[...document.querySelectorAll('h1,h2,h3')].map(h => h.tagName)[0]") == "H1"
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.run("document.querySelectorAll('h3').length") == 0
    # Every chart has a description, and its numbers are in the same section.
    bare = (
        "[...document.querySelectorAll('figure.chart')].filter(f =>"
        "!(f.querySelector('[role=img]').getAttribute('aria-label').length > 20)"
        "|| !f.closest('section').querySelector('details table')).length"
    )
    assert browser.run(bare) == 0
    nameless = (
        "[...document.querySelectorAll('button')].filter(b =>"
        "!(b.getAttribute('aria-label') || b.textContent.trim())).length"
    )
    assert browser.run(nameless) == 0
    assert browser.run("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == (
        browser.run("document.querySelectorAll('[id]').length")
    )
    lost = "[...document.querySelectorAll('a')].filter(a => !document.querySelector(a.hash)).length"
    assert browser.run(lost) == 0


def test_panels_begin_at_zero_where_asked_and_stand_below_their_caption(
    browser: Browser, tmp_path: Path
) -> None:
    series = [Series("d = 10", [5000.0, 12_345.0], [500, 1000])]
    even = [line_chart("t", "n", "values", series, from_zero=asked) for asked in (True, False)]
    path = tmp_path / "panels.html"
    write_page(path, "Panels", [Section("Q?", "", panels=[Panels("Two.", even)])], MADE)
    browser.open(path)
    assert browser.complaints() == []
    said = browser.run(
        "[...document.querySelectorAll('figure.chart')].map(f =>"
        "[...f.querySelectorAll('.plot text[text-anchor=end]')].map(t => t.textContent))"
    )
    assert said[0] == ["0", "5,000", "10,000", "n"]
    assert "0" not in said[1]
    tops = browser.run(
        "[...document.querySelector('.panels').children].map(e => e.getBoundingClientRect().top)"
    )
    assert tops[0] < tops[1] == tops[2]  # side by side, where there is room
    browser.show(width=718, media="print")
    browser.rest_a_moment()
    left, right = browser.run(
        "[...document.querySelectorAll('.panels > figure')].map(e => e.getBoundingClientRect().top)"
    )
    assert left == right  # on paper as well, where a chart drawn for half the width would be huge
    browser.show(width=390)
    browser.rest_a_moment()
    assert browser.run("document.documentElement.scrollWidth") == 390

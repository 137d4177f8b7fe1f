"""Figures show the numbers that they were given."""

from statistics import mean, stdev

import numpy as np
import pytest

from gameproof.auditing.figures import draw, draw_files, line_chart, mean_band, panels
from gameproof.auditing.page_model import Chart, Panels, Series

RUNS = [[3.0, 1.0, 0.5], [4.0, 1.5, 0.1], [8.0, 0.2, 0.3]]
BANDED = mean_band("OGDA-RR", [1, 10, 100], RUNS)
GUIDE = Series("theorem", [5.0, 2.5, 1.25], [1, 10, 100], guide=True)
BOTH_LOG = line_chart("falling", "epochs", "gap", [BANDED, GUIDE], log_x=True, log_y=True)


def test_spread_is_the_mean_and_two_standard_deviations() -> None:
    by_place = list(zip(*RUNS, strict=True))
    assert BANDED.y == pytest.approx([mean(values) for values in by_place])
    assert BANDED.low == pytest.approx([mean(v) - 2 * stdev(v) for v in by_place])
    assert BANDED.high == pytest.approx([mean(v) + 2 * stdev(v) for v in by_place])


def test_one_run_has_a_band_of_no_width() -> None:
    alone = mean_band("OGDA-RR", [1, 10, 100], RUNS[:1])
    assert alone.low == alone.y == alone.high == RUNS[0]


def test_panel_draws_lines_bands_and_axes_as_described() -> None:
    with panels(1) as (_, (axes,)):
        draw(axes, BOTH_LOG)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("epochs", "gap")
        assert axes.get_title() == "falling"
        for line, series in zip(axes.get_lines(), (BANDED, GUIDE), strict=True):
            assert line.get_label() == series.name
            np.testing.assert_array_equal(line.get_xydata(), np.array([series.x, series.y]).T)
        (band,) = axes.collections
        corners = band.get_paths()[0].vertices
        assert corners[:, 1].max() == max(BANDED.high)
        # A band that reaches 0 has no logarithm there and is cut off at the lower edge.
        assert min(BANDED.low) < 0 < corners[:, 1].min() < axes.get_ylim()[0]
        assert axes.get_ylim()[0] < min(BANDED.y)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["OGDA-RR", "theorem"]


def test_panel_begins_at_zero_and_marks_a_place_where_asked() -> None:
    alone = line_chart("t", "n", "values", [Series("d = 10", [5.0, 6.0], [1, 2])], from_zero=True)
    with panels(1) as (_, (axes,)):
        draw(axes, alone)
        assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
        assert axes.get_ylim()[0] == 0
        assert axes.get_legend() is None
    marked = Chart("lines", "t", "alt", alone.series, upright=[(1.5, "expected")])
    with panels(1) as (_, (axes,)):
        draw(axes, marked)
        assert axes.get_ylim()[0] > 0
        assert list(axes.get_lines()[-1].get_xdata()) == [1.5, 1.5]


def test_lines_of_one_chart_look_different_on_a_page_and_in_a_file() -> None:
    names = ["OGDA-RR", "OGDA-WR", "SGDA-RR", "SGDA-WR"]
    for called in (names, ["a", "b", "c", "d"], ["robust", "logistic", "strategic"]):
        chart = line_chart("t", "x", "y", [Series(name, [1.0, 2.0], [1, 2]) for name in called])
        assert len({series.look for series in chart.series}) == len(called)
        with panels(1) as (_, (axes,)):
            draw(axes, chart)
            drawn_as = {(line.get_color(), line.get_linestyle()) for line in axes.get_lines()}
        assert len(drawn_as) == len(called)


def test_chart_without_any_line_is_drawn() -> None:
    nothing = line_chart("t", "n", "values", [Series("d = 10", [], [])], from_zero=True)
    assert nothing.alt == "t: values by n. From left to right, nothing."
    assert draw_files(Panels("Nothing was reached.", [nothing]))["png"].startswith(b"\x89PNG")


def test_same_description_gives_the_same_bytes() -> None:
    figure = Panels("Twice.", [BOTH_LOG, BOTH_LOG])
    first, second = draw_files(figure), draw_files(figure)
    assert first == second
    assert set(first) == {"svg", "png"}

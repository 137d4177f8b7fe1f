"""How the columns of a table are encoded, and what is refused."""

import csv
import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gameproof as gp
from gameproof.core.errors import DataError
from gameproof.tables.column_notes import column_notes
from gameproof.tables.column_plan import ColumnPlan
from gameproof.tables.table import Table, as_table, open_table
from gameproof.tables.target import Target

N = 60


def columns() -> dict[str, list]:
    """A sound table, column by column."""
    rng = np.random.default_rng(0)
    return {
        "income": rng.normal(size=N).round(3).tolist(),
        "debt": [None if k % 7 == 0 else k % 5 for k in range(N)],
        "home": ["owned" if k % 3 else "rented" for k in range(N)],
        "paid": ["yes" if k % 2 else "no" for k in range(N)],
    }


def table(folder: Path, **changes: list) -> Table:
    """That table with columns changed or added."""
    made = {**columns(), **changes}
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(made)
    writer.writerows(zip(*made.values(), strict=True))
    path = folder / "t.csv"
    path.write_text(buffer.getvalue())
    return open_table(path)


def plan(made: Table, movable=("income",), **options) -> ColumnPlan:
    return ColumnPlan.of(made, Target.of(made, "paid", "yes"), movable, **options)


def test_numbers_stay_and_text_becomes_numbered_levels(tmp_path: Path) -> None:
    made = table(tmp_path)
    found = plan(made)
    assert found.features.names == ("income", "debt", "home")
    assert found.features.levels == {"home": ("owned", "rented")}
    assert found.features.movable == ("income",)
    X, unknown = found.encoded(made)
    expected = columns()
    np.testing.assert_array_equal(X[:, 0], expected["income"])
    np.testing.assert_array_equal(X[:, 1], np.array(expected["debt"], dtype=float))
    np.testing.assert_array_equal(X[:, 2], [float(home == "rented") for home in expected["home"]])
    assert unknown == {}


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([f"P{k}" for k in range(N)], "different in most rows"),
        ([f"2024-01-{k % 28 + 1:02d}" for k in range(N)], "dates"),
        (["2024-01-31", "31.01.2024", "1 Feb 2024"] * 20, "dates in more than one format"),
        (list(range(1, N + 1)), "numbers the rows"),
        ([3.5] * N, "one value in every row"),
        (["same"] * N, "one value in every row"),
    ],
)
def test_columns_that_tell_nothing_are_left_out_with_a_reason(cells, reason, tmp_path) -> None:
    found = plan(table(tmp_path, extra=cells))
    assert "extra" not in found.features.names
    assert reason in found.left_out["extra"]
    with pytest.raises(DataError, match="movable column 'extra'"):
        plan(table(tmp_path, extra=cells), ("extra",))


@pytest.mark.parametrize("gap", [False, True])
def test_columns_of_true_and_false_are_categories(gap: bool) -> None:
    """As Parquet files and data frames hold them."""
    cells = [None if gap and k % 10 == 0 else k % 3 == 0 for k in range(N)]
    always = pa.array([True] * N)
    made = as_table({**columns(), "flag": pa.array(cells), "always": always})
    found = plan(made)
    assert column_notes(made, found) == []
    assert found.left_out == {"always": "one value in every row"}
    levels = found.features.levels["flag"]
    assert levels == ("false", "true", *(["missing"] if gap else []))
    names = [levels[int(code)] for code in found.encoded(made).X[:, 3]]
    assert names == [{None: "missing", True: "true", False: "false"}[cell] for cell in cells]


@pytest.mark.parametrize(("value", "noted"), [(1e30, True), (-1e12, True), (1e4, False)])
def test_absurdly_large_number_is_noted(value: float, noted: bool) -> None:
    cells = [100.0 + k for k in range(N - 1)]
    made = as_table({**columns(), "savings": [*cells, value]})
    said = f"savings: {value:.15g} is over 100,000 times as large as 99 % of the values"
    assert any(said in note for note in column_notes(made, plan(made))) == noted


def test_lengths_of_time_are_not_dates() -> None:
    lasted = pa.array([timedelta(days=k % 9) for k in range(N)])
    found = plan(as_table({**columns(), "lasted": lasted}))
    why = "neither numbers nor text, but duration[us]; write it as text to use it"
    assert found.left_out == {"lasted": why}


def test_intervals_of_pandas_are_left_out_unless_they_are_text() -> None:
    frame = pd.DataFrame(columns())
    frame["band"] = pd.cut(frame["income"], [-9, 0, 0.5, 9])
    found = plan(as_table(frame))
    assert found.left_out["band"].startswith("neither numbers nor text, but ")
    written = plan(as_table(frame.assign(band=frame["band"].astype(str))))
    assert set(written.features.levels["band"]) == {"(-9.0, 0.0]", "(0.0, 0.5]", "(0.5, 9.0]"}


def test_a_series_is_no_table() -> None:
    with pytest.raises(TypeError, match=r"must be a file name, a data frame .* got Series"):
        as_table(pd.Series([1.0, 2.0]))


def test_cell_in_another_format_is_shown_wherever_it_is() -> None:
    n = 3000
    outcomes = ["yes" if k % 2 else "no" for k in range(n)]
    numbers = [f"{k}.5" for k in range(n)]
    days = [f"2024-{k % 12 + 1:02d}-15" for k in range(n)]
    numbers[2500], days[2000] = "409,25", "15.03.2024"
    made = as_table({"paid": outcomes, "income": numbers, "applied": days}, "loans")
    with pytest.raises(DataError, match=r"such as '0.5' and '409,25' \(row 2501\)"):
        plan(made)
    places = r"such as 2024-01-15 \(row 1\), 15.03.2024 \(row 2001\); write all"
    with pytest.raises(DataError, match=places):
        plan(made, (), drop=["income"], dates=["applied"])
    files = replace(made, files=["jan.csv"] * 2000 + ["mar.csv"] * 1000)
    with pytest.raises(DataError, match=r"'409,25' \(mar.csv, row 2501\)"):
        plan(files)


@pytest.mark.parametrize("sign", [1, -1])
def test_row_numbers_are_left_out_where_some_rows_have_no_target(sign, tmp_path: Path) -> None:
    outcomes = ["" if k % 10 == 3 else each for k, each in enumerate(columns()["paid"])]
    numbers = [sign * k + 1000 for k in range(N)]
    made = table(tmp_path, extra=numbers, paid=outcomes)
    known, _ = Target.of(made, "paid", "yes").labelled(made)
    assert known.n == 54
    assert plan(known).left_out == {"extra": "it numbers the rows"}


def test_distinct_numbers_that_do_not_count_rows_are_kept(tmp_path: Path) -> None:
    found = plan(table(tmp_path, extra=[k * k for k in range(N)]))
    assert "extra" in found.features.names


def test_rare_levels_are_pooled_and_new_ones_join_them(tmp_path: Path) -> None:
    cells = ["a"] * 25 + ["b"] * 29 + ["c"] * 4 + ["d"] * 2
    made = table(tmp_path, extra=cells)
    found = plan(made)
    assert found.features.levels["extra"] == ("b", "a", "other")
    assert found.pooled == {"extra": 2}
    assert found.encoded(made).X[:, 3].tolist() == [1.0] * 25 + [0.0] * 29 + [2.0] * 6
    later = table(tmp_path, extra=["e"] * N)
    X, unknown = found.encoded(later)
    assert set(X[:, 3]) == {2.0}
    assert unknown == {"extra": N}


def test_level_called_other_is_not_counted_as_pooled(tmp_path: Path) -> None:
    cells = ["a"] * 25 + ["b"] * 15 + ["other"] * 15 + ["c"] * 5
    found = plan(table(tmp_path, extra=cells))
    assert found.features.levels["extra"] == ("a", "b", "other")
    assert found.pooled == {"extra": 1}


def test_ten_rows_are_enough_for_a_level_and_nine_are_not(tmp_path: Path) -> None:
    cells = ["a"] * 31 + ["b"] * 10 + ["c"] * 10 + ["d"] * 9
    assert plan(table(tmp_path, extra=[*cells])).features.levels["extra"] == ("a", "b", "c", "d")
    cells = ["a"] * 32 + ["b"] * 10 + ["c"] * 9 + ["d"] * 9
    assert plan(table(tmp_path, extra=cells)).features.levels["extra"] == ("a", "b", "other")


def test_there_are_never_more_than_twenty_levels(tmp_path: Path) -> None:
    many = [f"level {k % 40}" for k in range(1200)]
    made = {name: (cells * 20)[:1200] for name, cells in columns().items()}
    found = plan(table(tmp_path, **made, extra=many))
    assert len(found.features.levels["extra"]) == 20
    assert found.features.levels["extra"][-1] == "other"
    assert found.pooled == {"extra": 21}


def test_unknown_level_is_missing_and_counted_where_nothing_was_pooled(tmp_path: Path) -> None:
    found = plan(table(tmp_path))
    X, unknown = found.encoded(table(tmp_path, home=["castle"] * 2 + ["owned"] * (N - 2)))
    assert np.isnan(X[:2, 2]).all()
    assert (X[2:, 2] == 0).all()
    assert unknown == {"home": 2}


def test_gaps_in_a_category_are_a_level_of_their_own(tmp_path: Path) -> None:
    cells = [None if k % 4 == 0 else "owned" if k % 4 == 1 else "rented" for k in range(N)]
    made = table(tmp_path, home=cells)
    found = plan(made)
    assert found.features.levels["home"] == ("rented", "owned", "missing")
    assert (found.encoded(made).X[::4, 2] == 2).all()


def test_numeric_codes_can_be_declared_categories(tmp_path: Path) -> None:
    made = table(tmp_path, extra=[8001 if k % 2 else 3011 for k in range(N)])
    assert "extra" not in plan(made).features.levels
    assert plan(made, categories=["extra"]).features.levels["extra"] == ("3011", "8001")


def test_dates_can_be_declared_categories(tmp_path: Path) -> None:
    made = table(tmp_path, extra=[f"2024-01-0{k % 2 + 1}" for k in range(N)])
    assert plan(made, categories=["extra"]).features.levels["extra"] == ("2024-01-01", "2024-01-02")


def test_codes_are_known_by_their_value_where_that_is_one_level(tmp_path: Path) -> None:
    codes = ["1", "02", "2", "10"]
    made = table(tmp_path, extra=[codes[k % 4] for k in range(N)])
    found = plan(made, categories=["extra"])
    later = table(tmp_path, extra=[["1.0", "02", "2.0", "1e1", "3"][k % 5] for k in range(N)])
    X, unknown = found.encoded(later)
    levels = found.features.levels["extra"]
    told = [None if np.isnan(code) else levels[int(code)] for code in X[:5, 3]]
    assert told == ["1", "02", "2", "10", None]
    assert unknown == {"extra": N // 5}


def test_codes_that_one_table_writes_in_two_ways_are_one_level(tmp_path: Path) -> None:
    made = table(tmp_path, extra=[["1", "1.0", "2.", "02"][k % 4] for k in range(N)])
    found = plan(made, categories=["extra"])
    assert found.features.levels["extra"] == ("1", "02", "2")
    column = found.features.names.index("extra")
    assert found.encoded(made).X[:4, column].tolist() == [0, 0, 2, 1]


def test_columns_are_found_by_name_in_any_order(tmp_path: Path) -> None:
    made = table(tmp_path)
    found = plan(made)
    turned = Table("turned", dict(reversed(made.columns.items())), made.n)
    np.testing.assert_array_equal(found.encoded(turned).X, found.encoded(made).X)


BAD = [
    ({"income": [*columns()["income"][:-1], "much"]}, {}, "row 60: the column 'income' has 'much'"),
    ({"income": [*columns()["income"][:-1], "inf"]}, {}, "row 60: .*infinite"),
    ({}, {"movable": ("incme",)}, "no movable column 'incme'; did you mean 'income'"),
    ({}, {"movable": ("paid",)}, "target 'paid' cannot also be a movable column"),
    ({}, {"drop": ("nothing",)}, "no column 'nothing'"),
    ({}, {"drop": ("income",)}, "cannot be dropped"),
    ({}, {"movable": (), "drop": ("income", "debt", "home")}, "no column to learn from"),
]


@pytest.mark.parametrize(("changes", "options", "message"), BAD)
def test_apparent_mistakes_are_refused(changes, options, message: str, tmp_path: Path) -> None:
    made = table(tmp_path, **changes)
    with pytest.raises(DataError, match=message):
        plan(made, **options)


def test_later_table_must_have_the_columns_and_numbers_where_they_were(tmp_path: Path) -> None:
    found = plan(table(tmp_path))
    made = table(tmp_path)
    lacking = {("Income" if n == "income" else n): c for n, c in made.columns.items()}
    with pytest.raises(DataError, match=r"lacks 'income'; did you mean 'Income'"):
        found.encoded(Table("later.csv", lacking, made.n))
    with pytest.raises(DataError, match="'income' has 'x' in row 1, but the model takes numbers"):
        found.encoded(table(tmp_path, income=["x"] * N))
    with pytest.raises(DataError, match="row 2: the column 'income' has an infinite value"):
        found.encoded(table(tmp_path, income=["1", "inf", *columns()["income"][2:]]))
    gone = found.encoded(table(tmp_path, income=[None] * N))
    assert np.isnan(gone.X[:, 0]).all()


def test_rows_are_named_as_they_stand_in_the_file(tmp_path: Path) -> None:
    made = table(tmp_path, income=[*columns()["income"][:-1], "much"])
    with pytest.raises(DataError, match=r"row 60: .*'much'"):
        plan(made.take(range(2, N)).take(range(5, N - 2)))


def test_target_is_matched_as_written_as_a_number_or_but_for_capitals(tmp_path: Path) -> None:
    made = table(tmp_path, paid=["1.0" if k % 2 else "0.0" for k in range(N)])
    assert Target.of(made, "paid", "1.0") == Target("paid", "1", ("0",))
    assert Target.of(made, "paid", "1").labels(made)[1][:2].tolist() == [-1.0, 1.0]
    made = table(tmp_path, paid=["Yes" if k % 2 else "No" for k in range(N)])
    assert Target.of(made, "paid", "yes").favourable == "Yes"


@pytest.mark.parametrize(
    ("cells", "favourable", "message"),
    [
        ([None] * N, "yes", "no row of .* has a value in the target"),
        (["yes"] * N, "yes", "is 'yes' in every row"),
        (
            ["a", "b", "c"] * 20,
            "a",
            r"has 3 values \(a, b, c\), expected 2; state what b, c mean: --unf.*--ignore",
        ),
        (["yes", "YES", "no"] * 20, "yes", "'paid' of .* has YES, yes; if they are one outcome"),
        (["yes", "no"] * 30, "maybe", "favourable value 'maybe'; 'paid' is one of no, yes"),
        (["yes", "no"] * 30, None, "say which value of 'paid' is favourable.*: no or yes"),
    ],
)
def test_target_without_two_outcomes_is_refused(cells, favourable, message, tmp_path) -> None:
    with pytest.raises(DataError, match=message):
        Target.of(table(tmp_path, paid=cells), "paid", favourable)


def test_one_value_against_the_rest(tmp_path: Path) -> None:
    made = table(tmp_path, paid=["a", "b", None] * 20)
    made_three = table(tmp_path, paid=["a", "b", "c", None] * 15)
    rows, y = Target.of(made, "paid", "a").labels(made)
    assert rows[:4].tolist() == [0, 1, 3, 4]
    assert y[:4].tolist() == [1.0, -1.0, 1.0, -1.0]
    assert (gp.read_table(made_three.source, "paid", "b", rest=True).y > 0).sum() == 15
    aim = Target.of(made_three, "paid", "b", rest=True)
    assert aim.labels(made_three)[1][:3].tolist() == [-1.0, 1.0, -1.0]
    assert aim.other == "not b"


def test_read_table_gives_a_dataset(tmp_path: Path) -> None:
    made = table(tmp_path, paid=[None] * 3 + ["yes", "no", "yes"] * 19)
    data = gp.read_table(made.source, "paid", "yes", ["income"])
    assert len(data) == N - 3
    assert data.y[:3].tolist() == [1.0, -1.0, 1.0]
    np.testing.assert_array_equal(data.X[:, 0], columns()["income"][3:])
    assert data.column("home")[:2].tolist() == ["rented", "owned"]


FORMATTED = {
    "{0},5": 0.5,
    "1.{0:03d},5": 1000.5,
    "1,{0:03d}.50": 1000.5,
    "1 {0:03d}": 1000.0,
    "€ {0}": 0.0,
    "{0} EUR": 0.0,
    "{0} %": 0.0,
}


@pytest.mark.parametrize("form", FORMATTED)
def test_formatted_numbers_are_numbers_and_may_be_named_as_levels(form, tmp_path) -> None:
    """In a table with semicolons, as spreadsheets export it; each twice, and one missing value."""
    cells = ["", *(form.format(10 + k // 2) for k in range(N - 1))]
    path = tmp_path / "t.csv"
    rows = [f"{'yes' if k % 2 else 'no'};{k * k};{cell}" for k, cell in enumerate(cells)]
    path.write_text("paid;size;rent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    values = gp.read_table(path, "paid", "yes").column("rent")
    assert np.isnan(values[0])
    assert values[1:].tolist() == [10 + k // 2 + FORMATTED[form] for k in range(N - 1)]
    assert gp.read_table(path, "paid", "yes", categories=["rent"]).features.names[0] == "size"


def test_columns_without_values_are_left_out(tmp_path: Path) -> None:
    made = table(tmp_path, debt=[None] * N)
    assert plan(made).left_out["debt"] == "it has no values"


def test_row_labels_of_a_data_frame_are_left_out(tmp_path: Path) -> None:
    people = pd.DataFrame(columns()).sample(frac=1.0, random_state=0)
    people.to_parquet(tmp_path / "t.parquet")
    made = open_table(tmp_path / "t.parquet")
    assert plan(made).left_out["__index_level_0__"] == "the row labels of a data frame"


@pytest.mark.parametrize("form", ["{0}a", "{0}-{0}", "A{0}", "{0}+ years", "{0}:30", "<{0}"])
def test_codes_that_have_digits_are_levels(form, tmp_path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{'yes' if k % 2 else 'no'};{k * k};{form.format(k % 3)}" for k in range(N)]
    path.write_text("paid;size;rent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert "rent" in gp.read_table(path, "paid", "yes").features.levels

"""Which rows come after a stated day, by the standard library's dates."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import gameproof as gp
from gameproof.tables.out_of_time import rows_after
from gameproof.tables.table import as_table

MOMENTS = [datetime(2024, 1, 1, 12) + timedelta(days=k) for k in range(900)]
CELLS = {
    "ISO": [f"{m:%Y-%m-%d}" for m in MOMENTS],
    "ISO without zeros": [f"{m.year}-{m.month}-{m.day}" for m in MOMENTS],
    "ISO with times": [f"{m:%Y-%m-%dT%H:%M}" for m in MOMENTS],
    "local": [f"{m:%d.%m.%Y}" for m in MOMENTS],
    "timestamps": pa.array(MOMENTS),
}


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("after", ["2025-07-01", "2025-7-1", " 2025-07-01 "])
def test_later_rows_are_those_of_later_days(cells: str, after: str) -> None:
    _, later = rows_after(as_table({"applied": CELLS[cells]}), "applied", after)
    expected = [moment.date() > datetime(2025, 7, 1).date() for moment in MOMENTS]
    np.testing.assert_array_equal(later, expected)


@pytest.mark.parametrize("cells", ["ISO with times", "timestamps"])
def test_a_time_can_be_stated_where_the_column_has_times(cells: str) -> None:
    table = as_table({"applied": CELLS[cells]})
    for after, first in (("2025-07-01 11:00", 1), ("2025-07-01T13:00", 2)):
        _, later = rows_after(table, "applied", after)
        assert MOMENTS[int(np.argmax(later))] == datetime(2025, 7, first, 12)
        assert later.sum() == len(MOMENTS) - np.argmax(later)


@pytest.mark.parametrize("after", ["01.07.2025", "2025", "2025-07", "2025-06-31", "July"])
def test_what_is_no_day_is_refused(after: str) -> None:
    for cells in ("ISO", "ISO without zeros", "timestamps"):
        with pytest.raises(gp.DataError, match=rf"'{after}' \(--test-after\); give a date in this"):
            rows_after(as_table({"applied": CELLS[cells]}), "applied", after)


def test_local_days_are_compared_as_days() -> None:
    _, later = rows_after(as_table({"applied": CELLS["local"]}), "applied", "01.07.2025")
    assert MOMENTS[int(np.argmax(later))].date() == datetime(2025, 7, 2).date()


def test_dates_in_two_formats_are_refused() -> None:
    """As text, 31.01.2024 would come after 2025-07-01."""
    cells = [f"{m:%d.%m.%Y}" if k % 2 else f"{m:%Y-%m-%d}" for k, m in enumerate(MOMENTS)]
    with pytest.raises(gp.DataError, match=r"more than one format, .*2024-01-01.*; write all"):
        rows_after(as_table({"applied": cells}), "applied", "2025-07-01")


def test_text_is_compared_in_its_own_order() -> None:
    _, later = rows_after(
        as_table({"quarter": ["2024Q4", "2025Q1", "2025Q2"]}), "quarter", "2025Q1"
    )
    assert later.tolist() == [False, False, True]

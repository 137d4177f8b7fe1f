"""Who is matched with whom, and which columns are compared."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gameproof as gp
from gameproof.tables.budget_learning.matching import two_tables
from gameproof.tables.table import as_table

N = 30


def frame(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"P{k}" for k in range(n)],
            "savings": rng.lognormal(7, 1, n).round(2),
            "home": rng.choice(["owned", "rented"], n),
        }
    )


def compare(before, after, key="id", **options):
    return two_tables(
        as_table(before, "the table before"), as_table(after, "the table after"), (key,), **options
    )


def test_matching_is_that_of_a_dictionary() -> None:
    """Keys that occur twice or are missing match nobody."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        tables = []
        for _ in range(2):
            keys = rng.integers(0, 40, 25).astype(object)
            keys[rng.random(25) < 0.1] = None
            tables.append(pd.DataFrame({"id": keys, "x": rng.random(25)}))
        single = []
        for table in tables:
            counts = Counter(table["id"])
            single.append({k: x for k, x in table.to_numpy() if k is not None and counts[k] == 1})
        twice = [{k for k, c in Counter(t["id"]).items() if c > 1} for t in tables]
        both = [k for k in single[0] if k in single[1] and k not in twice[0] | twice[1]]
        found = compare(*tables)
        pairs = zip(
            found.before.columns["x"].cells.to_pylist(),
            found.after.columns["x"].cells.to_pylist(),
            strict=True,
        )
        assert sorted(pairs) == sorted((single[0][k], single[1][k]) for k in both)


def test_what_is_not_matched_is_counted() -> None:
    before, after = frame(), frame()
    before.loc[3:4, "id"] = "P0"  # three rows of one key
    after.loc[9, "id"] = None
    after = pd.concat([after, frame(40)[35:]])
    notes = compare(before, after).notes
    told = "the table before: left out 3 rows whose key occurs more than once, such as 'P0'"
    assert told in notes
    assert "the table after: left out 1 row without a key" in notes
    assert "1 person is only in the table before, not compared" in notes
    # P3 and P4, whose rows before have another key, and five new ones.
    assert "7 people are only in the table after, not compared" in notes


def test_order_of_rows_and_columns_and_the_way_of_writing_do_not_matter(tmp_path) -> None:
    before = frame()
    after = before.assign(savings=before["savings"] + np.where(np.arange(N) % 2, 500.0, 0.0))
    expected = gp.learn_budgets(before, after, "id").record()
    later = after.sample(frac=1, random_state=0)[["home", "savings", "id"]]
    assert gp.learn_budgets(before, later, "id").record() == expected
    assert (
        gp.learn_budgets(pl.from_pandas(before), pl.from_pandas(later), "id").record() == expected
    )
    written = later.assign(savings=later["savings"].map("{:.4f}".format))
    written.to_csv(tmp_path / "after.csv", index=False, sep=";")
    before.to_parquet(tmp_path / "before.parquet")
    found = gp.learn_budgets(tmp_path / "before.parquet", str(tmp_path / "after.csv"), "id")
    assert found.record() == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.arange(N), np.arange(N) * 1.0),
        (np.arange(N) + 10**18, np.arange(N) + 10**18),  # more digits than a float has
        ([f" {k}" for k in range(N)], np.arange(N)),
    ],
)
def test_keys_are_matched_however_they_are_stored(before, after) -> None:
    found = compare(frame().assign(id=before), frame().assign(id=after))
    assert found.before.n == N
    assert found.before.columns["savings"].cells == found.after.columns["savings"].cells


def test_several_columns_make_a_key() -> None:
    table = frame().assign(branch=np.arange(N) % 2, number=np.arange(N) // 2)
    found = gp.learn_budgets(table, table.assign(savings=0.0), ["branch", "number"], drop="id")
    assert found.n_before == N
    # 1 and 11 are not 11 and 1.
    one = pd.DataFrame({"a": ["1", "11"], "b": ["11", "1"], "x": [1.0, 2.0]})
    assert compare_many(one, one).before.columns["x"].cells.to_pylist() == [1.0, 2.0]


def compare_many(before, after):
    return two_tables(
        as_table(before, "the table before"), as_table(after, "the table after"), ("a", "b")
    )


BAD = {
    "unknown key": (frame(), frame(), "idd", "table before has no key column 'idd'; did you mean"),
    "no key after": (frame(), frame().drop(columns="id"), "id", "table after has no key column"),
    "no common key": (frame(), frame().assign(id=range(N)), "id", "'P0' and the table after has"),
    "every key twice": (frame().assign(id="x"), frame().assign(id="x"), "id", "more than once"),
    "key without values": (frame().assign(id=None), frame(), "id", "'id' of .* holds no values"),
    "no common column": (
        frame()[["id", "home"]],
        frame()[["id", "savings"]],
        "id",
        "no column in common that can be compared; only in the table before: home",
    ),
    "no rows": (frame(0), frame(), "id", "the table before has no rows"),
    "mixed types": (frame(), frame().assign(home=[1, "a"] * 15), "id", "values of one type"),
    "no file": ("nowhere.csv", frame(), "id", "there is no file nowhere.csv"),
}


@pytest.mark.parametrize("case", BAD)
def test_tables_that_cannot_be_compared_are_refused(case: str) -> None:
    before, after, key, message = BAD[case]
    with pytest.raises(gp.DataError, match=message):
        gp.learn_budgets(before, after, key)


def test_other_kinds_of_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"a file name, a data frame or a mapping .* got int"):
        gp.learn_budgets(3, frame(), "id")
    with pytest.raises(ValueError, match="quantile must lie between 0 and 1, got 1"):
        gp.learn_budgets(frame(), frame(), "id", quantile=1)
    with pytest.raises(gp.DataError, match="no column 'saving'; did you mean 'savings'"):
        gp.learn_budgets(frame(), frame(), "id", drop=["saving"])
    with pytest.raises(gp.DataError, match="'saving' was not compared; did you mean"):
        gp.learn_budgets(frame(), frame(), "id").row("saving")


LEFT_OUT = {
    "two ways to read": (
        frame().assign(savings=[f"{k + 1},{k + 100}" for k in range(N)]),
        frame().assign(savings=[f"{k + 1},{k + 100}" for k in range(N)]),
        "left out savings: it can be read in two ways in the table before: '1,100' is 1100 or 1.1",
    ),
    "words among numbers": (
        frame(),
        frame().assign(savings=["lots", *map(str, range(N - 1))]),
        "numbers in the table before, text in the table after ('lots' in row 1 of",
    ),
    "only gaps": (frame(), frame().assign(savings=None), "no values in the table after"),
    "infinite": (frame(), frame().assign(savings=np.inf), "an infinite value in the table after"),
    "dates": (frame().assign(day="2025-01-02"), frame().assign(day="2025-01-03"), "out day: dates"),
    "names": (
        frame().assign(name=frame()["id"]),
        frame().assign(name=frame()["id"]),
        "left out name: text that is different in most rows",
    ),
    "only before": (frame().assign(x=1), frame(), "only in the table before: x; not compared"),
    "only after": (frame(), frame().assign(x=1), "only in the table after: x; not compared"),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_columns_that_cannot_be_compared_are_named(case: str) -> None:
    before, after, note = LEFT_OUT[case]
    notes = gp.learn_budgets(before, after, "id").notes
    assert any(note in each for each in notes), notes


def test_codes_that_are_named_as_categories_are_levels() -> None:
    before = frame().assign(code=1)
    after = before.assign(code=[2.0] * 10 + [1.0] * 20)
    found = gp.learn_budgets(before, after, "id", categories=["code"])
    assert found.budgets == {"code": ("2",)}
    assert gp.learn_budgets(before, after, "id").budgets == {"code": (0.0, 1.0)}

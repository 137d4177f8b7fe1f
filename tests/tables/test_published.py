"""From text to the canonical table: equivalent files give the same, wrong files are refused."""

import random

import numpy as np
import pytest

from gameproof.core.errors import DataError
from gameproof.tables.catalog import Published
from gameproof.tables.published import canonical, read_csv, verified
from tables import BANK_TEXT, CREDIT_TEXT, SMALL, SMALL_BANK, SMALL_CREDIT


def table(text: str | bytes, about: Published) -> np.ndarray:
    data = text.encode() if isinstance(text, str) else text
    return verified(canonical(read_csv(data, about, "given.csv"), about, "given.csv"), about, "it")


def test_small_credit_table_is_the_one_written_out_by_hand() -> None:
    nan = np.nan
    expected = [
        [0.123456789, 50, 3, 0.25, 1000, 4, 0, 1, 0, 2, -1],
        [0.5, 40, 0, 0.125, 900, 3, 0, 0, 0, 0, -1],
        [0.5, 40, 0, 0.125, nan, 3, 0, 0, 0, 1, 1],
        [2, 61, 98, 7.25e-5, 2500, 8, 98, 1, 98, nan, 1],
    ]
    np.testing.assert_array_equal(table(CREDIT_TEXT, SMALL_CREDIT), expected)


def test_small_bank_table_is_the_one_written_out_by_hand() -> None:
    expected = [
        [31, 0, 2, 2, 0, -20, 1, 0, 0, 7, 9, 80, 2, -1, 0, 3, -1],
        [45, 7, 0, 0, 1, 0, 1, 1, 2, 5, 4, 10, 4, -1, 0, 3, -1],
        [70, 5, 1, 3, 0, 3000, 0, 0, 1, 28, 1, 400, 1, 90, 3, 2, 1],
    ]
    np.testing.assert_array_equal(table(BANK_TEXT, SMALL_BANK), expected)


def columns_in_another_order(text: str, separator: str) -> str:
    rows = [line.split(separator) for line in text.splitlines()]
    order = list(range(len(rows[0])))
    random.Random(0).shuffle(order)
    return "\n".join(separator.join(row[k] for k in order) for row in rows)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("credit", lambda text: text.replace("\n", "\r\n")),
        ("credit", lambda text: text.removesuffix("\n")),
        ("credit", lambda text: text.replace("\n", "\n\n")),
        ("credit", lambda text: "\ufeff" + text),
        ("credit", lambda text: "id" + text),
        ("credit", lambda text: text.replace("NA", "")),
        ("credit", lambda text: text.replace("NA", "nan")),
        ("credit", lambda text: text.replace(",0.25,", ",0.250000,")),
        ("credit", lambda text: text.replace("7.25E-05", "0.0000725")),
        ("credit", lambda text: text.replace(",50,", ",50.0,")),
        ("credit", lambda text: text.replace(",0,1\n", ",-0.0,1\n")),
        ("credit", lambda text: columns_in_another_order(text, ",")),
        ("bank", lambda text: text.replace('"', "")),
        ("bank", lambda text: columns_in_another_order(text, ";")),
    ],
)
def test_differences_that_do_not_matter_give_the_same_table(name: str, change) -> None:
    about, text = SMALL[name]
    assert change(text) != text
    assert table(change(text), about).tobytes() == table(text, about).tobytes()


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seed", range(5))
def test_order_of_rows_does_not_matter(name: str, seed: int) -> None:
    about, text = SMALL[name]
    header, *rows = text.splitlines()
    random.Random(seed).shuffle(rows)
    shuffled = "\n".join([header, *rows])
    assert table(shuffled, about).tobytes() == table(text, about).tobytes()


def without_column(text: str, separator: str, k: int) -> str:
    rows = [line.split(separator) for line in text.splitlines()]
    return "\n".join(separator.join(row[:k] + row[k + 1 :]) for row in rows)


def with_column(text: str, separator: str, name: str) -> str:
    header, *rows = text.splitlines()
    return "\n".join([header + separator + name, *(row + separator + "1" for row in rows)])


WRONG = {
    "empty": ("credit", lambda t: "", "is empty"),
    "blank": ("credit", lambda t: " \n\n", "is empty"),
    "a web page": ("credit", lambda t: "<!DOCTYPE html><html>Log in</html>", "is a web page"),
    "a web page after blanks": ("bank", lambda t: "\n  <HTML></HTML>", "is a web page"),
    "a web page with a mark": ("bank", lambda t: "\ufeff<html></html>", "is a web page"),
    "not text": ("credit", lambda t: b"\xff\xfe" + t.encode("utf-16-le"), "is not text"),
    "semicolons": ("credit", lambda t: t.replace(",", ";"), "separates columns with ';'"),
    "tabs": ("credit", lambda t: t.replace(",", "\t"), r"separates columns with '\\t'"),
    "commas": ("bank", lambda t: t.replace(";", ","), "separates columns with ','"),
    "a column too few": ("credit", lambda t: without_column(t, ",", 3), "it lacks 'age';"),
    "no target": ("bank", lambda t: without_column(t, ";", 16), "it lacks 'y';"),
    "a column too many": (
        "credit",
        lambda t: with_column(t, ",", "Income"),
        "it has the unknown 'Income';",
    ),
    "a column renamed": (
        "credit",
        lambda t: t.replace("DebtRatio", "Debt"),
        "it lacks 'DebtRatio' and has the unknown 'Debt';",
    ),
    "a column twice": ("credit", lambda t: with_column(t, ",", "age"), "it repeats 'age';"),
    "another table": ("credit", lambda t: BANK_TEXT, "the columns of given.csv do not match"),
    "no header": (
        "credit",
        lambda t: t.split("\n", 1)[1],
        "it lacks .* and 8 more and has the unknown",
    ),
    "a short line": (
        "credit",
        lambda t: t.replace(",3,0,0,0,1\n", ",3,0,0\n"),
        "line 3: 10 cells, but the header has 12 columns",
    ),
    "a long line": (
        "bank",
        lambda t: t.replace("-20;", "-20;1;"),
        "line 2: 18 cells, but the header has 17 columns",
    ),
    "an open quote": ("bank", lambda t: t.replace('single"', "single"), "cells, but the header"),
    "a word for a number": (
        "credit",
        lambda t: t.replace("2500", "plenty"),
        "row 3, column 'MonthlyIncome': expected a number, got 'plenty'",
    ),
    "the first of two words": (
        "credit",
        lambda t: t.replace("900", "some").replace("2500", "more"),
        "row 3, column 'MonthlyIncome': expected a number, got 'more'",
    ),
    "an infinite number": (
        "credit",
        lambda t: t.replace("2500", "-inf"),
        "expected a number, got '-inf'",
    ),
    "an unknown level": (
        "bank",
        lambda t: t.replace("retired", "pirate"),
        "row 2, column 'job': expected one of admin., .*, got 'pirate'",
    ),
    "a missing level": ("bank", lambda t: t.replace('"single"', '""'), "'marital': .*, got ''"),
    "an unknown label": (
        "credit",
        lambda t: t.replace("3,0,2,61", "3,2,2,61"),
        "'SeriousDlqin2yrs': expected one of 1, 0, got '2'",
    ),
    "a row too few": (
        "credit",
        lambda t: "\n".join(t.splitlines()[:-1]),
        "has 3 rows, but credit has 4",
    ),
    "a row twice": ("bank", lambda t: t + t.splitlines()[1], "has 4 rows, but bank has 3"),
    "a header alone": ("credit", lambda t: t.splitlines()[0], "has 0 rows, but credit has 4"),
    "a value altered": (
        "credit",
        lambda t: t.replace("0.123456789", "0.123456780"),
        "checksum does not match",
    ),
    "a label altered": ("bank", lambda t: t.replace('"yes"\n', '"no"\n'), "checksum does not"),
    "a call altered": ("bank", lambda t: t.replace(";400;", ";401;"), "checksum does not match"),
    "a value lost": ("credit", lambda t: t.replace("900", "NA"), "checksum does not match"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_table_is_refused_in_one_sentence(case: str) -> None:
    name, change, expected = WRONG[case]
    about, text = SMALL[name]
    assert change(text) != text
    with pytest.raises(DataError, match=expected) as caught:
        table(change(text), about)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert sentence.endswith("as it was published")

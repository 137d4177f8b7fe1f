"""Tables as spreadsheets and people write them, from the command line to a model and a page.

Every variant holds the same people as the clean table. It gives the same model to rounding, or one
message that asks for what cannot be known.
"""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import MEANING
from gameproof.cli.main import main
from gameproof.core.errors import DataError
from gameproof.tables.made_up_people import made_up_people
from gameproof.tables.out_of_time import rows_after
from gameproof.tables.table import open_table

Columns = dict[str, list[Any]]
N = 300


def people() -> Columns:
    """Made-up people with whole incomes and savings, so that no variant rounds."""
    columns = {name: list(values) for name, values in made_up_people(N, seed=0).items()}
    columns["savings"] = [None if np.isnan(x) else round(x) for x in columns["savings"]]
    columns["income"] = [None if np.isnan(x) else round(x) for x in columns["income"]]
    columns["applied"] = [f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.2023" for k in range(N)]
    return columns


def text(columns: Columns, separator: str = ",") -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\r\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if x is None or x != x else x for x in row])
    return buffer.getvalue()


def spelled(columns: Columns, names: list[str], form: Callable[[float], str]) -> Columns:
    gone = {None}
    return {
        name: [x if x in gone or x != x else form(x) for x in cells] if name in names else cells
        for name, cells in columns.items()
    }


def german(x: float, unit: str = "") -> str:
    return f"{x:,}".replace(",", "_").replace(".", ",").replace("_", ".") + unit


NUMBERS = ["income", "savings", "utilisation"]
AMOUNTS = ["income", "savings"]


def variants() -> dict[str, tuple[bytes, list[str]]]:
    """The ten variants: the bytes of the file, and options."""
    clean = people()
    local = text(spelled(clean, NUMBERS, german), ";")
    euros = text(spelled(clean, AMOUNTS, lambda x: german(x, " €")), ";")
    dollars = text(spelled(clean, AMOUNTS, lambda x: f"${x:,}"))
    swiss = text(spelled(clean, AMOUNTS, lambda x: f"{x:,}".replace(",", "\u2019")), "\t")
    titled = "Kreditanträge 2023;;;\r\n;;;\r\n" + local
    trailing = "".join(f"{line};\r\n" for line in local.splitlines())
    cases = {name: [*cells, *cells[:30]] for name, cells in clean.items()}
    cases["repaid"] = [*clean["repaid"], *["open"] * 30]
    return {
        "decimal commas": (local.encode(), []),
        "Latin-1 with titles": (titled.encode("cp1252"), []),
        "UTF-16": (local.encode("utf-16"), []),
        "sep line and mark": (("\ufeffsep=;\r\n" + local).encode(), []),
        "trailing separators": (trailing.encode(), []),
        "euros": (euros.encode(), []),
        "dollars": (dollars.encode(), []),
        "Swiss apostrophes": (swiss.encode(), []),
        "empty columns": (text({**clean, "note": [None] * N, "more": [""] * N}).encode(), []),
        "pending cases": (text(cases).encode(), ["--ignore", "open"]),
    }


def fitted(path: Path, out: Path, *options: str) -> dict[str, Any]:
    page = out.with_suffix(".html")
    command = ["fit", str(path), *MEANING, "-o", str(out), "--report", str(page), "--quiet"]
    assert main([*command, "--drop", "id", "--radius", "0.03", *options]) == 0
    assert "</html>" in page.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(out.read_text())
    return found["classifier"]["fitted"]


@pytest.fixture(scope="module")
def clean_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("clean")
    (folder / "clean.csv").write_text(text(people()), encoding="utf-8")
    return folder, fitted(folder / "clean.csv", folder / "model.json")


@pytest.mark.parametrize("name", variants())
def test_messy_table_gives_the_model_of_the_clean_table(
    name: str, clean_model: tuple[Path, dict[str, Any]], tmp_path: Path, capsys
) -> None:
    folder, clean = clean_model
    content, options = variants()[name]
    path = tmp_path / "messy.csv"
    path.write_bytes(content)
    found = fitted(path, tmp_path / "model.json", *options)
    for part in ("coef", "intercept"):
        np.testing.assert_allclose(found[part], clean[part], rtol=1e-9, atol=1e-12)
    capsys.readouterr()
    decisions = []
    for model in (folder / "model.json", tmp_path / "model.json"):
        assert main(["predict", str(model), str(path), "--json", "--quiet"]) == 0
        decisions.append(json.loads(capsys.readouterr().out)["rows"])
    assert decisions[0] == decisions[1]


def refused(capsys, path: Path, *options: str) -> str:
    out = path.with_name("refused.json")
    assert main(["fit", str(path), *MEANING, "-o", str(out), "--quiet", *options]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert not out.exists()
    return said


def test_table_in_doubt_asks_for_the_decimal_sign(tmp_path: Path, capsys) -> None:
    columns = spelled(people(), AMOUNTS, german)
    columns = {name: columns[name] for name in (*AMOUNTS, "age", "repaid")}
    path = tmp_path / "t.csv"
    path.write_text(text({**columns, "utilisation": columns["age"]}, ";"), encoding="utf-8")
    assert "can be read in two ways" in (said := refused(capsys, path))
    assert "--decimal" in said
    options = ["--decimal", ",", "--radius", "0.03"]
    assert main(["fit", str(path), *MEANING, "-o", str(tmp_path / "m"), "--quiet", *options]) == 0


def test_budget_with_a_thousands_separator_is_not_read_as_a_fraction(
    tmp_path: Path, capsys
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text(spelled(people(), NUMBERS, german), ";"), encoding="utf-8")
    for high, code in (("5.000", 2), ("5000", 0), ("0.125", 0)):
        movable = ["--movable", f"savings:0..{high}", "--radius", "0.03", "--quiet", "--force"]
        given = [str(path), "--target", "repaid", "--favourable", "yes", *movable]
        assert main(["fit", *given, "-o", str(tmp_path / "m")]) == code
        assert ("write 5000 or 5 instead of 5.000" in capsys.readouterr().err) == (code == 2)


def test_dates_are_days_if_named_and_their_order_is_asked_for(tmp_path: Path, capsys) -> None:
    columns = people()
    path = tmp_path / "t.csv"
    path.write_text(text(columns), encoding="utf-8")
    out = tmp_path / "m.json"
    named = ["--date", "applied", "--radius", "0.03", "--json", "--quiet"]
    assert main(["fit", str(path), *MEANING, "-o", str(out), *named]) == 0
    assert json.loads(capsys.readouterr().out)["dates"] == {"applied": "%d.%m.%Y"}
    assert main(["predict", str(out), str(path), "--quiet", "-o", str(tmp_path / "d.csv")]) == 0
    columns["applied"] = [f"{k % 12 + 1:02d}/{k % 7 + 1:02d}/2023" for k in range(N)]
    path.write_text(text(columns), encoding="utf-8")
    assert "begin with the day or with the month" in refused(capsys, path, "--date", "applied")


def test_dates_in_two_formats_are_named(tmp_path: Path, capsys) -> None:
    columns = people()
    columns["applied"][0] = "2023-01-01"
    path = tmp_path / "t.csv"
    path.write_text(text(columns), encoding="utf-8")
    said = refused(capsys, path, "--date", "applied")
    assert "more than one format, such as 2023-01-01 (row 1), 02.02.2023 (row 2);" in said


def test_minus_signs_of_accountants_are_read_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n(1.5);2-;-3\n4;5;6\n", encoding="utf-8")
    found = open_table(path)
    assert [column.numbers[0].as_py() for column in found.columns.values()] == [-1.5, -2.0, -3.0]
    assert found.notes == ("(1) and 1- are read as -1: a, b",)


def test_pending_cases_are_never_called_bad_without_being_asked(tmp_path: Path, capsys) -> None:
    columns = people()
    columns["repaid"] = ["open" if k % 10 == 9 else x for k, x in enumerate(columns["repaid"])]
    path = tmp_path / "t.csv"
    path.write_text(text(columns), encoding="utf-8")
    said = refused(capsys, path)
    assert "--ignore" in said
    assert "--rest" not in said


def test_out_of_time_split_follows_the_calendar_and_not_the_alphabet(tmp_path: Path) -> None:
    """As text, 02.01.2024 comes before 31.12.2023."""
    cells = ["31.12.2023", "02.01.2024", "15.06.2022", "01.03.2024"]
    path = tmp_path / "t.csv"
    path.write_text("day;x\n" + "".join(f"{cell};1\n" for cell in cells), encoding="utf-8")
    for after in ("31.12.2023", "2023-12-31"):
        assert rows_after(open_table(path), "day", after)[1].tolist() == [False, True, False, True]
    with pytest.raises(DataError, match=r"format %d\.%m\.%Y, .* after 'soon'"):
        rows_after(open_table(path), "day", "soon")
    with pytest.raises(DataError, match="it goes from 2022-06-15 to 2024-03-01"):
        rows_after(open_table(path), "day", "01.01.2030")


def test_row_of_totals_does_not_turn_its_column_into_text(clean_model, tmp_path: Path) -> None:
    """It has no outcome, so that it is left out before the columns are read."""
    path = tmp_path / "people.csv"
    totals = ",".join("Total" if name == "income" else "" for name in people())
    path.write_text(f"{text(people())}{totals}\n", encoding="utf-8")
    assert fitted(path, tmp_path / "m.json") == clean_model[1]

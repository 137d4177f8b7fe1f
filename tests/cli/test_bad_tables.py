"""Tables and models that cannot be used: one line each, exit code 1, nothing written or changed."""

import gzip
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gameproof.cli.main import main
from gameproof.core.atomic_files import write_whole
from gameproof.tables.made_up_people import made_up_people

N = 60
MEANING = {"--target": "repaid", "--favourable": "yes", "--movable": "savings,utilisation"}


def frame() -> pd.DataFrame:
    return pd.DataFrame(made_up_people(N, seed=0))


def changed(**columns) -> bytes:
    return frame().assign(**columns).to_csv(index=False).encode()


def sound() -> bytes:
    return changed()


def mostly(cell: str) -> list[str]:
    return [cell if k == 7 else str(100 + k * k) for k in range(N)]


HEADER = ",".join(frame().columns) + "\n"
ROW = sound().decode().splitlines()[1] + "\n"

# The contents of the file, options that differ, and a part of the message.
BAD = {
    "no rows": (HEADER.encode(), {}, "has no rows"),
    "empty file": (b"", {}, "is empty"),
    "one class": (changed(repaid="yes"), {}, "'repaid' of .* is 'yes' in every row"),
    "nearly one class": (changed(repaid=["no"] * 3 + ["yes"] * 57), {}, "too few rows .* 'no': 3"),
    "target not there": (sound(), {"--target": "repayed"}, "no target column 'repayed'; did you"),
    "target never known": (changed(repaid=None), {}, "no row of .* has a value in the target"),
    "target constant": (changed(repaid=1), {"--favourable": "1"}, "is '1' in every row"),
    "three classes": (
        changed(repaid=["a", "b", "c"] * 20),
        {"--favourable": "a"},
        "3 values.*--unfavourable.*--ignore",
    ),
    "favourable not there": (sound(), {"--favourable": "ja"}, "value 'ja'; .* one of no, yes"),
    "favourable not said": (
        sound(),
        {"--favourable": None},
        "--favourable.*: no or yes",
    ),
    "text among numbers": (
        changed(income=mostly("lots")),
        {},
        "row 8: .*'income' has 'lots'.*--category",
    ),
    "text in a movable column": (changed(savings=mostly("lots")), {}, "row 8: .*'lots'"),
    "movable names": (sound(), {"--movable": "id"}, r"movable column 'id' .*\(--movable\)"),
    "movable dates": (sound(), {"--movable": "applied"}, r"'applied'.*dates.*\(--movable\)"),
    "movable constant": (changed(savings=3), {}, "movable column 'savings'.*one value"),
    "movable target": (
        sound(),
        {"--movable": "repaid"},
        "cannot also be a movable column",
    ),
    "unknown movable": (sound(), {"--movable": "saving"}, "'saving'; did you mean 'savings'"),
    "movable without values": (changed(savings=None), {}, "movable column 'savings'.*no values"),
    "two currencies": (
        changed(income=[f"{k} €" if k % 2 else f"{k} $" for k in range(N)]),
        {},
        r"'income' of .* has numbers with different units: \$, €",
    ),
    "percent and shares": (
        changed(income=[f"{k} %" if k % 2 else f"0.{k}" for k in range(N)]),
        {},
        "'income' of .* different units: %, no unit",
    ),
    "two formats": (
        changed(income=[f"{k},5" if k % 2 else f"{k}.5" for k in range(N)]),
        {},
        r"'income' of .* in different formats, such as '0.5' and '1,5' \(row 2\)",
    ),
    "infinite": (changed(income=[np.inf] + [1.0, 2.0, 4.0] * 19 + [3, 3]), {}, "row 1: .*infinite"),
    "same name twice": (sound().replace(b"income", b"age", 1), {}, "more than one column named"),
    "ragged": (HEADER.encode() + ROW.encode() * 9 + b"1,2\n", {}, "line 11: this row has 2 cells"),
    "binary": (bytes(range(256)) * 9, {}, "is a binary file"),
    "unknown encoding": (sound() + b"\x81,", {}, r"is not UTF-8; name the encoding \(--encoding"),
    "cut archive": (gzip.compress(sound())[:-20], {}, "broken archive"),
    "nothing but the target": (
        b"repaid\n" + b"yes\nno\n" * 20,
        {"--movable": ""},
        "no column to learn from besides 'repaid'",
    ),
}


@pytest.fixture(params=["fit", "compare"])
def word(request: pytest.FixtureRequest) -> str:
    return request.param


def attempt(capsys, *arguments: object) -> str:
    """The one line that a failing command leaves on standard error."""
    assert main([str(argument) for argument in arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("gameproof: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    assert "--debug" not in printed.err  # that would be an error nobody expected
    return printed.err


@pytest.mark.parametrize("name", BAD)
def test_bad_table_is_one_clear_line_and_nothing_is_written(
    name: str, word: str, tmp_path: Path, capsys
) -> None:
    content, other, line = BAD[name]
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_bytes(content)
    out.mkdir()
    (out / "model.json").write_text("mine")
    meaning = [x for pair in {**MEANING, **other}.items() if pair[1] is not None for x in pair]
    written = ["--report", out / "page.html", "--force"]
    if word == "fit":
        written += ["-o", out / "model.json"]
    said = attempt(capsys, word, table, *meaning, *written, "--quiet")
    assert re.search(line, said), said
    assert [path.name for path in out.iterdir()] == ["model.json"]
    assert (out / "model.json").read_text() == "mine"
    assert table.read_bytes() == content


def test_empty_folder_and_missing_file_are_one_line(word: str, tmp_path: Path, capsys) -> None:
    meaning = [x for pair in MEANING.items() for x in pair]
    out = ["-o", tmp_path / "m.json"] if word == "fit" else []
    assert "there is no table in the folder" in attempt(capsys, word, tmp_path, *meaning, *out)
    assert "there is no file" in attempt(capsys, word, tmp_path / "no.csv", *meaning, *out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-o", "nowhere/m.json"], "there is no folder nowhere"),
        (["-o", "."], "is a folder"),
    ],
)
def test_invalid_options_are_one_line(options, line, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_bytes(sound())
    meaning = [x for pair in MEANING.items() for x in pair]
    base = ["fit", "table.csv", *meaning, "-o", "m.json", "--radius", "0.1", "--quiet"]
    assert line in attempt(capsys, *base, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    assert Path("table.csv").read_bytes() == sound()


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="no folder here takes no files, as /proc does"
)
def test_folder_that_takes_no_files_is_refused_before_the_work(
    word: str, tmp_path: Path, capsys
) -> None:
    """The table does not exist: if it were read first, the message would say so."""
    meaning = [x for pair in MEANING.items() for x in pair]
    given = ["-o", "/proc/x.html"] if word == "fit" else ["--report", "/proc/x.html"]
    said = attempt(capsys, word, tmp_path / "no.csv", *meaning, *given)
    assert said.startswith("gameproof: /proc/x.html cannot be written: ")
    with pytest.raises(OSError, match="'/proc/x'"):
        write_whole(Path("/proc/x"), b"")


def test_value_that_begins_with_a_dash_is_explained(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fit", "t.csv", "-o", "m", "--target", "-a", "--movable", "b"])
    assert ended.value.code == 2
    assert "follows an equals sign: --target=-x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        *(("--radius", value, "fit compare") for value in ("-1", "much", "inf", "nan")),
        *(("--power", value, "fit audit compare") for value in ("-1", "nan", "inf", "some")),
        *(("--label-cost", value, "fit audit compare") for value in ("-1", "nan")),
        *(("--test", value, "fit compare") for value in ("0", "1", "1.5", "nan")),
        *(("--seed", value, "fit compare") for value in ("-1", "1.5")),
        *(("--report", value, "fit audit compare") for value in ("x.pdf", "x", ".html")),
        *(("--splits", value, "compare") for value in ("0", "few")),
    ],
)
def test_invalid_value_ends_with_2_and_names_the_option(option, value, words, capsys) -> None:
    for word in words.split():
        files = {"fit": ["t.csv", "-o", "m"], "audit": ["m", "t.csv"], "compare": ["t.csv"]}[word]
        with pytest.raises(SystemExit) as ended:
            main([word, *files, "--target", "a", "--movable", "b", option, value])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert said.startswith(f"gameproof: argument {option}: expected a")
        assert repr(value) in said


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-o", "m.html", "--report", "m.html"], "m.html is named for two results"),
        (["-o", "m", "--drop", "savings"], "'savings' is given to both --movable and --drop"),
    ],
)
def test_contradictory_options_end_with_2(
    options, line, people, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    meaning = [x for pair in MEANING.items() for x in pair]
    assert main(["fit", str(people), *meaning, *options]) == 2
    assert line in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def newer(model: Path) -> bytes:
    return json.dumps({**json.loads(model.read_text()), "version": 99}).encode()


def altered(model: Path) -> bytes:
    return model.read_bytes().replace(b'"savings"', b'"zavings"', 1)


BAD_MODELS = {
    "a table": (lambda model: sound(), "is not a gameproof model file"),
    "empty": (lambda model: b"", "is not a gameproof model file"),
    "other JSON": (lambda model: b'{"format": "pmml"}', "from another program"),
    "binary": (lambda model: bytes(range(128, 256)), "is no|pickle"),
    "pickle": (lambda model: pickle.dumps({"a": 1}), "pickle|is not a gameproof model file"),
    "newer": (newer, "was written by a newer gameproof"),
    "altered": (altered, "was altered after it was written"),
    "cut short": (lambda model: model.read_bytes()[:-30], "truncated or damaged"),
}


@pytest.mark.parametrize("word", ["predict", "audit"])
@pytest.mark.parametrize("name", BAD_MODELS)
def test_file_that_is_not_a_model_is_one_line(name, word, model, people, tmp_path, capsys) -> None:
    make, line = BAD_MODELS[name]
    given = tmp_path / "given.json"
    given.write_bytes(make(model))
    said = attempt(capsys, word, given, people)
    assert re.search(line, said), said


@pytest.mark.parametrize("word", ["predict", "audit"])
def test_missing_model_and_folder_are_one_line(word, people, tmp_path, capsys) -> None:
    assert "folder" in attempt(capsys, word, tmp_path, people)
    said = attempt(capsys, word, tmp_path / "nothing.json", people)
    assert said == f"gameproof: {tmp_path / 'nothing.json'}: no such file or directory\n"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda t: t.drop(columns="savings"), "lacks 'savings'"),
        (lambda t: t.rename(columns={"savings": "Savings"}), "did you mean 'Savings'"),
        (lambda t: t.assign(savings="many"), "'savings' has 'many' in row 1"),
        (lambda t: t.head(0), "has no rows"),
    ],
)
@pytest.mark.parametrize("word", ["predict", "audit"])
def test_table_that_does_not_fit_the_model_is_one_line(
    word, change, line, model, people, tmp_path, capsys
) -> None:
    table = tmp_path / "t.csv"
    change(pd.read_csv(people)).to_csv(table, index=False)
    assert line in attempt(capsys, word, model, table)


def test_audit_needs_a_table_with_outcomes_of_both_kinds(model, people, tmp_path, capsys) -> None:
    table = pd.read_csv(people)
    for change, line in (
        (table.drop(columns="repaid"), "no target column 'repaid'"),
        (
            table[table.repaid == "yes"],
            "'no': 0, and at least 5 rows of each",
        ),
        (table.assign(repaid="perhaps"), "has perhaps, expected yes or no"),
    ):
        change.to_csv(tmp_path / "t.csv", index=False)
        assert line in attempt(capsys, "audit", model, tmp_path / "t.csv")

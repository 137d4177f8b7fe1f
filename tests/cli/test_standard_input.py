"""A table from standard input gives what the same table in a file gives."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

import gameproof as gp
from command import MEANING, fit
from gameproof.cli.main import main


class Piped:
    """Standard input that holds these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def pipe(people: Path, monkeypatch):
    """Puts the people, or other bytes, on standard input."""

    def put(data: bytes | None = None) -> None:
        monkeypatch.setattr(sys, "stdin", Piped(people.read_bytes() if data is None else data))

    return put


def shown(capsys, *arguments: object) -> dict:
    assert main([*map(str, arguments), "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_fit_from_standard_input_makes_the_same_model(
    pack, people: Path, model: Path, tmp_path: Path, pipe, capsys
) -> None:
    pipe(pack(people.read_bytes()))
    out, page = tmp_path / "m.json", tmp_path / "p.html"
    assert fit(Path("-"), out, "--radius", "0.03", "--report", str(page)) == 0
    printed = capsys.readouterr().out
    assert "standard input: 400 rows, 11 columns" in printed
    one, two = gp.load_model(out), gp.load_model(model)
    assert (one.classifier.coef_ == two.classifier.coef_).all()
    assert one.training["fingerprint"] == two.training["fingerprint"]
    assert f"<dt>fingerprint of the rows</dt><dd>{one.training['fingerprint']}" in (
        page.read_text()
    )


def test_predict_from_standard_input_to_standard_output(model, people, pipe, capsys) -> None:
    assert main(["predict", str(model), str(people)]) == 0
    expected = capsys.readouterr().out
    for tail in ([], ["-o", "-"]):
        pipe()
        assert main(["predict", str(model), "-", *tail]) == 0
        assert capsys.readouterr().out == expected
    assert expected.startswith("row,decision,score,probability\n1,")
    assert not Path("-").exists()


def test_audit_and_compare_from_standard_input_find_the_same(
    model, people, tmp_path: Path, pipe, capsys
) -> None:
    page, other = tmp_path / "a.html", tmp_path / "b.html"
    expected = shown(capsys, "audit", model, people, "--report", other)
    pipe()
    assert shown(capsys, "audit", model, "-", "--report", page) == expected
    digests = [
        path.read_text().split(f"fingerprint of {name}</dt><dd>")[1][:64]
        for path, name in ((page, "standard input"), (other, people))
    ]
    assert digests[0] == digests[1]
    compare = ["compare", people, *MEANING, "--radius", "0.03"]
    expected = shown(capsys, *compare)
    pipe()
    compare[1] = "-"
    assert {**shown(capsys, *compare), "table": str(people)} == expected


def test_empty_standard_input_is_one_line(pipe, tmp_path: Path, capsys) -> None:
    pipe(b"")
    assert fit(Path("-"), tmp_path / "m.json") == 1
    assert capsys.readouterr().err == "gameproof: standard input is empty\n"


def test_file_that_standard_input_is_read_from_is_not_written_over(
    people: Path, model: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    table = tmp_path / "people.csv"
    table.write_bytes(people.read_bytes())
    with table.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["predict", str(model), "-", "-o", str(table), "--force"]) == 2
    assert "is an input of this command" in capsys.readouterr().err
    assert table.read_bytes() == people.read_bytes()


@pytest.mark.parametrize("word", ["audit", "predict"])
def test_model_from_standard_input_is_refused_in_one_line(word: str, people, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([word, "-", str(people)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "a model cannot be read from standard input" in said
    assert said.count("\n") == 1

"""``gameproof reproduce``: what it prints. The experiments are tested in tests/paper."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gameproof.auditing.figures import line_chart
from gameproof.auditing.page_model import Panels, Series
from gameproof.cli.main import main
from gameproof.paper import reproduce
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.experiments import EXPERIMENTS
from gameproof.paper.paper_claims import mean_above


def tiny(study: ExperimentStudy) -> None:
    """An experiment that computes nothing."""
    study.table("rows", [{"seed": seed, "value": seed / 7} for seed in range(study.seeds)])
    falling = line_chart("one run", "epochs", "gap", [Series("OGDA-RR", [1.0, 0.5], [1, 2])])
    study.draw("figure", Panels("A line that falls.", [falling]))
    study.claims.append(mean_above("Lines fall", "drop", [0.5, 0.4, 0.6]))
    study.note("Nothing was computed.")


@pytest.fixture
def only_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reproduce.RUNS, "rate", tiny)


# The t-test of three numbers with mean 0.5 and standard deviation 0.1: t = 8.66, p = 0.0131.
ROW = "| Lines fall | drop | 0.5 (0.252 to 0.748) | 0 | holds | 0.013 |"


def test_every_experiment_can_be_run() -> None:
    assert list(reproduce.RUNS) == list(EXPERIMENTS)


@pytest.mark.usefixtures("only_tiny")
def test_verdicts_are_shown_and_the_summary_has_the_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "rate", "--out", str(tmp_path), "--seeds", "5"]) == 0
    said = capsys.readouterr()
    assert "holds" in said.out
    assert "Lines fall; drop" in said.out
    assert "rate: The rate of the theorem" in said.err
    for page, figure in (("summary.md", "rate/figure.png"), ("rate/summary.md", "figure.png")):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert f"![rate, figure]({figure})\n\nA line that falls." in text
        assert "Nothing was computed." in text
        assert f"{ROW} 0.013 | yes |" in text
        assert (tmp_path / page).parent.joinpath(figure).exists()
    assert len((tmp_path / "rate" / "rows.csv").read_text().splitlines()) == 6


@pytest.mark.usefixtures("only_tiny")
def test_the_summary_has_all_that_is_finished_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(reproduce.RUNS, "complexity", tiny)
    for name in ("rate", "complexity"):
        assert main(["reproduce", name, "--quiet", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.index("## complexity") < text.index("## rate")
    # Two claims are one family: the smaller p-value counts twice, the other at least as much.
    assert text.count(f"{ROW} 0.026 | yes |") == 2
    assert "0.026 | yes |" in (tmp_path / "rate" / "summary.md").read_text(encoding="utf-8")
    claims = pd.read_csv(tmp_path / "claims.csv")
    assert claims["experiment"].tolist() == ["complexity", "rate"]
    assert claims["p_adjusted"].tolist() == pytest.approx((2 * claims["p"]).tolist())


@pytest.mark.usefixtures("only_tiny")
def test_page_has_claims_and_figures_and_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out"
    arguments = ["reproduce", "rate", "--out", str(out), "--report", str(page)]
    assert main(arguments) == 0
    assert f"page: {page}" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert "Lines fall" in text
    assert "A line that falls." in text
    assert text.count('<figure class="chart"') == 1
    assert "gap by epochs, one run" in text
    assert "data:" not in text
    page.write_text("mine")
    assert main(arguments) == 1
    assert "already exists; --force overwrites it" in capsys.readouterr().err
    assert page.read_text() == "mine"


@pytest.mark.usefixtures("only_tiny")
def test_json_has_the_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "rate", "--json", "--quiet", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    (claim,) = json.loads(said.out)["claims"]
    assert (claim["experiment"], claim["verdict"], claim["n"]) == ("rate", "holds", 3)
    assert claim["survives"] is True
    assert claim["p_adjusted"] == claim["p"] == pytest.approx(0.0131, abs=1e-4)
    assert said.err == ""


@pytest.mark.usefixtures("only_tiny")
def test_a_smoke_run_says_that_it_is_one_and_json_is_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_seed(study: ExperimentStudy) -> None:
        study.claims.append(mean_above("Lines fall", "drop", [0.5]))

    monkeypatch.setitem(reproduce.RUNS, "rate", one_seed)
    assert main(["reproduce", "rate", "rate", "--quick", "--json", "--out", str(tmp_path)]) == 0
    record = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert record["quick"] is True
    (claim,) = record["claims"]
    assert (claim["effect"], claim["low"], claim["high"]) == (0.5, None, None)
    assert "A smoke run" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("only_tiny")
def test_a_smoke_run_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "rate", "--quick", "--quiet"]) == 0
    assert [path.name for path in Path("out").iterdir()] == ["paper-quick"]
    assert main(["reproduce", "rate", "--quiet"]) == 0
    assert Path("out/paper/summary.md").exists()


@pytest.mark.usefixtures("only_tiny")
@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (["--seeds", "5"], ["--quick", "--seeds", "9"], True),
        (["--seeds", "5"], ["--seeds", "4"], True),
        (["--quick", "--seeds", "5"], ["--quick"], True),
        (["--quick", "--seeds", "9"], ["--seeds", "5"], False),
        (["--seeds", "5"], ["--seeds", "5", "--again"], False),
    ],
)
def test_a_larger_run_is_not_replaced_by_a_smaller_one(
    before: list[str], after: list[str], refused: bool, tmp_path: Path, capsys
) -> None:
    arguments = ["reproduce", "rate", "--quiet", "--out", str(tmp_path)]
    assert main([*arguments, *before]) == 0
    found = (tmp_path / "rate" / "rows.csv").read_bytes()
    assert main([*arguments, *after]) == refused
    if refused:
        assert "name another folder (--out), or --force" in capsys.readouterr().err
        assert (tmp_path / "rate" / "rows.csv").read_bytes() == found
        assert main([*arguments, *after, "--force"]) == 0


@pytest.mark.usefixtures("only_tiny")
def test_verdicts_of_a_smoke_run_are_marked_among_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(reproduce.RUNS, "complexity", tiny)
    assert main(["reproduce", "rate", "--quiet", "--out", str(tmp_path)]) == 0
    assert main(["reproduce", "complexity", "--quick", "--quiet", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.index("A smoke run") < text.index("| claim |")
    assert (text.count("| holds |"), text.count("| holds (smoke run) |")) == (1, 1)
    # A smoke run does not belong to the other run's family of claims.
    assert text.count("| 0.013 | 0.013 | yes |") == 2


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path, capsys) -> None:
    (tmp_path / "out").write_text("mine")
    assert main(["reproduce", "rate", "--out", str(tmp_path / "out")]) == 1
    assert (
        capsys.readouterr().err == f"gameproof: {tmp_path / 'out'} is a file, expected a folder\n"
    )


def test_missing_extras_are_reported_before_anything_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    assert main(["reproduce", "rate", "--out", str(tmp_path)]) == 1
    assert "pip install 'gameproof[reproduce]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "value"), [("--seeds", "0"), ("--jobs", "-1")])
def test_what_cannot_be_run_is_refused_in_one_line(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "rate", option, value, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert f"argument {option}: expected an integer, 1 or more" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_unknown_experiment_is_refused_with_a_list_of_experiments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "nothing", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "unknown experiment 'nothing'; choose from synthetic-500" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("only_tiny")
def test_interrupt_says_that_finished_parts_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(study: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(reproduce.RUNS, "rate", stopped)
    assert main(["reproduce", "rate", "--out", str(tmp_path)]) == 130
    assert "the same command resumes from there" in capsys.readouterr().err

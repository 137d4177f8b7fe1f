"""``gameproof fit``: what it prints and writes, and that its numbers are right."""

import html
import json
import re
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import gameproof as gp
from command import MEANING, fit
from gameproof.cli.main import main
from gameproof.tables.read_table import read_table
from gameproof.tables.table import open_table


def test_summary_says_what_was_done_and_how_good_it_is(
    people: Path, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "m.json"
    assert fit(people, out, "--radius", "0.03") == 0
    printed = capsys.readouterr().out
    for part in (
        "400 rows, 11 columns",
        "repaid is 'yes' (favourable) in",
        "categories, with their levels: home (3), job (",
        "missing values, replaced by the median and marked: income",
        "left out id: text that is different in most rows",
        "left out applied: dates",
        "  movable savings: -",
        "(half a standard deviation)",
        "bad applicants use their budgets, times",
        "worst-case accuracy within a radius of 0.03, budgets used: logistic 0.",
        "more: --full prints all tables, --json all numbers; --report PAGE.html draws them",
        "trained on 320 rows, tested on 80",
        "radius 0.03, as given",
        f"model: {out}",
    ):
        assert part in printed
    for metric in ("AUC", "Gini", "KS", "accuracy", "log loss", "Brier score"):
        found = re.findall(
            rf" {metric}((?: +\d\.\d{{3}} \(-?\d\.\d{{3}} to -?\d\.\d{{3}}\)){{2}})\n", printed
        )
        assert len(found) == 3, metric
    assert len(re.findall(r"  bad: yes / no(?: +[\d,]+ / [\d,]+){2}\n", printed)) == 3
    assert len(printed.splitlines()) < 90
    assert fit(people, tmp_path / "n.json", "--radius", "0.03", "--full") == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if re.match("  [a-z]+ +accuracy", line)]
    assert [row[0] for row in rows] == ["logistic", "strategic", "robust"] * 2
    assert all(len(row) == 2 + 5 for row in rows)
    assert "secondary: These numbers depend on the scale of the scores: " in printed


def test_accuracies_stand_above_their_intervals_and_few_rows_get_a_warning(
    people: Path, tmp_path: Path, capsys
) -> None:
    """Against scipy's Wilson intervals; the interval at worst has tests of its own."""
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--full") == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    at = next(k for k, line in enumerate(lines) if re.match("  robust +accuracy", line))
    shares = [float(word) for word in lines[at].split()[2:]]
    ends = [[float(end) for end in word.split("-")] for word in lines[at + 1].split()[2:]]
    assert len(ends) == 5
    for share, (low, high) in zip(shares, ends, strict=True):
        exact = stats.binomtest(round(80 * share), 80).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=0.0006)
    worst = re.search(r"budgets used:.*robust (\S+) \((\S+) to (\S+)\)", " ".join(lines))
    share, low, high = map(float, worst.groups())
    assert low < share < high
    half = stats.binomtest(40, 80).proportion_ci(method="wilson")
    assert (
        "note: there are only 80 test rows: intervals of accuracies are up to "
        f"{100 * (half.high - half.low):.0f} points wide; more rows, or a larger test share "
        "(--test), narrow"
    ) in " ".join(printed.split())
    assert fit(people, tmp_path / "n.json", "--radius", "0.03", "--test", "0.6", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["notes"] == []
    low, high = shown["intervals"]["robust"]["clean"]
    assert low < shown["accuracy"]["robust"]["clean"] < high


def test_last_lines_say_whether_the_file_holds_the_recommended_model(
    people: Path, tmp_path: Path, capsys
) -> None:
    for options in (["--radius", "0.03"], ["--radius", "0.03", "--threshold", "0.001"]):
        out = tmp_path / "m.json"
        assert fit(people, out, *options, "--json", "--force") == 0
        advised = json.loads(capsys.readouterr().out)["audit"]["verdict"]["model"]
        assert (advised is None) == ("--threshold" in options)
        for chosen in ("robust", "strategic", "logistic"):
            assert fit(people, out, *options, "--model", chosen, "--force") == 0
            (line,) = [
                line for line in capsys.readouterr().out.splitlines() if line.startswith("model: ")
            ]
            advice = f"--model {advised} writes the one it does" if advised else "none of them"
            assert line.endswith(advice) == (chosen != advised)


def test_gaming_is_left_out_where_nothing_can_be_changed(
    people: Path, tmp_path: Path, capsys
) -> None:
    out = ["-o", str(tmp_path / "m.json"), "--radius", "0.03"]
    assert main(["fit", str(people), *MEANING[:4], "--movable", "", *out]) == 0
    printed = capsys.readouterr().out
    assert "  movable: nothing\n" in printed
    assert not any(part in printed for part in ("budgets", "gaming power", "moves"))
    (row,) = [line.split() for line in printed.splitlines() if re.match("  robust +accur", line)]
    assert len(row) == 3


def test_summary_says_where_the_model_is_no_better_at_worst(people, tmp_path, capsys) -> None:
    """The recommended model against the plainest other one, by the interval of the paired
    difference at the radius."""
    for radius in ("0.001", "0.1"):
        assert fit(people, tmp_path / "m.json", "--radius", radius, "--force") == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert fit(people, tmp_path / "m.json", "--radius", radius, "--force", "--json") == 0
        audit = json.loads(capsys.readouterr().out)["audit"]
        name = audit["verdict"]["model"]
        pair = ("strategic", "logistic") if name == "logistic" else (name, "logistic")
        (row,) = [
            r
            for r in audit["shift_differences"]
            if (r["model"], r["against"], f"{r['radius']:g}") == (*pair, radius)
        ]
        ends = row["low"], row["high"]
        low, high = (-ends[1], -ends[0]) if name == "logistic" else ends
        against = pair[0] if name == "logistic" else "logistic"
        for how, true in (("not measurably better", low <= 0 <= high), ("worse", high < 0)):
            said = f"the worst-case accuracy of {name} is {how} than that of {against}"
            assert (said in printed) == true


def test_numbers_of_the_summary_follow_from_the_model_in_the_file(
    people: Path, tmp_path: Path, capsys
) -> None:
    """Clean and gamed accuracy again, by hand: the split by its seed, the response by its formula
    b = x + power theta on what can be moved, in standard deviations, and the budgets by trying
    all four ends of both in the table itself."""
    out = tmp_path / "m.json"
    power = 0.3
    assert fit(people, out, "--radius", "0.03", "--power", str(power), "--json", "--seed", "5") == 0
    shown = json.loads(capsys.readouterr().out)
    model = gp.load_model(out)
    data = read_table(people, "repaid", "yes", ["savings", "utilisation"])
    _, test = data.split(320, seed=5)
    Z = model.prepare.transform(test.X)
    theta = model.classifier.coef_[0] * model.classifier.units_.scale
    gain = power * sum(theta[k] ** 2 for k in model.prepare.movable_)
    scores = Z @ model.classifier.coef_[0] + model.classifier.intercept_[0]
    clean = np.mean((scores > 0) == (test.y > 0))
    gamed = np.mean((scores + gain * (test.y < 0) > 0) == (test.y > 0))
    assert shown["accuracy"]["robust"]["clean"] == pytest.approx(clean)
    rows = shown["audit"]["depends_on_scale"]["by_power"]
    (row,) = [r for r in rows if (r["model"], r["power"]) == ("robust", power)]
    assert row["accuracy"] == pytest.approx(gamed)
    half = data.X.std(axis=0) / 2
    names = data.features.names
    best = np.full(len(test.y), -np.inf)
    for signs in product((-1, 0, 1), repeat=2):
        moved = test.X.copy()
        for name, sign in zip(("savings", "utilisation"), signs, strict=True):
            k = names.index(name)
            moved[:, k] += sign * half[k]
        found = model.prepare.transform(moved) @ model.classifier.coef_[0]
        best = np.maximum(best, found + model.classifier.intercept_[0])
    used = np.mean((np.where(test.y < 0, best, scores) > 0) == (test.y > 0))
    assert shown["accuracy"]["robust"]["gamed"] == pytest.approx(used)
    assert shown["rows_trained"] == 320
    assert shown["model"] == str(out)


def test_robust_classifier_is_trained_for_the_stated_budgets(people, tmp_path, capsys) -> None:
    """The same as in Python; what it then decides about people who use them is what is printed."""
    out, given = tmp_path / "m.json", "savings:0..5000,utilisation:-0.2..0"
    meaning = [*MEANING[:4], "--movable", given, "--radius", "0.02", "--json"]
    assert main(["fit", str(people), *meaning, "-o", str(out)]) == 0
    shown = json.loads(capsys.readouterr().out)
    data = read_table(people, "repaid", "yes", ["savings", "utilisation"])
    train, test = data.split(320, seed=0)
    budgets = {"savings": (0, 5000), "utilisation": (-0.2, 0)}
    same = gp.RobustStrategicClassifier(0.02, budgets=budgets, prepare=gp.Prepare(data.features))
    same.fit(train.X, train.y)
    model = gp.load_model(out)
    np.testing.assert_allclose(model.classifier.coef_, same.coef_, atol=1e-9)
    sizes = np.abs(model.classifier.coef_[0])
    assert ((sizes == 0) | (sizes > 1e-9)).all()
    for row in shown["audit"]["gaming"]:
        if row["model"] == "robust":
            used = same.gamed_decisions(test.X, multiple=row["multiple"])
            assert row["accepted_negative"] == (used[test.y < 0] > 0).mean()
            if row["movers"] == "refused":
                assert row["accuracy"] == np.mean(used == test.y)
    assert shown["accuracy"]["robust"]["gamed"] > shown["accuracy"]["logistic"]["gamed"]


def test_numbers_of_real_people_are_finite_and_sensible(
    published: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    """With heavy tails, half a standard deviation of utilisation exceeds nearly all values."""
    monkeypatch.setenv("GAMEPROOF_DATA", str(published))
    table, model = tmp_path / "credit.csv", tmp_path / "m.json"
    assert main(["data", "write", "credit", str(table), "--rows", "6000"]) == 0
    movable = ",".join(gp.load_credit().features.movable)
    meaning = ["--target", "SeriousDlqin2yrs", "--favourable", "0", "--movable", movable]
    out = ["-o", str(model), "--radius", "0.05"]
    assert main(["fit", str(table), *meaning, *out]) == 0
    assert main(["audit", str(model), str(table)]) == 0
    printed = capsys.readouterr().out
    assert not re.search(r"\b(inf|nan|None)\b", printed)
    numbers = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", printed)]
    assert max(numbers) < 1e6
    sizes = np.abs(gp.load_model(model).classifier.coef_[0])
    assert ((sizes == 0) | (sizes > 1e-9)).all()


def test_logistic_beside_it_is_scikit_learn_s(people: Path, tmp_path: Path, capsys) -> None:
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    data = read_table(people, "repaid", "yes", ["savings", "utilisation"])
    train, test = data.split(320, seed=0)
    prepare = gp.Prepare(data.features).fit(train.X)
    plain = LogisticRegression(C=1e9, max_iter=10_000).fit(prepare.transform(train.X), train.y)
    score = plain.score(prepare.transform(test.X), test.y)
    # One row of 80 may lie on the border for a solver of other precision.
    assert shown["accuracy"]["logistic"]["clean"] == pytest.approx(score, abs=1.01 / 80)


def test_radius_is_chosen_with_a_reason(people: Path, tmp_path: Path, capsys) -> None:
    assert fit(people, tmp_path / "m.json", "--json", "--quiet") == 0
    printed = capsys.readouterr()
    shown = json.loads(printed.out)
    assert printed.err == ""
    why = "is the largest" if shown["radius"] else "because every larger"
    assert shown["why_this_radius"].startswith(f"{shown['radius']:.3g} {why} radius tried")
    assert "standard error" in shown["why_this_radius"]


def test_radius_is_chosen_with_hardly_any_rows(people: Path, tmp_path: Path, capsys) -> None:
    frame = pd.read_csv(people)
    few = pd.concat([frame[frame.repaid == "yes"].head(5), frame[frame.repaid == "no"].head(5)])
    few.drop(columns=["id", "home", "job"]).to_csv(tmp_path / "few.csv", index=False)
    assert fit(tmp_path / "few.csv", tmp_path / "m.json", "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out)["rows_trained"] == 8


def test_file_holds_the_training_summary_and_the_command(model: Path) -> None:
    training = gp.load_model(model).training
    assert training["rows_trained"] == 320
    assert training["left_out"]["id"].startswith("text")
    assert training["command"].startswith("gameproof fit ")
    assert training["command"].endswith("model.json --radius 0.03 --quiet")
    assert training["radius"] == 0.03
    assert json.loads(model.read_text())["format"] == "gameproof-model"


def test_same_seed_same_file_other_seed_other_rows(people: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        assert fit(people, file, "--radius", "0.03", "--seed", seed) == 0
    first, second, third = (gp.load_model(file).classifier.coef_ for file in files)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, third)


def test_rows_without_a_target_are_left_out_and_reported(
    people: Path, tmp_path: Path, capsys
) -> None:
    frame = pd.read_csv(people)
    frame.loc[:6, "repaid"] = None
    path = tmp_path / "gaps.parquet"
    frame.to_parquet(path, index=False)
    assert fit(path, tmp_path / "m.json", "--radius", "0.03") == 0
    printed = capsys.readouterr().out
    assert "left out 7 rows without repaid" in printed
    assert "trained on 314 rows, tested on 79" in printed


def test_outcomes_are_balanced_on_request(people: Path, tmp_path: Path, capsys) -> None:
    """By class weights: no row is lost, and probabilities fit the base rate nevertheless."""
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--balanced") == 0
    printed = capsys.readouterr().out
    assert "trained on 320 rows, tested on 80" in printed
    assert "both outcomes count the same in the fit" in " ".join(printed.split())
    model = gp.load_model(tmp_path / "m.json")
    assert model.classifier.class_weight == "balanced"
    share = (pd.read_csv(people)["repaid"] == "yes").mean()
    assert model.probability(people).mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "parquet"])
def test_form_of_the_table_does_not_matter(form: str, people: Path, tmp_path: Path) -> None:
    from gameproof.tables.made_up_people import made_up_people
    from gameproof.tables.write_table import write_table

    table = tmp_path / f"t.{form}"
    write_table(table, made_up_people(400, seed=0))
    assert fit(table, tmp_path / "m.json", "--radius", "0.03") == 0
    assert fit(people, tmp_path / "n.json", "--radius", "0.03") == 0
    one, two = (gp.load_model(tmp_path / name) for name in ("m.json", "n.json"))
    np.testing.assert_array_equal(one.classifier.coef_, two.classifier.coef_)


def test_names_with_commas_and_no_movable_columns(people: Path, tmp_path: Path, capsys) -> None:
    frame = pd.read_csv(people).rename(columns={"savings": "savings, total"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    base = ["fit", str(tmp_path / "t.csv"), "--target", "repaid", "--favourable", "yes"]
    tail = ["--radius", "0.03", "-o", str(tmp_path / "m.json"), "--force", "--quiet"]
    from gameproof.cli.main import main

    assert main([*base, "--movable", "savings, total", "--movable", "income,age", *tail]) == 0
    assert gp.load_model(tmp_path / "m.json").plan.features.movable == (
        "savings, total",
        "income",
        "age",
    )
    assert main([*base, "--movable", 'income,"savings, total", age', *tail]) == 0
    assert gp.load_model(tmp_path / "m.json").plan.features.movable == (
        "income",
        "savings, total",
        "age",
    )
    for invalid in ('"savings, total', '"savings, total",line\nbreak'):
        assert main([*base, "--movable", invalid, *tail]) == 2
        assert capsys.readouterr().err == (
            f"gameproof: {invalid!r} is not a list of columns; give a name that contains commas "
            'or line breaks alone, or in quotation marks, as in "a, b",c\n'
        )
    assert main([*base, "--movable", " , ", *tail]) == 2
    assert capsys.readouterr().err == (
        "gameproof: ' , ' names no column; expected names separated by commas, or '' for none\n"
    )
    assert main([*base, "--movable", "", *tail]) == 0
    assert gp.load_model(tmp_path / "m.json").plan.features.movable == ()


def test_names_cannot_imitate_other_output(people: Path, tmp_path: Path, capsys) -> None:
    """A name with a comma is one name, and a line break in a name starts no line."""
    forged = {
        "savings": "savings, total",
        "income": "in\nmodel: forged.json",
        "home": "ho\nmodel: forged.json",
        "id": "id\nmodel: forged.json",
        "repaid": "re\nmodel: forged.json",
    }
    frame = pd.read_csv(people).rename(columns=forged)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.assign(**{forged["home"]: "castle"}).to_csv(tmp_path / "later.csv", index=False)
    table, later, out = (str(tmp_path / name) for name in ("t.csv", "later.csv", "m.json"))
    meaning = ["--target", forged["repaid"], "--favourable", "yes"]
    moved = ["--movable", '"savings, total","in\nmodel: forged.json"']
    page = tmp_path / "page.html"
    kept = ["-o", out, "--report", str(page)]
    assert main(["fit", table, *meaning, *moved, "--radius", "0.03", *kept]) == 0
    shown = html.unescape(page.read_text(encoding="utf-8"))
    assert "budgets: 'in\\nmodel: forged.json': -" in shown
    assert "(half a standard deviation); 'savings, total': -" in shown
    assert main(["audit", out, later]) == 0
    printed = capsys.readouterr().out
    assert "numbers: age, 'in\\nmodel: forged.json', 'savings, total', credit_lines" in printed
    assert "\n  movable 'savings, total': -" in printed
    assert "\n  movable 'in\\nmodel: forged.json': -" in printed
    assert main(["predict", out, later, "-o", str(tmp_path / "d.csv")]) == 0
    printed += capsys.readouterr().err
    assert "forged" in printed
    assert not any(line.startswith("model: forged") for line in printed.splitlines())


def test_existing_files_are_kept_unless_forced(people: Path, tmp_path: Path, capsys) -> None:
    out, page = tmp_path / "m.json", tmp_path / "p.html"
    for existing, given in ((out, []), (page, ["--report", str(page)])):
        existing.write_text("mine")
        assert fit(people, out, "--radius", "0.03", *given) == 1
        assert capsys.readouterr().err == (
            f"gameproof: {existing} already exists; --force overwrites it\n"
        )
        assert existing.read_text() == "mine"
        existing.unlink()
    out.write_text("mine")
    assert fit(people, out, "--radius", "0.03", "--force") == 0
    assert open_table(people).n == 400
    assert isinstance(gp.load_model(out), gp.TableModel)


def test_outputs_are_checked_before_the_table_is_read(tmp_path: Path, capsys) -> None:
    out = tmp_path / "m.json"
    out.write_text("mine")
    assert fit(tmp_path / "nothing.csv", out) == 1
    assert "already exists" in capsys.readouterr().err


def test_report_is_one_page_that_needs_no_network(people: Path, tmp_path: Path) -> None:
    page = tmp_path / "p.html"
    assert fit(people, tmp_path / "m.json", "--report", str(page)) == 0
    text = page.read_text(encoding="utf-8")
    assert 20_000 < page.stat().st_size < 6_000_000
    assert "How good" in text
    assert "Which radius?" in text
    assert "gameproof" in text
    assert "src=" not in text
    assert "https://" not in text


@pytest.mark.parametrize("options", [[], ["--force"]], ids=["new", "forced"])
def test_interrupt_while_a_file_is_written_leaves_nothing(
    options: list[str], people: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    def interrupted(*arguments) -> None:
        raise KeyboardInterrupt

    name = "replace" if options else "link"
    monkeypatch.setattr(f"gameproof.core.atomic_files.os.{name}", interrupted)
    assert fit(people, tmp_path / "m.json", "--radius", "0.03", "--quiet", *options) == 130
    assert capsys.readouterr().err == "gameproof: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise on Windows")
def test_interrupt_leaves_nothing_behind(people: Path, tmp_path: Path) -> None:
    arguments = ["fit", str(people), *MEANING, "-o", str(tmp_path / "m.json")]
    run = subprocess.Popen(
        [sys.executable, "-m", "gameproof", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.0)
    run.send_signal(signal.SIGINT)
    err = run.communicate(timeout=60)[1]
    # The command may have finished just before; a file must be complete or absent. While Python
    # starts or ends, the signal itself ends it without a word, which shells report as 130 too.
    assert run.returncode in (0, 130, -signal.SIGINT)
    if run.returncode == 130:
        assert err.splitlines()[-1] == "gameproof: interrupted"
        assert list(tmp_path.iterdir()) == []
    for path in tmp_path.iterdir():
        assert gp.load_model(path)


BOUND = "only a bound on the coefficients keeps the classifier finite"


@pytest.mark.parametrize(
    ("radius", "told"),
    [
        ("0.1", {"logistic and strategic": False}),
        ("0", {"logistic and strategic": False, "robust": True}),
    ],
)
def test_note_about_separable_classes_names_classifiers_and_advises_a_radius(
    radius: str, told: dict[str, bool], tmp_path: Path, capsys
) -> None:
    """x alone tells the classes apart, so that nothing but the bound ends a fit without a radius;
    a larger one helps only the classifier that has one."""
    rows = [f"{k},{k * 7 % 11},{'yes' if k > 30 else 'no'}" for k in range(60)]
    table = tmp_path / "t.csv"
    table.write_text("x,z,paid\n" + "\n".join(rows[::2] + rows[1::2]) + "\n")
    meaning = ["--target", "paid", "--favourable", "yes", "--movable", "z", "--label-cost", "inf"]
    page = tmp_path / "p.html"
    out = ["-o", str(tmp_path / "m.json"), "--json", "--report", str(page)]
    assert main(["fit", str(table), *meaning, "--radius", radius, *out]) == 0
    notes = [note for note in json.loads(capsys.readouterr().out)["notes"] if BOUND in note]
    assert {
        note.partition(": ")[0]: note.endswith(
            "; a larger radius would keep the coefficients small"
        )
        for note in notes
    } == told
    assert "larger bound" not in "".join(notes)
    shown = page.read_text()
    assert all(shown.count(f'<p class="note">Note: {note}</p>') == 1 for note in notes)


@pytest.mark.parametrize("column", ["savings", "utilisation"])
@pytest.mark.parametrize("cells", [[1e308], [1e308, -1e308], [1e300] * 201])
def test_huge_numbers_leak_no_warning_and_are_printed_with_few_digits(
    column, cells, people, tmp_path, capsys
) -> None:
    """Warnings are errors here. The ratio of utilisation to its usual size is even infinite."""
    frame = pd.read_csv(people).astype({column: float})
    frame.loc[: len(cells) - 1, column] = cells
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.json"
    assert fit(tmp_path / "t.csv", model, "--radius", "0.03") == 0
    assert main(["audit", str(model), str(tmp_path / "t.csv")]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "overflow" not in printed.out
    assert not re.search(r"[\d,]{16}", printed.out)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("--test", "0.3"), ("--split-by", "applied", "--test-after", "2024-01-01")),
        (("--threshold", "0.6"), ("--approve", "0.4")),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    people: Path, tmp_path: Path, capsys, one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        fit(people, tmp_path / "m.json", *one, *other)
    assert ended.value.code == 2
    assert f"{other[0]}: not allowed with argument {one[0]}" in capsys.readouterr().err


def test_file_of_a_baseline_claims_no_setting_of_the_robust_model(people, tmp_path, capsys) -> None:
    path = tmp_path / "m.json"
    assert fit(people, path, "--radius", "0.03", "--model", "logistic") == 0
    capsys.readouterr()
    assert main(["show", str(path)]) == 0
    made = capsys.readouterr().out.partition("how it was made")[2]
    assert "measure: accuracy" in made
    assert not re.search("^  (radius|why this|trained for|label cost)", made, flags=re.M)
    assert main(["audit", str(path), str(people), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "movable, as when it was fitted" in printed
    assert "fitted for" not in printed
    assert "the model's own" not in printed

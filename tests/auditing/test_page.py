"""The content of pages, and that names from a table cannot inject markup."""

import base64
import hashlib
import json
import re
from dataclasses import asdict, replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from audited import BUDGETS, HOSTILE, MOVABLE, NAMES, SCALE, audits, people
from gameproof.auditing.audit_page import audit_sections, audit_tiles
from gameproof.auditing.cost_section import cost_section
from gameproof.auditing.figures import line_chart
from gameproof.auditing.gaming_section import budget_axis
from gameproof.auditing.linear_model import LinearModel
from gameproof.auditing.number_format import cell, measure_text, points
from gameproof.auditing.number_format import percent as written
from gameproof.auditing.page import page
from gameproof.auditing.page_model import PageColumn, PageTable, Panels, Section, Series, Tile
from gameproof.auditing.provenance import fingerprint, provenance
from gameproof.auditing.reproduction_sections import reproduction_sections
from gameproof.auditing.worst_case_section import no_better_than as no_better_of

ALONE, BESIDE = audits()
CURVE = [
    {"radius": r, "clean": c, "clean error": 0.02, "gamed": 0.5, "risk": k, "ignores data": r > 0}
    for r, c, k in ((0.0, 0.8, 0.4), (0.1, 0.7, 0.6))
]
QUESTIONS = [
    "How good is the model?",
    "What happens when people game it?",
    "What does robustness cost?",
    "Whom to approve: thresholds and costs",
    "Do the probabilities come true?",
    "Which columns are the weak spot?",
    "Who is hurt?",
    "What happens when the data is inaccurate?",
    "Which radius?",
    "Numbers that depend on the scale of the scores",
]


class Read(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(audit: gp.Audit, radius: Section | None = None) -> str:
    return page("t", audit_sections(audit, radius), {"command": "c"}, tiles=audit_tiles(audit))


def percent(share: float) -> str:
    """As the share with three decimals, which is what the terminal shows."""
    return f"{Decimal(f'{share:.3f}') * 100:.1f}\u00a0%"


def test_questions_are_answered_in_their_order() -> None:
    radius = gp.which_radius([{"radius": 0.1, "clean": 0.8, "gamed": 0.7}], 0.1, "Because.")
    titles = [section.title for section in audit_sections(BESIDE, radius)]
    assert titles == QUESTIONS
    assert [section.title for section in audit_sections(ALONE)] == [
        title for title in QUESTIONS if title not in ("What does robustness cost?", "Which radius?")
    ]


def test_sections_without_data_are_left_out() -> None:
    X, y, model = people()
    found = gp.audit(model, X, y, budgets={}, radii=[0])
    titles = [section.title for section in audit_sections(found)]
    assert titles == [QUESTIONS[0], *QUESTIONS[3:5], QUESTIONS[-1]]
    assert [tile.label for tile in audit_tiles(found)] == [
        "AUC, nobody games",
        "right, nobody games",
    ]
    assert "<h2" in shown(found)


def test_tiles_are_of_the_recommended_model_and_name_it() -> None:
    X, y, model = people()
    flat, other = (gp.LinearModel([0.0] * 4, 1.0, NAMES, name) for name in ("flat", "other"))
    for models, name, said in (
        ([model, flat], "mine", "recommended"),
        ([flat, model], "mine", "recommended"),
        ([flat, other], "other", "not recommended"),
    ):
        found = gp.compare_models(models, X, y, budgets=BUDGETS, scale=SCALE)
        first, *others = audit_tiles(found)
        assert (first.value, first.note) == (name, said)
        shares = {tile.label: tile.value for tile in others}
        assert shares["right, budgets used"] == percent(found.at(name, 1.0).accuracy)
        assert (
            percent(found.at(name, 1.0).accepted_negative) == shares["accepted, should be refused"]
        )


def test_findings_hold_the_numbers_of_the_rows() -> None:
    sections = [section.finding for section in audit_sections(ALONE)]
    good, gamed, _, _, weak, hurt, off, _ = sections
    (row,) = ALONE.quality
    expected, everyone = ALONE.at("plain", 1.0), ALONE.at("plain", 1.0, "refused")
    assert percent(row.accuracy) in good
    assert percent(row.majority) in good
    assert f"{100 * row.low:.1f} to {percent(row.high)}" in good
    for share in (row.accuracy, expected.accuracy, expected.accepted_negative):
        assert percent(share) in gamed
    for share in (everyone.accuracy, everyone.accepted_positive):
        assert percent(share) in gamed
    assert f"{percent(expected.accuracy)} instead of {percent(row.accuracy)}" in gamed
    assert gamed.startswith("Budgets: income: 0 to +60; debt: -1.5 to +0.5.")
    tenth = next(r for r in ALONE.shifts if r.radius == 0.1)
    assert (
        f"radius of 0.1, in the worst way, plain is still right for {percent(tenth.accuracy)}"
        in off
    )
    top = max(ALONE.weaknesses, key=lambda r: r.share)
    assert weak.startswith(f"{top.feature} is the weak spot of plain: {percent(top.share)}")
    lost, before = percent(top.loss).replace("%", "points"), top.accepted_negative - top.gained
    assert weak.endswith(
        f"If those who should be refused use its budget alone ({top.budget}), accuracy falls by "
        f"{lost}, and of these people plain accepts {percent(top.accepted_negative)} instead of "
        f"{percent(before)}."
    )
    still = replace(top, loss=0.0, gained=0.0, budget="can claim management, student")
    weak = sections_of(replace(ALONE, weaknesses=(still,)))[QUESTIONS[5]].finding
    assert "use its budget alone (can claim management, student), accuracy stays the same" in weak
    assert weak.endswith(f"accepts {percent(top.accepted_negative)}, as when nobody games.")
    assert percent(ALONE.hurt[0].refused) in hurt
    assert percent(ALONE.hurt[0].within) in hurt
    assert f"{ALONE.hurt[0].q50:.2f} times their budgets or more" in hurt


def test_a_model_that_ignores_what_can_change_is_as_right_as_when_nobody_games() -> None:
    X, y, model = people(300)
    fixed = np.array([name not in BUDGETS for name in NAMES])
    ignoring = LinearModel(model.coefficients * fixed, 0.2, NAMES, "mine")
    audit = gp.audit(ignoring, X, y, budgets=BUDGETS, scale=SCALE)
    (row,), gaming = audit.quality, audit_sections(audit)[1].finding
    assert f"mine is right for {percent(row.accuracy)}, as when nobody games" in gaming


def test_cost_of_robustness_says_where_it_is_ahead_and_where_behind() -> None:
    rows = [r for r in BESIDE.differences if (r.model, r.against) == ("robust", "plain")]
    rows = [r for r in rows if r.movers == "bad"]
    said = audit_sections(BESIDE)[2].finding
    assert f"{100 * rows[0].low:+.1f}".replace("-", "−") in said
    two = replace(BESIDE, models=("plain", "robust"))
    turned = [
        replace(row, low=-0.2, high=-0.1) if k < 3 else replace(row, low=0.1, high=0.2)
        for k, row in enumerate(rows)
    ]
    said = cost_section(replace(two, differences=tuple(turned))).finding
    above = "the interval is above 0 at 2 to 4 times the budgets, and below 0 at 0 to 1 times the"
    assert above in said
    even = [replace(row, low=-0.1, high=0.1) for row in rows]
    said = cost_section(replace(two, differences=tuple(even))).finding
    assert "the interval contains 0 at every multiple." in said


@pytest.mark.parametrize(("measure", "called"), [("cost", "cost per applicant"), ("auc", "AUC")])
def test_cost_of_robustness_is_in_the_measure_of_the_verdict(measure: str, called: str) -> None:
    X, y, model = people(300)
    other = gp.LinearModel(model.coefficients * [0.3, 1, 1, 0.3], 0.2, NAMES, "robust")
    options = {"budgets": BUDGETS, "scale": SCALE, "measure": measure, "cost_accept_bad": 900.0}
    audit = gp.compare_models([model, other], X, y, **options)
    section = cost_section(audit)
    rows = [r for r in audit.metric_differences if (r.metric, r.group) == (measure, None)]
    assert [row.multiple for row in rows] == [0.0, 1.0]
    first = section.finding.split(" By accuracy, which the verdict does not use: against mine, ")[0]
    assert first.startswith(f"Against mine, the {called} of robust is ")
    for row in rows:
        size = measure_text(abs(row.difference))
        said = f"{'higher' if row.difference > 0 else 'lower'} by {size}"
        unclear = row.low <= 0 <= row.high
        assert (f"not measurably different ({said}) when" if unclear else f"{said} when") in first
    table = section.tables[0]
    assert table.caption == f"paired differences in {called}"
    assert [each[3] for each in table.rows] == [row.difference for row in rows]


def test_tables_hold_every_row() -> None:
    tables = {t.caption: t for section in audit_sections(BESIDE) for t in section.tables}
    assert len(tables["gaming by budgets"].rows) == len(BESIDE.gaming) == 3 * 2 * 5
    assert len(tables["gaming by power"].rows) == len(BESIDE.by_power)
    assert len(tables["coefficients of the features that models use"].rows) == 3 * len(NAMES)
    assert len(tables["paired differences in accuracy"].rows) == len(BESIDE.differences)
    assert len(tables["columns that people can change"].rows) == 3 * len(MOVABLE)
    text = shown(BESIDE)
    for row in BESIDE.gaming:
        assert percent(row.accuracy) in text
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_page_says_when_nothing_helps_refused_people() -> None:
    X, y, model = people()
    flat = gp.LinearModel(model.coefficients * [0, 1, 1, 0], -0.3, NAMES, "flat")
    audit = gp.audit(flat, X, y, budgets=BUDGETS, scale=SCALE)
    found, found_rows = sections_of(audit), audit.hurt
    weak = found["Which columns are the weak spot?"].finding
    assert weak == "Gaming gains nothing: no change within the budgets raises a score of flat."
    hurt = found["Who is hurt?"]
    (refused,) = {row.refused for row in found_rows if row.label > 0}
    assert hurt.finding == (
        f"flat refuses {percent(refused)} of those who should be accepted; no change within "
        "their budgets helps them."
    )
    assert hurt.charts == []


def test_many_features_stay_readable_and_all_are_in_the_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 40))
    model = gp.LinearModel(rng.standard_normal(40))
    found = gp.audit(model, X, np.sign(X[:, 0]), groups=np.arange(50) % 2)
    sections = {section.title: section for section in audit_sections(found)}
    weak = sections["Which columns are the weak spot?"]
    assert len(weak.charts[0].labels) == 15
    assert "15 columns that gain most" in weak.charts[0].title
    assert len(weak.tables[0].rows) == 40
    hurt = sections["Who is hurt?"]
    assert [row[1] for row in hurt.tables[0].rows] == ["everyone"] * 2 + ["0"] * 2 + ["1"] * 2
    labels = hurt.charts[0].labels if hurt.charts else []
    assert [label for label in labels if label.endswith(("0", "1"))] == [
        f"should be accepted, {row[1]}"
        for row in hurt.tables[0].rows
        if row[1] != "everyone" and row[2] > 0 and row[5] is not None
    ]


def test_page_is_small_and_names_no_place_on_the_network() -> None:
    radius = gp.which_radius(CURVE, 0.1, "Because.")
    text = shown(BESIDE, radius)
    assert len(text.encode()) < 200_000
    found = re.findall(r"[a-z]+://[^\s\"']+", text)
    assert set(found) == {
        "http://www.w3.org/2000/svg"
    }  # the namespace of SVG, which is never requested
    for _, attributes in Read(text).tags:
        assert not {"src", "onclick", "onload", "style"} & attributes.keys()
        assert attributes.get("href", "#").startswith("#")


def test_policy_allows_the_page_s_own_script_and_style_alone() -> None:
    text = shown(ALONE)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_whatever_users_call_things_is_text() -> None:
    tame = Read(page("t", audit_sections(BESIDE), {"a": "b"}, tiles=audit_tiles(BESIDE)))
    names = tuple(f"{HOSTILE} {name}" for name in NAMES)
    audit = audits(names)[1]
    made_ = {HOSTILE: HOSTILE}
    text = page(HOSTILE, audit_sections(audit), made_, subtitle=HOSTILE, tiles=audit_tiles(audit))
    wild = Read(text)
    kinds = [tag for tag, _ in wild.tags if tag != "wbr"]
    # The subtitle adds one paragraph.
    assert kinds.count("p") == [tag for tag, _ in tame.tags].count("p") + 1
    kinds.remove("p")
    assert kinds == [tag for tag, _ in tame.tags if tag != "wbr"]
    assert wild.text.count(HOSTILE) > 10
    for data in re.findall(r'<script type="application/json">(.*?)</script>', text, re.S):
        json.loads(data)


def test_same_rows_give_the_same_bytes() -> None:
    assert shown(BESIDE) == shown(audits()[1])


def test_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    gp.write_page(path, "First", [Section("Q?", "A.")], {})
    before = path.read_bytes()
    broken = Section("Q?", "A.", tables=[PageTable("t", [PageColumn("a")], [(1, 2)])])
    with pytest.raises(ValueError, match="argument"):
        gp.write_page(path, "Second", [broken], {})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_radius_section_draws_each_share_with_its_errors() -> None:
    section = gp.which_radius(CURVE, 0.1, "It costs nothing.")
    assert section.finding == "It costs nothing."
    accuracy, risk = section.charts
    clean, gamed = accuracy.series
    assert (clean.x, clean.y) == ([0.0, 0.1], [0.8, 0.7])
    assert clean.low == pytest.approx([0.78, 0.68])
    assert clean.high == pytest.approx([0.82, 0.72])
    assert (gamed.y, gamed.low) == ([0.5, 0.5], [])
    assert risk.series[0].y == [0.4, 0.6]
    assert accuracy.upright == [(0.1, "chosen")]
    assert section.tables[0].rows[1] == [0.1, 0.7, 0.02, 0.5, 0.6]
    assert section.notes == [
        "From a radius of 0.1 on, the classifier of at least one fold ignores the data."
    ]


def test_experiments_are_shown_with_verdicts_and_figures() -> None:
    falling = Series("OGDA-RR", [1.0, 0.5], [1, 10], low=[0.9, -0.1], high=[1.1, 1.1])
    later = Series("theorem", [1234.4], [100], guide=True)
    chart = line_chart("a & b", "epochs", "gap", [falling, later], log_x=True, log_y=True)
    claim = {"text": "A is better", "measure": "ratio", "effect": 0.5, "low": 0.4, "high": 0.6}
    claims = [
        {**claim, "border": 1.0, "experiment": "rate", "verdict": verdict, **corrected}
        for verdict, corrected in (
            ("holds", {"p": 1e-6, "p_adjusted": 4e-6, "survives": True}),
            ("holds", {"p": 0.021, "p_adjusted": 0.063, "survives": False}),
            ("does not hold", {"p": 0.0312, "p_adjusted": 0.063, "survives": False}),
            ("undecided", {"p": 0.4, "p_adjusted": 0.4, "survives": False}),
        )
    ]
    drawn = Panels("`Drawn` <twice>.", [chart, chart])
    each = {"name": "rate", "title": "how fast", "notes": ["Noted."], "figures": [drawn]}
    sections = reproduction_sections(claims, [each])
    assert sections[0].finding == (
        "Of 4 checks of claims, 2 hold, 1 do not, and 1 are undecided; 1 of the verdicts survive "
        "the correction for the number of claims."
    )
    rows = sections[0].tables[0].rows
    assert rows[1] == ["rate: A is better; ratio", "holds", (0.5, 0.4, 0.6), 1.0, "0.063"]
    assert [row[-1] for row in rows] == ["< 0.0001", "0.063", "0.063", "0.4"]
    text = page("Experiments", sections, {})
    assert text.count('class="verdict holds"') == 2
    assert text.count('class="verdict does-not-hold"') == 1
    assert "Noted." in text
    assert "&#x27;Drawn&#x27; &lt;twice&gt;." in text
    described = re.findall(r'class="plot" role="img" aria-label="([^"]*)"', text)
    assert described == ["a &amp; b: gap by epochs. From left to right, OGDA-RR from 1 to 0.5."] * 2
    # Data of charts, to the last digit.
    for found in re.findall(r'<script type="application/json">(.*?)</script>', text):
        told = json.loads(found)
        assert (told["log_x"], told["log_y"], told["upright"]) == (True, True, [])
        assert [s["y"] for s in told["series"]] == [[1.0, 0.5], [1234.4]]
        assert told["series"][0]["low"] == [0.9, -0.1]
        assert [s["guide"] for s in told["series"]] == [False, True]
    # Text of tables.
    (table, _) = sections[1].tables
    assert table.caption == "gap by epochs, a & b"
    assert [column.name for column in table.columns] == ["epochs", "OGDA-RR", "theorem"]
    rows = re.findall(r'<tr><th scope="row" class="number">(.*?)</tr>', text)
    cells = [re.sub("<[^>]*>", "|", row).strip("|").replace("||", "|") for row in rows]
    assert cells == ["1|1 (0.9 to 1.1)|–", "10|0.5 (−0.1 to 1.1)|–", "100|–|1,234"] * 2


def test_fingerprint_tells_every_change() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, -1.0, 1.0])
    first = fingerprint(X, y, ["a", "b"])
    assert first == fingerprint(X.tolist(), y.astype(int), ("a", "b"))
    others = [
        fingerprint(X + np.array([[0, 0], [0, 1e-12], [0, 0]]), y, ["a", "b"]),
        fingerprint(X, -y, ["a", "b"]),
        fingerprint(X, y, ["a", "c"]),
        fingerprint(X[::-1], y, ["a", "b"]),
    ]
    assert len({first, *others}) == 5


def test_audit_and_path_are_not_taken_for_each_other(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="audit must be an Audit, got "):
        gp.write_audit(ALONE, tmp_path / "audit.html")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_audit_is_written_with_what_it_knows_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    gp.write_audit(path, ALONE, subtitle="For <us>", command="gameproof audit", seed=7)
    read = Read(path.read_text(encoding="utf-8"))
    for said in ("Audit of plain", "For <us>", "gameproof audit", "income: 0 to +60; debt: "):
        assert said in read.text
    X, y, _ = people(300)
    assert ALONE.fingerprint == fingerprint(X, y, NAMES)
    assert ALONE.fingerprint in read.text


def test_provenance_has_what_is_needed_to_reproduce_a_page() -> None:
    found = provenance(
        command="gameproof audit", seed=3, data={"t.csv": "abc"}, settings={"power": 0.5}
    )
    assert found["command"] == "gameproof audit"
    assert found["fingerprint of t.csv"] == "abc"
    assert (found["seed"], found["power"]) == ("3", "0.5")
    assert f"gameproof {gp.__version__}" in found["versions"]
    assert f"numpy {np.__version__}" in found["versions"]


def test_shares_are_rounded_as_the_terminal_rounds_them() -> None:
    """All shares of up to 400 people, halves of the last digit among them."""
    shares = {k / n for n in (8, 16, 80, 400) for k in range(n + 1)}
    for share in shares:
        assert written(share) == cell(share, "percent") == percent(share)
        assert points(-share) == percent(share).replace("%", "points")


def test_pages_speak_of_the_table_s_own_outcomes_and_never_of_labels() -> None:
    """Texts, axes and tables; only pages without named outcomes speak of labels."""
    for found in audits():
        named = replace(found, outcomes=("repaid = yes", "repaid = no"))
        for audit, expected in ((named, False), (found, True)):
            sections = [asdict(section) for section in audit_sections(audit)]
            words = [word for section in sections for word in _texts(section)]
            assert any(re.search(r"\blabels?\b", word) for word in words) == expected
            assert any("repaid" in word for word in words) != expected


def _texts(value: object) -> list[str]:
    """All text inside, except the kinds of columns."""
    if isinstance(value, dict):
        return [text for key, v in value.items() if key != "kind" for text in _texts(v)]
    if isinstance(value, (list, tuple)):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []


def sections_of(audit: gp.Audit) -> dict[str, Section]:
    return {section.title: section for section in audit_sections(audit)}


def test_page_on_what_cannot_be_changed_speaks_of_no_gaming() -> None:
    X, y, model = people()
    other = gp.LinearModel(model.coefficients * [1, 1, 1, 0], 0.2, NAMES, "other")
    found = gp.compare_models([model, other], X, y, budgets={}, scale=SCALE)
    assert not re.search("gaming power|budgets used|their budgets", shown(found))
    assert [tile.note for tile in audit_tiles(found)][3:] == ["nobody games"]
    cost = sections_of(found)["What does robustness cost?"]
    assert cost.charts == []
    assert [row[3] for row in cost.tables[0].rows] == [0.0]


def test_model_that_gaming_gains_nothing_from_has_no_weakest_spot() -> None:
    X, y, model = people()
    flat = gp.LinearModel(model.coefficients * [0, 1, 1, 0], -0.3, NAMES, "flat")
    found = gp.audit(flat, X, y, budgets=BUDGETS, scale=SCALE)
    assert "weakest spot" not in [tile.label for tile in audit_tiles(found)]
    assert sections_of(found)["Which columns are the weak spot?"].charts == []
    both = gp.compare_models([model, flat], X, y, budgets=BUDGETS, scale=SCALE)
    (chart,) = sections_of(both)["Which columns are the weak spot?"].charts
    assert [set(series.y) == {0.0} for series in chart.series] == [True, False]


def test_accurate_data_has_no_flipped_labels() -> None:
    """With a label cost of 0 labels flip at radius 0 already, but accurate data keeps them."""
    X, y, model = people()
    found = gp.audit(model, X, y, budgets=BUDGETS, scale=SCALE, label_cost=0.0)
    gamed = found.at("mine", 1.0)
    assert found.shifts[0].accuracy < gamed.accuracy
    said = sections_of(found)["What happens when the data is inaccurate?"].finding
    assert f"if it is accurate, mine is right for {percent(gamed.accuracy)}." in said


def test_power_and_radius_that_are_shown_are_never_none() -> None:
    X, y, model = people()
    found = gp.audit(model, X, y, powers=[0.5], power=0.05, radii=[0.01], scale=SCALE)
    assert [row.power for row in found.by_power] == [0.0, 0.05, 0.5]
    sections = sections_of(found)
    assert "With a gaming power of 0.05, mine" in sections[QUESTIONS[-1]].finding
    assert "a radius of 0.01," in sections["What happens when the data is inaccurate?"].finding


def test_page_says_where_the_worst_case_is_no_better_than_that_of_others() -> None:
    """At the radius of the robust model, by the interval of the paired difference."""
    found, name = replace(BESIDE, radius=0.1), BESIDE.subject
    rows = [r for r in BESIDE.shift_differences if (r.model, r.radius) == ("robust", 0.1)]
    own = [r for r in BESIDE.versus(BESIDE.shift_differences, name) if r.radius == 0.1]
    said = sections_of(found)["What happens when the data is inaccurate?"].finding
    assert (f"the worst-case accuracy of {name} is" in said) == any(row.low <= 0 for row in own)
    unclear = [replace(row, difference=0.27, low=-0.128, high=0.511) for row in rows[:1]]
    lower = [replace(row, difference=-0.03, low=-0.05, high=-0.01) for row in rows[1:]]
    higher = [replace(row, difference=0.02, low=0.01, high=0.05) for row in rows]
    doubtful = (
        "not measurably better than that of plain (higher by 27.0\u00a0points, 95 % interval −12.8 "
        "to +51.1)."
    )
    worse = "worse than that of strategic (lower by 3.0\u00a0points, 95 % interval −5.0 to −1.0)"
    for changed, expected in (
        (unclear + higher[1:], doubtful),
        (unclear + lower, f"{worse}, and {doubtful}"),
    ):
        told = no_better_of(replace(found, shift_differences=tuple(changed)), "robust")
        assert told == f"At a radius of 0.1, the worst-case accuracy of robust is {expected}"
    assert no_better_of(replace(found, shift_differences=tuple(higher)), "robust") == ""
    assert no_better_of(ALONE, ALONE.subject) == ""


def test_what_depends_on_scale_is_closed_and_comes_last() -> None:
    text = shown(BESIDE)
    (closed,) = re.findall(r'<details class="more">', text)
    before, _, after = text.partition(closed)
    for words in ("gaming power", "log loss by radius", ">coefficient<"):
        assert words not in before
        assert words in after
    assert "How was this made?</h2>" in after


def test_sentences_describe_the_recommended_model_or_without_one_the_last() -> None:
    X, y, model = people(300)
    flat = gp.LinearModel([0.0] * 4, 1.0, NAMES, "flat")
    for models, recommended, subject in (
        ([model, flat], "mine", "mine"),
        ([flat, model], "mine", "mine"),
        ([flat], None, "flat"),
    ):
        audit = gp.compare_models(models, X, y, budgets=BUDGETS, scale=SCALE, radii=[0.05])
        assert (audit.verdict.model, audit.subject) == (recommended, subject)
        about = {name: part.finding for name, part in sections_of(audit).items()}
        for name, start in {
            "How good is the model?": f"When nobody games it, {subject} is right",
            "What happens when people game it?": f"the AUC of {subject}|{subject} is right",
            "Whom to approve: thresholds and costs": f"^{subject} approves",
            "Which columns are the weak spot?": f"spot of {subject}:|a score of {subject}",
            "Who is hurt?": f"^{subject} refuses",
            "What happens when the data is inaccurate?": f"way, {subject} is still right",
        }.items():
            assert re.search(start, about[name]), (name, about[name])


def test_differences_from_the_others_are_turned_round_where_the_rows_are_theirs() -> None:
    for name in BESIDE.models:
        rows = [r for r in BESIDE.versus(BESIDE.differences, name) if r.movers == "bad"]
        assert {row.against for row in rows} == set(BESIDE.models) - {name}
        for row in rows:
            own, other = (BESIDE.at(m, row.multiple).accuracy for m in (name, row.against))
            assert row.difference == pytest.approx(own - other, abs=1e-12)
            assert row.low <= row.difference <= row.high


def test_cautions_stand_at_the_top_of_the_page(tmp_path: Path) -> None:
    X, y, model = people(30)
    path = tmp_path / "audit.html"
    gp.write_audit(path, gp.audit(model, X, y), notes=["Mine."])
    text = path.read_text(encoding="utf-8")
    places = [text.index(said) for said in ("Mine.", "there are only 30 test rows", "<nav")]
    assert places == sorted(places)
    assert text.count("there are only 30 test rows") == 1


def test_tiles_break_names_and_no_numbers() -> None:
    def broken(value: str) -> str:
        tile = page("t", [], {}, tiles=[Tile("l", value)])
        return re.search(r"<dd[^>]*>(.*?)</dd>", tile)[1]

    assert broken("77.5\u00a0%") == "77.5\u00a0%"
    assert broken("home=rented_flat.size") == "home=<wbr>rented_<wbr>flat.<wbr>size"
    assert broken("MonthlyIncome2") == "Monthly<wbr>Income2"


def test_outcomes_may_hold_any_signs() -> None:
    named = replace(ALONE, outcomes=("ok = y = 1 = 2", "ok = y = 3"))
    text = shown(named)
    assert "share of the people with the same outcome" in text
    assert "accepted of ok = y = 1 = 2" in text


def test_budgets_too_wide_for_one_line_have_a_line_each_below_the_axis() -> None:
    X, y = gp.synthetic_people(n=60, d=6, seed=0)
    names = [f"a long name of a column that goes on, number {k}" for k in range(6)]
    table = pd.DataFrame(X, columns=names)
    model = gp.StrategicLogisticRegression(power=0.0).fit(table, y)
    one = "a long name of a column that go… -0.25 to +1,500"
    for many, below in ((1, []), (2, [f"1: {one}"] * 2), (4, [f"1: {one}"] * 4)):
        found = gp.audit(model, table, y, budgets=dict.fromkeys(names[:many], (-0.25, 1500)))
        first, *rest = budget_axis(found).split("\n")
        assert first == "multiple of the budgets" + (f" (1: {one})" if many == 1 else "")
        assert rest == below
    found = gp.audit(model, table, y, budgets=dict.fromkeys(names, (-0.25, 1500)))
    assert budget_axis(found).split("\n")[1:] == [*[f"1: {one}"] * 3, "and 3 more columns"]


@pytest.mark.parametrize("measure", ["cost", "balanced", "ks"])
def test_page_leads_with_the_measure_of_its_verdict(measure: str) -> None:
    X, y, model = people(300)
    weak = gp.LinearModel(model.coefficients * [1, 0, 0, 0], 0.1, NAMES, "weak")
    audit = gp.compare_models(
        [weak, model], X, y, budgets=BUDGETS, scale=SCALE, measure=measure, cost_accept_bad=5.0
    )
    found, said = sections_of(audit), {"ks": "KS", "balanced": "balanced accuracy"}
    label = said.get(measure, "cost per applicant")
    values = {
        (row.model, row.multiple): f"{row.value:.3f}"
        for row in audit.metrics
        if (row.metric, row.group) == (measure, None)
    }
    (other,) = audit.others
    clean, gamed = (
        f"the {label} of {audit.subject} is {values[audit.subject, at]} ({other} "
        f"{values[other, at]})."
        for at in (0.0, 1.0)
    )
    assert found["How good is the model?"].finding.startswith(f"When nobody games, {clean}")
    assert gamed in found["What happens when people game it?"].finding
    tiles = {tile.label: tile.value for tile in audit_tiles(audit)}
    assert tiles[f"{label}, nobody games"] == values[audit.subject, 0.0]
    assert tiles[f"{label}, budgets used"] == values[audit.subject, 1.0]


def test_cheaper_decision_about_everyone_is_stated_beside_the_cheapest_rate() -> None:
    """A bad applicant costs 20 times as much, so that refusing everyone is cheapest."""
    X, y, model = people(300)
    weak = gp.LinearModel(model.coefficients * [0.01, 1, 0, 0], 0.1, NAMES, "weak")
    for cost, expected in ((20.0, True), (1.0, False)):
        audit = gp.audit(weak, X, y, budgets=BUDGETS, scale=SCALE, cost_accept_bad=cost)
        said = sections_of(audit)["Whom to approve: thresholds and costs"].finding
        assert (f"; to refuse everyone costs less, {(y > 0).mean():.3f}." in said) == expected

"""The page of learned budgets says what was learned."""

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from audited import HOSTILE
from gameproof.auditing.page import page
from gameproof.tables.budget_learning.moves_page import WEAK, moves_sections, moves_tiles
from movers import NAMES, told

PEOPLE = told(600, seed=0)
PAIRED = gp.learn_budgets(PEOPLE.before, PEOPLE.after, "id", model=PEOPLE.model)
ALONE = gp.learn_budgets(PEOPLE.before, PEOPLE.after, "id")
UNPAIRED = gp.learn_budgets(PEOPLE.before[NAMES], PEOPLE.after[NAMES], model=PEOPLE.model)


@pytest.mark.parametrize(
    ("found", "titles"),
    [
        (
            PAIRED,
            [
                "What did people change?",
                "How far?",
                "Does it help acceptance?",
                "Which budgets?",
            ],
        ),
        (ALONE, ["What did people change?", "How far?", "Which budgets?"]),
    ],
)
def test_questions_are_answered_in_their_order(found, titles) -> None:
    assert [section.title for section in moves_sections(found)] == titles


def test_chart_compares_refused_and_accepted() -> None:
    (chart,) = moves_sections(PAIRED)[0].charts
    assert chart.labels[:2] == ["savings, up", "utilisation, down"]
    assert [series.name for series in chart.series] == ["refused before", "accepted before"]
    row = PAIRED.row("savings")
    assert row.refused is not None
    assert row.refused.up is not None
    assert chart.series[0].y[0] == row.refused.up.value
    (alone,) = moves_sections(ALONE)[0].charts
    assert [series.name for series in alone.series] == ["everyone"]


def test_quantiles_and_budgets_stand_in_tables() -> None:
    far = moves_sections(PAIRED)[1].tables[0]
    row = PAIRED.row("savings")
    assert row.up is not None
    assert far.rows[0][3:7] == [(q.value, q.low, q.high) for q in row.up.quantiles]
    budgets = moves_sections(PAIRED)[-1].tables[0]
    assert [line[0] for line in budgets.rows] == list(PAIRED.budgets)


def test_weaker_evidence_is_marked() -> None:
    text = page("t", moves_sections(UNPAIRED), {}, tiles=moves_tiles(UNPAIRED), notes=[WEAK])
    assert text.count("weaker evidence") >= 3
    assert moves_sections(UNPAIRED)[0].charts == []
    assert "weaker evidence" not in page("t", moves_sections(PAIRED), {})


def test_names_of_columns_are_text() -> None:
    before = pd.DataFrame({HOSTILE: np.arange(50.0), "id": np.arange(50)})
    after = before.assign(**{HOSTILE: np.arange(50.0) + np.arange(50) % 2})
    found = gp.learn_budgets(before, after, "id")
    assert HOSTILE in found.budgets
    assert HOSTILE not in page("t", moves_sections(found), {}, tiles=moves_tiles(found))

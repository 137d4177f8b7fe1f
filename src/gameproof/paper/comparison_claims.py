"""The paper's claims about the comparisons: final gaps, and leads in accuracy."""

from __future__ import annotations

import numpy as np

from gameproof.paper import paper_claims
from gameproof.paper.experiment_runs import ALGORITHMS, Row, by_seed, lead, where
from gameproof.paper.experiment_study import ExperimentStudy
from gameproof.paper.tuning import BUDGETS, OUTPUTS, WAYS

# To the letter, only the paper's output is judged: the algorithms hardly differ.
JUDGED = (("tuned", "average"), ("tuned", "last"), ("letter", "average"))
RESHUFFLING = "Reshuffling beats sampling with replacement"
# What is compared, and after which budgets: two if the algorithms differ in values per step.
COMPARED = (
    (f"{RESHUFFLING} (OGDA)", "OGDA-RR", "OGDA-WR", ("epochs",)),
    (f"{RESHUFFLING} (SGDA)", "SGDA-RR", "SGDA-WR", ("epochs",)),
    ("OGDA-RR beats SGDA-RR", "OGDA-RR", "SGDA-RR", tuple(BUDGETS)),
    ("OGDA-RR beats SGDA-WR", "OGDA-RR", "SGDA-WR", tuple(BUDGETS)),
)


def final(rows: list[Row], **wanted: str) -> list[float]:
    """Returns the score of each seed after the last epoch."""
    return [run[-1] for run in by_seed(where(rows, **wanted), "epoch", "score")[1]]


def claim_gaps(study: ExperimentStudy, rows: list[Row], title: str) -> None:
    """Compares final gaps: reshuffling with replacement, and OGDA with SGDA."""
    for way, output in JUDGED:
        for text, first, second, budgets in COMPARED:
            for budget in budgets:
                common = {"way": way, "output": output, "budget": budget}
                iterate = "" if output == "average" else ", last iterate"
                study.claims.append(
                    paper_claims.ratio_below_one(
                        text,
                        f"final gap, {first} / {second}, {BUDGETS[budget]}; {title}, "
                        f"{WAYS[way]}{iterate}",
                        final(rows, algorithm=first, **common),
                        final(rows, algorithm=second, **common),
                    )
                )


def note_final_gaps(study: ExperimentStudy, rows: list[Row]) -> None:
    """Writes means and standard deviations of the final gaps, of averages and last iterates, to a
    table, and those with block steps to a note."""
    found = []
    for way in WAYS:
        for budget in BUDGETS:
            for name in ALGORITHMS:
                what = {"way": way, "budget": budget, "algorithm": name}
                row: Row = {**what}
                for output in OUTPUTS:
                    runs = final(rows, output=output, **what)
                    row[output] = float(np.mean(runs))
                    row[f"{output} sd"] = float(np.std(runs, ddof=min(1, len(runs) - 1)))
                found.append(row)
    study.table("final", found)
    for budget, words in BUDGETS.items():
        own = where(found, way="tuned", budget=budget)
        listed = "; ".join(f"{row['algorithm']} {gap_words(row)}" for row in own)
        study.note(
            f"Mean gap ± standard deviation with block steps {words}, of the averaged iterate and, "
            f"in brackets, of the last iterate: {listed}."
        )


def gap_words(row: Row) -> str:
    """Formats mean and standard deviation of the averaged and, in brackets, the last iterate."""
    average, last = (f"{row[name]:.3g} ± {row[f'{name} sd']:.2g}" for name in OUTPUTS)
    return f"{average} ({last})"


def claim_accuracy(study: ExperimentStudy, rows: list[Row], title: str) -> None:
    """Claims that the robust classifier keeps its accuracy and the strategic one does not."""
    for robust in ("robust", "robust, from values"):
        claim_lead(study, rows, robust, f"{title}, {robust}")


def claim_lead(study: ExperimentStudy, rows: list[Row], robust: str, title: str) -> None:
    """Claims that a robust classifier leads the strategic one on average over gaming powers."""
    seeds = sorted({row["seed"] for row in rows})
    study.claims.append(
        paper_claims.mean_above(
            "The robust classifier keeps its accuracy where the strategic one loses it",
            f"mean lead in accuracy over gaming powers; {title}",
            [lead(where(rows, seed=seed), robust, "strategic") for seed in seeds],
        )
    )

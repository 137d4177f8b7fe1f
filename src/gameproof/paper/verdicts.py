"""What the comparisons say of the paper's claims: final gaps, and leads in accuracy."""

from __future__ import annotations

import numpy as np

from gameproof.paper import claims
from gameproof.paper.setting import ALGORITHMS, Row, by_seed, lead, where
from gameproof.paper.study import Study
from gameproof.paper.tuning import BUDGETS, OUTPUTS, WAYS

# To the letter nothing differs between the algorithms, and the paper's output is the average.
JUDGED = (("tuned", "average"), ("tuned", "last"), ("letter", "average"))
RESHUFFLING = "Reshuffling beats sampling with replacement"
# What is compared and, where the two ask a different number of values a step, by which budgets.
COMPARED = (
    (f"{RESHUFFLING} (OGDA)", "OGDA-RR", "OGDA-WR", ("epochs",)),
    (f"{RESHUFFLING} (SGDA)", "SGDA-RR", "SGDA-WR", ("epochs",)),
    ("OGDA-RR beats SGDA-RR", "OGDA-RR", "SGDA-RR", tuple(BUDGETS)),
    ("OGDA-RR beats SGDA-WR", "OGDA-RR", "SGDA-WR", tuple(BUDGETS)),
)


def final(rows: list[Row], **wanted: str) -> list[float]:
    """The score of each seed after the last epoch."""
    return [run[-1] for run in by_seed(where(rows, **wanted), "epoch", "score")[1]]


def claim_gaps(study: Study, rows: list[Row], title: str) -> None:
    """Reshuffling against replacement, optimism against none: the gap in the end."""
    for way, output in JUDGED:
        for text, first, second, budgets in COMPARED:
            for budget in budgets:
                common = {"way": way, "output": output, "budget": budget}
                iterate = "" if output == "average" else ", last iterate"
                study.claims.append(
                    claims.smaller(
                        text,
                        f"final gap, {first} / {second}, {BUDGETS[budget]}; {title}, "
                        f"{WAYS[way]}{iterate}",
                        final(rows, algorithm=first, **common),
                        final(rows, algorithm=second, **common),
                    )
                )


def note_final_gaps(study: Study, rows: list[Row]) -> None:
    """Means and standard deviations in the end, of last iterates next to averages: as a table, and
    of the runs with block steps in a sentence."""
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
        told = "; ".join(f"{row['algorithm']} {gap_words(row)}" for row in own)
        study.note(
            f"Mean gap ± standard deviation with block steps {words}, averaged iterate and, in "
            f"brackets, last iterate: {told}."
        )


def gap_words(row: Row) -> str:
    """Mean and standard deviation of the averaged iterate and, in brackets, of the last one."""
    average, last = (f"{row[name]:.3g} ± {row[f'{name} sd']:.2g}" for name in OUTPUTS)
    return f"{average} ({last})"


def claim_accuracy(study: Study, rows: list[Row], title: str) -> None:
    """The robust classifier keeps its accuracy as gaming grows, the strategic one does not."""
    for robust in ("robust", "robust, from values"):
        claim_lead(study, rows, robust, f"{title}, {robust}")


def claim_lead(study: Study, rows: list[Row], robust: str, title: str) -> None:
    """That a robust classifier is ahead of the strategic one in the mean over gaming powers."""
    seeds = sorted({row["seed"] for row in rows})
    study.claims.append(
        claims.larger(
            "The robust classifier keeps its accuracy where the strategic one loses it",
            f"mean lead in accuracy over gaming powers; {title}",
            [lead(where(rows, seed=seed), robust, "strategic") for seed in seeds],
        )
    )

"""How well probabilities fit on held-out rows: a line, the curve of gameproof, or isotonic steps.

Logistic regression and a robust classifier with balanced class weights are fitted to four fifths of
the published tables, with all their rows. Their scores become probabilities by three methods, each
fitted to the same training rows. The table shows means over splits on the other rows: log loss,
Brier score, the area under the curve lost to ties, and the mean difference between predicted and
observed shares over tenths of the people. Differences from the line have their standard
error over splits.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Table, save
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import gameproof as gp
from gameproof.estimators.calibration_fit import fitted_calibration

SPLITS = 6
Fitted = Callable[[Any, Any], Callable[[Any], Any]]


def line(scores: Any, good: Any) -> Callable[[Any], Any]:
    """Platt's scaling."""
    found = LogisticRegression(C=np.inf).fit(scores[:, None], good)
    return lambda z: found.predict_proba(z[:, None])[:, 1]


def curve(scores: Any, good: Any) -> Callable[[Any], Any]:
    """The calibration of gameproof."""
    return fitted_calibration(scores, good).probability


def steps(scores: Any, good: Any) -> Callable[[Any], Any]:
    """Isotonic regression, kept away from 0 and 1 by one row."""
    end = 1 / (len(good) + 2)
    found = IsotonicRegression(y_min=end, y_max=1 - end, out_of_bounds="clip")
    found.fit(scores, good.astype(float))
    return lambda z: expit(logit(found.predict(z)))


METHODS: dict[str, Fitted] = {"line": line, "curve": curve, "isotonic": steps}


def classifiers(data: gp.Dataset) -> dict[str, Any]:
    """The classifiers, for half a standard deviation of the movable columns."""
    more: dict[str, Any] = {"prepare": gp.Prepare(data.features), "class_weight": "balanced"}
    budgets = list(data.features.movable)
    return {
        "logistic": gp.StrategicLogisticRegression(power=0.0, **more),
        "robust": gp.RobustStrategicClassifier(radius=0.025, budgets=budgets, **more),
    }


def measured(probability: Any, scores: Any, good: Any) -> list[float]:
    """Log loss, Brier score, area lost to ties, and the mean difference over tenths."""
    tenths = np.array_split(np.argsort(probability, kind="stable"), 10)
    apart = [abs(probability[each].mean() - good[each].mean()) for each in tenths]
    lost = roc_auc_score(good, scores) - roc_auc_score(good, probability)
    return [
        log_loss(good, probability),
        brier_score_loss(good, probability),
        lost,
        float(np.mean(apart)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=SPLITS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ["data", "classifier", "method", "log loss", "change", "Brier score", "change"]
    table = Table("probabilities on held-out rows", [*columns, "AUC lost", "tenths apart"])
    for name in ("credit", "bank", "german"):
        data: gp.Dataset = getattr(gp, f"load_{name}")()
        found: dict[tuple[str, str], list[list[float]]] = {}
        for seed in range(options.splits):
            train, test = data.split(round(0.8 * len(data)), seed=seed)
            for kind, model in classifiers(data).items():
                model.fit(train.X, train.y)
                ends = [model.decision_function(part.X) for part in (train, test)]
                for method, fit in METHODS.items():
                    probability = fit(ends[0], train.y > 0)(ends[1])
                    row = measured(probability, ends[1], test.y > 0)
                    found.setdefault((kind, method), []).append(row)
        for (kind, method), rows in found.items():
            means = np.mean(rows, axis=0)
            more = np.array(rows) - np.array(found[kind, "line"])
            error = more.std(axis=0, ddof=1) / np.sqrt(len(rows))
            change = [f"{m:+.4f} ± {e:.4f}" for m, e in zip(more.mean(axis=0), error, strict=True)]
            shown = [f"{means[0]:.4f}", change[0], f"{means[1]:.4f}", change[1]]
            table.row(name, kind, method, *shown, f"{means[2]:.4f}", f"{means[3]:.4f}")
    save("calibration", [table])


if __name__ == "__main__":
    main()

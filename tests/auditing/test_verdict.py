"""The verdict: which model to use, in a sentence that follows from the intervals."""

import re
from dataclasses import replace

import numpy as np
import pytest

import gameproof as gp

RNG = np.random.default_rng(3)
X = RNG.standard_normal((400, 2))
Y = np.where(RNG.random(400) < 1 / (1 + np.exp(-X @ [1.5, 1.0])), 1.0, -1.0)
NAMES = ("plain", "strategic", "robust")
MODELS = [gp.LinearModel([1.5, size], name=n) for n, size in zip(NAMES, (1, 0.5, 0.1), strict=True)]
FOUND = gp.compare_models(MODELS, X, Y, budgets={1: (0, 0.8)}, measure="auc")
Three = tuple[float, float, float]
# Of these, none is measurably better than another.
EVEN: dict[tuple[str, str], Three] = {
    ("strategic", "plain"): (0.02, -0.1, 0.14),
    ("robust", "plain"): (0.2, -0.01, 0.41),
    ("robust", "strategic"): (0.18, -0.005, 0.38),
}
GOOD = {"plain": (0.6, 0.55, 0.7), "strategic": (0.62, 0.56, 0.7), "robust": (0.8, 0.6, 0.9)}


def with_areas(gamed: dict[str, Three], leads: dict[tuple[str, str], Three]) -> gp.Audit:
    """The audit with these AUC when bad applicants game, and these differences."""

    def changed(row, known, first: str):
        if (row.metric, row.multiple) != ("auc", 1.0):
            return row
        return replace(row, **dict(zip((first, "low", "high"), known, strict=True)))

    return replace(
        FOUND,
        metrics=tuple(changed(row, gamed[row.model], "value") for row in FOUND.metrics),
        metric_differences=tuple(
            changed(row, leads[row.model, row.against], "difference")
            for row in FOUND.metric_differences
        ),
    )


def test_plainest_of_models_that_cannot_be_told_apart_is_recommended() -> None:
    found = with_areas(GOOD, EVEN).verdict
    assert found.model == "plain"
    assert found.sentence.startswith(
        "Use plain at these budgets: no other model is measurably better when bad applicants use "
        "them; its AUC is then 0.600"
    )


def test_model_that_is_not_the_best_is_never_called_the_best() -> None:
    """The plain model is no better than chance when people game, so the next one is chosen."""
    found = with_areas(GOOD | {"plain": (0.45, 0.4, 0.5)}, EVEN).verdict
    assert found.model == "strategic"
    assert found.sentence.startswith(
        "Use strategic at these budgets: no other usable model is measurably better when bad "
        "applicants use them; its AUC is then 0.620"
    )


def test_model_that_may_be_chance_is_left_for_one_that_is_not() -> None:
    doubtful = {"plain": (0.45, 0.4, 0.5), "strategic": (0.598, 0.4, 0.7)}
    found = with_areas(GOOD | doubtful, EVEN).verdict
    assert found.model == "robust"
    assert found.sentence.endswith("; gamed, strategic is not measurably better than chance.")
    both = with_areas(GOOD | dict.fromkeys(NAMES[:2], (0.55, 0.4, 0.7)), EVEN).verdict
    assert both.model == "robust"
    assert both.sentence.endswith(
        "; gamed, plain and strategic are not measurably better than chance."
    )
    every = with_areas(dict.fromkeys(NAMES, (0.55, 0.4, 0.7)), EVEN).verdict
    assert every.model == "plain"
    assert every.sentence.endswith("; gamed, it is not measurably better than chance.")


def test_no_usable_model_is_measurably_better_than_the_recommended_one() -> None:
    """The best model is not measurably better than the plain one; the second best is."""
    found = with_areas(GOOD, EVEN | {("strategic", "plain"): (0.02, 0.01, 0.03)}).verdict
    assert found.model == "strategic"


def test_the_only_usable_model_is_called_so() -> None:
    useless = dict.fromkeys(NAMES[:2], (0.45, 0.4, 0.5))
    found = with_areas(GOOD | useless, EVEN).verdict
    assert found.model == "robust"
    assert found.sentence.startswith(
        "Use robust at these budgets: it is the only usable model; when bad applicants use them, "
        "its AUC is 0.800"
    )


@pytest.mark.parametrize("measure", ["auc", "ks", "accuracy"])
def test_good_ranking_behind_a_bad_threshold_is_said(measure: str) -> None:
    """A model that refuses everyone says nothing by its decisions, and may rank people well."""
    strict = gp.LinearModel([1.5, 0.1], -50.0, name="strict")
    for model, ranks in (
        (strict, True),
        (gp.LinearModel([0.0, 1e-9], -50.0, name="strict"), False),
    ):
        found = gp.audit(model, X, Y, budgets={1: (0, 8.0)}, measure=measure)
        (warning,) = found.verdict.warnings
        assert warning.startswith("strict refuses 100.0\xa0% of all applicants")
        (gamed,) = [r for r in found.metrics if (r.metric, r.multiple) == (measure, 1.0)]
        said = (
            f"; its ranking is measurably better than chance ({measure.upper()} {gamed.value:.3f} "
            "when bad applicants use their budgets), so choose its threshold by an approval rate "
            "(fit --approve)"
        )
        assert warning.endswith(said) == (ranks and measure != "accuracy")
        assert found.verdict.model is None


def test_value_that_gaming_does_not_change_is_said_once() -> None:
    (still,) = [gp.LinearModel([1.5, 0.0], name="still")]
    alone = gp.audit(still, X, Y, budgets={1: (0, 8.0)}, measure="auc")
    (value,) = {row.value for row in alone.metrics if row.metric == "auc"}
    assert alone.verdict.sentence.startswith("still can be used")
    assert alone.verdict.sentence.endswith("), as when nobody games.")
    assert alone.verdict.sentence.count(f"{value:.3f}") == 1
    near = gp.LinearModel([1.5, 0.001], name="near")
    both = gp.compare_models([still, near], X, Y, budgets={1: (0, 0.01)}, measure="auc")
    assert both.verdict.sentence.endswith("), as when nobody games.")


def test_costs_have_the_digits_of_costs() -> None:
    """A cost of 160.717 is 161, and one of 24.113 is 24.1."""
    for factor in (1, 100, 1_000):
        costs = {"cost_accept_bad": 3.0 * factor, "cost_refuse_good": 1.0 * factor}
        for models in (MODELS[:1], MODELS[::2]):
            for ends in ((0, 0.2), (0, 2.0), (0, 9.0)):
                options = {"budgets": {1: ends}, "measure": "cost", **costs}
                said = gp.compare_models(models, X, Y, **options).verdict.sentence
                for number in re.findall(r"(?<![\d,])\d+\.\d+(?!\d*\xa0%)", said):
                    whole, digits = number.split(".")
                    assert len(digits) == (3 if len(whole) == 1 else 1), said
                    assert len(whole) < 3, said

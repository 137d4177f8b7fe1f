"""The linear score inside a fitted scikit-learn classifier, without refitting anything.

`read_classifier` takes linear classifiers of two classes, pipelines that end in one, searches that
chose one, and classifiers that calibrate one or move its threshold. With score s of the linear
classifier,

    sigmoid calibration      p = expit(-(a s + b)), the score becomes -(a s + b)
    temperature              p = expit(2 beta s), the score becomes 2 beta s
    isotonic calibration     p rises with s, so that p > 1/2 exactly if s exceeds a threshold
    a threshold t of p       the score becomes s - logit(t) where p = expit(s)

These decide like the classifier itself, and are linear. `CalibratedClassifierCV` often averages the
probabilities of several classifiers, which is not linear: `ReadClassifier` then has several
members, and `averaged_score.py` handles their mean.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.pipeline import Pipeline, make_pipeline

from gameproof.core.arguments import Vector, shown
from gameproof.estimators.features import Features
from gameproof.estimators.prepare import Prepare

# Classifiers whose probability is the logistic function of their score.
LOGISTIC = (
    *("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"),
    *("RobustStrategicClassifier", "StrategicLogisticRegression"),
)


@final
@dataclass(frozen=True, eq=False)
class Member:
    """A linear score of prepared columns, positive for the second class.

    `transformers` are the fitted steps before the classifier. `probability` turns scores into the
    probability of the second class, after `cut` is added to them; None if the classifier gives
    none. The cut is the threshold that was moved to 0.
    """

    transformers: tuple[Any, ...]
    coef: Vector
    intercept: float
    probability: Any = None
    cut: float = 0.0

    @property
    def log_odds(self) -> bool:
        """Whether score plus cut are the log odds of the second class."""
        return self.probability is expit

    @property
    def transformer(self) -> Any:
        """All steps before the classifier as one transformer, or None."""
        if len(self.transformers) > 1:
            return make_pipeline(*self.transformers)
        return self.transformers[0] if self.transformers else None

    def times(self, factor: float, shift: float) -> Member:
        """The member with the score factor times s plus shift."""
        return replace(self, coef=factor * self.coef, intercept=factor * self.intercept + shift)


@final
@dataclass(frozen=True, eq=False)
class ReadClassifier:
    """What a fitted classifier computes: the score of its member, or a mean of probabilities.

    With several members, the score is their mean probability minus `threshold`.
    """

    kind: str
    members: tuple[Member, ...]
    classes: NDArray[Any]
    names: tuple[str, ...] | None
    threshold: float = 0.5

    @property
    def linear(self) -> bool:
        """Whether the score is linear in prepared columns."""
        return len(self.members) == 1


def read_classifier(model: Any) -> ReadClassifier:
    """The score of a fitted classifier; raises `TypeError` if it is not understood."""
    found = _read(model)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return found
    return replace(found, names=tuple(str(name) for name in names))


def _read(model: Any) -> ReadClassifier:
    kind = type(model).__name__
    if hasattr(model, "best_estimator_"):
        return read_classifier(model.best_estimator_)
    if kind == "FrozenEstimator":
        return read_classifier(model.estimator)
    if isinstance(model, Pipeline):
        return _pipeline(model)
    if hasattr(model, "calibrated_classifiers_"):
        return _calibrated(model)
    if kind in ("FixedThresholdClassifier", "TunedThresholdClassifierCV"):
        return _with_threshold(model)
    if not (hasattr(model, "coef_") and hasattr(model, "classes_")):
        raise TypeError(_expected(model))
    coef = model.coef_
    dense = np.atleast_2d(
        np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    )
    classes = np.asarray(model.classes_)
    if len(classes) != 2 or dense.shape[0] != 1:
        raise TypeError(
            f"expected a classifier of two classes, got a {kind} of {len(classes)} classes"
        )
    prepare = _named_preparation(model)
    logistic = kind in LOGISTIC or getattr(model, "loss", None) == "log_loss"
    member = Member(
        () if prepare is None else (prepare,),
        dense[0],
        float(np.ravel(getattr(model, "intercept_", 0.0))[0]),
        expit if logistic else None,
    )
    return ReadClassifier(kind, (member,), classes, None)


def _named_preparation(model: Any) -> Any:
    """The preparation inside a classifier, or None; a `Prepare` with the names of the table, which
    the classifier knows and its `Prepare` does not."""
    prepare, names = getattr(model, "prepare_", None), getattr(model, "feature_names_in_", None)
    if not isinstance(prepare, Prepare) or prepare.features is not None or names is None:
        return prepare
    found = copy(prepare)
    found.features = Features(tuple(str(name) for name in names))
    return found


def _expected(model: Any) -> str:
    kind = type(model).__name__
    if hasattr(model, "fit") and not hasattr(model, "classes_"):
        return f"{kind} is not fitted; fit it first"
    return (
        "expected a fitted linear classifier with coef_ and classes_, a pipeline that ends in one, "
        f"or a calibrated one, got {shown(model)}"
    )


def _pipeline(model: Pipeline) -> ReadClassifier:
    *before, (_, last) = model.steps
    steps = tuple(
        step
        for _, step in before
        if step is not None and not (isinstance(step, str) and step == "passthrough")
    )
    inner = read_classifier(last)
    members = [replace(each, transformers=(*steps, *each.transformers)) for each in inner.members]
    names = getattr(model, "feature_names_in_", None) if steps else inner.names
    return replace(
        inner, members=tuple(members), names=None if names is None else tuple(map(str, names))
    )


def _calibrated(model: Any) -> ReadClassifier:
    members: list[Member] = []
    inner = None
    for each in model.calibrated_classifiers_:
        inner = read_classifier(each.estimator)
        if not inner.linear:
            raise TypeError("a calibrated classifier of calibrated classifiers is not supported")
        members.append(_calibrated_member(inner.members[0], each.method, each.calibrators[0]))
    if inner is None:
        raise TypeError(_expected(model))
    if len(members) == 1 and members[0].probability is not expit:
        members = [_above_half(members[0])]
    kind = f"calibrated {inner.kind}"
    return ReadClassifier(kind, tuple(members), np.asarray(model.classes_), inner.names)


def _calibrated_member(member: Member, method: str, calibrator: Any) -> Member:
    if method == "sigmoid":
        scaled = member.times(-float(calibrator.a_), -float(calibrator.b_))
        return replace(scaled, probability=expit)
    if method == "temperature":
        return replace(member.times(2 * float(calibrator.beta_), 0.0), probability=expit)
    if method == "isotonic":
        return replace(member, probability=calibrator.predict)
    raise TypeError(f"a calibration by {method!r} is not known; use sigmoid, isotonic, temperature")


def _above_half(member: Member) -> Member:
    """The member whose score is positive where the isotonic probability exceeds a half."""
    calibrator = member.probability.__self__
    at, p = calibrator.X_thresholds_, calibrator.y_thresholds_
    above = int(np.searchsorted(p, 0.5, side="right"))
    if above in (0, p.size):
        raise TypeError(
            "the isotonic calibration gives everyone a probability on the same side of a half, so "
            "that the model makes the same decision about everyone; set a threshold with "
            "FixedThresholdClassifier on the model before its calibration"
        )
    low, high = above - 1, above
    part = (0.5 - p[low]) / (p[high] - p[low])
    moved = member.times(1.0, -float(at[low] + part * (at[high] - at[low])))
    return replace(moved, probability=None)


def _with_threshold(model: Any) -> ReadClassifier:
    """The classifier with its threshold moved to 0."""
    estimator = getattr(model, "estimator_", None) or model.estimator
    inner = read_classifier(estimator)
    given = getattr(model, "best_threshold_", None)
    threshold: Any = model.threshold if given is None else given
    if isinstance(threshold, str):  # "auto" is the classifier's own
        return inner
    if getattr(model, "pos_label", None) not in (None, inner.classes[1]):
        raise TypeError(f"pos_label must be the second class, {inner.classes[1]!r}, or None")
    if not inner.linear:
        return replace(inner, threshold=float(threshold))
    by_score = model.response_method == "decision_function"
    if not by_score and hasattr(estimator, "predict_proba"):
        if inner.members[0].probability is not expit:
            raise TypeError(
                f"a threshold of the probabilities of a {inner.kind} is not known as a threshold "
                'of its scores; use response_method="decision_function"'
            )
        threshold = logit(threshold)
    moved = inner.members[0].times(1.0, -float(threshold))
    return replace(inner, members=(replace(moved, cut=moved.cut + float(threshold)),))

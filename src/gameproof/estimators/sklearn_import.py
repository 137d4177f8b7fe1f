"""Linear classifiers of scikit-learn from skops files, which need not be trusted.

A skops file lists the types that it contains. Only linear classifiers, the transformers that
`trace_steps.py` understands, pipelines and column transformers of these, calibrations and plain
values are accepted; any other file is rejected before an object is built.

A pipeline of standard scalers and a classifier is flattened: with z = (x - mean) / scale, the score
<z, theta> + offset equals <x, theta / scale> + offset - <mean, theta / scale>. Other models stay as
they are.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.core.errors import ModelFileError
from gameproof.estimators.read_classifier import read_classifier
from gameproof.estimators.trace_steps import INCREASING

CLASSIFIERS = ("LogisticRegression", "LinearSVC", "SGDClassifier", "RidgeClassifier", "Perceptron")
# Classifiers and transformers of models that are not flattened.
OTHER_CLASSIFIERS = (
    *("LogisticRegressionCV", "RidgeClassifierCV", "PassiveAggressiveClassifier"),
    *("LinearDiscriminantAnalysis", "CalibratedClassifierCV", "FixedThresholdClassifier"),
)
TRANSFORMERS = (
    *("ColumnTransformer", "FeatureUnion", "SimpleImputer", "MissingIndicator", "OneHotEncoder"),
    *("OrdinalEncoder", "TargetEncoder", "KBinsDiscretizer", "RobustScaler", "MinMaxScaler"),
    *("MaxAbsScaler", "QuantileTransformer", "PowerTransformer", "FunctionTransformer"),
    *("Binarizer", "PCA", "TruncatedSVD", "VarianceThreshold"),
)
CALIBRATIONS = ("_CalibratedClassifier", "_SigmoidCalibration", "IsotonicRegression")
HOMES = (
    *("sklearn.linear_model.", "sklearn.svm.", "sklearn._loss.", "sklearn.discriminant_analysis"),
    *("sklearn.preprocessing.", "sklearn.pipeline", "sklearn.compose.", "sklearn.impute."),
    *("sklearn.calibration", "sklearn.isotonic", "sklearn.decomposition."),
    *("sklearn.feature_selection.", "sklearn.model_selection._classification_threshold"),
)
# Types that skops does not trust by itself, and that hold nothing but numbers and their own parts.
TRUSTED = (
    "numpy.dtype",
    *(f"sklearn.calibration.{name}" for name in CALIBRATIONS[:2]),
)
# Other objects in such files: scalers, label encoders and losses.
PARTS = (
    *("StandardScaler", "Pipeline", "LabelBinarizer", "Hinge", "Log", "ModifiedHuber"),
    *("CyHalfBinomialLoss", "CyHalfSquaredError", "CyHuberLoss"),
    *("SquaredHinge", "SquaredLoss", "Huber", "EpsilonInsensitive", "SquaredEpsilonInsensitive"),
)
PLAIN = ("str", "int", "float", "bool", "NoneType", "tuple", "list", "dict", "slice")
ARRAYS = ("ndarray", "dtype", "float64", "float32", "int64", "int32", "bool_", "str_")
SCHEMA = "schema.json"  # part of every skops file
# In bytes; a linear classifier needs less.
LARGEST = 50_000_000


@final
@dataclass(frozen=True, eq=False)
class ImportedClassifier:
    """A linear classifier in the units of its table; scores are positive for ``classes[1]``."""

    kind: str
    coef: Vector
    intercept: float
    classes: tuple[Any, ...]
    names: tuple[str, ...] | None

    def towards(self, favourable: Any) -> tuple[Vector, float]:
        """Coefficients and intercept, positive towards this class."""
        sign = 1.0 if favourable == self.classes[1] else -1.0
        return sign * self.coef, sign * self.intercept


@final
@dataclass(frozen=True, eq=False)
class ImportedPipeline:
    """A fitted model with a linear score of transformed columns of a table."""

    kind: str
    estimator: Any
    classes: tuple[Any, ...]
    names: tuple[str, ...]


def load_sklearn_classifier(path: str | Path) -> ImportedClassifier | ImportedPipeline:
    """The classifier in a skops file; raises `ModelFileError` if the file is not accepted."""
    data = Path(path).read_bytes()
    strange = sorted(set(_types(data, str(path))) - _known())
    if strange:
        raise ModelFileError(
            f"{path} holds {strange[0]}, and an audit accepts only linear classifiers such as "
            f"{', '.join(CLASSIFIERS)}, calibrated or not, after transformers such as "
            "StandardScaler, SimpleImputer, OneHotEncoder and ColumnTransformer"
        )
    try:
        from skops.io import get_untrusted_types, loads
    except ImportError as error:
        raise ImportError(
            "scikit-learn models need skops: pip install 'gameproof[skops]'"
        ) from error
    try:
        untrusted = sorted({*get_untrusted_types(data=data)} - {*TRUSTED})
        if untrusted:
            raise ModelFileError(f"{path} holds types that skops does not trust: {untrusted[0]}")
        return _imported(loads(data, trusted=list(TRUSTED)), str(path))
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make its reader raise nearly anything
        raise ModelFileError(f"{path} is a damaged skops file: {error}") from error


def _imported(model: Any, given: str) -> ImportedClassifier | ImportedPipeline:
    """A flattened classifier if the model is one, else the model as it is."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    kinds = [type(step).__name__ for step in steps if step != "passthrough"]
    simple = {*CLASSIFIERS, *PARTS}
    if not {*kinds} - simple:
        return flatten_pipeline(model, given)
    try:
        read = read_classifier(model)
    except TypeError as error:
        raise ModelFileError(f"{given}: {error}") from error
    if read.names is None:
        raise ModelFileError(
            f"{given} does not name its columns; fit the model to a data frame, so that the "
            "columns of a table can be found by name"
        )
    return ImportedPipeline(kinds[-1], model, tuple(read.classes.tolist()), read.names)


def flatten_pipeline(model: Any, given: str = "the model") -> ImportedClassifier:
    """The classifier that a fitted classifier or pipeline is equivalent to."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    *scalers, classifier = steps
    scalers = [step for step in scalers if step != "passthrough"]
    wrong = [step for step in scalers if type(step).__name__ != "StandardScaler"]
    if type(classifier).__name__ not in CLASSIFIERS or wrong:
        found = type((wrong or [classifier])[0]).__name__
        raise ModelFileError(
            f"{given} holds {found}, and an audit takes {', '.join(CLASSIFIERS)}, or a Pipeline of "
            "StandardScaler and one of them"
        )
    if not hasattr(classifier, "coef_"):
        raise ModelFileError(f"{given} was saved before it was fitted")
    coef = np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))
    classes = tuple(np.asarray(classifier.classes_).tolist())
    if len(classes) != 2 or coef.shape[0] != 1:
        raise ModelFileError(f"{given} has {len(classes)} classes, and an audit needs two")
    theta, offset = coef[0], float(np.ravel(classifier.intercept_)[0])
    for scaler in reversed(scalers):
        if scaler.scale_ is not None:
            theta = theta / scaler.scale_
        if scaler.with_mean:
            offset -= float(scaler.mean_ @ theta)
    if theta.shape != coef[0].shape or not np.isfinite([*theta, offset]).all():
        raise ModelFileError(f"{given} has coefficients that are not finite or do not fit together")
    return ImportedClassifier(type(classifier).__name__, theta, offset, classes, _names(steps))


def _names(steps: Sequence[Any]) -> tuple[str, ...] | None:
    found = getattr(steps[0], "feature_names_in_", None)
    return None if found is None else tuple(str(name) for name in found)


def _known() -> set[str]:
    return {
        *(f"builtins.{name}" for name in PLAIN),
        *(f"numpy.{name}" for name in ARRAYS),
        *(f"numpy.{function.__name__}" for function in (*INCREASING, np.negative)),
        *(f"sklearn.{name}" for name in (*CLASSIFIERS, *PARTS)),
        *(f"sklearn.{name}" for name in (*OTHER_CLASSIFIERS, *TRANSFORMERS, *CALIBRATIONS)),
    }


def _types(data: bytes, given: str) -> Iterator[str]:
    """The types that a skops file lists; scikit-learn's are shortened to ``sklearn.Name``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST:
                raise ModelFileError(f"{given} is too large to be a linear classifier")
            if SCHEMA not in archive.namelist():
                raise ModelFileError(f"{given} is neither a gameproof model file nor a skops file")
            schema = json.loads(archive.read(SCHEMA))
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make its reader raise nearly anything
        raise ModelFileError(
            f"{given} is truncated or damaged: it cannot be read as a skops archive"
        ) from error
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "__class__" in node:
                yield _short(str(node.get("__module__")), str(node["__class__"]))
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def _short(module: str, name: str) -> str:
    # The compiled losses of scikit-learn before 1.9 give their module without its package.
    inside = module == "_loss" or any(module.startswith(home) for home in HOMES)
    return f"sklearn.{name}" if inside else f"{module}.{name}"

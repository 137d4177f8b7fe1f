"""Linear classifiers of scikit-learn from skops files, which need not be trusted.

A skops file lists the types that it contains. Only linear classifiers, standard scalers, pipelines
of the two and plain values are accepted; any other file is rejected before an object is built. A
pipeline is flattened: with z = (x - mean) / scale, the score <z, theta> + offset equals
<x, theta / scale> + offset - <mean, theta / scale>.
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

CLASSIFIERS = ("LogisticRegression", "LinearSVC", "SGDClassifier", "RidgeClassifier", "Perceptron")
HOMES = (
    *("sklearn.linear_model.", "sklearn.svm.", "sklearn._loss."),
    *("sklearn.preprocessing.", "sklearn.pipeline"),
)
# Other objects in such files: scalers, label encoders and losses.
PARTS = (
    *("StandardScaler", "Pipeline", "LabelBinarizer", "Hinge", "Log", "ModifiedHuber"),
    *("CyHalfBinomialLoss", "CyHalfSquaredError", "CyHuberLoss"),
    *("SquaredHinge", "SquaredLoss", "Huber", "EpsilonInsensitive", "SquaredEpsilonInsensitive"),
)
PLAIN = ("str", "int", "float", "bool", "NoneType", "tuple", "list", "dict")
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


def load_sklearn_classifier(path: str | Path) -> ImportedClassifier:
    """The classifier in a skops file; raises `ModelFileError` if the file is not accepted."""
    data = Path(path).read_bytes()
    strange = sorted(set(_types(data, str(path))) - _known())
    if strange:
        raise ModelFileError(
            f"{path} holds {strange[0]}, and an audit accepts only linear classifiers: "
            f"{', '.join(CLASSIFIERS)}, or a Pipeline of StandardScaler and one of them"
        )
    try:
        from skops.io import get_untrusted_types, loads
    except ImportError as error:
        raise ImportError(
            "scikit-learn models need skops: pip install 'gameproof[skops]'"
        ) from error
    try:
        untrusted = get_untrusted_types(data=data)
        if untrusted:
            raise ModelFileError(f"{path} holds types that skops does not trust: {untrusted[0]}")
        return flatten_pipeline(loads(data, trusted=[]), str(path))
    except (ModelFileError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make its reader raise nearly anything
        raise ModelFileError(f"{path} is a damaged skops file: {error}") from error


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
        *(f"sklearn.{name}" for name in (*CLASSIFIERS, *PARTS)),
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

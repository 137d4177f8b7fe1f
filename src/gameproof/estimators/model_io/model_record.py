"""Records of fitted models, which consist of numbers and text, and models from their records."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn
from sklearn.base import clone

from gameproof.core.arguments import as_count, as_vector, shown
from gameproof.estimators.fitted_preparation import FittedPreparation
from gameproof.estimators.gamed_classifier import GamedClassifier
from gameproof.estimators.model_io.model_files import Record, from_json, restore_mapping, to_json
from gameproof.estimators.model_io.model_parts import (
    UNSAVED,
    budgets_record,
    describe_response,
    response_record,
    restore_budgets,
    restore_checked_budgets,
    restore_response,
    restore_transformer,
    transformer_record,
)
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.response_choice import ResponseChoice
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.estimators.scaling import Units
from gameproof.estimators.table_budgets import as_budgets
from gameproof.estimators.table_columns import is_frame
from gameproof.minmax.saddle import Saddle
from gameproof.minmax.solver import Solver
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.row_problem import RowProblem

Model = TypeVar("Model", bound=GamedClassifier)


def training_record(
    model: GamedClassifier, problem: StrategicProblem | RowProblem, people: WeightedRows | None
) -> Record:
    """How a model was fitted: versions, data, settings and the status of the solution.

    Rows in blocks have no fingerprint: `people` is None."""
    population = problem.population
    method, found = "exact", model.result_
    if isinstance(found, Saddle):
        status = f"certified to {found.duality_gap:.1e}"
    else:
        method, status = getattr(model.solver, "name", str(model.solver)), found.status
    return {
        "versions": {
            "gameproof": import_module("gameproof").__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "scikit-learn": sklearn.__version__,
            "scipy": scipy.__version__,
        },
        "fingerprint": None if people is None else _fingerprint(model, people.X, people.y),
        "rows": population.n,
        "favourable_rows": population.n_positive,
        "radius": problem.radius,
        "label_cost": problem.label_cost,
        **_response_record(model),
        "method": method,
        "status": status,
        "worst_case_risk": model.worst_case_risk_,
        "n_queries": model.n_queries_,
    }


def _response_record(model: GamedClassifier) -> Record:
    """How people move, as text; budgets are in the table's units."""
    if model.budgets_ is not None:
        return {"response": "budgets", "budgets": model.budgets_.describe()}
    return {"response": describe_response(ResponseChoice.of(model).chosen_response())}


def _fingerprint(model: Any, table: Any, labels: Any) -> str:
    """A digest of rows and labels; their data types and sample weights do not matter."""
    names = getattr(model, "feature_names_in_", None)
    digest = hashlib.sha256(repr(None if names is None else names.tolist()).encode())
    numbers = FittedPreparation.of(model).numbers(table) if is_frame(table) else table
    digest.update(np.ascontiguousarray(numbers, dtype="<f8").data)  # without a copy
    # -1 and 1 for the two classes, 0 for unknown labels.
    first, second = (np.ravel(labels) == label for label in model.classes_)
    digest.update((second.astype(np.int8) - first.astype(np.int8)).tobytes())
    return digest.hexdigest()


def trained_on(model: Any, X: Any, y: Any) -> bool:
    """Whether a model is known to have been trained on exactly these rows."""
    trained = getattr(model, "training_", {}).get("fingerprint")
    return trained is not None and trained == _fingerprint(model, X, y)


def model_record(model: GamedClassifier, command: str | None) -> Record:
    """The record of a fitted model."""
    outcomes, names = model.outcomes_, getattr(model, "feature_names_in_", None)
    if outcomes.classes.dtype.kind not in "biufUO" or not all(
        isinstance(label, (bool, int, float, str)) for label in outcomes.classes.tolist()
    ):
        raise TypeError(f"a model file holds classes that are numbers or text, not {outcomes}")
    parameters = model.get_params(deep=False)
    if isinstance(model.class_weight, Mapping):  # keys of JSON are text
        parameters["class_weight"] = list(model.class_weight.items())
    parameters["features"] = None if model.features is None else list(model.features)
    # A file holds what was chosen.
    if isinstance(parameters.get("radius"), str):
        parameters["radius"] = model.training_["radius"]
    if isinstance(model.budgets, str):
        parameters["features"] = None
    parameters["response"] = response_record(model.response)
    stated = model.budgets_ if isinstance(model.budgets, str) else model.budgets
    parameters["budgets"] = budgets_record(stated)
    del parameters["prepare"]  # restored from the fitted one
    del parameters["journal"]  # a file of this machine
    if isinstance(model.solver, Solver):
        parameters["solver"] = UNSAVED + model.solver.signature
    if not isinstance(model.random_state, (int, np.integer)):
        parameters["random_state"] = None
    fitted = {
        "classes": outcomes.classes,
        "classes_dtype": outcomes.classes.dtype.str,
        "favourable": outcomes.favourable,
        "coef": model.coef_[0],
        "intercept": model.intercept_[0],
        "mean": model.units_.mean,
        "scale": model.units_.scale,
        "movable": model.movable_,
        "n_features": model.n_features_in_,
        "names": names,
        "budgets": budgets_record(model.budgets_),
        "trained_for": model.trained_for_,
        "prepare": transformer_record(model.prepare_),
        "n_queries": model.n_queries_,
        "worst_case_risk": model.worst_case_risk_,
    }
    noted = {} if command is None else {"command": command}
    parts = {"parameters": parameters, "fitted": fitted, "training": {**model.training_, **noted}}
    return {"kind": type(model).__name__, **{name: to_json(part) for name, part in parts.items()}}


def restore_model(kind: type[Model], content: Record) -> Model:
    """A model from its record; an invalid record may raise any exception."""
    fitted = from_json(content["fitted"])
    prepare = restore_transformer(fitted.get("prepare"))
    parameters = _restored_parameters(from_json(content["parameters"]))
    model = kind(**parameters, prepare=None if prepare is None else clone(prepare))
    model.prepare_, model.stated_budgets_ = prepare, model.budgets
    model.budgets_ = restore_checked_budgets(fitted.get("budgets"))
    model.trained_for_ = float(as_vector("trained_for", [fitted.get("trained_for", 1.0)])[0])
    _restore_classes(model, fitted)
    _restore_coefficients(model, fitted)
    _restore_columns(model, fitted)
    model.n_queries_ = as_count("n_queries", fitted["n_queries"], 0)
    model.worst_case_risk_ = float(fitted["worst_case_risk"])
    model.training_ = restore_mapping(content["training"])
    return model


def _restored_parameters(saved: Record) -> Record:
    """The parameters of a classifier, except for `prepare`."""
    if not isinstance(saved["features"], list | None):
        raise TypeError(f"features must be a list, got {shown(saved['features'])}")
    saved["response"] = restore_response(saved["response"])
    saved["budgets"] = restore_budgets(saved.get("budgets"))  # missing in version 1
    if isinstance(saved["class_weight"], list):
        saved["class_weight"] = dict(saved["class_weight"])
    return saved


def _restore_classes(model: GamedClassifier, fitted: Record) -> None:
    # Limits the memory that the data type of a crafted file can ask for.
    if not re.fullmatch(r"[<>|=]?([biufO]\d?\d?|U\d{1,5})", fitted["classes_dtype"]):
        raise ValueError(f"the classes have an unknown data type, {fitted['classes_dtype']!r}")
    classes = np.array(fitted["classes"], dtype=np.dtype(fitted["classes_dtype"]))
    if classes.shape != (2,):
        raise ValueError(f"there must be two classes, got {classes.tolist()}")
    model.outcomes_ = Outcomes.learned(classes, fitted["favourable"])
    model.classes_ = model.outcomes_.classes


def _restore_coefficients(model: GamedClassifier, fitted: Record) -> None:
    coef = as_vector("coef", fitted["coef"])
    mean, scale = as_vector("mean", fitted["mean"]), as_vector("scale", fitted["scale"])
    if not (coef.shape == mean.shape == scale.shape and (scale > 0).all()):
        raise ValueError("means and scales do not fit the coefficients")
    model.units_, model.coef_ = Units(mean, scale), coef[None, :]
    model.intercept_ = as_vector("intercept", [fitted["intercept"]])
    movable = [as_count("movable", k, 0) for k in fitted["movable"]]
    if len({*movable}) < len(movable) or max(movable, default=-1) >= coef.size:
        raise ValueError(f"{movable} are not movable columns of {coef.size}")
    model.movable_ = np.array(movable, dtype=np.int64)


def _restore_columns(model: GamedClassifier, fitted: Record) -> None:
    """The columns of the table, which must fit the coefficients and the budgets."""
    prepare, size = model.prepare_, model.coef_.size
    d = model.n_features_in_ = as_count("n_features", fitted.get("n_features", size))
    made = d if prepare is None else len(prepare.get_feature_names_out())
    if (d if prepare is None else prepare.n_features_in_) != d or made != size:
        raise ValueError("the columns of the table do not fit the coefficients")
    if fitted["names"] is not None:
        if len(fitted["names"]) != d or not all(type(n) is str for n in fitted["names"]):
            raise ValueError("names do not fit the columns of the table")
        model.feature_names_in_ = np.array(fitted["names"], dtype=object)
    if model.budgets_ is not None:
        as_budgets(model.budgets_, FittedPreparation.of(model).features, np.zeros((1, d)))

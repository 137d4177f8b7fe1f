"""Loads models from files: those of gameproof, and linear models of scikit-learn."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from gameproof.core.arguments import shown
from gameproof.core.errors import ModelFileError
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.model_io.model_files import read_model_file
from gameproof.estimators.model_io.model_record import restore_model
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.estimators.sklearn_import import ImportedClassifier, load_sklearn_classifier
from gameproof.tables.table_model import TableModel, restored_table

KINDS: dict[str, type[BaseStrategicClassifier]] = {
    kind.__name__: kind for kind in (RobustStrategicClassifier, StrategicLogisticRegression)
}


def load_model(path: str | Path) -> BaseStrategicClassifier | TableModel:
    """Load a model that ``model.save(path)`` or ``gameproof fit`` wrote.

    The model predicts exactly as it did before, and ``training_`` says what it was fitted to. It
    has no ``result_``. A black box or a solver must be given again before the model is refitted.

    Parameters
    ----------
    path : str or Path
        The file. It is text and runs no code, so files from untrusted sources are safe to open.

    Returns
    -------
    TableModel, RobustStrategicClassifier or StrategicLogisticRegression

    Raises
    ------
    ModelFileError
        If the file does not hold a model that this version can use.

    Examples
    --------
    >>> import gameproof as gp, os, tempfile
    >>> X, y = gp.synthetic_people(50, 2)
    >>> model = gp.RobustStrategicClassifier(radius=0.1).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.json")
    ...     model.save(path)
    ...     loaded = gp.load_model(path)
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    place = Path(path)
    content = read_model_file(place)
    kind = KINDS.get(str(content.get("kind")))
    whole = content.get("kind") == TableModel.__name__
    if kind is None and not whole:
        raise ModelFileError(
            f"{place} holds a {content.get('kind')!r}, expected one of "
            f"{', '.join([*KINDS, TableModel.__name__])}; a newer gameproof may know it"
        )
    try:
        return restored_table(content, KINDS) if kind is None else restore_model(kind, content)
    except MemoryError:
        raise
    except Exception as error:  # a crafted file can be wrong in any way
        raise ModelFileError(f"{place} does not describe a model: {error}") from error


def load_table_model(path: str | Path) -> TableModel:
    """Loads a model that ``gameproof fit`` wrote, or raises an error that says what it is."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} that was saved without its table's columns; "
            "give a file that gameproof fit wrote"
        )
    return model


class ModelInUse(NamedTuple):
    """A linear model of gameproof or of scikit-learn, and the file it comes from."""

    model: TableModel | ImportedClassifier
    name: str = "the model"
    short_name: str = "model"
    digest: str = ""


def load_model_in_use(model: Any) -> ModelInUse:
    """A `TableModel`, or the model in a file that ``gameproof fit`` or skops wrote."""
    if isinstance(model, ModelInUse):
        return model
    if isinstance(model, (TableModel, ImportedClassifier)):
        return ModelInUse(model)
    if not isinstance(model, (str, Path)):
        raise TypeError(f"model must be a file or a TableModel, got {shown(model)}")
    path = Path(model)
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, expected a model file")
    data = path.read_bytes()
    if data.startswith(b"\x80"):
        raise ModelFileError(
            f"{path} is a pickle, which can run any code when it is opened; save the model with "
            "skops.io.dump instead"
        )
    loaded = load_sklearn_classifier(path) if data.startswith(b"PK") else load_table_model(path)
    return ModelInUse(loaded, str(path), path.name, sha256(data).hexdigest())

"""`load_model`: a model from its file."""

from __future__ import annotations

from pathlib import Path

from gameproof.core.errors import ModelFileError
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.logistic import StrategicLogisticRegression
from gameproof.estimators.model_io.model_files import read_model_file
from gameproof.estimators.model_io.model_record import restore_model
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.tables.table_model import TableModel, restored_table

KINDS: dict[str, type[BaseStrategicClassifier]] = {
    kind.__name__: kind for kind in (RobustStrategicClassifier, StrategicLogisticRegression)
}


def load_model(path: str | Path) -> BaseStrategicClassifier | TableModel:
    """The model that ``model.save(path)`` or ``gameproof fit`` wrote. The file is text and runs no
    code, whoever made it; what cannot be used is refused with a `ModelFileError`.

    The model predicts the same to the last bit, and ``training_`` tells what it was made of. It has
    no ``result_``, and a black box or a solver must be given again before it is fitted again.
    """
    place = Path(path)
    content = read_model_file(place)
    kind = KINDS.get(str(content.get("kind")))
    whole = content.get("kind") == TableModel.__name__
    if kind is None and not whole:
        raise ModelFileError(
            f"{place} holds a {content.get('kind')!r}; this gameproof knows "
            f"{', '.join([*KINDS, TableModel.__name__])}"
        )
    try:
        return restored_table(content, KINDS) if kind is None else restore_model(kind, content)
    except Exception as error:  # a crafted file can be wrong in any way
        raise ModelFileError(f"{place} does not describe a model: {error}") from error


def load_table_model(path: str | Path) -> TableModel:
    """One that ``gameproof fit`` wrote, or an error that says what the file holds instead."""
    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} that was saved without its table's columns; "
            "the command takes what gameproof fit writes"
        )
    return model

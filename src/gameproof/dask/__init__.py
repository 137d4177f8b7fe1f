"""Classifiers for Dask arrays and data frames.

They take the parameters of gameproof's classifiers, and `client`. `fit` works where the partitions
are, and certifies its result as on one machine. `predict` and the other methods that return one
value per row are lazy. `to_local` gives the ordinary classifier, for files, audits and single
machines.

    from gameproof.dask import RobustStrategicClassifier
    model = RobustStrategicClassifier(radius=0.05).fit(X, y)
    model.to_local().save("model.json")
"""

from gameproof.dask.dask_models import RobustStrategicClassifier, StrategicLogisticRegression

__all__ = ["RobustStrategicClassifier", "StrategicLogisticRegression"]

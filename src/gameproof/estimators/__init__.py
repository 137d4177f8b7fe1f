"""scikit-learn estimators: classifiers, preparation, budgets, model selection, model files."""

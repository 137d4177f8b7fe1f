"""People who adapt to a model: populations, responses, the robust problem, exact solutions."""

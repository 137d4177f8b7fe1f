"""The paper's experiments, one module each: ``gameproof reproduce``."""

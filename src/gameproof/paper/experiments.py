"""The experiments by name, in the order in which they run."""

EXPERIMENTS = {
    "synthetic-500": "Synthetic people, n = 500",
    "synthetic-1000": "Synthetic people, n = 1000",
    "synthetic-4000": "Synthetic people, n = 4000",
    "error-bars": "Repeated runs on the same people",
    "credit": "Credit",
    "bank": "Bank",
    "complexity": "Values needed, by people and features",
    "smooth-or-not": "Smooth min-max or non-smooth minimisation",
    "inner-loop": "OGDA-RR or an inner loop of log n gradients",
    "decisions": "Gaming scores or gaming decisions",
    "rate": "The rate of the theorem",
}

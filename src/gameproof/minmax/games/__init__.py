"""Games whose saddle points are known: for tests, demos and benchmarks."""

"""Tables: reading and encoding them, published data sets, and classifiers for whole tables."""

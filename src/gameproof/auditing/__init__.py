"""What gaming does to a classifier: rows are computed first, then drawn."""

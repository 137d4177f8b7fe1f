"""From numbers to tables, figures and pages: rows are computed first, then drawn."""

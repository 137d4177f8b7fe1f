"""Fitted models as files of text: the file format, and records of models and of their parts."""

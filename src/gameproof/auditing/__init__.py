"""Audits: how a classifier does when people game it, with figures and pages."""

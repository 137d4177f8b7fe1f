"""Estimates of a sample's gradient, one file each."""

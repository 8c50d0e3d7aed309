"""Columns for estimators that learn bins and ranks and take missing values.

One number per table column where that is possible, as it is or as a code.
"""

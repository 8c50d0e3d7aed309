"""Readers of tables, one file per format."""

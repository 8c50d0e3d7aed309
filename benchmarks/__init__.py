"""Measurements of the library; each script can be run by itself."""

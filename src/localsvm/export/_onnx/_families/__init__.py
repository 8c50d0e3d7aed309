"""Graphs of the families of methods, one file each, and what several share."""

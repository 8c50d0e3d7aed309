"""Graphs of the kernel SVMs of neighbourhoods."""

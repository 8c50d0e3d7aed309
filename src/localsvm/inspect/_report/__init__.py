"""The report on a model: one HTML file."""

from localsvm.inspect._report._write import write_report

__all__ = ["write_report"]

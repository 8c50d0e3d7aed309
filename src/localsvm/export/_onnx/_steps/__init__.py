"""Graphs of the steps before a model: tables encoded, transformers, pipelines."""

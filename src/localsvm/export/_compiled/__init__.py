"""Predictors of NumPy rows: fitted models as the compiled core takes them."""

from localsvm.export._compiled._model import CompiledModel, compile

__all__ = ["CompiledModel", "compile"]

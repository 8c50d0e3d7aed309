"""Models over HTTP: the Open Inference Protocol, explanations and a page to try."""

from localsvm.serve._app import create_app
from localsvm.serve._running._run import run

__all__ = ["create_app", "run"]

"""Predictions explained by the linear function of their regions."""

"""People who are happy or not: a table for the commands."""

import numpy as np
import pandas as pd


def make_people(n_rows, seed=0):
    """Ages, incomes and towns; who is happy depends on them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_rows)
    income = rng.normal(50, 15, n_rows).round(1)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n_rows)
    score = (age - 50) / 20 + (income - 50) / 15 * np.where(town == "Ulm", 1, -1)
    happy = np.where(score + 0.3 * rng.standard_normal(n_rows) > 0, "yes", "no")
    return pd.DataFrame({"age": age, "income": income, "town": town, "happy": happy})

"""A model's regions as a table, a map and weights."""

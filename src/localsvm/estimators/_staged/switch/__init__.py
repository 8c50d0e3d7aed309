"""Two stages: the first answers the easy rows, the second the hard ones."""

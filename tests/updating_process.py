"""A process that updates a model file until it is killed.

Prints one line when it is ready and one after each update that is there to stay.
"""

import sys

import numpy as np

from localsvm.export import UpdatableFile


def changes(n):
    """Give the rows that come at a step; at the next one they go."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((1, 3))
    return X, np.array([n % 2])


def run(path, first):
    """Make the updates from ``first`` on."""
    with UpdatableFile(path) as file:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for n in range(first, first + 10_000):
            file.update(add=changes(n), remove=changes(n - 1) if n else None)
            sys.stdout.write(f"{n}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))

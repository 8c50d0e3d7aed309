"""Data sets by name: benchmarks, the papers' tasks, samples, synthetic problems."""

"""The figures of the project: `python -m benchmarks`, or `make bench`."""

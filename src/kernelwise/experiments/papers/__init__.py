"""The experiments, one module a paper."""

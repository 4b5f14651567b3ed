"""Walks over kernels and costs with warm starts, and the criteria that select a point."""

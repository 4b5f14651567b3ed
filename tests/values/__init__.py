"""Tests of how values of columns are read."""

"""The experiments: one folder per paper, with the name of its method."""

"""What all methods share: the base class, kernels by name, Gram matrices, predictors, progress."""

"""Benchmarks on the engine of `kernelwise.experiments`: ``python -m benchmarks [SUITE ...]``.

A suite is an experiment with one task per case. Its results are kept in ``results/SUITE.jsonl``,
and the pages of the documentation are rendered from these files alone.

speed:          fits, predictions and kernels against other libraries     docs/benchmarks.md
learners:       what learning weights, widths and costs gives and costs   docs/learners.md
quality:        RelevanceSVC against its peers, on tables of many kinds   docs/quality.md
equalities:     the solver of machines with features in their bias        docs/equalities.md
discrimination: FeatureDiscriminationSVC against the paper's grid search  (printed)
"""

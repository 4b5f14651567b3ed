"""Benchmarks: ``python -m benchmarks [SUITE ...]``.

A suite is an experiment of `benchmarks.engine` with one task per case. Its results are kept in
``results/SUITE.jsonl``, and the pages of the documentation are rendered from these files alone.

speed:      fits, predictions and kernels against other libraries      docs/benchmarks.md
learners:   what learning weights, widths and costs gives and costs    docs/learners.md
quality:    RelevanceSVC and RelevanceSVR against their peers          docs/quality.md
selection:  which columns tests and selectors find                     docs/selection.md
equalities: the solver of machines with features in their bias         docs/equalities.md
large:      tables of up to a million rows                             docs/large_benchmarks.md
"""

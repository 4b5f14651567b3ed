"""Speed against peers, as ratios measured in one run: ``python -m benchmarks``.

Suites measure and give rows; the rows are kept in a JSON file; pages are rendered from that file.
"""

"""Stored results of many fits, with which those of a changed tree are compared.

The results come from commit 288e5fa, the last one before the packages were reorganised. They stay
until the native core has landed. ``python -m tests.golden.record FOLDER`` makes them anew,
``python -m tests.golden.compare tests/golden/results FOLDER`` compares.
"""

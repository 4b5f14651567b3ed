# Every target makes what it needs in .venv, from nothing but Python >= 3.11.
#   make test PYTHON=python3.12          another interpreter
#   make test PYTEST_ARGS="-k qp -n 2"   arguments for pytest
#   make test-oldest                     the oldest supported versions, in .venv-oldest

PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
PYTEST_ARGS ?=
BENCH_ARGS ?=

VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo pictures test test-oldest lint format bench docs clean
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/demo.stamp ## run the demonstration
	$(BIN)/python examples/demo.py

pictures: $(VENV)/demo.stamp ## make the pictures of the README
	$(BIN)/python examples/readme_pictures.py

test: $(VENV)/dev.stamp ## run the tests and the doctests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-oldest: $(OLDEST)/dev.stamp ## run the tests on the oldest supported versions
	$(OLDEST)/bin/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/dev.stamp ## check lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/dev.stamp ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp ## measure speed against peers
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

docs: $(VENV)/docs.stamp ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

clean: ## remove the environments and everything that is generated
	rm -rf $(VENV) $(OLDEST) build dist demo-output .numba_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/generated benchmarks/scratch
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp for each set of extras: a target installs only what it uses.
$(VENV)/demo.stamp: EXTRAS := cli
$(VENV)/dev.stamp: EXTRAS := dev,all
$(VENV)/bench.stamp: EXTRAS := bench
$(VENV)/docs.stamp: EXTRAS := docs

$(VENV)/%.stamp: pyproject.toml src/kernelwise/_version.py | $(VENV)/bin/python
	$(PIP) install -e ".[$(EXTRAS)]"
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kernelwise needs Python 3.11 or newer, and '$(PYTHON)' is not: name one with 'make PYTHON=python3.11 ...'." >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

$(OLDEST)/dev.stamp: pyproject.toml .ci/oldest.py src/kernelwise/_version.py | $(OLDEST)/bin/python
	$(OLDEST)/bin/python .ci/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check install -c $(OLDEST)/constraints.txt -e ".[dev,all]"
	@touch $@

$(OLDEST)/bin/python:
	@$(OLDEST_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "the oldest supported Python is 3.11, and '$(OLDEST_PYTHON)' is not: name it with 'make OLDEST_PYTHON=... test-oldest'." >&2; \
	  exit 1; }
	$(OLDEST_PYTHON) -m venv $(OLDEST)

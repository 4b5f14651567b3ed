# Every target makes what it needs in .venv, from nothing but Python >= 3.11.
#   make test PYTHON=python3.12          another interpreter
#   make test PYTEST_ARGS="-k qp -n 0"   arguments for pytest, here in one process
#   make test-oldest                     the oldest supported versions, in .venv-oldest

PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
PYTEST_ARGS ?=
BENCH_ARGS ?=
ONLY ?=

VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
OLDEST_PIP := $(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check

BUILD_TOOLS := "scikit-build-core>=1.0" "nanobind>=3.0" "cmake>=3.26" "ninja>=1.10"
CXX_FOUND := $(firstword $(foreach each,$(CXX) c++ g++ clang++,$(shell command -v $(firstword $(each)) 2>/dev/null)))
WITH_TOOLS := PATH="$(abspath $(BIN)):$$PATH"
PYTEST := -m pytest -n logical --dist worksteal
CORE_TESTS := tests/native tests/kernels/test_tiles.py tests/qp/test_stored.py

.DEFAULT_GOAL := help
.PHONY: help demo pictures test test-all test-oldest mutants core zoo chaos lint format bench reproduce docs native wheel sanitize clean
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/demo.stamp ## run the demonstration
	$(BIN)/python examples/demo.py

pictures: $(VENV)/demo.stamp ## make the pictures of the README
	$(BIN)/python examples/readme_pictures.py

test: $(VENV)/dev.stamp ## run the tests and the doctests, some minutes
	$(BIN)/python $(PYTEST) -m "not slow" $(PYTEST_ARGS)

test-all: test ## run the slow tests, too: dask, examples, pages, benchmarks
	$(BIN)/python $(PYTEST) -m slow $(PYTEST_ARGS)

test-oldest: $(OLDEST)/dev.stamp ## run the tests on the oldest supported versions
	$(OLDEST)/bin/python $(PYTEST) $(PYTEST_ARGS)

mutants: $(VENV)/dev.stamp ## put small errors into the code, and count those that the tests notice
	$(BIN)/python -m tests.mutants

core: $(VENV)/dev.stamp ## run the tests of the compiled code at each level of this processor
	for level in $$($(BIN)/python -c 'from kernelwise._native import levels; print(*levels)'); do \
	  KERNELWISE_CPU=$$level $(BIN)/python $(PYTEST) -m "not slow" $(CORE_TESTS) $(PYTEST_ARGS) || exit 1; done

zoo: $(VENV)/dev.stamp ## check 1,500 odd problems: optimality, invariances, warnings
	$(BIN)/python -W ignore -m tests.zoo

chaos: $(VENV)/dev.stamp ## damage files, call wrongly, interrupt, kill and starve fits; write docs/reliability.md
	$(BIN)/python -W ignore -m tests.chaos

lint: $(VENV)/dev.stamp ## check lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/dev.stamp ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp ## measure speed against peers
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

reproduce: $(VENV)/bench.stamp ## repeat the tables and figures of the papers
	$(BIN)/python -m reproduction $(ONLY)

docs: $(VENV)/docs.stamp ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

native: $(VENV)/build.stamp ## compile the native module into src/kernelwise
	$(WITH_TOOLS) $(BIN)/python native/build_backend.py

wheel: $(VENV)/build.stamp ## build a wheel into dist, and try it in an empty environment
	rm -rf dist/*.whl build/smoke
	$(WITH_TOOLS) $(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip --quiet --disable-pip-version-check install dist/*.whl
	cd build/smoke && bin/python -P ../../tests/smoke.py

sanitize: $(VENV)/dev.stamp ## run the tests of the compiled code with sanitizers
	$(WITH_TOOLS) cmake -S . -B build/sanitize -G Ninja -D CMAKE_BUILD_TYPE=RelWithDebInfo \
	  -D KERNELWISE_SANITIZE=ON -D Python_EXECUTABLE=$(abspath $(BIN))/python \
	  -D nanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)
	$(WITH_TOOLS) cmake --build build/sanitize
	rm -rf build/sanitize/package && mkdir build/sanitize/package && cp -r src/kernelwise build/sanitize/package/
	rm -f build/sanitize/package/kernelwise/_native.*.so && cp build/sanitize/_native.*.so build/sanitize/package/kernelwise/
	LD_PRELOAD="$$($(CXX_FOUND) -print-file-name=libasan.so) $$($(CXX_FOUND) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=build/sanitize/package \
	  $(BIN)/python -m pytest -p no:cacheprovider -m "not slow" $(CORE_TESTS) $(PYTEST_ARGS)

clean: ## remove the environments and everything that is generated
	rm -rf $(VENV) $(OLDEST) build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/generated benchmarks/scratch
	rm -f src/kernelwise/_native.*.so
	find src tests benchmarks reproduction examples docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp for each set of extras: a target installs only what it uses.
$(VENV)/demo.stamp: EXTRAS := cli
$(VENV)/dev.stamp: EXTRAS := dev,all
$(VENV)/bench.stamp: EXTRAS := bench
$(VENV)/docs.stamp: EXTRAS := docs

$(VENV)/%.stamp: pyproject.toml src/kernelwise/_version.py CMakeLists.txt $(wildcard native/*) $(VENV)/build.stamp
	$(WITH_TOOLS) $(PIP) install --no-build-isolation -e ".[$(EXTRAS)]"
	@touch $@

# The tools that compile native/; Zig's compiler where the machine has none.
$(VENV)/build.stamp: pyproject.toml | $(VENV)/bin/python
	$(PIP) install $(BUILD_TOOLS) $(if $(CXX_FOUND),,"ziglang>=0.14")
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kernelwise needs Python 3.11 or newer, and '$(PYTHON)' is not: name one with 'make PYTHON=python3.11 ...'." >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

$(OLDEST)/dev.stamp: pyproject.toml .ci/oldest.py src/kernelwise/_version.py CMakeLists.txt $(wildcard native/*) | $(OLDEST)/bin/python
	$(OLDEST)/bin/python .ci/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST_PIP) install $(BUILD_TOOLS) $(if $(CXX_FOUND),,"ziglang>=0.14")
	PATH="$(abspath $(OLDEST))/bin:$$PATH" $(OLDEST_PIP) install --no-build-isolation -c $(OLDEST)/constraints.txt -e ".[dev,all]"
	@touch $@

$(OLDEST)/bin/python:
	@$(OLDEST_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "the oldest supported Python is 3.11, and '$(OLDEST_PYTHON)' is not: name it with 'make OLDEST_PYTHON=... test-oldest'." >&2; \
	  exit 1; }
	$(OLDEST_PYTHON) -m venv $(OLDEST)

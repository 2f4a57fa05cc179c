# `make demo` and `make test` are all that is needed on a fresh machine with Python 3.11 or later.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Each stamp says which dependencies the environment holds; a newer pyproject.toml or interpreter
# outdates both.
# The development install contains the plain one, so it touches both stamps.
RUN_READY := $(VENV)/.ready-run
DEV_READY := $(VENV)/.ready-dev

# What JAX has compiled is shared by the test workers and kept for later runs.
export JAX_COMPILATION_CACHE_DIR := $(abspath $(VENV))/.jax-cache
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 0.2

# Data sets that are too large for the package, where they lie beside the repository. Without them
# the tests that need them are skipped; `rocourse data fetch` gets them.
SHARED_DATA := $(wildcard $(abspath ../shared/data))
ifneq ($(SHARED_DATA),)
export ROCOURSE_DATA ?= $(SHARED_DATA)
endif

.PHONY: help demo test bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install into $(VENV), then run 'rocourse demo'"
	@echo "make test    install with development tools, then lint, types, import contract, tests"
	@echo "make bench   measure the speed of everything (the first run installs jax-relax beside it)"
	@echo "make format  let ruff format and fix what it can"
	@echo "make clean   remove the environment, caches and build outputs"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rocourse needs Python 3.11 or later, but \"$(PYTHON)\" is " + sys.version.split()[0] + ": name another with make PYTHON=...")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)

$(RUN_READY): pyproject.toml $(BIN)/python
	@echo "Installing rocourse into $(VENV) ..."
	@$(PIP) install --editable '.[serve]'
	@touch $@

$(DEV_READY): pyproject.toml $(BIN)/python
	@echo "Installing rocourse and its development tools into $(VENV) ..."
	@$(PIP) install --editable '.[dev]'
	@touch $(RUN_READY) $@

demo: $(RUN_READY)
	@$(BIN)/rocourse demo

lint: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# A module to a process: what its tests compile is compiled once.
test: lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

# Each prints its figures and writes them as JSON; the loan protocol (16 years) needs its data, and
# has a target of its own because it takes a quarter of an hour.
BENCHMARKS := training_speed recourse_speed start_up stream_million search_speed \
	counternet_vs_relax vanillacf_vs_relax service_load
BENCH_OUT := runs/bench

bench: $(addprefix bench-,$(BENCHMARKS))

bench-%: $(RUN_READY)
	@mkdir -p $(BENCH_OUT)
	$(BIN)/python benchmarks/$*.py --json $(BENCH_OUT)/$*.json

format: $(DEV_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .venv-relax build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

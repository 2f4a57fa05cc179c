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

.PHONY: help demo test test-oldest test-newest docs words bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install into $(VENV), then run 'rocourse demo'"
	@echo "make test    install with development tools, then lint, types, import contract, tests"
	@echo "make test-oldest  the tests with the oldest releases that are supported, in $(VENV)-oldest"
	@echo "make test-newest  the tests with the newest releases there are, in $(VENV)-newest"
	@echo "make docs    build the site in build/site: notebooks run, links checked, no network"
	@echo "make bench   measure the speed of everything (the first run installs jax-relax beside it)"
	@echo "make dist    build the wheel and the source distribution, and check them"
	@echo "make sbom    list what the environment consists of, as CycloneDX, in dist/sbom.json"
	@echo "make format  let ruff format and fix what it can"
	@echo "make clean   remove the environment, caches and build outputs"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rocourse needs Python 3.11 or later, but \"$(PYTHON)\" is " + sys.version.split()[0] + ": name another with make PYTHON=...")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)

$(RUN_READY): pyproject.toml $(BIN)/python
	@echo "Installing rocourse into $(VENV) ..."
	@$(PIP) install --editable '.[parquet,plots,serve]'
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

# A server and a browser, which no wheel brings: installed where root has apt and they are missing.
# What still cannot run is named in the last lines of the tests; with CI=true it fails them.
SERVER  := $(or $(shell command -v postgres),$(wildcard /usr/lib/postgresql/*/bin/postgres))
BROWSER := $(shell command -v chromium || command -v chromium-browser)
APT     := $(if $(SERVER),,postgresql) $(if $(BROWSER),,chromium)

.PHONY: programs
programs:
ifneq ($(strip $(APT)),)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $(strip $(APT)) for the tests ..."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(APT) >/dev/null \
			|| echo "$(strip $(APT)) could not be installed; their tests cannot run"; \
	fi
endif

# A module to a process: what its tests compile is compiled once.
test: lint programs
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

# Old releases warn of newer ones beside them, so warnings are no errors there.
test-oldest:
	@$(PYTHON) -m venv --clear $(VENV)-oldest
	@$(VENV)-oldest/bin/python -m pip --quiet install --editable '.[test]' --constraint requirements/oldest.txt
	$(VENV)-oldest/bin/python -m pytest -q -n 2 --dist loadfile -o filterwarnings=default --disable-warnings

test-newest:
	@$(PYTHON) -m venv --clear $(VENV)-newest
	@$(VENV)-newest/bin/python -m pip --quiet install --upgrade --editable '.[test]'
	$(VENV)-newest/bin/python -m pytest -q -n 2 --dist loadfile

# MkDocs before 2, which is another program; its makers' advertisement is left out.
docs: $(DEV_READY)
	NO_MKDOCS_2_WARNING=1 ROCOURSE_RUN_NOTEBOOKS=1 $(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html"

# Those of the pages outside the appendix; a test holds them below what they were.
words: $(DEV_READY)
	@$(BIN)/python docs/site/words.py

# Each prints its figures and writes them as JSON; the loan protocol (16 years) needs its data, and
# has a target of its own because it takes a quarter of an hour.
BENCHMARKS := training_speed recourse_speed start_up stream_million search_speed \
	counternet_vs_relax vanillacf_vs_relax service_load
BENCH_OUT := runs/bench

bench: $(addprefix bench-,$(BENCHMARKS))

bench-%: $(RUN_READY)
	@mkdir -p $(BENCH_OUT)
	$(BIN)/python benchmarks/$*.py --json $(BENCH_OUT)/$*.json

.PHONY: dist sbom
# What travels, built and checked; and a list of all that an installation consists of (CycloneDX).
dist: $(DEV_READY)
	@$(PIP) install build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*

sbom: $(RUN_READY)
	@$(PIP) install cyclonedx-bom
	@mkdir -p dist
	$(BIN)/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible -o dist/sbom.json

format: $(DEV_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest .venv-relax .venv-dice .venv-ellice build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Needs make and Python 3.11 or later; everything else goes into .venv, at the versions of
# requirements-dev.lock. `make` alone lists the targets.

# 3.11 first, because the lock files are resolved on it; `make PYTHON=...` takes another.
PYTHONS := python3.11 python3.12 python3.13 python3
PYTHON ?=

# The one release `make lock` does not choose by itself: see CONTRIBUTING.md, "Locking".
TORCH := 2.13.0
PIP_TOOLS := 7.6.2

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
STAMP := $(VENV)/.installed

SHELL := /bin/sh
.DEFAULT_GOAL := help

# Scripts in .venv hold this folder's path: a copied or moved checkout builds it anew.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(shell pwd -P))
.PHONY: $(STAMP)
endif

.PHONY: help install demo test test-slow chaos recovery check bench lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*##/:/' | awk -F': ' '{printf "  make %-10s %s\n", $$1, $$2}'

# pip hides what the build hook says, and a compiler may come later than the installation.
install: $(STAMP) ## make .venv with driftfold and all tools, at the locked versions
	@$(BIN)/python -m driftfold.native --if-missing

demo: $(STAMP) ## run the main experiment on real images
	@$(BIN)/python examples/demo.py

# One thread: the libraries' own threads fight over small matrices, and the sums stay comparable.
test test-slow chaos recovery bench: export OMP_NUM_THREADS = 1
test test-slow chaos recovery bench: export OPENBLAS_NUM_THREADS = 1
test test-slow chaos recovery bench: export MKL_NUM_THREADS = 1
# Empty means not set: modules are compiled once, and not by every process that tests start.
test test-slow: export PYTHONDONTWRITEBYTECODE =

# Two processes that share the files among them; JOBS=0 runs all in one, for a debugger.
JOBS ?= 2
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test: $(STAMP) ## run the default tests; ARGS="tests/kernel -x" goes to pytest
	@$(PYTEST) $(ARGS)

test-slow: $(STAMP) ## run the tests marked slow
	@$(PYTEST) -m slow $(ARGS)

# A service of its own, on purpose hurt in every way: see docs/service.md, "What is promised".
SEED ?= 1
FAULTS ?= 200
chaos: $(STAMP) ## hurt a service for long and check what is left; SEED=1 FAULTS=200 ARGS="--rounds 10000"
	@$(BIN)/python -m tests.faults.chaos --seed $(SEED) --faults $(FAULTS) $(ARGS)

recovery: $(STAMP) ## measure how soon jobs go on after a fault; ARGS="--tries 20 --kills 100"
	@$(BIN)/python -m tests.faults.chaos.recovery $(ARGS)

check: $(STAMP) ## format, lint, types, import layers
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports --no-logo

bench: $(STAMP) ## run the benchmarks; each prints JSON
	@set -e; for name in kernel round manifolds fleet service archive; do $(BIN)/python -m bench.$$name; done

# A .venv that works is brought up to date; one that was cut short, or moved, is made anew.
$(STAMP): pyproject.toml requirements-dev.lock hatch_build.py $(wildcard sim/driftfold/native/*.[ch])
	@set -e; \
	if [ "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" ] && $(BIN)/python -c '' 2>/dev/null; then \
	  exit 0; \
	fi; \
	chosen=; \
	for python in $(or $(PYTHON),$(PYTHONS)); do \
	  if $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    chosen=$$python; break; \
	  fi; \
	done; \
	if [ -z "$$chosen" ]; then \
	  echo 'driftfold needs Python 3.11 or later with its venv module, and found none as: $(or $(PYTHON),$(PYTHONS)). Install one, or name it, as in: make PYTHON=/path/to/python3.12 install' >&2; \
	  exit 1; \
	fi; \
	echo "Installing driftfold into $(VENV) with $$($$chosen --version). PyTorch is large: this can take minutes."; \
	$$chosen -m venv --clear $(VENV)
	@$(PIP) install -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@pwd -P > $(STAMP)

# pip-tools resolves for the Python it runs on, so locking needs the lowest one supported.
# The local part of a version (as in 2.13.0+cpu) names one build, which other machines lack.
lock: ## resolve requirements*.lock anew; UPGRADE=--upgrade moves every pin
	@set -e; \
	tools=$(VENV)-lock; \
	python3.11 -m venv $$tools; \
	$$tools/bin/python -m pip --disable-pip-version-check install --quiet pip-tools==$(PIP_TOOLS); \
	for name in requirements requirements-dev; do \
	  case $$name in \
	    requirements) options='--extra postgres';; \
	    requirements-dev) options='--extra dev --build-deps-for editable --build-deps-for wheel';; \
	  esac; \
	  CUSTOM_COMPILE_COMMAND='make lock' $$tools/bin/pip-compile --quiet --strip-extras --allow-unsafe \
	    --no-emit-options --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --upgrade-package torch==$(TORCH) $(UPGRADE) $$options --output-file $$name.lock pyproject.toml 2>$$tools/log || { cat $$tools/log >&2; exit 1; }; \
	  sed -E 's/^([a-z0-9-]+==[^ +]+)[+][a-z0-9.]+/\1/' $$name.lock > $$name.lock.new; \
	  mv $$name.lock.new $$name.lock; \
	done; \
	rm -rf $$tools

clean: ## remove .venv, caches and built files
	rm -rf $(VENV) $(VENV)-lock build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find sim api tests examples bench -name __pycache__ -type d -prune -exec rm -rf {} +

# Each target sets up what it needs; nothing has to be installed beforehand but Python 3.11+.
PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python -m
PIP := $(RUN) pip install -qq --disable-pip-version-check -c constraints.txt
# Newer than pyproject.toml and constraints.txt exactly when .venv holds what they ask for.
READY := .venv/.ready
# A second environment, with the lowest versions that pyproject.toml allows.
LOWEST := .venv-lowest
LOWEST_RUN := $(LOWEST)/bin/python -m
LOWEST_READY := $(LOWEST)/.ready
# Tests start a hundred Python processes. Without bytecode, each compiles the whole package again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-lowest lint bench format clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name what; do \
	  printf '  %-18s %s\n' "$$name" "$$what"; done

demo: $(READY)  ## a short tour that prints what it does
	@$(BIN)/gameproof data get credit bank >/dev/null || echo "going on without credit and bank"
	@$(BIN)/gameproof demo

test: lint  ## lint, types and every test
	$(RUN) pytest -n auto --dist loadfile --no-loadscope-reorder

test-lowest: $(LOWEST_READY)  ## the tests of the package on the lowest versions it allows
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST_RUN) pytest -n auto --dist loadfile --no-loadscope-reorder \
	  --ignore-glob='*_in_browser.py'

lint: $(READY)  ## ruff, mypy and codespell, changing nothing
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) codespell_lib

bench: $(READY)  ## time and queries, as ratios measured in one run
	@$(BIN)/gameproof bench

format: $(READY)  ## rewrite the source in the project's format
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

clean:  ## remove .venv, caches and builds
	rm -rf .venv $(LOWEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define CHECK_PYTHON
@command -v $(PYTHON) >/dev/null || { \
	  echo "gameproof needs Python 3.11 or newer, and there is no $(PYTHON) here; name one with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "gameproof needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1); name another with make PYTHON=..." >&2; exit 1; }
endef

# The build backend is installed first and used as it is, so that its version is pinned as well.
$(READY): pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	@echo "Setting up .venv (once, about a minute)…"
	@$(RUN) pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

# Lowest versions of direct dependencies that come as wheels for this Python. uv does not read the
# settings of pip, so an index named there is passed on.
$(LOWEST_READY): pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	@echo "Setting up $(LOWEST) (once, about a minute)…"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST_RUN) pip install -qq --disable-pip-version-check -c constraints.txt uv hatchling editables
	@index="$${PIP_INDEX_URL:-$$($(LOWEST_RUN) pip config get global.index-url 2>/dev/null)}"; \
	  UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$index}" $(LOWEST_RUN) uv pip install -q \
	  --python $(LOWEST)/bin/python --resolution lowest-direct --only-binary :all: \
	  -r pyproject.toml --extra test
	@$(LOWEST_RUN) pip install -qq --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

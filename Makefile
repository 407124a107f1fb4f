# Everything a newcomer needs: `make quickstart` and `make test` set up all they use on a machine with Python 3.11 and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
JOBS ?= 2

# Idle OpenMP threads must not spin: two spinning processes are several times slower than two passive ones.
export OMP_WAIT_POLICY := PASSIVE
export NO_MKDOCS_2_WARNING := 1

.PHONY: quickstart test lint types docs unit benchmark tables clean

quickstart: $(VENV)/.installed
	$(BIN)/molyneux run configs/quickstart.yaml

test: lint types docs unit

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --quiet --site-dir site

unit: $(VENV)/.dev
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

benchmark: $(VENV)/.dev
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

tables: $(VENV)/.dev
	$(BIN)/python docs/tables.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[dev,docs]'
	touch $@

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache

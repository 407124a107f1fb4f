# Everything a newcomer needs: `make quickstart` and `make test` set up all they use on Linux or macOS with Python 3.11-3.13 and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || echo python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-compile --constraint constraints.txt --editable
JOBS ?= 2
# Tests marked `slow` run in turns, a third of them at each commit (conftest.py); `make test SLOW=all` runs all of them.
SLOW ?= turn
PYTEST := OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --slow $(SLOW)

# Idle OpenMP threads must not spin: two spinning processes are several times slower than two passive ones.
export OMP_WAIT_POLICY := PASSIVE
export NO_MKDOCS_2_WARNING := 1
# Without bytecode each process compiles all that it imports: the tests are collected in twice the time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: quickstart test lint types docs cheatsheet unit benchmark tables clean

quickstart: $(VENV)/.installed
	$(BIN)/molyneux run configs/quickstart.yaml

test: lint types docs unit

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python docs/prose.py

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --site-dir site
	rm -rf site/studio
	$(BIN)/molyneux studio --static site/studio --quiet

# The cheat sheet as a page to print; needs Chromium (Debian: apt install chromium).
cheatsheet: docs
	$(BIN)/python docs/pictures.py site/start/cheat-sheet/index.html --pdf site/cheat-sheet.pdf

# All tests as on the least processor (conftest.py); then those that could differ, with the kernels of this one, if it has more.
unit: $(VENV)/.dev
	$(PYTEST) --dist worksteal
	@if $(BIN)/python conftest.py; then echo 'Again with the kernels of this processor:'; \
	MOLYNEUX_KERNELS=own $(PYTEST) --dist loadfile -m kernels; else echo 'This processor has no kernels beyond those.'; fi

benchmark: $(VENV)/.dev
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

tables: $(VENV)/.dev
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/figures.py

# The stamp is what says that the environment is whole; one whose creation was stopped has no pip that works and is made anew.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11, 3.12 or 3.13 is needed, this is %d.%d: make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	$(INSTALL) .
	@# Compiles the bytecode of what commands use, and writes the schemas by which editors check the files in configs/.
	$(BIN)/python -c 'import pathlib, torch, molyneux.cli.commands, molyneux.run.schema as schema; from molyneux.report import *; from molyneux.run import *; schema.write_schemas(pathlib.Path("configs"))'
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(INSTALL) '.[dev,docs]'
	touch $@

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache

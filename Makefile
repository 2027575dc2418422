# Two commands matter: `make demo` and `make test`. Both set up what they need.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo docs test lint types layers bench study clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/kfrc demo --force

test: lint types layers docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

docs: setup
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html

bench: setup
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/run.py

study: setup
	$(BIN)/kfrc study run synthetic --preset seed --out kfrc-study/synthetic --n-jobs 2
	$(BIN)/kfrc study run real --preset seed --out kfrc-study/real --n-jobs 2
	$(BIN)/kfrc study tables kfrc-study/synthetic
	$(BIN)/kfrc study tables kfrc-study/real

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis kfrc-demo kfrc-study .bench docs/_build docs/gallery docs/tutorials/run docs/reference/api

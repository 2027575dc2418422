# Two commands matter: `make demo` and `make test`. Both set up what they need. `make check` is everything.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
PIP := -m pip install --quiet --disable-pip-version-check
# One thread in each process; and bytecode is kept, also where it usually is not, or every process compiles all sources.
ENVIRONMENT := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=
PYTEST := -m pytest -n 2 --dist worksteal -q

.PHONY: setup app demo test rest check long hostile soak quick lint types layers docs coverage lowest newest dist release-check audit bench study mutation clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --editable '.[dev]'
	touch $@

app: setup
	$(BIN)/kfrc app

demo: setup
	$(BIN)/kfrc demo --force

# The tests that show that the program works, in less than five minutes. One word decides: a test marked `slow` is in `rest`.
test: setup
	$(ENVIRONMENT) $(BIN)/python $(PYTEST) -m 'not slow and not long and not release'

# Everything else that a change must pass. What needs one core each runs on two, before tests that read the built site.
rest: setup
	$(MAKE) --jobs 2 lint types layers docs
	$(ENVIRONMENT) $(BIN)/python $(PYTEST) -m 'slow and not long and not release'

check:
	$(MAKE) test
	$(MAKE) rest

# What takes half a minute each and shows again, with more processes or seeds, what quicker tests show.
long: setup
	$(ENVIRONMENT) $(BIN)/python $(PYTEST) -m long

# Every hostile try, and the table of tries and failures; `make check` makes a small share of them.
hostile: setup
	$(ENVIRONMENT) PYTHONPATH=tests $(BIN)/python -m hostile

# The page and fits by a Dask cluster for half an hour, while their processes are killed at random.
soak: setup
	$(ENVIRONMENT) $(BIN)/python tests/hostile/soak/run.py

# Under a minute: the contract, the laws with few examples, some reference numbers. Not a substitute for `make check`.
QUICK := tests/contract/test_public_api.py tests/contract/test_registry.py tests/laws tests/golden/test_golden_spectrum.py
quick: lint layers
	$(ENVIRONMENT) $(BIN)/python $(PYTEST) --hypothesis-profile quick -m "not slow and not release and not long" $(QUICK)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

docs: setup
	$(ENVIRONMENT) $(BIN)/python -m sphinx -b html -W --keep-going -q -j auto docs docs/_build/html

coverage: setup
	$(ENVIRONMENT) $(BIN)/python $(PYTEST) --cov --cov-branch --cov-report term:skip-covered --cov-report html

# The oldest versions that pyproject.toml allows, and the newest that exist, in environments of their own.
# What old packages warn of is not ours: they are deprecated uses of packages newer than they are.
LOWEST := tests/contract tests/laws tests/golden tests/unit tests/cli
LENIENT := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning
lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/$(SCRIPTS)/python $(PIP) --constraint requirements/lowest.txt --editable '.[test]'
	$(ENVIRONMENT) .venv-lowest/$(SCRIPTS)/python $(PYTEST) $(LENIENT) $(LOWEST)

newest:
	$(PYTHON) -m venv .venv-newest
	.venv-newest/$(SCRIPTS)/python $(PIP) --pre --upgrade --editable '.[test,distributed]'
	$(ENVIRONMENT) .venv-newest/$(SCRIPTS)/python $(PYTEST)

dist: setup
	$(BIN)/python -m build
	$(BIN)/python -m build --wheel --outdir dist packaging/core

# Distributions in empty environments of every supported Python that this machine has; needs a package index.
release-check: setup
	$(BIN)/python -m pytest -q -m release tests/release

# Security rules are part of lint. What is known of packages is asked over the network: where that is not possible the
# audit says so and fails. pip-audit has an environment of its own, so that it does not audit itself.
audit: setup
	$(BIN)/ruff check --select S .
	$(PYTHON) -m venv .venv-audit
	.venv-audit/$(SCRIPTS)/python $(PIP) 'pip-audit>=2.7'
	.venv-audit/$(SCRIPTS)/python requirements/audit.py \
		"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

bench: setup
	$(ENVIRONMENT) $(BIN)/python benchmarks/run.py

study: setup
	$(BIN)/kfrc study run synthetic --preset seed --out kfrc-study/synthetic --n-jobs 2
	$(BIN)/kfrc study run real --preset seed --out kfrc-study/real --n-jobs 2
	$(BIN)/kfrc study tables kfrc-study/synthetic
	$(BIN)/kfrc study tables kfrc-study/real

# How many small changes of the core its tests notice: about an hour on one core. Nothing here is changed, a copy is.
mutation: setup
	$(ENVIRONMENT) $(BIN)/python tests/mutation/measure.py

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest .venv-audit htmlcov .coverage build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis kfrc-demo kfrc-study .bench docs/_build docs/gallery docs/tutorials/run docs/reference/api docs/sg_execution_times.rst
	find . -name __pycache__ -prune -exec rm -rf {} +

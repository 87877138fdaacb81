# Everything a newcomer needs: `make demo` and `make test`. Both set up what they need in .venv.

SHELL := bash
# The newest one that answers: the shims of version managers may stand for one that is not there.
PYTHON ?= $(shell for one in python3.13 python3.12 python3.11; do \
	$$one --version >/dev/null 2>&1 && echo $$one && break; done)
# Compiled modules are kept, whatever the environment says: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
JSON ?=
SECONDS ?=
SIZE ?= short
ONLY ?=
KEEP ?=
T ?=

.PHONY: help venv demo serve test lint fix unit one coverage docs hooks bench bench-stale lab drill lock clean

help:
	@echo "make demo    a server with bots, live in the terminal (SECONDS=60 stops it, KEEP=DIR keeps its data,"
	@echo "             EVENT=swiss holds an event among them, by any tournament system)"
	@echo "make test    lint, types, layers and all tests"
	@echo "make serve   the server with its built-in configuration, data in ./cgos-data"
	@echo "make bench   measurements beside bare baselines (JSON=FILE writes them)"
	@echo "make bench-stale  measured tables and results of the lab whose code has changed since (JSON=FILE writes them)"
	@echo "make lab     every published claim recomputed (SIZE=tiny|short|full, ONLY='birk swiss-tables'); SIZE=full writes"
	@echo "             the results and pictures that docs/ shows"
	@echo "make drill   a server with 200 bots is upgraded in place ten times: what is refused and lost, how long games pause"
	@echo "make fix     ruff's and codespell's corrections, and the format"
	@echo "make lint    ruff, codespell, mypy, import-linter"
	@echo "make unit    the tests alone (PYTEST='-k clock -x' picks some)"
	@echo "make one     one test with all that it prints (T=tests/protocol/test_clock.py::test_name)"
	@echo "make coverage  which lines and branches the fast tests reach, and the least that they must"
	@echo "make docs    the documentation as a site in ./site; a broken link fails it"
	@echo "make hooks   checks before every commit, from now on"
	@echo "make venv    .venv alone      make lock  renew requirements.lock      make clean  remove .venv, site, caches"

# A minute or two go by here; every ten seconds a line on stderr says how far it is.
$(VENV)/.ready: requirements.lock pyproject.toml protocol/pyproject.toml clients/pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11, 3.12 or 3.13 is needed: none of python3.13, python3.12 and python3.11 answers here." \
			"Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; \
	elif ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "$(PYTHON) is no Python 3.11 or later that answers. Leave out PYTHON= or name another one." >&2; exit 1; \
	fi
	@SECONDS=0; installed() { find $(VENV)/lib -maxdepth 3 -name '*.dist-info' | wc -l; }; \
	echo "making $(VENV) with $(PYTHON) ($$($(PYTHON) --version 2>&1))" >&2; \
	$(PYTHON) -m venv $(VENV) || exit 1; \
	before=$$(installed) packages=$$(grep -c == requirements.lock); \
	echo "installing $$packages packages of requirements.lock: fetching them, then unpacking" >&2; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock & \
	while kill -0 $$! 2>/dev/null; do \
		sleep 1; [ $$((++seconds % 10)) != 0 ] || echo "  $$(($$(installed) - before)) of $$packages after $$SECONDS s" >&2; \
	done; \
	wait $$! || exit 1; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		-e protocol -e clients -e . || exit 1; \
	echo "installed in $$SECONDS s" >&2
	@touch $@

venv: $(VENV)/.ready

demo: venv
	$(BIN)/cgos-server demo $(if $(SECONDS),--seconds $(SECONDS)) $(if $(KEEP),--keep $(KEEP)) $(if $(EVENT),--event $(EVENT))

serve: venv
	$(BIN)/cgos-server serve

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: venv
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/codespell --write-changes

# Real servers and engines mostly wait: two files of them at a time, whatever the machine.
unit: venv
ifdef PYTEST
	$(BIN)/pytest $(PYTEST)
else
	$(BIN)/pytest -n auto --maxprocesses 4 -m "not e2e and not wheel"
	$(BIN)/pytest -n 2 --dist loadfile -m "e2e or wheel" --durations 12
endif

test: lint unit

one: venv
	@[ -n "$(T)" ] || { echo "Name a test: make one T=tests/protocol/test_clock.py::test_name" >&2; exit 1; }
	$(BIN)/pytest -p no:xdist --capture no -vv "$(T)"

# Without real servers and browsers, which take minutes more and reach little else.
coverage: venv
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --maxprocesses 4 -m "not e2e and not wheel and not browser and not slow" \
		--ignore tests/benchmarks
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

docs: venv
	$(BIN)/properdocs build --quiet --config-file docs/site/properdocs.yml
	@echo "site/index.html"

hooks: venv
	$(BIN)/pre-commit install

bench: venv
	$(BIN)/python benchmarks/all.py $(if $(JSON),--json $(JSON))

bench-stale: venv
	$(BIN)/python benchmarks/stale.py $(if $(JSON),--json $(JSON))

lab: venv
	$(BIN)/python -m benchmarks.lab.results --size $(SIZE) $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json $(JSON))

drill: venv
	$(BIN)/python -m benchmarks.operations.upgrade_drill $(if $(JSON),--json $(JSON))

# What the other two distributions need is locked with it; they themselves come from this tree.
lock: venv
	$(BIN)/python -m build --wheel --no-isolation --outdir dist/lock protocol
	$(BIN)/python -m build --wheel --no-isolation --outdir dist/lock clients
	$(BIN)/pip-compile --quiet --strip-extras --extra demo --extra dev --no-emit-index-url --no-emit-find-links --no-header \
		--no-annotate --find-links dist/lock --unsafe-package cgos-protocol --unsafe-package cgos-client \
		--unsafe-package pip --unsafe-package setuptools \
		--output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov site dist

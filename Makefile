# Everything a newcomer needs: `make demo` and `make test`. Both set up what they need in .venv.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
JSON ?=
SECONDS ?=
KEEP ?=

.PHONY: help venv demo serve test lint unit bench lock clean

help:
	@echo "make demo    a server with bots, live in the terminal (SECONDS=60 stops it, KEEP=DIR keeps its data)"
	@echo "make test    lint, types, layers and all tests"
	@echo "make serve   the server with its built-in configuration, data in ./cgos-data"
	@echo "make bench   measurements beside bare baselines (JSON=FILE writes them)"
	@echo "make lint    ruff, mypy, import-linter      make unit   the tests alone"
	@echo "make lock    renew requirements.lock        make clean  remove .venv and caches"

$(VENV)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

venv: $(VENV)/.ready

demo: venv
	$(BIN)/cgos-server demo $(if $(SECONDS),--seconds $(SECONDS)) $(if $(KEEP),--keep $(KEEP))

serve: venv
	$(BIN)/cgos-server serve

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Real servers and engines mostly wait: two files of them at a time, whatever the machine.
unit: venv
ifdef PYTEST
	$(BIN)/pytest $(PYTEST)
else
	$(BIN)/pytest -n auto --maxprocesses 4 -m "not e2e and not wheel"
	$(BIN)/pytest -n 2 --dist loadfile -m "e2e or wheel" --durations 12
endif

test: lint unit

bench: venv
	$(BIN)/python benchmarks/all.py $(if $(JSON),--json $(JSON))

lock: venv
	$(BIN)/pip-compile --quiet --strip-extras --extra dev --no-emit-index-url --no-emit-find-links --no-header \
		--no-annotate --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

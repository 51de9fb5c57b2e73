# agy-kernel: `make` lists what can be made. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo lab test test-tools lint bench lock screenshots clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv from the locked requirements

# The kernelspec is copied on installation, editable or not, so a change there installs anew.
$(READY): requirements/dev.txt pyproject.toml $(wildcard kernelspec/*)
	@$(PYTHON) -c 'import sys; sys.exit("agy-kernel needs Python 3.11 or newer: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up .venv (about a minute the first time)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY) ## run the tour on the simulator; the notebook and its HTML land in build/
	$(BIN)/python tools/demo.py

lab: $(READY) ## open JupyterLab on the tour (the simulator, unless AGY_AGENT names an agent)
	AGY_AGENT="$${AGY_AGENT:-simulator}" $(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/tour.ipynb

test: $(READY) test-tools ## run every test: browser and real agents too, where they can be had
	$(BIN)/python -m pytest -q

test-tools:
	@tools/test_tools.sh

lint: $(READY) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(READY) ## measure latency and throughput beside bare baselines
	$(BIN)/python tools/bench.py

lock: $(READY) ## pin every development dependency anew, for Python 3.11 and later
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-config \
		--custom-compile-command "make lock" --group dev --output-file requirements/dev.txt pyproject.toml

screenshots: $(READY) test-tools ## take the pictures in docs/images again
	$(BIN)/python -m tools.screenshots

clean: ## remove what make has made, .venv included
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/agents/npm/node_modules

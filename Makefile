# Each target does all of its own set-up: a machine with Python 3.11+, pip and make is enough.
PYTHON ?= python3
BIN := .venv/bin
RUN := .venv/run.stamp
DEV := .venv/dev.stamp
# hatchling, which builds us, is pinned with hashes in both lock files.
SELF := $(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .

.PHONY: demo test check bench cables fuzz soak docs lock clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 10

demo: $(RUN)  ## run a whole session on a virtual phone: no phone, no key, no network
	$(BIN)/droidpilot demo

# Many tests wait for a phone, so one more worker than there are cores keeps these busy.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: $(DEV)  ## run all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(DEV)  ## format, lint, types, floors, generated docs fresh
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docs --check

bench: $(DEV)  ## print the figures (medians and ratios)
	$(BIN)/python -m tests.bench

fuzz: $(DEV)  ## damage dumps a hundred thousand times (TRIES=N SEED=N)
	$(BIN)/python -m tests.fuzz $(or $(TRIES),100000) $(or $(SEED),1)

cables: $(DEV)  ## pull the cable at 1,000 random moments and compare what was said with the phone's own truth (an hour)
	$(BIN)/python -m tests.cables $(ARGS)

soak: $(DEV)  ## an hour of 20 phones and 20 clients: nothing fails, nothing grows
	$(BIN)/python -m tests.soak

docs: $(DEV)  ## write the generated reference pages
	$(BIN)/python -m tests.docs

lock: $(DEV)  ## refresh the two lock files
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
		--extra build -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
		--extra build --extra dev -o requirements-dev.lock pyproject.toml

clean:  ## remove the virtual environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .hypothesis

.venv/venv.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "droidpilot needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

$(RUN): .venv/venv.stamp requirements.lock pyproject.toml
	@echo "Setting up (once, about a minute) ..."
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(SELF)
	@touch $@

$(DEV): .venv/venv.stamp requirements-dev.lock pyproject.toml
	@echo "Setting up for development (once, about a minute) ..."
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(SELF)
	@touch $@ $(RUN)

# make install    .venv/ with everything but the docs' packages, at locked versions
# make solve      a 16x16 board: TIME seconds of search (60), INSTANCE, WORKERS, SEED
# make test       the fast tests         make test-slow  the others       make test-all  both
# make test-web   the pages of `lns web`, in a Chromium and a Firefox that are installed
# make lint       linters, type checker, import contracts
# make docs       the documentation, in site/
# make dist       wheel and source distribution, in dist/
# make bench      figures of speed
# make fuzz       random checks against brute force: 100,000 questions of regions and 20,000 counts of the exact solvers;
#                 then 20,000 damaged studies and 20,000 damaged runs; 1,000 round trips of formats, 10,000 dialects
#                 and 20,000 damaged files of puzzles
# make queue      weeks of work in tuning/queue.toml, at the lowest priority on one core (WORKERS=2: two); Ctrl-C and
#                 SIGTERM save it, the same command goes on; DATA=DIR has the public instances (../shared/instances)
# make lock       bring the lock files in line with pyproject.toml; UPGRADE=1 takes the newest versions
# make clean      remove .venv/ and what the above made
PYTHON ?= $(firstword $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$p; done))
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TIME ?= 60
INSTANCE ?= like-e2-16x16
WORKERS ?= 2
SEED ?= 1
DATA ?= ../shared/instances
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) pyproject.toml

.PHONY: install solve test test-slow test-all test-web lint docs dist bench fuzz queue lock clean

install: .venv/.installed

.venv/.installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "lns: no Python 3.11 to 3.14 on the PATH; set PYTHON=/path/to/python3" >&2; exit 2; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { echo "lns: $(PYTHON) -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@echo "Installing the locked packages into .venv/ (once) ..."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.docs-installed: .venv/.installed requirements-docs.lock
	@echo "Installing the packages of the documentation into .venv/ (once) ..."
	@$(PIP) --require-hashes -r requirements-docs.lock
	@touch $@

solve: export INSTANCE := $(INSTANCE)
solve: install
	@$(BIN)/lns solve "$$INSTANCE" --time $(TIME) --workers $(WORKERS) --seed $(SEED)

test: install
	@$(PYTEST) -m "not slow and not browser"

test-slow: install
	@$(PYTEST) -m slow

test-all: test test-slow

test-web: install
	@$(PYTEST) -m browser tests/web

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.docs-installed
	@NO_MKDOCS_2_WARNING=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m mkdocs build --strict --quiet
	@echo "site/index.html"

dist: install
	@$(BIN)/python -c "from setuptools.build_meta import build_sdist; build_sdist('dist')" >/dev/null
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist

bench: install
	@$(BIN)/python -m lns.tuning.bench

fuzz: install
	@$(BIN)/python -m tests.fuzz_region 100000 $(SEED)
	@$(BIN)/python -m tests.fuzz_exact 20000 $(SEED)
	@$(BIN)/python -m tests.fuzz_study 20000 $(SEED)
	@$(BIN)/python -m tests.fuzz_run 20000 $(SEED)
	@$(BIN)/python -m tests.fuzz_formats 1000 10000 20000 $(SEED)

queue: export DATA := $(DATA)
queue: install
	@$(BIN)/python -m lns.tuning.queue $(if $(filter file,$(origin WORKERS)),1,$(WORKERS)) "$$DATA"

lock: install
	$(PIP) uv
	$(LOCK) --extra plot --extra sat --extra cp --extra cover --extra dashboard --extra web --extra cluster --extra storage --extra dev -o requirements.lock
	$(LOCK) --extra docs --constraints requirements.lock -o requirements-docs.lock

clean:
	rm -rf .venv build dist site *.egg-info

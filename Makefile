# make install   .venv/ with everything, at locked versions
# make solve     a 16x16 board: TIME seconds of search (60), INSTANCE, WORKERS, SEED
# make test      the tests        make lint   linters, type checker, import contracts
# make bench     figures of speed
# make fuzz      random checks against brute force: regions for FUZZ seconds (300), then the exact solvers for as long
# make lock      refresh requirements.lock        make clean  remove .venv/
PYTHON ?= $(firstword $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$p; done))
BIN := .venv/bin
TIME ?= 60
INSTANCE ?= like-e2-16x16
WORKERS ?= 2
SEED ?= 1
FUZZ ?= 300

.PHONY: install solve test lint bench fuzz lock clean

install: .venv/.installed

.venv/.installed: requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "lns: no Python 3.11 to 3.14 on the PATH; set PYTHON=/path/to/python3" >&2; exit 2; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { echo "lns: $(PYTHON) -m venv failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@echo "Installing the locked packages into .venv/ (once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

solve: export INSTANCE := $(INSTANCE)
solve: install
	@$(BIN)/lns solve "$$INSTANCE" --time $(TIME) --workers $(WORKERS) --seed $(SEED)

test: install
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install
	@$(BIN)/python -m tuning.bench

fuzz: install
	@$(BIN)/python -m tests.fuzz_region $(FUZZ) $(SEED)
	@$(BIN)/python -m tests.fuzz_exact $(FUZZ) $(SEED)

lock: install
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes --upgrade pyproject.toml -o requirements.lock

clean:
	rm -rf .venv

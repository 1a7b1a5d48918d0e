# Everything a fresh machine with Python 3.11 or later, make and a network needs: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JS := $(VENV)/node/node_modules/.bin

# One cache of compiled code for each content of loops/, so that going back to an earlier one compiles nothing.
export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/numba/$(shell cat src/linsep/loops/*.py | cksum | cut -d' ' -f1)

# The tests start Python hundreds of times: its compiled modules are kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-quick torture oracle forge kills worker-kills interrupts fuzz forge-cache forge-mistakes lint format bench scale load images chromium clean

demo: $(VENV)/.run
	$(BIN)/linsep demo

# Everything.
test: $(VENV)/.test chromium
	$(BIN)/pytest -n 2

# Without a browser, without the long tests, the campaigns and the pages of docs/: two and a half minutes on two cores.
test-quick: $(VENV)/.test
	$(BIN)/pytest -n 2 -m "not browser and not slow and not campaign" tests src

# The explorer is tested in a real browser: an installed one, else Debian's package (as root), else playwright's download.
chromium: $(VENV)/.test
	@$(BIN)/python tests/browser.py

# The explorer in Firefox, which is Debian's package if there is none and it runs as root, by puppeteer: a minute.
.PHONY: firefox
firefox: $(VENV)/.test $(VENV)/.lint
	@command -v firefox-esr firefox > /dev/null || apt-get install -y -qq --no-install-recommends firefox-esr
	PATH=$(CURDIR)/$(BIN):$$PATH npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/firefox puppeteer-core@25.16.0
	$(BIN)/pytest tests/test_firefox.py

# Results and the explorer in the cells of a real JupyterLab, which is installed first: a minute.
.PHONY: jupyter
jupyter: $(VENV)/.test chromium
	$(BIN)/pip install --quiet jupyterlab
	$(BIN)/pytest tests/test_jupyter.py

# Every instance with a known answer, every way and through every door: a quarter of an hour on two cores. docs/torture.md says what it runs.
torture: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.torture 2
	$(BIN)/python -m tests.campaigns.doors 300

# 100,000 small tables on the road of wide ones, each held against Fractions: half an hour. docs/torture.md
oracle: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.oracle 100000

# 1,000,000 forged positive-definite proofs: an hour. docs/torture.md
forge: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.forge_definite 1000000

# SIGKILL at 200 random moments, each run resumed until it is done: five minutes. docs/checkpoints.md
kills: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.kills 200

# Workers of a Dask cluster killed in the middle of 50 runs: ten minutes. docs/cluster.md
worker-kills: $(VENV)/.test
	$(BIN)/python -W ignore -m tests.campaigns.worker_kills 50

# Ctrl-C at 500 random moments of importing, compiling, scanning and searching: ten minutes. CONTRIBUTING.md
interrupts: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.interrupts 500

# 200,000 mutated inputs for each reader of files, and bombs, with memory capped: half an hour.
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.fuzz 200000

# 20,000 forged, damaged and stale caches: fifteen minutes.
forge-cache: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.forge_cache 20000

# 2,000 small tables against brute force, and 100,000 forged bounds on mistakes: ten minutes.
forge-mistakes: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.forge_mistakes

# scikit-learn's own tests of its Perceptron, SGD and passive-aggressive classifiers on ours: a minute. docs/estimators.md
.PHONY: sklearn-suite
sklearn-suite: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.sklearn_suite

# The theorems behind the verdicts, compiled from scratch by Coq, and what they assume: two minutes. theorems/README.md
.PHONY: theorems checker three-checkers
theorems:
	$(PYTHON) theorems/build.py theorems

# The checker that is extracted from them: theorems/build/linsep-checker.
checker:
	$(PYTHON) theorems/build.py checker

# 20,000 proofs and forgeries before `verify`, the stand-alone checker and the extracted one. docs/trust.md
three-checkers: $(VENV)/.test checker
	$(BIN)/python -m tests.campaigns.three_checkers 20000

# 1,000,000 forgeries of every version before the same three: an hour of the processor. docs/trust.md
.PHONY: many-forgeries
many-forgeries: $(VENV)/.test checker
	$(BIN)/python -m tests.campaigns.many_forgeries 1000000

# Proofs of the torture campaign before the three; tests/campaigns/three_on_proofs.py does it with real data.
.PHONY: three-on-torture
three-on-torture: $(VENV)/.test checker
	$(BIN)/python -m tests.campaigns.three_on_proofs torture 20 1000

# 30,000 forged proofs about many classes, held against Fractions: five minutes.
.PHONY: forge-classes
forge-classes: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.forge_classes

# Every mutant of the stand-alone checker, and a sample of the library's; with the name of a module, all of that module. docs/trust.md
.PHONY: mutants
mutants: $(VENV)/.test checker
	$(BIN)/python -m tests.campaigns.mutants linsep.checker
	$(BIN)/python -m tests.campaigns.mutants library 20

# How much of the checkers the tests run through, branch by branch.
.PHONY: coverage
coverage: $(VENV)/.test
	$(BIN)/pip install --quiet coverage
	PYTHONPATH=. $(BIN)/python -m coverage run --rcfile=tests/coverage.ini -m pytest -q -p no:xdist $(shell cat tests/coverage_tests.txt)
	$(BIN)/python -m coverage report --rcfile=tests/coverage.ini

lint: $(VENV)/.lint $(VENV)/node/.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(JS)/biome check --error-on-warnings
	$(JS)/tsc --project tsconfig.json
	$(JS)/tsc --project tests/engine

format: $(VENV)/.lint $(VENV)/node/.done
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(JS)/biome check --write

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bandwidth.py
	$(BIN)/python benchmarks/perceptron.py
	$(BIN)/python benchmarks/decide.py
	$(BIN)/python benchmarks/small.py
	$(BIN)/python benchmarks/tiny_margins.py

# The ratios of the README, held against those recorded there: less than ten minutes on two cores.
.PHONY: bench-quick
bench-quick: $(VENV)/.bench
	$(BIN)/python benchmarks/quick.py --against benchmarks/results/README.json

# Files of up to 100,000,000 rows: verdicts, fits, memory, and reads against pyarrow's. Needs 20 GB of disk, in the
# folder LINSEP_SCALE or a temporary one, and half an hour.
scale: $(VENV)/.bench
	$(BIN)/python benchmarks/figures.py docs/files.md

# How quickly the explorer answers, and 5,000 requests, 50 at a time.
load: $(VENV)/.test chromium
	$(BIN)/python benchmarks/explorer.py

# Which figures of the docs are older than the code they measure. Before a release; benchmarks/figures.py PAGE measures.
.PHONY: figures-check api
figures-check: $(VENV)/.run
	$(BIN)/python benchmarks/figures.py --check

# docs/api.md from the docstrings, docs/commands.md from the help, docs/errors.md from the table of faults.
api: $(VENV)/.test
	$(BIN)/python docs/make_api.py
	$(BIN)/python docs/make_commands.py
	$(BIN)/python docs/make_errors.py

# Every picture of the docs.
images: $(VENV)/.test chromium
	$(BIN)/python docs/make_plots.py
	$(BIN)/python docs/make_images.py

# The documentation as a site, its examples run: build/site/docs/docs/index.html. A warning is an error. Two minutes.
.PHONY: docs site bounds
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -c docs . build/site/docs

# The slides and the notebooks of lessons/, from their scripts.
.PHONY: lessons
lessons: $(VENV)/.test
	$(BIN)/python lessons/make_slides.py
	$(BIN)/python lessons/make_notebooks.py

# A folder that any web host or a USB stick can serve: start page, live explorer, documentation.
site: docs
	cp docs/start.html build/site/index.html
	$(BIN)/linsep explore --export build/site/explorer.html
	@echo build/site/index.html

# The quick tests at the lowest versions that pyproject.toml allows, and at the newest: ten minutes.
bounds: $(VENV)/.bounds
	$(BIN)/python -m tests.campaigns.bounds

# What the library says of 300 sets of points, for the tests of the page's own engine; after a change of its answers.
.PHONY: explorer-answers explorer-engine
explorer-answers: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.engine_answers 300 tests/engine/answers.ndjson.gz

# The page's engine against the library on 6,000 sets: verdicts, proofs, steps, weights, margins. Five minutes.
explorer-engine: $(VENV)/.test
	$(BIN)/python -m tests.campaigns.engine_answers 6000

# The source distribution and the wheel, in build/dist. The wheel is tried in an environment of its own: the demo, a verdict on a
# CSV file, and the check of its proof. Two minutes.
.PHONY: wheel
wheel: $(VENV)/.run
	rm -rf build/dist build/wheel
	$(BIN)/pip install --quiet build
	$(BIN)/python -m build --outdir build/dist
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/pip install --quiet build/dist/*.whl
	cd build/wheel && bin/linsep demo
	cd build/wheel && printf 'dose,age,ill\n1,30,no\n2,50,no\n4,40,yes\n5,60,yes\n' > rows.csv
	cd build/wheel && bin/linsep decide rows.csv --label ill --proof proof.json
	cd build/wheel && bin/python -m linsep.checker proof.json rows.csv --label ill

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python pyproject.toml
	$(BIN)/pip install --quiet --editable .
	@touch $@

# The linter, formatter and type check of the page's JavaScript; Node itself is a wheel of the extra `lint`.
$(VENV)/node/.done: $(VENV)/.lint Makefile
	PATH=$(CURDIR)/$(BIN):$$PATH npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/node @biomejs/biome@2.6.6 typescript@7.0.2
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.docs $(VENV)/.bounds: $(VENV)/.%: $(VENV)/.run
	$(BIN)/pip install --quiet --editable '.[$*]'
	@touch $@

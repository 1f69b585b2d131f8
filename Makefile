# Every target does its own set-up; Python 3.11 or newer and a C compiler are all that is assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Lock files name all dependencies; Python compiles a module when it is first imported, and keeps it (below).
PIP_LOCKED := $(PIP) --no-deps --no-compile --requirement
PYTEST := $(BIN)/python -m pytest --durations=5
# .rust holds a Rust of the project's own, on machines without one.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/.rust/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export NO_MKDOCS_2_WARNING := 1
# Tests start many programs, each of which would compile its modules anew where this is set to 1.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

RUST_FILES := $(shell find crates presets -name '*.rs' -o -name '*.toml' 2>/dev/null) Cargo.toml Cargo.lock
CHARTS := python/sledlab/show/charts/charts.js
READY := $(BIN)/.built $(BIN)/.tools $(CHARTS)
RELEASE := $(BIN)/.release $(BIN)/.tools
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo gallery web test test-all test-rust test-python test-clients test-web test-data test-papers \
	test-conditions lint attack mutants coverage evidence evidence-check validate reproduce bench guarantees compare-builds fuzz docs wheel clean setup release-build rust

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(BIN)/.built ## replay a recorded database on a MEMS sled; leaves demo/report.html
	$(BIN)/python examples/demo.py demo

test: test-rust test-python ## quick tests, without root or other programs

test-all: IGNORED := yes
test-all: test-rust ## `make test` and the slow tests
	$(PYTEST) -n auto --dist worksteal

test-rust: rust
	@# Tests remove their files: rmdir fails on a temporary directory that is not empty.
	export TMPDIR=$$(mktemp -d) && \
		cargo test --workspace --tests --no-fail-fast -- $(if $(IGNORED),--include-ignored) && \
		cargo test --workspace --doc && rmdir $$TMPDIR

test-python: $(READY)
	$(PYTEST) -n auto --dist worksteal -m "not slow"

test-clients: web ## real programs: fio, blkparse, compressors, a shell's pipes; the wheel in a clean environment
	$(PYTEST) tests/clients -n 2 --dist loadfile

# Needs Rust's standard library for browsers; release wheels carry the page.
web: $(READY) rust ## the laboratory in a browser, for `sledlab view`, the docs and wheels
	$(BIN)/python -m tools.web

test-web: web ## all pages in a browser (Debian's chromium)
	$(PYTEST) tests/web -n 2 --dist loadfile

test-papers: $(READY) ## the reproduction of the papers alone, with its own configuration; `make test` runs these tests too
	$(PYTEST) papers -n auto --dist worksteal -m "not slow"

test-data: $(READY) ## databases and data frames that read what sledlab leaves
	$(PYTEST) tests/data

test-conditions: $(READY) ## a few tests under another processor, locale, time zone, path and read-only caches, at once
	tools/conditions.sh

gallery: $(READY) ## a contact sheet of the figures of every study: gallery/index.html
	$(BIN)/python -m tools.gallery

EVIDENCE := $(BIN)/python -m validation.evidence

evidence: $(RELEASE) ## all measurements whose result has changed: validation and reproduction; resumes, hours
	$(EVIDENCE)

evidence-check: $(RELEASE) ## pages whose result has changed since they were measured
	$(EVIDENCE) --check

validate: $(RELEASE) ## tests against published numbers and reference runs, jobs at full size; sections of docs/validation.md that changed
	$(EVIDENCE) validate

reproduce: $(RELEASE) ## experiments of the papers whose result has changed, with their verdicts; SLEDLAB_CLUSTER helps
	$(EVIDENCE) reproduce

lint: $(READY) ## formatting, lints, dependencies, types, spelling, docs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps
	cargo deny --log-level error check bans licenses sources
	$(BIN)/python -m tools.advisories
	cargo shear
	$(BIN)/python tools/rust_modules.py
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/stub.py
	$(BIN)/python tools/core.py
	$(BIN)/codespell
	$(BIN)/mkdocs build --strict
	$(BIN)/lint-imports
	$(BIN)/python -m tools.layers

mutants: rust ## changes the Rust lines that changed since BASE, one by one: which changes does no test notice?
	@mkdir -p target && git diff $(BASE) -- '*.rs' > target/changes.diff
	cargo mutants --in-diff target/changes.diff --profile quick --output target

coverage: $(READY) rust ## which lines the tests run, Rust and Python: pages in target/coverage
	cargo llvm-cov --locked --workspace --lib --tests --html --output-dir target/coverage/rust
	$(PYTEST) -n auto --dist worksteal --cov=sledlab --cov-report=term --cov-report=html:target/coverage/python

bench: $(RELEASE) web wheel ## benchmarks, all or those in NAME; writes validation/benches/*.json
	$(BIN)/python validation/benches/run.py $(NAME)

guarantees: $(RELEASE) ## timing, equality and durability of `sledlab serve`: validation/benches/guarantees.json; root, hours
	$(BIN)/python validation/benches/guarantees.py

BASE ?= HEAD~1
LIMIT ?= 1.05
compare-builds: $(RELEASE) ## speed of this build relative to commit BASE (default: the previous one); fails beyond LIMIT (1.05)
	$(BIN)/python validation/benches/builds.py --base $(BASE) --limit $(LIMIT)
	$(BIN)/python validation/benches/waits.py --base $(BASE)

fuzz: rust ## every reader of traces and records, and the NBD protocol, for FUZZ_SECONDS (60) each
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo run --release -p sledlab-trace --example fuzz
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo run --release -p sledlab-emulation --example fuzz_nbd

SECONDS ?= 60
attack: $(READY) ## random and mutated input files of all kinds for SECONDS (60); SEED repeats a run
	$(BIN)/python -m tools.attack --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

docs: $(READY) gallery ## the documentation as pages in site/
	$(BIN)/mkdocs build --strict
	@echo "open site/index.html"

wheel: $(BIN)/.locked rust ## an abi3 wheel for Python 3.11 and newer in dist/
	$(BIN)/maturin build --release --strip --locked --compression-level 9 --out dist

release-build: $(RELEASE) ## .venv with the release build of sledlab, for `validate`, `bench` and `reproduce`

setup: $(READY) ## .venv with sledlab and all tools; .rust where there is no Rust

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "sledlab needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python cannot make environments: on Debian, apt-get install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# What sledlab runs on and is built with.
$(BIN)/.locked: requirements.lock | $(BIN)/python
	$(PIP_LOCKED) requirements.lock
	@touch $@

# What it is tested, checked and documented with.
$(BIN)/.tools: requirements-dev.lock | $(BIN)/.locked
	$(PIP_LOCKED) requirements-dev.lock
	@touch $@

# Packages are downloaded while Rust is compiled.
$(BIN)/.built: requirements.lock pyproject.toml $(RUST_FILES) | rust $(BIN)/.maturin
	@$(MAKE) --no-print-directory -j3 $(BIN)/.locked $(BIN)/.quick $(CHARTS)
	@touch $@

$(BIN)/.maturin: requirements.lock | $(BIN)/python
	$(PIP) $$(grep '^maturin==' requirements.lock)
	@touch $@

# An editable install in the Cargo profile `quick`.
$(BIN)/.quick: pyproject.toml $(RUST_FILES)
	$(PIP) --no-build-isolation --no-deps --editable .
	@rm -f $(BIN)/.release
	@touch $@

# The chart library of reports. Without npm the file stays missing, and the next `make` tries again.
$(CHARTS): web/package-lock.json web/build.mjs python/sledlab/show/palette.json $(wildcard web/charts/*) | $(BIN)/python
	@$(BIN)/python -m tools.charts

# The same in the profile of wheels, for all that measures speed or writes pages of the docs.
$(BIN)/.release: pyproject.toml $(RUST_FILES) | rust $(BIN)/.locked
	MATURIN_PEP517_ARGS="--profile release" $(PIP) --no-build-isolation --no-deps --editable .
	@touch $(BIN)/.quick $(BIN)/.built $@

rust: | $(BIN)/python
	@$(BIN)/python tools/rust.py

clean: ## everything that was built or fetched
	rm -rf target papers/build web/node_modules web/core/sledlab.wasm python/sledlab/view python/sledlab/show/charts $(VENV) .rust demo gallery site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Every target does its own set-up; Python 3.11 or newer and a C compiler are all that is assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --durations=5
# .rust holds a Rust of the project's own, on machines without one.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/.rust/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export NO_MKDOCS_2_WARNING := 1

RUST_FILES := $(shell find crates presets -name '*.rs' -o -name '*.toml' 2>/dev/null) Cargo.toml Cargo.lock
READY := $(BIN)/.built $(BIN)/.tools
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo web test test-all test-rust test-python test-clients test-web test-data \
	test-conditions conditions lint coverage validate reproduce reproduce-everything bench compare-builds fuzz docs wheel clean setup rust

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(BIN)/.built ## replay a recorded database on a MEMS sled; leaves demo/report.html
	$(BIN)/python examples/demo.py demo

test: test-rust test-python ## quick tests, without root or other programs

test-all: test-rust ## `make test` and the slow tests
	$(PYTEST) -n auto --dist worksteal

test-rust: rust
	$(BIN)/python -m tools.rust_tests

test-python: $(READY)
	$(PYTEST) -n auto --dist worksteal -m "not slow"

test-clients: web ## real programs: fio, blkparse, compressors, a shell's pipes; the wheel in a clean environment
	$(PYTEST) tests/clients -n 2 --dist loadfile

# Needs Rust's standard library for browsers; release wheels carry the page.
web: $(READY) rust ## the laboratory in a browser, for `sledlab view`, the docs and wheels
	$(BIN)/python tools/web.py

test-web: web ## all pages in a browser (Debian's chromium)
	$(PYTEST) tests/web -n 2 --dist loadfile

test-data: $(READY) ## databases and data frames that read what sledlab leaves
	$(PYTEST) tests/data

test-conditions: $(READY) ## a few tests under several of the conditions at once
	$(BIN)/python tools/conditions.py --combine --tests subset processor locale timezone caches nohup path no-git

conditions: $(READY) ## quick tests under each condition of tools/conditions.py: processors, locales, versions of Python ...
	$(BIN)/python tools/conditions.py

validate: $(READY) ## published numbers, all reference runs (where they are found), and jobs at full size; `make test` checks a subset
	$(PYTEST) tests/validation tests/job --everything
	cargo test --release -p sledlab-sim --test cluster_passes -- --ignored
	$(BIN)/python -m lab.validation

reproduce: $(READY) ## experiments of the papers that changed since their points were kept; pages and pictures of all
	$(BIN)/python -m lab.reproduction --run

reproduce-everything: $(READY) ## the same with all other readings: hours; goes on where it stopped, SLEDLAB_CLUSTER helps
	$(BIN)/python -m lab.reproduction --everything

lint: $(READY) ## formatting, lints, dependencies, types, spelling, docs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps
	cargo deny --log-level error check bans licenses sources
	cargo shear
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/stub.py
	$(BIN)/codespell
	$(BIN)/mkdocs build --strict
	$(BIN)/lint-imports

coverage: $(READY) rust ## which lines the tests run, Rust and Python: pages in target/coverage
	$(BIN)/python tools/coverage.py
	$(PYTEST) -n auto --dist worksteal --cov=sledlab --cov-report=term --cov-report=html:target/coverage/python

bench: $(READY) wheel ## speed: parsing, replay, schedulers, memory; prints ratios, keeps benches/results.json
	cargo bench --workspace --bench '*'
	$(BIN)/python benches/command_line.py
	$(BIN)/python benches/jobs.py
	$(BIN)/python benches/studies.py
	$(BIN)/python benches/fleet.py
	$(BIN)/python benches/kept.py
	$(BIN)/python benches/machines.py
	$(BIN)/python benches/plug_ins.py
	$(BIN)/python benches/front_door.py
	$(BIN)/python benches/volumes.py
	$(BIN)/python benches/emulation.py
	$(BIN)/python benches/closed_loop.py
	$(BIN)/python benches/kills.py
	$(BIN)/python benches/hostile.py
	$(BIN)/python benches/power.py
	$(BIN)/python benches/way.py
	$(BIN)/python benches/web.py
	$(BIN)/python benches/applications.py

BASE ?= HEAD~1
LIMIT ?= 1.05
compare-builds: $(READY) ## speed of this build beside that of the commit BASE (the one before); fails beyond LIMIT (1.05)
	$(BIN)/python benches/builds.py --base $(BASE) --limit $(LIMIT)

fuzz: rust ## every reader of traces and records, and the NBD protocol, for FUZZ_SECONDS (60) each
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo run --release -p sledlab-trace --example fuzz
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo run --release -p sledlab-emulation --example fuzz_nbd

docs: $(READY) ## the documentation as pages in site/
	$(BIN)/mkdocs build --strict
	@echo "open site/index.html"

wheel: $(BIN)/.locked rust ## an abi3 wheel for Python 3.11 and newer in dist/
	$(BIN)/maturin build --release --strip --locked --compression-level 9 --out dist

setup: $(READY) ## .venv with sledlab and all tools; .rust where there is no Rust

# What sledlab runs on and is built with.
$(BIN)/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "sledlab needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python cannot make environments: on Debian, apt-get install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements.lock
	@touch $@

# What it is tested, checked and documented with.
$(BIN)/.tools: requirements-dev.lock | $(BIN)/.locked
	$(PIP) --requirement requirements-dev.lock
	@touch $@

$(BIN)/.built: $(BIN)/.locked pyproject.toml $(RUST_FILES) | rust
	$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

rust: | $(BIN)/.locked
	@$(BIN)/python tools/rust.py

clean: ## everything that was built or fetched
	rm -rf target web/node_modules web/core/sledlab.wasm python/sledlab/view $(VENV) .rust demo site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Every target does its own set-up; Python 3.10 or newer and Rust (cargo) are all that is assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export NO_MKDOCS_2_WARNING := 1

RUST_FILES := $(shell find crates presets -name '*.rs' -o -name '*.toml' 2>/dev/null) Cargo.toml Cargo.lock
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python lint validate reproduce bench fuzz docs wheel clean setup

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(BIN)/.built ## replay a recorded database on a MEMS sled; leaves demo/report.html
	$(BIN)/python examples/demo.py demo

test: test-rust test-python ## all tests

test-rust:
	@if cargo nextest --version >/dev/null 2>&1; then cargo nextest run --workspace; else cargo test --workspace --lib --tests; fi
	cargo test --workspace --doc

test-python: $(BIN)/.built
	$(BIN)/python -m pytest

validate: $(BIN)/.built ## published numbers and all reference runs (where they are found); `make test` checks a subset
	$(BIN)/python -m pytest tests/validation --everything

reproduce: $(BIN)/.built ## run the experiments of the papers; writes the pages of docs/reproduction
	$(BIN)/python -m tests.validation.reproduction

lint: $(BIN)/.built ## formatting, lints, types, spelling, docs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/mkdocs build --quiet --strict

bench: $(BIN)/.built ## speed: parsing, replay, schedulers, memory; prints ratios, keeps benches/results.json
	cargo bench --workspace --bench '*'
	$(BIN)/python benches/command_line.py

fuzz: ## every trace reader for FUZZ_SECONDS (60) each
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo run --release -p sledlab-trace --example fuzz

docs: $(BIN)/.built ## the documentation as pages in site/
	$(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html"

wheel: $(BIN)/.locked ## an abi3 wheel for Python 3.10 and newer in dist/
	$(BIN)/maturin build --release --locked --out dist

setup: $(BIN)/.built ## .venv with sledlab and all tools

$(BIN)/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "sledlab needs Python 3.10 or newer; choose one with: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python cannot make environments: on Debian, apt-get install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@touch $@

$(BIN)/.built: $(BIN)/.locked pyproject.toml $(RUST_FILES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

clean: ## everything that was built
	cargo clean --quiet
	rm -rf $(VENV) demo site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

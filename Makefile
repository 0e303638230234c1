# Everything a fresh machine needs is Python >= 3.10 and a C++ compiler (g++ >= 9 or clang++ >= 10).
#   make demo    compile the four Qwen3-14B stages, run them on this CPU, check them against float64 numpy
#   make test    all tests
#   make bench   the figures, as a table and in build/bench.json
#   make lint    ruff and mypy
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
TORCH ?= torch==2.13.0
BENCH_ARGS ?=

.PHONY: help demo test bench lint format clean
help:
	@sed -n 's/^#   //p' $(MAKEFILE_LIST)

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/.core
	$(BIN)/python -m pyto.models.qwen3_14b.demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

$(VENV)/.torch: $(VENV)/.dev
	$(BIN)/python -m pip install -q --disable-pip-version-check '$(TORCH)'
	@touch $@

bench: $(VENV)/.torch
	$(BIN)/python -m benchmarks --output build/bench.json $(BENCH_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build dist .venv .pytest_cache .mypy_cache .ruff_cache *.egg-info

# Every target sets itself up: a virtual environment in .venv and the compiled package.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src core CMakeLists.txt pyproject.toml -type f -not -name '*.pyc')
CPP := $(wildcard core/*/*.cpp core/*/*.hpp core/include/localsvm/*.hpp)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BUILD := $(INSTALL) --no-build-isolation --config-settings=build-dir=build/wheel

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow coverage lint includes format test-core tsan bench watch papers papers-report docs stub clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: $(VENV)/installed  ## Fit, compare, explain, save, load, report: on a table in the package
	$(BIN)/localsvm demo --force

# Side by side, because mypy and the sanitizers' programs use one core each. Failures are
# printed as they happen and kept in build/tests.xml.
test: $(VENV)/developing $(VENV)/browser  ## Lint, C++ tests under sanitizers, Python tests
	$(MAKE) -j3 lint test-core tsan
	$(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal --durations=25 \
	  --instafail --junitxml=build/tests.xml

test-slow: $(VENV)/developing  ## The tests that take minutes; properties on many examples
	$(BIN)/python -m pytest -m "slow or hypothesis" --hypothesis-profile=nightly --instafail

# Branches of Python; the C++ core has its own tests. Writes tests/coverage.md.
coverage: $(VENV)/developing $(VENV)/browser  ## What the Python tests reach, and what not
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal --instafail -q \
	  --cov --cov-report=json:build/coverage/report.json
	$(BIN)/python benchmarks/coverage_page.py

lint: $(VENV)/developing  ## ruff, mypy, import-linter, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(MAKE) includes

includes: $(VENV)/developing $(VENV)/cleaner  ## Each C++ file includes what it uses
	@test ! -e $(VENV)/cleaner || $(BIN)/python core/check_includes.py $(CPP)

format: $(VENV)/developing  ## Format all code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# $(call sanitized,folder,sanitizers): build and run the C++ tests.
define sanitized
	$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLOCALSVM_PYTHON=OFF -DLOCALSVM_TESTS=ON \
	  -DLOCALSVM_SANITIZE=$(2) >/dev/null
	$(BIN)/cmake --build $(1)
	$(BIN)/ctest --test-dir $(1) --output-on-failure --parallel 2
endef

comma := ,
test-core: $(VENV)/tools  ## C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call sanitized,build/sanitize,address$(comma)undefined)

tsan: $(VENV)/tools  ## Threaded C++ tests under ThreadSanitizer
	$(call sanitized,build/tsan,thread)

bench: $(VENV)/benching  ## Accuracy and speed against peers; rewrites results and README
	for part in clustered local; do for what in accuracy speed search; do \
	  $(BIN)/python benchmarks/$${part}_$$what.py || exit 1; done; done
	$(BIN)/python benchmarks/locally_linear.py
	for what in accuracy speed privacy; do \
	  $(BIN)/python benchmarks/support_$$what.py || exit 1; done
	for what in accuracy speed; do \
	  $(BIN)/python benchmarks/reduced_$$what.py || exit 1; \
	  $(BIN)/python benchmarks/mixture_$$what.py || exit 1; done
	$(BIN)/python benchmarks/additive.py
	$(BIN)/python benchmarks/staged_peers.py --again
	$(BIN)/python benchmarks/staged.py --again
	$(BIN)/python benchmarks/peers_all.py --again
	for what in onnx_parity serve_load adult_story; do \
	  $(BIN)/python benchmarks/$$what.py || exit 1; done
	$(BIN)/python benchmarks/scale_out.py build/scale
	$(BIN)/localsvm demo --force --quiet > benchmarks/results/demo.tmp
	mv benchmarks/results/demo.tmp benchmarks/results/demo.txt
	$(BIN)/python benchmarks/tables.py

BASE ?= HEAD~1
watch: $(VENV)/developing  ## Instructions of small tasks; fails if one takes a tenth more than at BASE
	$(BIN)/python benchmarks/micro.py compare $(BASE)

papers: $(VENV)/developing  ## The papers' tables and figures; goes on where it stopped
	OMP_NUM_THREADS=1 $(BIN)/python -m papers run --size standard --prune \
	  --store docs/papers/records
	$(MAKE) papers-report

papers-report: $(VENV)/developing  ## Write docs/papers from the records that are there
	$(BIN)/python -m papers report --store docs/papers/records --out docs/papers

docs: $(VENV)/documenting  ## Guides, reference and examples as HTML; a warning is an error
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "Begin with docs/_build/html/index.html"

stub: $(VENV)/developing  ## Rewrite the typing stub of the compiled core
	$(BIN)/python -m nanobind.stubgen -q -m localsvm._core -o src/localsvm/_core.pyi

clean:  ## Remove the environment and everything built
	rm -rf $(VENV) build dist demo_output docs/_build docs/api/generated docs/auto_examples

$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) "pip>=25.1"  # knows dependency groups
	$(INSTALL) "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(BUILD) ".[cli,report]"
	touch $@

$(VENV)/developing: $(VENV)/tools $(SOURCES)
	$(BUILD) ".[all]" --group dev
	touch $(VENV)/installed $@

# A wheel for most machines; elsewhere includes are not checked.
$(VENV)/cleaner: $(VENV)/tools
	@if $(INSTALL) --only-binary :all: clang-include-cleaner==22.1.7; then touch $@; else \
	  echo "clang-include-cleaner cannot be installed: includes are not checked."; fi

# Chromium opens the reports in the tests; without it those tests are skipped.
$(VENV)/browser: $(VENV)/tools
	@found() { command -v chromium || command -v chromium-browser; }; \
	if ! found >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium >/dev/null || true; fi; \
	if found >/dev/null; then touch $@; else \
	  echo "Chromium cannot be installed (by root, with apt-get): its tests are skipped."; fi

$(VENV)/benching: $(VENV)/installed
	$(BUILD) ".[all]" --group bench
	touch $@

$(VENV)/documenting: $(VENV)/installed
	$(BUILD) ".[all]" --group docs
	touch $@

# The commands of a developer's day. `make demo` and `make test` start from a bare Debian 12 with Rust, gcc and python3.

TARGET := $(or $(CARGO_TARGET_DIR),target)
QUARRY := $(TARGET)/release/quarry
DEBUG_QUARRY := $(TARGET)/debug/quarry
# csmith programs: all of them by `make check-csmith`, a few in `make test`.
N ?= 200
N_IN_TEST := 4
JOBS ?= $(shell nproc)
# The crates whose tests need no clang.
WITHOUT_CLANG := $(addprefix -p quarry-,model analysis coverage proof smt bitwuzla-sys wire report testwriter)
# `make bench-strategies`, `make bench-dataflow`: seeds, units (names or groups, separated by commas; all if empty), strategies and the directory for results.
SEEDS ?= 30
UNITS ?=
STRATEGIES ?=
# `make bench-dataflow`: pairs per unit; 0 for all.
PAIRS ?= 4
OUT ?= bench/out
# `make check-prover`: functions.
FUNCTIONS_PROVED ?= 110
# `make check-resume`: campaigns to kill.
ROUNDS ?= 20
# Seconds for each campaign of `make check-resume`, and for each tool and function of `make bench-real`; functions or packages of the latter (separated by commas; the usual ones if empty).
BUDGET ?= 60
FUNCTIONS ?=

.PHONY: help demo test check setup setup-tests build lint unit documents debug-build scripts-check test-fixtures test-csmith test-dataflow test-report test-kept test-prover check-csmith check-real check-mcdc check-dataflow check-statements check-testcomp check-resume check-report check-export check-findings check-libraries check-upstream check-projects check-kept check-time check-prover bench-exec bench-start bench-pool bench-strategies bench-chaining bench-augment bench-dataflow bench-dataflow-scale bench-real bench-programs bench-prover bench-versions clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26

demo: setup build ## install what is missing, build, generate a suite for examples/triangle.c and show it
	@scripts/demo.sh $(QUARRY) $(TARGET)/demo

test: setup-tests lint unit scripts-check ## install what is missing, then all tests

check: documents ## formatting, lints, and every test that needs no clang: the quick check after a change
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	cargo nextest run $(WITHOUT_CLANG)
	cargo nextest run --lib -p quarry-engine -p quarry-runner

setup:
	@scripts/setup.sh

setup-tests:
	@scripts/setup.sh --tests

build: setup
	@cargo build --quiet --release -p quarry-cli -p quarry-dev

lint: setup-tests
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	scripts/check-dependencies.sh

unit: lint
	@if cargo nextest --version >/dev/null 2>&1; then \
	    cargo nextest run --workspace --no-tests=pass; \
	else \
	    cargo test --quiet --workspace; \
	fi

# Paths, arrows and syntax that documents and scripts state.
documents:
	@for script in scripts/*.sh .ci/run; do bash -n $$script || exit 1; done
	scripts/check-paths.py
	@scripts/check-architecture.py --self-test >/dev/null
	scripts/check-architecture.py

# After the tests, whose build left the debug binaries; the checks run side by side.
scripts-check: unit documents
	@$(MAKE) --no-print-directory --output-sync -j $(JOBS) test-fixtures test-csmith test-dataflow test-report test-kept test-prover

# The same selection as the tests, or other features of dependencies would build everything a second time.
debug-build:
	@cargo test --quiet --workspace --no-run

test-fixtures:
	scripts/check-fixtures.py

test-csmith: debug-build
	scripts/check-csmith.py -n $(N_IN_TEST) -j $(JOBS) --quarry $(DEBUG_QUARRY)

test-dataflow: debug-build
	scripts/check-dataflow.py --quarry $(DEBUG_QUARRY)

test-report: debug-build
	scripts/check-report.py --quarry $(DEBUG_QUARRY)

test-kept: debug-build
	scripts/check-kept.py --quarry $(DEBUG_QUARRY) --moments 10

# A tenth of `make check-prover`, in time.
test-prover: debug-build
	scripts/check-prover.py --quarry $(DEBUG_QUARRY) --functions 2 --programs 2 -j $(JOBS)

check-csmith: setup-tests build ## N=200 random programs: native = interpreter = instrumented, self-check silent
	scripts/check-csmith.py -n $(N) -j $(JOBS) --quarry $(QUARRY)

check-real: setup-tests build ## zlib, cjson, libcsv, http-parser and lua must behave the same instrumented and native
	scripts/check-real.py --quarry $(QUARRY)

check-dataflow: build ## def-use pairs of the fixtures as their comments state them
	scripts/check-dataflow.py --quarry $(QUARRY)

check-mcdc: setup-tests build ## MC/DC of fixtures, zlib and cjson as llvm-cov measures it, differences explained
	scripts/check-mcdc.py --quarry $(QUARRY) -j $(JOBS)

check-statements: setup-tests build ## statement coverage of fixtures, zlib and cjson as llvm-cov counts it
	scripts/check-statements.py --quarry $(QUARRY) -j $(JOBS)

check-testcomp: build ## suites for the programs of fixtures/testcomp, measured by TestCov
	@scripts/setup.sh --testcomp
	scripts/check-testcomp.py --quarry $(QUARRY) -j $(JOBS)

check-resume: build ## ROUNDS=20 campaigns of BUDGET=60 seconds, killed at random moments and resumed
	scripts/check-resume.py --quarry $(QUARRY) --rounds $(ROUNDS) --budget $(BUDGET)

check-kept: build ## commands that are killed, interrupted or fail at 30 moments over a suite with edited tests
	scripts/check-kept.py --quarry $(QUARRY)

check-upstream: setup-tests build ## what libraries' own tests in C cover, imported, confirmed by llvm-cov, augmented and exported
	scripts/check-upstream.py --quarry $(QUARRY)

check-projects: setup-tests build ## whole CMake projects with a budget of two minutes each: results or reasons for all functions, in time
	scripts/check-projects.py --quarry $(QUARRY)

check-time: build ## ten functions and four programs with --budget 30s, alone and beside six busy loops: 15 minutes
	scripts/check-time.py --quarry $(QUARRY)

check-prover: setup-tests build ## FUNCTIONS_PROVED=110 functions with known truth and as many twins, damaged proofs, csmith programs with labels: no wrong verdict
	scripts/check-prover.py --quarry $(QUARRY) -j $(JOBS) --functions $(FUNCTIONS_PROVED)

check-report: setup-tests build ## the HTML report in headless Chromium, the other reports against their schemas
	scripts/check-report.py --quarry $(QUARRY)

check-export: setup-tests build ## exported tests of 20 fixtures and 20 library functions: gcc, clang, llvm-cov, mutants
	scripts/check-export.py --quarry $(QUARRY) -j $(JOBS)

check-findings: setup-tests build ## correct functions without a finding, faulty ones with a finding at their error
	scripts/check-findings.py --quarry $(QUARRY) -j $(JOBS)

check-libraries: setup-tests build ## tests and findings of 40 functions of ten libraries, under the sanitizers of gcc and clang (SECONDS=20 each)
	scripts/check-libraries.py --quarry $(QUARRY) -j $(JOBS) --seconds $(or $(SECONDS),20)

bench-exec: setup-tests build ## executions per second, slowdown, nodes per second, time per small query
	bench/exec.py --quarry $(QUARRY)

bench-start: setup-tests build ## time of builds, cold and warm, against clang -O0 -c of the same files (QUICK=1: generated and small functions only)
	bench/start.py --quarry $(QUARRY) $(if $(QUICK),--quick)

bench-pool: setup-tests build ## cost of filtering a pool of 100,000 candidates
	$(QUARRY)-dev bench-pool

bench-strategies: setup-tests build ## search strategies with and without filtering: tables, curves (SEEDS=2 UNITS=bubble,loop for a quick look)
	bench/strategies.py --quarry $(QUARRY) -j $(JOBS) --seeds $(SEEDS) --units '$(UNITS)' --strategies '$(STRATEGIES)' -o $(OUT)

bench-chaining: setup-tests build ## strategies on subjects whose branches depend on what happened before (bench/chaining/), as a table
	bench/chaining.py --quarry $(QUARRY) $(if $(filter command line environment,$(origin SEEDS)),--seeds $(SEEDS)) $(if $(UNITS),--units $(UNITS))

bench-augment: setup-tests build ## techniques of test-suite augmentation on programs with parts of their suites, as a table (SEEDS=2 for a quick look)
	bench/augment.py --quarry $(QUARRY) $(if $(filter command line environment,$(origin SEEDS)),--seeds $(SEEDS))

bench-versions: setup-tests build ## campaigns for ten seeded changes against full ones (bench/versions/), as a table; minutes
	bench/versions.py --quarry $(QUARRY) $(if $(filter command line environment,$(origin SEEDS)),--seeds $(SEEDS))

bench-dataflow: setup-tests build ## strategies on def-use pairs, one pair at a time, as tables (SEEDS=2 UNITS=power,altitude for a quick look)
	bench/dataflow.py --quarry $(QUARRY) -j $(JOBS) --seeds $(SEEDS) --pairs $(PAIRS) --units '$(UNITS)' --strategies '$(STRATEGIES)' -o $(OUT)

bench-dataflow-scale: setup-tests build ## how the cost of def-use pairs grows with the size of a program
	bench/dataflow_scale.py --quarry $(QUARRY)

bench-real: setup-tests build ## Quarry, libFuzzer and random input on functions of real libraries: branches, MC/DC (BUDGET=5 FUNCTIONS=cjson,zlib/adler32_z for a quick look)
	bench/real.py --quarry $(QUARRY) --budget $(BUDGET) --functions '$(FUNCTIONS)' -o $(OUT)

bench-programs: setup-tests build ## Quarry's suites for whole programs against suites written by hand (bench/programs/), by gcov (half an hour; SEEDS=1 or PROGRAMS=avoid,ready for less)
	bench/programs.py --quarry $(QUARRY) $(if $(filter command line environment,$(origin SEEDS)),--seeds $(SEEDS)) $(if $(filter command line environment,$(origin BUDGET)),--budget $(BUDGET)) --programs '$(PROGRAMS)'

bench-prover: setup-tests build ## search alone, each engine of the prover alone, and both: covered, infeasible, undecided, time (20 minutes; UNITS=prover,own for less)
	bench/prover.py --quarry $(QUARRY) -j $(JOBS) --units '$(UNITS)' -o $(OUT)

clean: ## remove build outputs (the caches of Bitwuzla and of fetched sources stay)
	cargo clean
	rm -rf quarry.out quarry.out.old

#!/usr/bin/env bash
# Makes a Debian 12 with Rust, gcc and python3 ready to build and test Quarry. Does nothing, quickly, when all is there.
#
# Usage: setup.sh [--tests | --testcomp]     --tests also installs what only the checks need, --testcomp what TestCov needs
# Environment: QUARRY_CACHE     where Bitwuzla's build is kept (see build-bitwuzla.sh)
set -euo pipefail

readonly HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# To build and run: compiler, LLVM (shared library and headers), libclang, sanitizer and profile runtimes; a C++ compiler
# and the libraries Bitwuzla stands on; the solvers that check proofs.
readonly BUILD_PACKAGES=(
  clang-19 llvm-19-dev libclang-19-dev libclang-rt-19-dev
  gcc g++ libc6-dev pkg-config python3 python3-venv libgmp-dev libmpfr-dev libsymfpu-dev
  z3 cvc5
)
# To test: a generator of C programs, the 32-bit target; readers of reports (genhtml, xmllint, a browser); what exported
# tests are built with.
readonly TEST_PACKAGES=(
  csmith libcsmith-dev gcc-multilib lcov libxml2-utils chromium fonts-dejavu-core cmake libcmocka-dev libgtest-dev
)
# For TestCov, which measures suites with gcov.
readonly TESTCOMP_PACKAGES=(lcov gcc-multilib)

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

main() {
  local wanted=("${BUILD_PACKAGES[@]}")
  case ${1-} in
    '') ;;
    --tests) wanted+=("${TEST_PACKAGES[@]}") ;;
    --testcomp) wanted+=("${TESTCOMP_PACKAGES[@]}") ;;
    *) fail "unknown argument $1 (usage: setup.sh [--tests | --testcomp])" ;;
  esac
  command -v cargo >/dev/null || fail "cargo is missing: install Rust first"
  install_missing "${wanted[@]}"
  "$HERE/build-bitwuzla.sh" >/dev/null
  if [[ ${1-} == --tests ]]; then "$HERE/check-dependencies.sh" --install; fi
}

install_missing() {
  local missing
  command -v dpkg-query >/dev/null ||
    fail "this is not a Debian system; install the counterparts of: $*"
  mapfile -t missing < <(missing_of "$@")
  if ((${#missing[@]} == 0)); then return; fi
  say "installing ${missing[*]}"
  local advice="run as root, with network: apt-get install ${missing[*]}"
  as_root apt-get update -qq || fail "cannot refresh the package lists; $advice"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "cannot install; $advice"
}

# dpkg-query also knows packages that were removed or only half installed: take "installed" alone for an answer. It
# fails when it does not know one of them, which is no failure here.
missing_of() {
  local present package
  present=$({ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } | sed -n 's/^installed //p')
  for package in "$@"; do
    grep -qxF "$package" <<<"$present" || printf '%s\n' "$package"
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "neither root nor sudo"
    return 1
  fi
}

main "$@"

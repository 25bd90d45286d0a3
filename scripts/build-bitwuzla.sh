#!/usr/bin/env bash
# Builds the static libraries of Bitwuzla 0.9.1 once per machine and prints their directory on stdout.
#
# Sources come from package registries only: Bitwuzla from PyPI (sdist), CaDiCaL from the crate cadical-sys,
# SymFPU, GMP and MPFR from Debian. Takes about 5 CPU minutes the first time; later calls verify checksums and return.
# The result is built aside and renamed into place, so an interrupted build leaves nothing that looks finished.
#
# Usage: build-bitwuzla.sh
# Environment: QUARRY_CACHE  where to keep the build (default: ${XDG_CACHE_HOME:-~/.cache}/quarry)
#              QUARRY_JOBS   number of parallel compile jobs (default: one per core)
set -euo pipefail

readonly VERSION=0.9.1
readonly SDIST_SHA256=2dbb333262e0a8a0438f683748f8acc4079950351dfd26def25dc3b14df37aa1
readonly CADICAL_CRATE=0.4.1 CADICAL_VERSION=2.1.2
readonly PYTHON_TOOLS=(unearth==0.19.0 meson==1.12.1 ninja==1.13.2)
readonly LIBRARIES=(bitwuzla bitwuzlabb bitwuzlals bitwuzlabv bzlautil bzlarng cadical)
# Bump when this script changes what it builds: older results are then rebuilt.
readonly RECIPE=1

readonly CACHE=${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}
readonly RESULT=$CACHE/bitwuzla-$VERSION
readonly SCRATCH_PREFIX=$CACHE/.bitwuzla-$VERSION.build
readonly LOG=$CACHE/bitwuzla-$VERSION.log

say() { printf 'build-bitwuzla: %s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

main() {
  if is_complete "$RESULT"; then printf '%s\n' "$RESULT"; return; fi
  require_packages
  mkdir -p "$CACHE"
  exec 9>"$CACHE/bitwuzla-$VERSION.lock"
  if ! flock --nonblock 9; then
    say "another build is running, waiting for it"
    flock 9
  fi
  # The build we waited for may have succeeded.
  if is_complete "$RESULT"; then printf '%s\n' "$RESULT"; return; fi
  build_and_install
  printf '%s\n' "$RESULT"
}

# A result is complete when its stamp names this recipe and every installed file still has its checksum.
is_complete() {
  local directory=$1
  [[ -f $directory/stamp ]] || return 1
  [[ $(head -n 1 "$directory/stamp") == "recipe $RECIPE" ]] || return 1
  (cd "$directory" && tail -n +2 stamp | sha256sum --check --status --strict -) 2>/dev/null
}

require_packages() {
  local missing=()
  have_command() { command -v "$1" >/dev/null || missing+=("$2"); }
  have_header() { echo "#include <$1>" | g++ -E -x c++ - >/dev/null 2>&1 || missing+=("$2"); }
  have_command g++ g++
  have_command ar binutils
  have_command pkg-config pkg-config
  have_command flock util-linux
  have_command python3 python3
  python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  have_header gmpxx.h libgmp-dev
  have_header mpfr.h libmpfr-dev
  have_header symfpu/core/unpackedFloat.h libsymfpu-dev
  command -v cargo >/dev/null || fail "cargo is missing: install Rust (it fetches CaDiCaL's sources)"
  if ((${#missing[@]})); then fail "missing Debian packages; run: apt-get install ${missing[*]}"; fi
}

build_and_install() {
  rm -rf "$SCRATCH_PREFIX".*  # left by builds that were killed; we hold the lock
  scratch=$(mktemp -d "$SCRATCH_PREFIX.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  : >"$LOG"
  say "building Bitwuzla $VERSION into $RESULT (once; about 5 CPU minutes; log: $LOG)"
  step "install meson, ninja and unearth" install_python_tools
  step "fetch Bitwuzla $VERSION" fetch_bitwuzla
  step "fetch CaDiCaL $CADICAL_VERSION" fetch_cadical
  step "prepare subprojects" prepare_subprojects
  step "configure" configure
  step "compile" compile
  step "assemble" assemble
  rm -rf "$RESULT"
  mv "$scratch/result" "$RESULT"
  is_complete "$RESULT" || fail "the installed result in $RESULT does not match its own stamp"
  say "done"
}

# Each step runs as a process of its own: bash ignores `set -e` in functions whose status is tested.
step() {
  local what=$1 action=$2
  say "$what"
  set +e
  (set -e; cd "$scratch"; "$action") >>"$LOG" 2>&1 9>&-
  local status=$?
  set -e
  if ((status)); then
    tail -n 30 "$LOG" >&2
    fail "cannot $what (whole log: $LOG)"
  fi
}

install_python_tools() {
  python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check "${PYTHON_TOOLS[@]}"
}

# `pip download` would try to build the sdist; unearth only downloads it.
fetch_bitwuzla() {
  venv/bin/unearth --no-binary -d download "bitwuzla==$VERSION"
  echo "$SDIST_SHA256  download/bitwuzla-$VERSION.tar.gz" | sha256sum --check --strict -
  tar -xf "download/bitwuzla-$VERSION.tar.gz"
}

# Cargo verifies the crate against the registry's checksum.
fetch_cadical() {
  mkdir -p crates/src
  : >crates/src/lib.rs
  cat >crates/Cargo.toml <<MANIFEST
[package]
name = "cadical-source"
version = "0.0.0"
edition = "2021"
[dependencies]
cadical-sys = "=$CADICAL_CRATE"
[workspace]
MANIFEST
  (cd crates && cargo vendor --quiet vendor)
  [[ $(<crates/vendor/cadical-sys/cadical/VERSION) == "$CADICAL_VERSION" ]]
}

prepare_subprojects() {
  local sub=bitwuzla-$VERSION/subprojects
  cp -r crates/vendor/cadical-sys/cadical "$sub/cadical-rel-$CADICAL_VERSION"
  cp -r "$sub/packagefiles/cadical/." "$sub/cadical-rel-$CADICAL_VERSION/"
  cp -r "$(symfpu_headers)" "$sub/symfpu"
  cp -r "$sub/packagefiles/symfpu/." "$sub/symfpu/"
  # Debian 12 carries GMP 6.2.1 and MPFR 4.2.0; the code needs nothing newer.
  sed -i -e "s/version: '>=6.3'/version: '>=6.2'/" -e "s/version: '>=4.2.1'/version: '>=4.2.0'/" \
    "bitwuzla-$VERSION/src/meson.build"
}

symfpu_headers() {
  local header
  header=$(echo '#include <symfpu/core/unpackedFloat.h>' | g++ -M -x c++ - | tr ' \\' '\n\n' |
    grep -m 1 '/symfpu/core/unpackedFloat\.h$')
  dirname "$(dirname "$header")"
}

configure() {
  PATH=$scratch/venv/bin:$PATH meson setup build "bitwuzla-$VERSION" \
    --buildtype release --default-library static --wrap-mode nodownload -Db_staticpic=true -Dtesting=disabled
}

compile() {
  local targets=() library
  for library in "${LIBRARIES[@]}"; do targets+=("$(target_of "$library")"); done
  venv/bin/ninja -C build ${QUARRY_JOBS:+-j "$QUARRY_JOBS"} "${targets[@]}"
}

target_of() {
  venv/bin/ninja -C build -t targets all | sed -n "s|^\(.*lib$1\.a\): .*|\1|p" | head -n 1
}

assemble() {
  mkdir -p result/lib result/include result/licenses
  local library archive
  for library in "${LIBRARIES[@]}"; do
    archive=$(target_of "$library")
    flatten_archive "$archive" "$scratch/result/lib/lib$library.a"
  done
  cp -r "bitwuzla-$VERSION/include/bitwuzla" result/include/
  cp "bitwuzla-$VERSION/COPYING" result/licenses/bitwuzla
  cp crates/vendor/cadical-sys/cadical/LICENSE result/licenses/cadical
  (cd result && { echo "recipe $RECIPE"; find lib include licenses -type f -print0 | sort -z | xargs -0 sha256sum; } >stamp.new)
  mv result/stamp.new result/stamp
}

# Meson makes thin archives (mere references to objects) of libraries it does not install: collect the objects.
flatten_archive() {
  local archive=$1 output=$2
  if [[ $(head -c 7 "build/$archive") == '!<thin>' ]]; then
    (cd build && ar -t "$archive" | xargs ar -qcs "$output")
  else
    cp "build/$archive" "$output"
  fi
}

main "$@"

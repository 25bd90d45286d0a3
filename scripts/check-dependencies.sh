#!/usr/bin/env bash
# Checks licences, versions and origins of all libraries that Quarry is built from, as deny.toml has them.
#
# Known vulnerabilities are looked up only when cargo-deny's database of advisories is there: it comes from a Git
# repository, which not every machine can reach. `cargo deny fetch` brings it.
#
# Usage: check-dependencies.sh              check
#        check-dependencies.sh --install    build cargo-deny into the cache when it is missing (about 90 CPU seconds)
# Environment: QUARRY_CACHE  where cargo-deny is kept (default: ${XDG_CACHE_HOME:-~/.cache}/quarry)
set -euo pipefail

# Without optimisation it takes a third of the time to build, and a few seconds to check.
readonly VERSION=0.20.2
readonly CACHE=${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}
readonly OWN=$CACHE/cargo-deny-$VERSION
readonly ADVISORIES=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs

say() { printf 'check-dependencies: %s\n' "$*" >&2; }

main() {
  case ${1-} in
    '') check ;;
    --install) find_tool >/dev/null || install_tool ;;
    *) say "unknown argument $1 (usage: check-dependencies.sh [--install])"; exit 2 ;;
  esac
}

# One that the user installed, of whatever version, or our own.
find_tool() {
  command -v cargo-deny || { [[ -x $OWN/bin/cargo-deny ]] && printf '%s\n' "$OWN/bin/cargo-deny"; }
}

install_tool() {
  say "building cargo-deny $VERSION into $OWN (once; about 90 CPU seconds)"
  mkdir -p "$CACHE"
  CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root "$OWN" "cargo-deny@$VERSION" || {
    say "error: cannot build cargo-deny; it needs the crate registry, or install cargo-deny yourself"
    exit 1
  }
}

check() {
  local tool checks=(bans licenses sources)
  tool=$(find_tool) || { say "error: cargo-deny is missing; run scripts/check-dependencies.sh --install"; exit 1; }
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if compgen -G "$ADVISORIES/*" >/dev/null; then checks+=(advisories); fi
  # cargo-deny reads the manifests of all platforms' crates; without a network, of those that are here already
  cargo fetch --quiet --locked 2>/dev/null || true
  "$tool" --offline --log-level warn check --hide-inclusion-graph "${checks[@]}"
}

main "$@"

#!/usr/bin/env bash
# Generates a branch-covering suite for the first example and shows it to a person.
#
# Usage: demo.sh QUARRY OUTPUT_DIRECTORY
set -euo pipefail

readonly QUARRY=$1 OUTPUT=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly SOURCE=examples/triangle.c

heading() { printf '\n== %s ==\n\n' "$*"; }
# Shows a command as one would type it, then runs it. The binary goes by its own name.
run() {
  local word
  printf '$ %s' "${1##*/}"
  for word in "${@:2}"; do printf ' %q' "$word"; done
  printf '\n\n'
  "$@"
}

mkdir -p "$OUTPUT"
heading "The function: $SOURCE"
cat "$SOURCE"
heading "A suite that covers its branches"
run "$QUARRY" gen "$SOURCE" --fresh --function triangle --criterion branch --seed 1 --budget 20s -o "$OUTPUT/quarry.out"
heading "The same tests as a C program, built by a plain compiler"
run gcc -o "$OUTPUT/replay" "$OUTPUT/quarry.out/tests/replay.c"
run "$OUTPUT/replay"

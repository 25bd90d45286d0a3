#!/usr/bin/env bash
# Generates a branch-covering suite for the first example and shows it to a person.
#
# Usage: demo.sh QUARRY OUTPUT_DIRECTORY
set -euo pipefail

readonly QUARRY=$1 OUTPUT=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly SOURCE=examples/triangle.c

heading() { printf '\n== %s ==\n\n' "$*"; }
# Shows a command as one would type it, then runs it.
run() {
  printf '$ quarry'
  printf ' %q' "${@:2}"
  printf '\n'
  "$@"
}

mkdir -p "$OUTPUT"
heading "The function: $SOURCE"
cat "$SOURCE"
heading "A suite that covers its branches"
run "$QUARRY" gen "$SOURCE" --function triangle --criterion branch --seed 1 --budget 20s -o "$OUTPUT/quarry.out"
heading "The tests"
for test in "$OUTPUT"/quarry.out/tests/*.json; do
  printf '%s\n' "--- ${test##*/}"
  cat "$test"
  printf '\n'
done
printf '\nEverything else is in %s\n' "$OUTPUT/quarry.out"

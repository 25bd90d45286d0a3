#!/usr/bin/env bash
# Generates a suite for the first example, shows it to a person and says where tests and report are.
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
heading "A suite that covers its branches and shows the effect of every condition (MC/DC), confirmed by llvm-cov"
run "$QUARRY" gen "$SOURCE" --fresh --function triangle --criterion branch,mcdc --seed 1 --budget 20s --confirm -o "$OUTPUT/quarry.out"
heading "The same tests as a C program, built by a plain compiler"
run gcc -o "$OUTPUT/replay" "$OUTPUT/quarry.out/tests/replay.c"
run "$OUTPUT/replay"
heading "What is left behind"
printf 'tests:   %s\n' "$(realpath "$OUTPUT/quarry.out/tests")"
printf 'report:  file://%s\n' "$(realpath "$OUTPUT/quarry.out/report/index.html")"

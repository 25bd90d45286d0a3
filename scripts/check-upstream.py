#!/usr/bin/env python3
"""Are the tests that libraries bring imported, measured as llvm-cov measures them, and completed?

Method: the C files of each library's own tests are imported for a function that they call (`quarry import`). `quarry confirm` must deny no goal that they are
said to cover. `quarry augment` then adds tests; the suite that it exports as C must have every imported test by its name, and build and pass.
Columns: imported tests and those left out; goals before and after, of how many; tests added.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/real"))
import sources  # noqa: E402

CRITERIA = "branch,condition,mcdc"
UNITY = ["--tests-flags", "tests/unity_setup.c"]
# package, source, function, file of tests, options
CASES = [
    ("cjson", "cJSON.c", "cJSON_Minify", "tests/minify_tests.c", UNITY),
    ("cjson", "cJSON.c", "parse_number", "tests/parse_number.c", UNITY),
    ("cjson", "cJSON.c", "cJSON_ParseWithOpts", "tests/parse_with_opts.c", UNITY),
    ("cjson", "cJSON.c", "print_string_ptr", "tests/print_string.c", UNITY),
    ("libcsv", "libcsv.c", "csv_write", "test_csv.c", []),
    ("libcsv", "libcsv.c", "csv_fini", "test_csv.c", []),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("--seconds", type=int, default=10, help="budget of each augmentation (default 10)")
    parser.add_argument("functions", nargs="*", help="only these functions")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    complaints = []
    print(f"{'function':22} {'tests':>6} {'left out':>8} {'before':>7} {'after':>7} {'of':>5} {'added':>6}")
    cases = [case for case in CASES if not options.functions or case[2] in options.functions]
    for case in cases:
        with tempfile.TemporaryDirectory() as work:
            complaints += [f"{case[2]}: {complaint}" for complaint in check(case, pathlib.Path(work), options)]
    for complaint in complaints:
        print(f"check-upstream: {complaint}")
    print(f"check-upstream: {len(cases)} functions, {len(complaints)} complaints")
    return 1 if complaints else 0


def check(case: tuple, work: pathlib.Path, options) -> list[str]:
    package, source, function, tests, more = case
    directory = sources.fetch(package)

    def quarry(*arguments: object) -> tuple[int, dict, str]:
        command = [str(options.quarry), *map(str, arguments)]
        ran = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace", check=False)
        lines = ran.stdout.strip().splitlines()
        return ran.returncode, json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}, ran.stderr

    asked = [source, "--function", function, "--tests", tests, *more, "--criterion", CRITERIA]
    code, imported, said = quarry("import", *asked, "-o", work / "suite", "--message-format", "json")
    if code not in (0, 1):
        return [f"import ended with {code}: {said[-300:]}"]
    complaints = []
    code, _, said = quarry("confirm", work / "suite")
    if code != 0:
        complaints.append(f"confirm ended with {code}: {said[-300:]}")
    code, augmented, said = quarry(
        "augment", *asked, "--budget", f"{options.seconds}s", "-o", work / "more", "--message-format", "json"
    )
    if code != 0:
        return [*complaints, f"augment ended with {code}: {said[-300:]}"]
    kept = [json.loads(file.read_text()) for file in (work / "more/tests").glob("*.json")]
    kept += [json.loads(file.read_text()) for file in (work / "more/crashes").glob("*.json")]
    names = {test["origin"] for test in kept if test.get("origin")}
    missing = {test["origin"] for test in imported["tests"]} - names
    if missing:
        complaints.append(f"{len(missing)} imported tests are lost, {sorted(missing)[0]} among them")
    code, _, said = quarry("export", work / "more", "--format", "c", "-o", work / "exported")
    if code != 0:
        complaints.append(f"export ended with {code}: {said[-300:]}")
    before, after = imported["goals"], augmented["goals"]
    added = sum(1 for test in kept if not test.get("origin"))
    print(
        f"{function:22} {len(imported['tests']):6} {len(imported['left_out']):8} {before['covered']:7} {after['covered']:7} {after['total']:5} {added:6}",
        flush=True,
    )
    if after["covered"] < before["covered"]:
        complaints.append("the augmented suite covers less")
    return complaints


if __name__ == "__main__":
    sys.exit(main())

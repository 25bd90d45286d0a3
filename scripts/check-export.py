#!/usr/bin/env python3
"""Builds exported tests of fixtures and of real libraries, measures what they cover, and mutates the functions under test.

Method: each function gets a suite (criterion condition), which is exported as plain C and for Unity. gcc and clang build it with its CMake file
and -Wall -Wextra, warnings are counted, and CTest must pass; for Unity, gcc builds it with Unity itself, which Debian's source package ntpsec contains. llvm-cov must count every condition outcome that the report states as covered
by one of the exported tests. Then one operator of the function at a time is changed (export/mutants.py): a mutant is killed if a test fails, crashes or
times out. Limit: equivalent mutants are not recognised and count as alive; a condition inside a
macro has no position that both tools report alike and is not compared.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
for directory in ("scripts/real", "scripts/export", "bench/compare"):
    sys.path.insert(0, str(ROOT / directory))
import mutants  # noqa: E402
import sources  # noqa: E402
import units  # noqa: E402

FIXTURES = """
branch/binary_search branch/bubble branch/checksum branch/date branch/enum_switch branch/exits branch/logic_mix branch/macros
branch/struct_value branch/tokenizer branch/triangle branch/widths calls/sensors float/classify float/quadratic
inputs/list_in_order inputs/tagged_union inputs/words library/path_split memory/crc
""".split()
FUNCTIONS = """
cjson/parse_hex4 cjson/case_insensitive_strcmp cjson/cJSON_Minify cjson/compare_pointers cjson/decode_pointer_inplace
cjson/encode_string_as_pointer cjson/decode_array_index_from_pointer utf8proc/utf8proc_iterate utf8proc/grapheme_break_simple
utf8proc/charbound_encode_char yajl/yajl_string_validate_utf8 yajl/yajl_parse_integer libyaml/yaml_check_utf8
jansson/utf8_check_first jansson/utf8_check_full jansson/utf8_check_string libcsv/csv_write http-parser/http_should_keep_alive
http-parser/parse_url_char libgsm/gsm_norm
""".split()
# counters live in the profile's mapping: what a call counts before it ends its process is kept
COVERAGE = "-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
LIMIT = 20


class Failed(Exception):
    """Something that must work did not; the message says what."""


@dataclasses.dataclass
class Row:
    """What came of one function."""

    name: str
    tests: int = 0
    left_out: int = 0
    warnings: int = 0
    compared: int = 0
    reached: int = 0
    mutants: int = 0
    killed: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these, such as branch/bubble or cjson/parse_hex4")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("--budget", default="10s", help="time for each search (default 10s)")
    parser.add_argument("--mutants", type=int, default=8, help="maximum number of mutants per function (default 8)")
    parser.add_argument("-j", type=int, default=2, dest="jobs")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    subjects = subjects_of(options.names)
    options.unity = sources.fetch("ntpsec") / "tests/unity"
    print(f"{'function':<40} {'tests':>5} {'left out':>8} {'warnings':>8} {'conditions':>12} {'mutants killed':>16}")
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda subject: check(subject, options), subjects):
            rows.append(row)
            show(row)
    return report(rows)


def subjects_of(names: list[str]) -> list[units.Unit]:
    listed = FIXTURES + FUNCTIONS
    if unknown := set(names) - set(listed):
        sys.exit(f"check-export: unknown: {' '.join(sorted(unknown))}")
    wanted = [name for name in listed if not names or name in names]
    found = {}
    for group in {name.split("/")[0] for name in wanted if name in FIXTURES}:
        for unit in units.own_units(ROOT / "fixtures" / group):
            found[f"{group}/{unit.name}"] = unit
    packages = {name.split("/")[0] for name in wanted if name in FUNCTIONS}
    functions, missing = units.library_functions(ROOT / "bench/library_functions.toml", packages)
    found.update({unit.name: unit for unit in functions})
    for package, reason in missing:
        print(f"check-export: {package} is left out: {reason}", file=sys.stderr)
    return [dataclasses.replace(found[name], name=name) for name in wanted if name in found]


def check(unit: units.Unit, options: argparse.Namespace) -> Row:
    row = Row(unit.name)
    work = pathlib.Path(tempfile.mkdtemp(prefix="quarry-export-"))
    try:
        check_in(work, unit, options, row)
    except (Failed, subprocess.TimeoutExpired, OSError) as error:
        row.complaints.append(str(error)[-1500:])
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return row


def check_in(work: pathlib.Path, unit: units.Unit, options: argparse.Namespace, row: Row) -> None:
    out, tests = work / "out", work / "tests"
    command = [options.quarry, "gen", *unit.files, "--function", unit.function, *unit.arguments, "--criterion", "condition"]
    command += ["--budget", options.budget, "--quiet", "-o", out, "--", *unit.flags]
    run(command, unit.directory, 600)
    exported = run([options.quarry, "export", out, "--format", "c", "-o", tests], work, 600, allowed=(0, 1))
    left_out = re.findall(r"^left out: (\w+)", exported.stderr, re.MULTILINE)
    row.left_out = len(left_out)
    row.tests = int(exported.stdout.split()[0])
    if row.tests == 0:
        raise Failed(f"no test was exported: {exported.stderr}")
    for compiler in ("gcc", "clang-19"):
        built = build(tests, work / compiler, compiler, "-Wall -Wextra", row)
        ran = run(["ctest", "--test-dir", built, "--output-on-failure"], work, 600, allowed=None)
        if ran.returncode != 0:
            row.complaints.append(f"tests built by {compiler} fail: {ran.stdout[-800:]}")
    check_unity(work, out, options, row)
    measured = build(tests, work / "coverage", "clang-19", COVERAGE, None)
    source, region = measure(measured, unit, out, left_out, row)
    mutate(work, measured, unit, source, region, options, row)


def check_unity(work: pathlib.Path, out: pathlib.Path, options: argparse.Namespace, row: Row) -> None:
    """The same tests for Unity, built with Unity and run."""
    tests = work / "unity"
    command = [options.quarry, "export", out, "--format", "unity", "--unity-dir", options.unity, "-o", tests]
    exported = run(command, work, 600, allowed=(0, 1))
    if "plain C instead" in exported.stderr or int(exported.stdout.split()[0]) != row.tests:
        row.complaints.append(f"Unity: {exported.stdout.strip()} where plain C has {row.tests}: {exported.stderr[-400:]}")
    built = build(tests, work / "unity-gcc", "gcc", "-Wall -Wextra", row, f"-DUNITY_DIR={options.unity}")
    ran = run(["ctest", "--test-dir", built, "--output-on-failure"], work, 600, allowed=None)
    if ran.returncode != 0:
        row.complaints.append(f"tests for Unity fail: {ran.stdout[-800:]}")


def build(tests: pathlib.Path, to: pathlib.Path, compiler: str, flags: str, row: Row | None, *more: str) -> pathlib.Path:
    configure = ["cmake", "-S", tests, "-B", to, f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}", *more]
    run([*configure, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], tests, 120)
    said = run(["cmake", "--build", to], tests, 600)
    if row is not None:
        # other files of the program are the user's; warnings of the tests are ours
        text = said.stdout + said.stderr
        warnings = [line for line in text.splitlines() if "warning:" in line and str(tests) in line.split("warning:")[0]]
        row.warnings += len(warnings)
        row.complaints += warnings[:3]
    return to


def program_in(build_directory: pathlib.Path, unit: units.Unit) -> pathlib.Path:
    return build_directory / f"{unit.function}_tests"


def measure(built: pathlib.Path, unit: units.Unit, out: pathlib.Path, left_out: list[str], row: Row) -> tuple[pathlib.Path, list]:
    """Compares covered conditions with llvm-cov's counts; the file of the function, and the region of its body."""
    program = program_in(built, unit)
    environment = {"PATH": "/usr/bin:/bin", "LLVM_PROFILE_FILE": str(built / "%p%c.profraw")}
    ran = subprocess.run([program], cwd=built, env=environment, capture_output=True, text=True, errors="replace", timeout=LIMIT * 5, check=False)
    if ran.returncode != 0:
        raise Failed(f"all tests in one process fail: {ran.stderr[-800:]}")
    run(["llvm-profdata-19", "merge", *built.glob("*.profraw"), "-o", built / "merged.profdata"], built, 60)
    exported = run(["llvm-cov-19", "export", program, "-instr-profile", built / "merged.profdata"], built, 120)
    data = json.loads(exported.stdout)["data"][0]
    counts: dict[tuple[str, int, int], list[int]] = {}
    for file in data["files"]:
        for line, column, _, _, true, false, *_ in file["branches"]:
            at = counts.setdefault((pathlib.Path(file["filename"]).name, line, column), [0, 0])
            at[0] += true
            at[1] += false
    for text in (out / "goals.jsonl").read_text().splitlines():
        goal = json.loads(text)
        test = pathlib.Path(goal.get("test") or "")
        if goal.get("state") != "covered" or test.parent.name != "tests" or test.stem in left_out:
            continue
        at = counts.get((pathlib.Path(goal["file"]).name, goal["line"], goal["column"]))
        if at is None:
            continue
        row.compared += 1
        reached = at[0 if goal["demand"].endswith("is true") else 1] > 0
        row.reached += reached
        if not reached:
            row.complaints.append(f"llvm-cov does not count {goal['line']}:{goal['column']} {goal['demand']}")
    for function in data["functions"]:
        if function["name"].split(":")[-1] == unit.function:
            return pathlib.Path(function["filenames"][0]).resolve(), function["regions"][0]
    raise Failed(f"llvm-cov knows no function {unit.function}")


def mutate(work, built, unit, source: pathlib.Path, region: list, options, row: Row) -> None:
    entry = next(e for e in json.loads((built / "compile_commands.json").read_text()) if e["file"].endswith("_tests.c"))
    text = source.read_text(errors="surrogateescape")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    begin, end = starts[region[0] - 1] + region[1] - 1, starts[region[2] - 1] + region[3] - 1
    objects = [str(path) for path in built.rglob("*.o") if not path.name.startswith(f"{unit.function}_tests.c")]
    for mutant in mutants.some(mutants.mutants(text, begin, end), options.mutants):
        changed = work / "mutant.c"
        changed.write_text(mutant.text, errors="surrogateescape")
        command = [part for part in shlex.split(entry["command"]) if part not in COVERAGE.split()]
        command[command.index("-o") + 1] = str(work / "mutant.o")
        command += ["-w", f'-DQUARRY_SOURCE="{changed}"', f"-I{source.parent}"]
        compiled = run(command, pathlib.Path(entry["directory"]), 120, allowed=None)
        link = ["clang-19", str(work / "mutant.o"), *objects, "-fprofile-instr-generate", "-lm", "-o", str(work / "mutant")]
        if "-m32" in unit.flags:
            link.append("-m32")
        if compiled.returncode != 0 or run(link, work, 120, allowed=None).returncode != 0:
            continue
        row.mutants += 1
        try:
            ran = run(["/bin/sh", "-c", f"ulimit -v 4000000; ulimit -f 100000; exec {work / 'mutant'}"], work, LIMIT, allowed=None)
            row.killed += ran.returncode != 0
        except subprocess.TimeoutExpired:
            row.killed += 1


def run(command, directory, limit, allowed=(0,)):
    environment = None
    done = subprocess.run(
        [str(part) for part in command], cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=limit, check=False,
    )  # fmt: skip
    if allowed is not None and done.returncode not in allowed:
        raise Failed(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-1200:]}")
    return done


def show(row: Row) -> None:
    conditions, killed = f"{row.reached} of {row.compared}", f"{row.killed} of {row.mutants}"
    print(f"{row.name:<40} {row.tests:>5} {row.left_out:>8} {row.warnings:>8} {conditions:>12} {killed:>16}", flush=True)
    for complaint in row.complaints:
        print(f"    {complaint}", flush=True)


def report(rows: list[Row]) -> int:
    n_mutants, n_killed = sum(row.mutants for row in rows), sum(row.killed for row in rows)
    n_bad = sum(bool(row.complaints) for row in rows)
    score = 100 * n_killed / n_mutants if n_mutants else 0.0
    print(f"mutation score: {n_killed} of {n_mutants} mutants killed ({score:.0f}%)")
    print(f"check-export: {len(rows) - n_bad} of {len(rows)} functions without complaint")
    return 1 if n_bad or score <= 50 else 0


if __name__ == "__main__":
    sys.exit(main())

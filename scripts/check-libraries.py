#!/usr/bin/env python3
"""Can what Quarry leaves behind for functions of real libraries be relied on?

Method: `quarry gen --format c` runs on every function of scripts/real/libraries.toml, with nothing said about its arguments. gcc and clang build
the exported tests with AddressSanitizer and UndefinedBehaviorSanitizer, and each test must pass, with leak checking where the system
permits it. What a library does with any argument (an access that is not aligned, a signed overflow) is reported by the latter, and counted apart as
kinds of undefined behaviour. `quarry replay` must show every finding again. Goals without a test are listed with their reasons on request.
Limit: a finding that is shown may still rest on an argument that no caller would pass.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
for directory in ("scripts/real", "bench/compare"):
    sys.path.insert(0, str(ROOT / directory))
import units  # noqa: E402

LIBRARIES = ROOT / "scripts/real/libraries.toml"
SANITIZERS = "-g -fsanitize=address,undefined"
# Undefined behaviour that a test must not have; with everything else the function itself is to blame.
FATAL = re.compile(r"runtime error: (index .* out of bounds|.* null pointer|.*insufficient space|division by zero|.*unreachable)")
LIMIT = 300


@dataclasses.dataclass
class Row:
    """What came of one function."""

    name: str
    goals: int = 0
    covered: int = 0
    only_by_crash: int = 0
    tests: int = 0
    left_out: int = 0
    findings: int = 0
    suspicions: int = 0
    undefined: set[str] = dataclasses.field(default_factory=set)
    reasons: list[str] = dataclasses.field(default_factory=list)
    complaints: list[str] = dataclasses.field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these packages or functions, such as bzip2 or bzip2/makeMaps_d")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("--seconds", type=float, default=20, help="budget of each function (default 20)")
    parser.add_argument("--executions", type=int, help="executions of each function instead: the same result on a busy machine")
    parser.add_argument("--reasons", action="store_true", help="list the reasons of undecided goals")
    parser.add_argument("-j", type=int, default=2, dest="jobs")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the results of each function in this directory")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    options.leaks = can_find_leaks()
    functions, missing = units.library_functions(LIBRARIES)
    for package, reason in missing:
        print(f"check-libraries: {package} is left out: {reason}", file=sys.stderr)
    wanted = set(options.names)
    functions = [unit for unit in functions if not wanted or {unit.name, unit.name.split("/")[0]} & wanted]
    print(f"{'function':<38} {'goals':>5} {'covered':>7} {'by crash':>8} {'tests':>5} {'left out':>8} {'findings':>8} {'suspicions':>10} {'undefined':>9}")
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda unit: check(unit, options), functions):
            rows.append(row)
            show(row, options)
    return report(rows, options)


def can_find_leaks() -> bool:
    """Whether LeakSanitizer works here: it traces its process, which some containers refuse."""
    with tempfile.TemporaryDirectory() as work:
        program = pathlib.Path(work) / "leak"
        source = program.with_suffix(".c")
        source.write_text("#include <stdlib.h>\nint main(void) { void *volatile p = malloc(9); p = 0; return 0; }\n")
        subprocess.run(["gcc", *SANITIZERS.split(), source, "-o", program], check=True)
        done = subprocess.run([program], capture_output=True, text=True, env=environment(True))
        return "detected memory leaks" in done.stderr


def environment(leaks: bool) -> dict[str, str]:
    return {**os.environ, "ASAN_OPTIONS": f"detect_leaks={int(leaks)}:allocator_may_return_null=1"}


def check(unit: units.Unit, options: argparse.Namespace) -> Row:
    row = Row(unit.name)
    work = pathlib.Path(tempfile.mkdtemp(prefix="quarry-libraries-"))
    try:
        check_in(work, unit, options, row)
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        row.complaints.append(str(error)[-800:])
    finally:
        if options.keep:
            kept = options.keep / unit.name.replace("/", ".")
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(parents=True, exist_ok=True)
            if (work / "out").is_dir():
                shutil.copytree(work / "out", kept, symlinks=True)
        shutil.rmtree(work, ignore_errors=True)
    return row


def check_in(work: pathlib.Path, unit: units.Unit, options: argparse.Namespace, row: Row) -> None:
    out = work / "out"
    command = [options.quarry, "gen", *unit.files, "--function", unit.function, *unit.arguments]
    budget = ["--max-executions", options.executions] if options.executions else ["--budget", f"{options.seconds}s"]
    command += [*budget, "--quiet", "--format", "c", "-o", out, "--", *unit.flags]
    done = run(command, unit.directory)
    if done.returncode != 0:
        row.complaints.append(f"quarry gen exits with {done.returncode}: {done.stderr.strip()[-600:]}")
        return
    row.left_out = len(re.findall(r"^left out: ", done.stdout + done.stderr, re.MULTILINE))
    read_results(out, row)
    for compiler in ("gcc", "clang-19"):
        check_tests(work, out, compiler, options, row)
    for finding in sorted((out / "crashes").glob("*.json")):
        check_finding(out, finding, unit, options, row)


def read_results(out: pathlib.Path, row: Row) -> None:
    for line in (out / "goals.jsonl").read_text().splitlines():
        goal = json.loads(line)
        row.goals += 1
        row.covered += goal.get("state") == "covered"
        row.only_by_crash += bool(goal.get("only_by_crash"))
        if goal.get("state") not in ("covered", "infeasible"):
            row.reasons.append(f"{goal.get('file')}:{goal.get('line')} {goal['demand']}: {goal.get('reason')}")
    row.tests = len(list((out / "tests").glob("*.json")))
    row.findings = len(list((out / "crashes").glob("*.json")))
    row.suspicions = len(list((out / "suspicions").glob("*.json")))


def check_tests(work: pathlib.Path, out: pathlib.Path, compiler: str, options: argparse.Namespace, row: Row) -> None:
    """Builds the exported tests and runs them."""
    if row.tests == 0:
        return
    exported = out / "export/c"
    if not exported.is_dir():
        found = [path.parent for path in out.rglob("CMakeLists.txt")]
        if not found:
            row.complaints.append("no test was exported")
            return
        exported = found[0]
    built = work / f"build-{compiler}"
    flags = f"{SANITIZERS} -w"
    configure = ["cmake", "-S", exported, "-B", built, f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}"]
    for command in (configure, ["cmake", "--build", built, "-j", "2"]):
        done = run(command, work)
        if done.returncode != 0:
            row.complaints.append(f"the tests do not build with {compiler}: {(done.stdout + done.stderr)[-600:]}")
            return
    ran = run(["ctest", "--test-dir", built, "--verbose"], work, environment(options.leaks))
    if ran.returncode != 0 or FATAL.search(ran.stdout):
        told = [line for line in ran.stdout.splitlines() if re.search(r"ERROR: |SUMMARY|failed|expected|Failed|FAILED", line) or FATAL.search(line)]
        row.complaints.append(f"tests built by {compiler} fail:\n" + "\n".join(told[:12]))
    row.undefined |= {said.split(" of ")[0][:60] for said in re.findall(r"runtime error: (.*)", ran.stdout)}


def check_finding(out: pathlib.Path, finding: pathlib.Path, unit: units.Unit, options: argparse.Namespace, row: Row) -> None:
    """Runs a finding again, as the report says."""
    done = run([options.quarry, "replay", finding], unit.directory)
    text = done.stdout + done.stderr
    if not re.search(r"ERROR: |runtime error|killed by|abort|SIG|out-of-bounds|Sanitizer|timed out|overflow|use-after", text):
        row.complaints.append(f"replay shows nothing of {finding.name} (exit {done.returncode}): {text.strip()[-400:]}")


def run(command: list, directory: pathlib.Path, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command], cwd=directory, env=variables, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=LIMIT,
    )  # fmt: skip


def show(row: Row, options: argparse.Namespace) -> None:
    print(
        f"{row.name:<38} {row.goals:>5} {row.covered:>7} {row.only_by_crash:>8} {row.tests:>5} {row.left_out:>8} {row.findings:>8} {row.suspicions:>10} {len(row.undefined):>9}",
        flush=True,
    )
    for reason in row.reasons if options.reasons else []:
        print(f"    {reason}")
    for complaint in row.complaints:
        print("    " + complaint.replace("\n", "\n    "), flush=True)


def report(rows: list[Row], options: argparse.Namespace) -> int:
    total = lambda field: sum(getattr(row, field) for row in rows)  # noqa: E731
    n_bad = sum(bool(row.complaints) for row in rows)
    print(f"{len(rows)} functions of {len({row.name.split('/')[0] for row in rows})} libraries, {f'{options.executions} executions' if options.executions else f'{options.seconds:g} s'} each"
          f"{'' if options.leaks else ' (LeakSanitizer does not work here)'}: {total('covered')} of {total('goals')} goals covered, "
          f"{total('only_by_crash')} only by a crash; {total('tests')} tests, {total('findings')} findings, {total('suspicions')} suspicions; "
          f"{n_bad} functions with complaints")  # fmt: skip
    return 1 if n_bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures Quarry's suites with TestCov, the validator of Test-Comp, on the programs of fixtures/testcomp.

Method: a suite is generated and exported (`quarry gen --format testcomp`), TestCov compiles the plain program with its own
harness, runs every test of the archive and reports how many of its branch goals are covered. It must leave as many uncovered
as Quarry leaves undecided, and every test must run. TestCov is installed in a virtual environment in the cache.
Limit: TestCov counts goals in its own way (a `default` that nothing falls into has none), so totals may differ by a few.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("QUARRY_CACHE") or pathlib.Path.home() / ".cache/quarry")
PACKAGES = ["testcov==3.7", "clang-tidy==14.0.6"]
PROPERTY = "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )\n"
ROW = "{:<16} {:>4} {:>6} {:>14} {:>15}  {}"


def main() -> int:
    options = parse_arguments()
    testcov = install()
    programs = options.programs or sorted((ROOT / "fixtures/testcomp").glob("*.c"))
    print(ROW.format("program", "bits", "tests", "quarry", "testcov", ""))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda program: check(program, testcov, options), programs))
    for row in rows:
        print(ROW.format(*row))
    n_bad = sum(row[-1] != "" for row in rows)
    print(f"check-testcomp: {len(rows)} programs, {n_bad} complaints")
    return 1 if n_bad else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="C files; all of fixtures/testcomp when left out")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    parser.add_argument("--budget", default="30s", help="time for each search")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    return options


def install() -> pathlib.Path:
    """TestCov's command, installed when it is not there yet."""
    home = CACHE / "testcov-3.7"
    command = home / "bin/testcov"
    if not (home / "complete").exists():
        print("check-testcomp: installing TestCov", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(home / "bin/pip"), "install", "--quiet", *PACKAGES], check=True)
        (home / "complete").touch()
    return command


def check(program: pathlib.Path, testcov: pathlib.Path, options: argparse.Namespace) -> tuple:
    """A row of the table; the last column says what is wrong."""
    arguments = re.findall(r"^//@ args: *(.*)$", program.read_text(), re.MULTILINE)
    bits = "32" if any("-m32" in line for line in arguments) else "64"
    with tempfile.TemporaryDirectory() as work:
        claimed, complaint = generate(program, arguments, pathlib.Path(work), options)
        if complaint:
            return (program.name, bits, "", "", "", complaint)
        goals = claimed["goals"]
        said = f"{goals['covered']} of {goals['total']}"
        measured, complaint = validate(program, testcov, bits, pathlib.Path(work))
        if complaint:
            return (program.name, bits, "", said, "", complaint)
    n_tests, n_run, n_goals, percentage = measured
    n_covered = round(n_goals * percentage / 100)
    counted = f"{n_covered} of {n_goals}"
    if n_run != n_tests:
        complaint = f"{n_tests - n_run} tests did not run"
    elif n_goals - n_covered != goals["total"] - goals["covered"]:
        complaint = "not the same goals are left"
    return (program.name, bits, n_tests, said, counted, complaint)


def generate(program, arguments, work: pathlib.Path, options) -> tuple[dict, str]:
    """Quarry's summary, or what went wrong."""
    command = [options.quarry, "gen", "--fresh", program.resolve(), "--function", "main", "--format", "testcomp", "--quiet"]
    command += ["--budget", options.budget, "--message-format", "json", "-o", work / "out"]
    command += [word for line in arguments for word in line.split()]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}, f"quarry gen ends with {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout.splitlines()[-1]), ""


def validate(program, testcov: pathlib.Path, bits: str, work: pathlib.Path) -> tuple[tuple, str]:
    """Tests in the suite, tests run, goals and the percentage of them that TestCov sees covered."""
    (work / "branches.prp").write_text(PROPERTY)
    command = [testcov, "--no-isolation", "--no-plots", f"-{bits}", "--goal", "branches.prp"]
    # a copy: TestCov writes beside the program
    copy = shutil.copy(program, work)
    command += ["--timelimit-per-run", "3", "--test-suite", "out/testcomp.zip", copy]
    # it calls clang-tidy of its own environment
    path = f"{testcov.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=work,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    numbers = {
        name: re.search(rf"^{name}: ([\d.]+)", output, re.MULTILINE)
        for name in ("Tests in suite", "Tests run", "Number of goals", "Coverage")
    }
    if not all(numbers.values()):
        return (), f"testcov: {output.strip()[-500:]}"
    found = [float(match.group(1)) for match in numbers.values()]
    return (int(found[0]), int(found[1]), int(found[2]), found[3]), ""


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares Quarry's suites for whole programs with suites that a person wrote.

Method: each program of bench/programs/ is compiled by gcc with coverage and runs the command lines of its text file (`name: arguments
[< file]`); gcov counts the branches that were taken. Then, for each seed, `quarry gen --program --criterion gcov-branch` gets the budget,
its tests/replay.c starts a fresh build of the same kind, and gcov counts again. So the same tool counts both, on code that Quarry never saw.
A row says what the reference takes, what each seed takes, what no seed takes although the reference does (as lines), and the spread of the seeds in points.
With --faults, the suites are compared by how many seeded faults they find instead (bench/faults.py).
Limit: gcov counts branches of the object code; a branch that gcc folds is in neither count.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import faults

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench/programs"
FLAGS = {"tables": ["-lm"], "calc": ["-lm"]}
TIMEOUT = 5


def main() -> int:
    options = parse_arguments()
    names = [name for name in options.programs.split(",") if name] or sorted(it.stem for it in PROGRAMS.glob("*.c"))
    directory = pathlib.Path(options.out or tempfile.mkdtemp(prefix="quarry-programs-"))
    directory.mkdir(parents=True, exist_ok=True)
    if options.faults:
        return compare_faults(names, options, directory)
    references = {name: measure_reference(name, directory) for name in names}
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        seeds = {
            name: [pool.submit(measure_quarry, name, seed, options, directory) for seed in range(1, options.seeds + 1)]
            for name in names
        }
        rows = []
        for name in names:
            reference, n_branches, n_tests = references[name]
            rows.append((name, n_branches, n_tests, reference, [seed.result() for seed in seeds[name]]))
            counts = " ".join(str(len(taken)) for taken, _ in rows[-1][-1])
            print(f"{name}: {counts} of {n_branches}, reference {len(reference)}", file=sys.stderr, flush=True)
            if options.missed:
                print_missed(rows[-1])
    return print_table(rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--programs", default="", help="names, separated by commas (default: all)")
    parser.add_argument("--seeds", type=int, default=4, help="how many seeds (default 4)")
    parser.add_argument("--budget", default="60s", help="for each program and seed (default 60s)")
    parser.add_argument("--options", default="", help="further options of `quarry gen`")
    parser.add_argument("--missed", action="store_true", help="list the branches that the reference takes and a seed does not")
    parser.add_argument("--faults", action="store_true", help="count the seeded faults that suites find")
    parser.add_argument("--tests", type=int, default=60, help="with --faults: how many tests of a suite count (default 60)")
    parser.add_argument("--parallel", type=int, default=os.cpu_count(), help="campaigns at a time (default: one per processor)")
    parser.add_argument("-j", "--jobs", default="1", help="workers of each campaign (default 1)")
    parser.add_argument("-o", "--out", help="keep builds and suites in this directory")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    if not os.access(options.quarry, os.X_OK):
        parser.error(f"cannot execute {options.quarry} (--quarry BINARY)")
    return options


class Measured:
    """A program with gcov's counters, built in a directory of its own."""

    def __init__(self, name: str, directory: pathlib.Path):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        self.name, self.directory, self.binary = name, directory, directory / name
        source = PROGRAMS / f"{name}.c"
        command = ["gcc", "-O0", "-w", "--coverage", "-o", str(self.binary), str(source), *FLAGS.get(name, [])]
        subprocess.run(command, cwd=directory, check=True)

    def branches(self) -> tuple[set[tuple[int, int]], int]:
        """The branches that were taken, as (line, number), and how many there are."""
        notes = next(self.directory.glob("*.gcno"))
        command = ["gcov", "--branch-probabilities", "--json-format", "--stdout", str(notes)]
        text = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, check=True).stdout
        taken, n_branches = set(), 0
        for file in json.loads(text)["files"]:
            if not file["file"].endswith(f"{self.name}.c"):
                continue
            for line in file["lines"]:
                for number, branch in enumerate(line["branches"]):
                    n_branches += 1
                    if branch["count"]:
                        taken.add((line["line_number"], number))
        return taken, n_branches


def reference_lines(name: str) -> list[tuple[list[str], pathlib.Path | None]]:
    """The command lines written by hand: arguments, and the file for standard input."""
    lines = [line for line in (PROGRAMS / f"{name}.txt").read_text().splitlines() if line and not line.startswith("#")]
    commands = [line.split(":", 1)[1].partition(" < ") for line in lines]
    return [(shlex.split(arguments), PROGRAMS / file.strip() if file else None) for arguments, _, file in commands]


def measure_reference(name: str, directory: pathlib.Path) -> tuple[set[tuple[int, int]], int, int]:
    program = Measured(name, directory / name / "reference")
    lines = reference_lines(name)
    for arguments, file in lines:
        with open(file or os.devnull, "rb") as stdin:
            run([str(program.binary), *arguments], PROGRAMS, stdin)
    taken, n_branches = program.branches()
    return taken, n_branches, len(lines)


def run(command: list[str], directory: pathlib.Path, stdin) -> None:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        subprocess.run(command, cwd=directory, stdin=stdin, timeout=TIMEOUT, check=False, **quiet)
    except subprocess.TimeoutExpired:
        print(f"{command} did not end in {TIMEOUT} s", file=sys.stderr)


def generate(name: str, seed: int, criterion: list[str], options: argparse.Namespace, out: pathlib.Path) -> dict | None:
    """Generates a suite; the last line that Quarry printed."""
    shutil.rmtree(out, ignore_errors=True)
    command = [options.quarry, "gen", str(PROGRAMS / f"{name}.c"), "--program", *criterion, "--seed", str(seed)]
    command += ["--budget", options.budget, "-j", options.jobs, "-o", str(out), "--message-format", "json", *shlex.split(options.options)]
    command += ["--", *FLAGS[name]] if name in FLAGS else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 11) or not done.stdout.strip():
        print(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure_quarry(name: str, seed: int, options: argparse.Namespace, directory: pathlib.Path):
    """What the suite of a seed takes by gcov, and the last line that Quarry printed."""
    out = directory / name / f"seed{seed}"
    summary = generate(name, seed, ["--criterion", "gcov-branch"], options, out)
    if summary is None:
        return set(), {}
    program = Measured(name, directory / name / f"measured{seed}")
    replay = program.directory / "replay"
    source = out / "tests/replay.c"
    if source.exists():
        subprocess.run(["gcc", "-w", "-o", str(replay), str(source)], check=True)
        subprocess.run([str(replay), str(program.binary)], cwd=program.directory, capture_output=True, check=False)
    if not list(program.directory.glob("*.gcda")):
        return set(), summary
    return program.branches()[0], summary


def reference_invocations(name: str) -> list[dict]:
    """The command lines written by hand as tests of Quarry are: with the files beside the program."""
    files = {str(path.relative_to(PROGRAMS)): path.read_text("latin-1") for path in (PROGRAMS / name).glob("*")}
    return [
        {"argv": arguments, "stdin": file.read_text("latin-1") if file else "", "files": files}
        for arguments, file in reference_lines(name)
    ]


def compare_faults(names: list[str], options: argparse.Namespace, directory: pathlib.Path) -> int:
    """Prints how many seeded faults the suites find, and which none of them does."""
    def one(name: str, seed: int) -> tuple[int, list[bool]]:
        out = directory / name / f"seed{seed}"
        if generate(name, seed, [], options, out) is None:
            return 0, [False] * len(faults.read_faults(name))
        tests = faults.quarry_tests(out, options.tests)
        return len(tests), faults.found(name, tests, FLAGS.get(name, []))

    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        seeds = {name: [pool.submit(one, name, seed) for seed in range(1, options.seeds + 1)] for name in names}
        print(f"| program | faults | found by the reference (tests) | found by seeds | tests |\n|---|---|---|---|---|")
        totals = [0, 0, 0]
        for name in names:
            all_faults, reference = faults.read_faults(name), reference_invocations(name)
            by_reference = faults.found(name, reference, FLAGS.get(name, []))
            results = [seed.result() for seed in seeds[name]]
            counts = [sum(known) for _, known in results]
            totals = [totals[0] + len(all_faults), totals[1] + sum(by_reference), totals[2] + sum(counts)]
            print(f"| {name} | {len(all_faults)} | {sum(by_reference)} ({len(reference)}) | {' '.join(map(str, counts))} "
                  f"| {'/'.join(str(n) for n, _ in results)} |", flush=True)
            for number, (before, after) in enumerate(all_faults):
                if options.missed and not all(known[number] for _, known in results):
                    who = "only the reference finds" if by_reference[number] else "nobody finds"
                    print(f"  {name}: {who}: {before!r} -> {after!r}", file=sys.stderr)
    n_faults, n_reference, n_seeds = totals
    share = 100 * n_seeds / (n_faults * options.seeds)
    print(f"\nQuarry's suites find {share:.0f} % of {n_faults} faults; the reference {100 * n_reference / n_faults:.0f} %.")
    return 0


def print_missed(row) -> None:
    name, _, _, reference, seeds = row
    for number, (taken, _) in enumerate(seeds, 1):
        source = (PROGRAMS / f"{name}.c").read_text().splitlines()
        for line, branch in sorted(reference - taken):
            print(f"  {name} seed {number}: {line}.{branch}: {source[line - 1].strip()}", file=sys.stderr)


def print_table(rows) -> int:
    print("| program | branches | reference (tests) | seeds | tests | executions | spread | only the reference | only Quarry |")
    print("|---|---|---|---|---|---|---|---|---|")
    n_reached = n_steady = 0
    for name, n_branches, n_tests, reference, seeds in rows:
        counts = [len(taken) for taken, _ in seeds]
        spread = 100 * (max(counts) - min(counts)) / n_branches
        missed = reference - set.intersection(*(taken for taken, _ in seeds))
        gained = set.intersection(*(taken for taken, _ in seeds)) - reference
        n_reached += min(counts) >= len(reference)
        n_steady += spread <= 3
        tests = "/".join(str(summary.get("tests", "-")) for _, summary in seeds)
        executions = "/".join(str(summary.get("executions", "-")) for _, summary in seeds)
        print(f"| {name} | {n_branches} | {len(reference)} ({n_tests}) | {' '.join(map(str, counts))} | {tests} | {executions} "
              f"| {spread:.1f} | {len(missed)} | {len(gained)} |")
    print(f"\nEvery seed reaches the reference on {n_reached} of {len(rows)} programs; the spread is at most 3 points on {n_steady}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

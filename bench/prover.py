#!/usr/bin/env python3
"""Compares search alone, each engine of the prover alone, and both in turns: what is covered, infeasible, undecided, and how long it takes.

Method: `quarry gen` runs with the same budget of time on functions with goals that flags, counters and states decide (bench/prover), on our own
units (bench/units), on subjects for def-use pairs (bench/dataflow) and on functions of real libraries, once in each way. Goals and seconds are summed per group;
a table goes to stdout and prover.txt, every run to prover.jsonl.
Limit: times are of whole commands without the build, on a machine that may be busy.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/real")]
from compare.units import Unit, library_functions, own_units  # noqa: E402

WAYS = {
    "search": ["--no-prove"],
    **{engine: ["--prove-only", "--prover", engine] for engine in ("k-induction", "houdini", "unrolled", "states", "pdr", "cegar", "bounded")},
    "combined": [],
}
CRITERIA = {"dataflow": "def-use"}
STATES = ("covered", "infeasible", "infeasible_bounded", "undecided")


def main() -> int:
    options = parse_arguments()
    units = chosen(options)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    started, lines, failed = time.monotonic(), [], []
    asked = [(unit, way) for unit in units for way in WAYS if not options.ways or way in options.ways]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (unit, way), (result, why) in zip(asked, pool.map(lambda one: run(*one, options), asked)):
            if result is None:
                failed.append(f"{unit.name} {way}: {why}")
            else:
                lines.append({"unit": unit.name, "group": unit.group, "way": way, **result})
    (out / "prover.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = table(lines) + packages(lines) + f"{len(units)} functions, {options.budget} s each, {time.monotonic() - started:.0f} s\n"
    (out / "prover.txt").write_text(text)
    print(text, end="")
    for line in failed:
        print(f"failed: {line}")
    return 1 if len(failed) > len(asked) // 10 or not lines else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--budget", type=float, default=3, help="seconds for a run (default 3)")
    parser.add_argument("--units", default="", help="only these functions, groups (prover, own, dataflow, libraries) or packages (cjson), separated by commas")
    parser.add_argument("--ways", default="", help="only these, separated by commas")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth function of each group: 4 takes a quarter of the time")
    parser.add_argument("--libraries", type=int, default=30, help="functions of real libraries (default 30)")
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="runs in parallel (default 2)")
    parser.add_argument("-o", dest="out", default=str(ROOT / "bench/out"), help="directory for the results (default bench/out)")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    options.ways = [way for way in options.ways.split(",") if way]
    if not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def chosen(options: argparse.Namespace) -> list:
    units = []
    for source in sorted((ROOT / "bench/prover").glob("*.c")):
        names = re.findall(r"^(?:int|unsigned|void) (\w+)\(", source.read_text(), re.M)
        units += [Unit(name, "prover", name, source.parent, (source.name,), ()) for name in names]
    units += own_units(ROOT / "bench/units")
    units += [dataclasses.replace(unit, group="dataflow") for unit in own_units(ROOT / "bench/dataflow")]
    wanted = set(filter(None, options.units.split(",")))
    if not wanted or not wanted <= {unit.name for unit in units} | {unit.group for unit in units}:
        libraries, missing = library_functions(ROOT / "bench/library_functions.toml")
        for package, why in missing:
            print(f"missing: {package}: {why}", file=sys.stderr)
        functions = [unit for unit in libraries if not unit.is_program]
        if not wanted & {unit.name.split("/")[0] for unit in functions}:
            # evenly from all packages
            step = max(1, len(functions) // max(1, options.libraries))
            functions = functions[::step][: options.libraries]
        units += functions
    units = [unit for unit in units if not wanted or {unit.name, unit.group, unit.name.split("/")[0]} & wanted]
    by_group = [[unit for unit in units if unit.group == group] for group in dict.fromkeys(unit.group for unit in units)]
    return [unit for of_group in by_group for unit in of_group[:: options.every]]


def run(unit, way: str, options) -> tuple[dict | None, str]:
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as work:
        command = [options.quarry, "gen", *unit.files, "--function", unit.function, *unit.arguments, *WAYS[way]]
        command += ["--criterion", CRITERIA.get(unit.group, "branch"), "--budget", f"{options.budget}s", "--no-sanitize"]
        command += ["--quiet", "--message-format", "json", "-o", f"{work}/out", "--", *unit.flags]
        try:
            ran = subprocess.run(command, cwd=unit.directory, capture_output=True, text=True, timeout=60 + 10 * options.budget, check=False)
        except subprocess.TimeoutExpired:
            return None, "no end"
        if ran.returncode != 0:
            return None, f"exit code {ran.returncode}: {ran.stderr[-200:]}"
        summary = json.loads(ran.stdout.splitlines()[-1])
        return {**{state: summary["goals"][state] for state in STATES}, "seconds": summary["seconds"]}, ""


def table(lines: list) -> str:
    text = ""
    for group in dict.fromkeys(line["group"] for line in lines):
        of_group = [line for line in lines if line["group"] == group]
        text += f"{group}\n{'':14}{'covered':>9}{'infeasible':>12}{'under …':>9}{'undecided':>11}{'seconds':>9}\n"
        for way in dict.fromkeys(line["way"] for line in of_group):
            sums = [sum(line[name] for line in of_group if line["way"] == way) for name in (*STATES, "seconds")]
            text += f"{way:14}{sums[0]:9}{sums[1]:12}{sums[2]:9}{sums[3]:11}{sums[4]:9.1f}\n"
        text += "\n"
    return text


def packages(lines: list) -> str:
    """Of each library, the share of goals that search alone and both leave undecided."""
    text = ""
    of_libraries = [line for line in lines if "/" in line["unit"]]
    for package in dict.fromkeys(line["unit"].split("/")[0] for line in of_libraries):
        shares = []
        for way in ("search", "combined"):
            own = [line for line in of_libraries if line["unit"].split("/")[0] == package and line["way"] == way]
            goals = sum(line[state] for line in own for state in STATES)
            if goals:
                undecided = sum(line["undecided"] for line in own)
                shares.append(f"{way} {undecided} of {goals} goals undecided ({100 * undecided / goals:.1f} %)")
        if shares:
            text += f"{package}: {', '.join(shares)}\n"
    return text and text + "\n"


if __name__ == "__main__":
    sys.exit(main())

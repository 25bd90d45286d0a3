#!/usr/bin/env python3
"""Compares Quarry with libFuzzer and with random input on functions of real libraries and on whole programs.

Method: for each function, Quarry generates a suite within the budget; libFuzzer (clang's own, without a seed corpus) and random input then
use its harness, compiled natively, for the same time, one core each and one after the other. One native, uninstrumented build replays the
inputs of each tool, each in its own process, and clang's own coverage counts which branch
outcomes (of conditions, as llvm-cov counts) and MC/DC conditions they cover in the functions that the one under test can reach.
Random inputs are too many to keep: they run in the measuring build itself. Building does not count against any budget.
Tables go to stdout and report.txt, every lost branch to lost.txt, every function to real.jsonl.
Limit: one seed. For a whole program, libFuzzer and the measuring build start a process for each input, and libFuzzer does not see
the values compared in it.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/real"), str(ROOT / "scripts/native")]
import llvm  # noqa: E402
from compare.units import Unit, library_functions, own_units  # noqa: E402
from rivals import causes, report, results  # noqa: E402
from rivals.native import Native, Objects  # noqa: E402
from rivals.results import Row  # noqa: E402
from rivals.tools import ToolError, run_fuzzer, run_quarry  # noqa: E402

# compared unless others are asked for
PACKAGES = ("cjson", "libcsv", "http-parser", "zlib", "yajl", "expat", "hiredis", "miniz", "figlet", "bibclean")
LISTING = ROOT / "bench/library_functions.toml"


def main() -> int:
    options = parse_arguments()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    lines = out / "real.jsonl"
    missing = [] if options.report_only else compare(options, lines)
    rows = results.read(lines)
    text = report.report(rows)
    (out / "report.txt").write_text(text)
    (out / "lost.txt").write_text(report.lost_branches(rows))
    print(text, end="")
    for package, why in missing:
        print(f"FAILED {package}: {why}")
    return 1 if missing or not rows else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--budget", type=float, default=60, help="seconds for each tool and function (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of every tool (default 1)")
    parser.add_argument("--functions", default="", help="functions (zlib/adler32_z or adler32_z), packages or units of ours")
    parser.add_argument("-o", dest="out", default=str(ROOT / "bench/out"), help="directory for the results (default bench/out)")
    parser.add_argument("--keep", action="store_true", help="keep builds and inputs in the output directory")
    parser.add_argument("--report-only", action="store_true", help="run nothing: report on the results in the directory")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    if not options.report_only and not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def compare(options: argparse.Namespace, lines: pathlib.Path) -> list[tuple[str, str]]:
    """Measures every function asked for; the packages that cannot be had."""
    units, missing = chosen(options.functions)
    with tempfile.TemporaryDirectory(prefix="quarry-real-") as temporary, lines.open("w") as file:
        base = lines.parent.resolve() / "work" if options.keep else pathlib.Path(temporary)
        objects = Objects(base / "drivers")
        for n_done, unit in enumerate(units, 1):
            work = base / unit.name.replace("/", "-")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            row = measure(options, unit, objects, work)
            file.write(results.line(row))
            file.flush()
            shown = row.failure or ", ".join(f"{tool} {n}" for tool, n in row.branches.items())
            print(f"[{n_done}/{len(units)}] {unit.name}: {shown}", file=sys.stderr, flush=True)
            if not options.keep:
                shutil.rmtree(work)
    return missing


def chosen(names: str) -> tuple[list[Unit], list[tuple[str, str]]]:
    """The functions asked for, units of ours among them, and packages that cannot be had."""
    wanted = set(filter(None, names.split(",")))
    if not wanted:
        return library_functions(LISTING, PACKAGES)
    units = [unit for unit in own_units(ROOT / "bench/units") if unit.name in wanted]
    foreign = wanted - {unit.name for unit in units}
    packages = {name.split("/")[0] for name in foreign} if all("/" in name for name in foreign) else None
    libraries, missing = library_functions(LISTING, packages)
    units += [unit for unit in libraries if names_of(unit) & foreign]
    unknown = foreign - {name for unit in units for name in names_of(unit)} - {package for package, _ in missing}
    if unknown:
        raise SystemExit(f"no such function or package: {', '.join(sorted(unknown))}")
    return units, missing


def names_of(unit: Unit) -> set[str]:
    return {unit.name, unit.function, unit.name.split("/")[0]}


def measure(options: argparse.Namespace, unit: Unit, objects: Objects, work: pathlib.Path) -> Row:
    row = Row(unit.name, options.budget)
    try:
        run = run_quarry(options.quarry, unit, options.budget, options.seed, work)
        native = Native(unit, run.harness, objects, work)
        corpus = run_fuzzer(native, options.budget, options.seed)
        counts = {
            "quarry": native.replay("cells", run.tests, "quarry"),
            "libfuzzer": native.replay("bytes", corpus, "libfuzzer"),
            "random": native.random(options.budget, options.seed, "random"),
        }
        covered = {tool: native.measure(directory, run.functions()) for tool, directory in counts.items()}
    except (ToolError, llvm.NativeError) as error:
        row.failure = " ".join(str(error).split())[-400:]
        return row
    row.n_branches, row.n_conditions = covered["quarry"].n_branches, covered["quarry"].n_conditions
    row.branches = {tool: len(coverage.branches) for tool, coverage in covered.items()}
    row.conditions = {tool: len(coverage.conditions) for tool, coverage in covered.items()}
    row.inputs = {"quarry": len(run.tests), "libfuzzer": len(corpus)}
    row.stop = run.record["result"]["stop"]
    row.cause, row.lost = causes.explain(run, covered["quarry"], covered["libfuzzer"])
    return row


if __name__ == "__main__":
    sys.exit(main())

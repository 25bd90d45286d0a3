#!/usr/bin/env python3
"""Compares search strategies, with and without path filtering, on our own units and on functions of real libraries.

Method: every unit is built once (`quarry-dev bench-strategies`) and all its campaigns run in that process, several units in
parallel. Each campaign has a budget of executions; randomised strategies run with many seeds, the others with a few,
because the second input of every campaign is random. Means over the seeds are summed over the units. Depth-first search runs
once more with a larger budget, to show what filtering saves when there is time. Tables go to stdout and report.txt, curves to
*.svg, every unit's coverage to units.tsv and every campaign to campaigns.jsonl.
Limit: budgets count executions, not time; campaigns that time out are counted and reported. With --unit-limit, a unit
whose campaigns are not finished by then is left out and listed, so the sums are over units that are quick to search.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/real")]
from compare import charts, tables  # noqa: E402
from compare.campaigns import Plan, Results, TooLong, run_unit  # noqa: E402
from compare.units import library_functions, own_units  # noqa: E402


def main() -> int:
    options = parse_arguments()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    campaigns = out / "campaigns.jsonl"
    failed, left_out = ([], []) if options.report_only else measure(options, campaigns)
    results = Results.read(campaigns)
    if not results.campaigns:
        print("no campaign was run", file=sys.stderr)
        return 1
    report = tables.report(results)
    (out / "report.txt").write_text(report)
    (out / "units.tsv").write_text(tables.unit_rows(results))
    print(report, end="")
    for path in charts.write_all(results, out):
        print(f"wrote {path}")
    for unit in left_out:
        print(f"left out {unit}: not done after {options.unit_limit:g} s")
    for unit, why in failed:
        print(f"FAILED {unit}: {why}")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--seeds", type=int, default=30, help="seeds for randomised strategies (default 30)")
    parser.add_argument("--few-seeds", type=int, default=5, help="seeds for the others, never more than --seeds (default 5)")
    parser.add_argument("--strategies", default="", help="only these, separated by commas")
    parser.add_argument("--criteria", default="branch,mcdc", help="separated by commas (default branch,mcdc)")
    parser.add_argument("--units", default="", help="only these units, or 'own' or 'libraries', separated by commas")
    parser.add_argument("--executions", type=int, default=100, help="budget of a campaign (default 100)")
    parser.add_argument("--more-executions", type=int, default=1000, help="the larger budget for dfs (default 1000)")
    parser.add_argument("--limit", default="10s", help="time for one campaign (default 10s)")
    parser.add_argument("--unit-limit", type=float, help="seconds for all campaigns of a unit, after which it is left out")
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="units in parallel (default 2)")
    parser.add_argument("-o", dest="out", default=str(ROOT / "bench/out"), help="directory for the results (default bench/out)")
    parser.add_argument("--report-only", action="store_true", help="run nothing: report on the campaigns in the directory")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    if not options.report_only and not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def measure(options: argparse.Namespace, campaigns: pathlib.Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Runs every unit's campaigns; the units that failed, with the reason, and those that took too long."""
    units, failed = chosen(options.units)
    left_out = []
    plan = Plan.from_options(options)
    print(f"{len(units)} units, {plan.n_campaigns()} campaigns each", file=sys.stderr)
    with campaigns.open("w") as file, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(run_unit, options.quarry, unit, plan): unit for unit in units}
        for n_done, run in enumerate(concurrent.futures.as_completed(runs), 1):
            unit = runs[run]
            try:
                lines, failure = run.result()
                said = failure or f"{len(lines)} lines"
            except TooLong:
                left_out.append(unit.name)
                lines, failure, said = [], "", "left out"
            file.writelines(line + "\n" for line in lines)
            file.flush()
            if failure:
                failed.append((unit.name, failure))
            print(f"[{n_done}/{len(units)}] {unit.name}: {said}", file=sys.stderr, flush=True)
    return failed, left_out


def chosen(names: str) -> tuple[list, list[tuple[str, str]]]:
    """The units asked for, and packages that cannot be had."""
    wanted = set(filter(None, names.split(",")))
    own = own_units(ROOT / "bench/units")
    needs_libraries = not wanted or not wanted <= {unit.name for unit in own} | {"own"}
    libraries, missing = library_functions(ROOT / "bench/library_functions.toml") if needs_libraries else ([], [])
    libraries = [unit for unit in libraries if not unit.is_program]
    units = [unit for unit in own + libraries if not wanted or {unit.name, unit.group} & wanted]
    unknown = wanted - {unit.name for unit in units} - {unit.group for unit in units}
    if unknown:
        raise SystemExit(f"no such unit: {', '.join(sorted(unknown))}")
    return units, missing


if __name__ == "__main__":
    sys.exit(main())

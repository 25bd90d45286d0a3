#!/usr/bin/env python3
"""Compares search strategies on def-use pairs, like Table II of the paper on data-flow testing with DSE and model checking.

Method: every strategy searches for tests for def-use pairs of every unit, one pair at a time and each from scratch, with limits on time and
executions. --pairs sets the number of pairs per unit, spread over its list. Randomised strategies run with many seeds,
the guided ones with a few, which only give them another second input. A pair that nobody can cover would cost its whole limit with every
seed, so a pair that no strategy covers with its first seed (--give-up-after) is dropped, and a strategy drops one that it does not cover with
its first few seeds (--despair-after). The benchmark prints time, executions and coverage on covered pairs, the
median and the semi-interquartile range of one pair's time, and what cpgs saves against each. Subjects are those of bench/dataflow/, units
of bench/units/ of the same kinds, and functions of real libraries. The result of each goes to dataflow.jsonl, the tables to stdout and report.txt.
Limit: times depend on this machine, on which -j campaigns run in parallel.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/real")]
from compare import pairs  # noqa: E402
from compare.units import Unit, library_functions, own_units  # noqa: E402

# of bench/units/: logic of the same kinds
UNITS = ("power", "calculator", "connection", "crossing", "heap", "jobs", "netflow", "telecommand", "vending")
# parsers and text, at least twenty functions
PACKAGES = ("http-parser", "utf8proc", "jansson", "libcsv", "libidn")


def main() -> int:
    options = parse_arguments()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    lines = out / "dataflow.jsonl"
    missing = [] if options.report_only else measure(options, lines)
    campaigns = [json.loads(line) for line in lines.read_text().splitlines()]
    failures = [campaign for campaign in campaigns if "failure" in campaign]
    text = pairs.report(campaigns)
    (out / "report.txt").write_text(text)
    print(text, end="")
    for package, why in missing:
        print(f"FAILED {package}: {why}")
    for campaign in failures:
        print(f"FAILED {campaign['unit']}: {campaign['failure']}")
    return 1 if missing or failures or not campaigns else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--seeds", type=int, default=30, help="seeds for randomised strategies (default 30)")
    parser.add_argument("--few-seeds", type=int, default=5, help="seeds for the others (default 5)")
    parser.add_argument("--strategies", default="", help="only these, separated by commas")
    parser.add_argument("--variants", action="store_true", help="also measure variants of the strategies")
    parser.add_argument("--units", default="", help="only these units, or 'own' or 'libraries', separated by commas")
    parser.add_argument("--per-pair", default="2s", help="time for one pair (default 2s)")
    parser.add_argument("--executions", type=int, default=1000, help="executions for one pair (default 1000)")
    parser.add_argument("--pairs", type=int, default=4, help="pairs of a unit, spread over its list; 0: all (default 4)")
    parser.add_argument(
        "--give-up-after", type=int, default=1, help="seeds after which a pair that no strategy covered is dropped (default 1)"
    )
    parser.add_argument(
        "--despair-after", type=int, default=5, help="seeds after which a strategy drops a pair that it did not cover (default 5)"
    )
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="units in parallel (default 2)")
    parser.add_argument("-o", dest="out", default=str(ROOT / "bench/out"), help="directory for the results (default bench/out)")
    parser.add_argument("--report-only", action="store_true", help="run nothing: report on the campaigns in the directory")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    chosen = pairs.ALL if options.variants else pairs.STRATEGIES
    options.strategies = [name.strip() for name in options.strategies.split(",") if name] or list(chosen)
    unknown = set(options.strategies) - set(pairs.ALL)
    if unknown:
        parser.error(f"no such strategy: {', '.join(sorted(unknown))}")
    if not options.report_only and not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def measure(options: argparse.Namespace, lines: pathlib.Path) -> list[tuple[str, str]]:
    """Runs every campaign; the packages that cannot be had."""
    units, missing = chosen(options.units)
    seeds = {name: options.seeds if name in pairs.DRAW_LOTS else min(options.seeds, options.few_seeds) for name in pairs.ALL}
    patience = (options.give_up_after, options.despair_after)
    limits = pairs.Limits(options.per_pair, options.executions, seeds, options.pairs, *patience)
    with lines.open("w") as file, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(pairs.run_campaigns, options.quarry, unit, options.strategies, limits): unit for unit in units}
        for n_done, done in enumerate(concurrent.futures.as_completed(running), 1):
            records = done.result()
            file.writelines(json.dumps(record) + "\n" for record in records)
            file.flush()
            shown = records[0].get("failure") if records else "no pairs"
            print(f"[{n_done}/{len(units)}] {running[done].name}: {shown or 'done'}", file=sys.stderr, flush=True)
    return missing


def chosen(names: str) -> tuple[list[Unit], list[tuple[str, str]]]:
    """The units asked for, and packages that cannot be had."""
    wanted = set(filter(None, names.split(",")))
    own = own_units(ROOT / "bench/dataflow")
    own += [unit for unit in own_units(ROOT / "bench/units") if unit.name in UNITS]
    needs_libraries = not wanted or not wanted <= {unit.name for unit in own} | {"own"}
    libraries, missing = library_functions(ROOT / "bench/library_functions.toml", PACKAGES) if needs_libraries else ([], [])
    libraries = [unit for unit in libraries if not unit.is_program]
    units = [unit for unit in own + libraries if not wanted or {unit.name, unit.group} & wanted]
    unknown = wanted - {unit.name for unit in units} - {unit.group for unit in units}
    if unknown:
        raise SystemExit(f"no such unit: {', '.join(sorted(unknown))}")
    return units, missing


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares strategies on bench/chaining/: subjects whose last branches depend on what happened before.

Method: every unit is built once (`quarry-dev bench-strategies`), and each strategy searches with several seeds until every feasible
branch is covered or the executions are spent. The table has the mean of executions after which the last feasible branch was covered, the
whole budget where that did not happen, and how many feasible branches were covered. The paper's nine subjects come first and are summed
up apart, because the paper has figures for them.
Limit: budgets count executions; a campaign that times out counts with the whole budget and has a `t` beside it.
"""

import argparse
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts/real")]
from compare.campaigns import Plan, TooLong, run_unit  # noqa: E402
from compare.units import Unit, own_units  # noqa: E402

UNITS = ROOT / "bench/chaining"
STRATEGIES = ("chaining", "auto", "fitness", "cfg-directed", "dfs", "random-input")
# the subjects of the paper's tables, and its executions for them
PAPER = {
    "sample": 13,
    "test_loop": 22,
    "hello_world": 55,
    "netflow": 2,
    "move_biggest_in_front": 2,
    "handle_new_jobs": 34,
    "update_ships": 4,
    "check_ISBN": 51,
    "check_ISSN": 45,
}


def main() -> int:
    options = parse_arguments()
    strategies = options.strategies.split(",")
    wanted = set(options.units.split(",")) - {""}
    units = [unit for unit in own_units(UNITS) if not wanted or unit.name in wanted]
    series = tuple(f"branch:{name}:on:{options.seeds}:{options.executions}" for name in strategies)
    plan = Plan(series, options.limit, None, 0)
    rows, failed = {}, []
    print(f"{'':24}" + "".join(f"{name:>22}" for name in strategies))
    for unit in sorted(units, key=lambda unit: (unit.name not in PAPER, list(PAPER).index(unit.name) if unit.name in PAPER else 0)):
        try:
            lines, why = run_unit(options.quarry, unit, plan)
        except TooLong:
            lines, why = [], "took too long"
        if why:
            failed.append((unit.name, why))
            continue
        rows[unit.name] = row_of(unit, [json.loads(line) for line in lines], options.executions)
        print(f"{unit.name:24}" + "".join(f"{cell_of(rows[unit.name].get(name)):>22}" for name in strategies), flush=True)
    for title, names in (("mean of the paper's", PAPER), ("mean of the others", set(rows) - set(PAPER))):
        of = [row for name, row in rows.items() if name in names]
        if of:
            means = [mean([row[name].executions for row in of if name in row]) for name in strategies]
            print(f"{title:24}" + "".join(f"{value:>22.1f}" for value in means))
            full = [sum(row[name].is_full for row in of if name in row) for name in strategies]
            print(f"{'  all feasible covered':24}" + "".join(f"{f'{n} of {len(of)}':>22}" for n in full))
    for name, why in failed:
        print(f"FAILED {name}: {why}")
    return 1 if failed else 0


class Cell:
    """What a strategy did on a unit, over the seeds."""

    def __init__(self, campaigns: list[dict], n_feasible: int, budget: int) -> None:
        covered = [campaign["n_covered"] >= n_feasible for campaign in campaigns]
        last = [campaign["curve"][-1][0] if done else budget for campaign, done in zip(campaigns, covered)]
        self.executions = mean(last)
        self.n_covered = mean([campaign["n_covered"] for campaign in campaigns])
        self.n_feasible = n_feasible
        self.is_full = all(covered)
        self.timed_out = any(campaign["stop"].get("budget") == "time" for campaign in campaigns if isinstance(campaign["stop"], dict))


def row_of(unit: Unit, campaigns: list[dict], budget: int) -> dict[str, Cell]:
    text = (unit.directory / unit.files[0]).read_text()
    infeasible = int(re.search(r"^//@ infeasible: (\d+)", text, re.MULTILINE)[1])
    by_strategy: dict[str, list[dict]] = {}
    for campaign in campaigns:
        by_strategy.setdefault(campaign["strategy"], []).append(campaign)
    return {name: Cell(of, of[0]["n_goals"] - infeasible, budget) for name, of in by_strategy.items()}


def cell_of(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    return f"{cell.executions:.1f} {cell.n_covered:g}/{cell.n_feasible}{'t' if cell.timed_out else ' '}"


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--seeds", type=int, default=5, help="seeds (default 5)")
    parser.add_argument("--executions", type=int, default=500, help="budget of a campaign (default 500)")
    parser.add_argument("--limit", default="10s", help="time for one campaign (default 10s)")
    parser.add_argument("--strategies", default=",".join(STRATEGIES), help="separated by commas")
    parser.add_argument("--units", default="", help="only these, separated by commas")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    return options


if __name__ == "__main__":
    sys.exit(main())

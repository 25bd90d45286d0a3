"""Runs campaigns and stores what they print.

`quarry-dev bench-strategies` skips names of strategies that do not exist yet, and says so.
"""

import argparse
import dataclasses
import json
import pathlib
import subprocess

from compare.units import Unit

# in the order of tables and charts
STRATEGIES = (
    "auto", "pps+fitness", "pps", "fitness", "rp-md2u", "cfg-directed",
    "generational", "random-path", "bfs", "dfs", "random-input",
)  # fmt: skip
# the order of their picks depends on the seed; with the others only the second input does, and a few seeds show that
DRAW_LOTS = {"pps+fitness", "fitness", "rp-md2u", "cfg-directed", "random-path", "random-input"}
# those that everything else is compared with see the same second inputs
COMPARED = {"auto", "pps"}
# picks no candidates, so there is nothing to filter
UNFILTERED = {"random-input"}
N_OVERHEAD = 7


@dataclasses.dataclass(frozen=True)
class Plan:
    """The campaigns of every unit."""

    series: tuple[str, ...]
    limit: str
    unit_limit: float | None  # seconds for all campaigns of a unit
    overhead: int

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Plan":
        strategies = [name for name in options.strategies.split(",") if name] or list(STRATEGIES)
        few = min(options.seeds, options.few_seeds)
        series = []
        for criterion in options.criteria.split(","):
            for strategy in strategies:
                n_seeds = options.seeds if strategy in DRAW_LOTS | COMPARED else few
                for filtering in ("off",) if strategy in UNFILTERED else ("off", "on"):
                    series.append(f"{criterion}:{strategy}:{filtering}:{n_seeds}:{options.executions}")
            if "dfs" in strategies and options.more_executions > options.executions:
                series += [f"{criterion}:dfs:{filtering}:{few}:{options.more_executions}" for filtering in ("off", "on")]
        return cls(tuple(series), options.limit, options.unit_limit, N_OVERHEAD)

    def n_campaigns(self) -> int:
        return sum(int(series.split(":")[3]) for series in self.series)


class TooLong(Exception):
    """The campaigns of a unit took longer than they may; none of them counts."""


def run_unit(quarry: str, unit: Unit, plan: Plan) -> tuple[list[str], str]:
    """The lines of a unit's campaigns, each with the unit's name and group; and why it failed, or nothing."""
    command = [f"{quarry}-dev", "bench-strategies", *unit.files, "--function", unit.function, *unit.arguments]
    command += ["--limit", plan.limit, "--overhead", str(plan.overhead)]
    command += [word for series in plan.series for word in ("--run", series)]
    command += ["--", *unit.flags]
    try:
        done = subprocess.run(
            command, cwd=unit.directory, capture_output=True, text=True, timeout=plan.unit_limit, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TooLong from error
    lines = [json.dumps({"unit": unit.name, "group": unit.group} | json.loads(line)) for line in done.stdout.splitlines()]
    return lines, "" if done.returncode == 0 else f"exit code {done.returncode}: {' '.join(done.stderr.split())[-300:]}"


@dataclasses.dataclass
class Results:
    """What was measured; every record is a line of the driver as it is."""

    campaigns: list[dict]
    overheads: list[dict]
    skipped: dict[str, str]

    @classmethod
    def read(cls, path: pathlib.Path) -> "Results":
        results = cls([], [], {})
        for text in path.read_text().splitlines():
            line = json.loads(text)
            if "skipped" in line:
                results.skipped[line["skipped"]] = line["why"]
            elif "overhead" in line:
                results.overheads.append(line)
            else:
                results.campaigns.append(line)
        return results

"""What a search spends on def-use pairs: one line per unit, strategy and seed, and tables of sums over covered pairs.

Method: as the paper on data-flow testing counts. Every pair has its own campaign, without knowledge from the others; a
strategy's time and executions on a unit are the sums over the pairs that it covered. Means over seeds, then sums over units. Median and
semi-interquartile range are those of the time of one covered pair. A pair that was dropped after a few seeds counts as uncovered.
A strategy that covers only easy pairs has spent little by that count, so two strategies are also compared on the pairs that both cover.

Each strategy is guided as in the paper: random path by nothing, the strategies of CREST and KLEE by the uncovered branches and statements,
all without path filtering; the shortest distance by the definition and the use. Variants show the effect of that: the
same strategies guided by the pair alone, with path filtering, and both guided ones with and without redefinition pruning.
"""

import dataclasses
import json
import statistics
import subprocess
from collections.abc import Iterable

from compare.units import Unit

# criteria, strategy and path filtering, and whether there is pruning, in the order of the tables
STRATEGIES = {
    "random-input": ("def-use:random-input:off", ""),
    "random-path": ("def-use:random-path:off", ""),
    "cfg-directed": ("def-use+branch:cfg-directed:off", ""),
    "rp-md2u": ("def-use+statement:rp-md2u:off", ""),
    "sdgs": ("def-use:sdgs:on", ":unpruned"),
    "cpgs": ("def-use:cpgs:on", ""),
}
VARIANTS = {
    "random-path/pair": ("def-use:random-path:on", ""),
    "cfg-directed/pair": ("def-use:cfg-directed:on", ""),
    "rp-md2u/pair": ("def-use:rp-md2u:on", ""),
    "sdgs/pruned": ("def-use:sdgs:on", ""),
    "cpgs/unpruned": ("def-use:cpgs:on", ":unpruned"),
}
ALL = STRATEGIES | VARIANTS
BEST = "cpgs"
# the order of their picks depends on the seed
DRAW_LOTS = {name for name in ALL if not name.startswith(("sdgs", "cpgs"))}


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a campaign may spend."""

    per_pair: str
    executions: int
    seeds: dict[str, int]  # by strategy
    pairs: int  # of a unit, from all over its list; 0: all
    give_up_after: int  # seeds after which a pair that no strategy covered is left
    despair_after: int  # seeds after which a strategy leaves a pair that it did not cover


def run_campaigns(quarry: str, unit: Unit, strategies: Iterable[str], limits: Limits) -> list[dict]:
    """A record for each strategy and each of its seeds; one with `failure` when there is no result."""
    command = [f"{quarry}-dev", "bench-strategies", *unit.files, "--function", unit.function, *unit.arguments]
    command += ["--each-goal", "--limit", limits.per_pair, "--give-up-after", str(limits.give_up_after)]
    command += ["--despair-after", str(limits.despair_after)]
    command += ["--most-goals", str(limits.pairs)] if limits.pairs else []
    names = {series(name, limits): name for name in strategies}
    for run in names:
        command += ["--run", run]
    done = subprocess.run([*command, "--", *unit.flags], cwd=unit.directory, capture_output=True, text=True, check=False)
    named = {"unit": unit.name, "group": unit.group}
    if done.returncode != 0:
        return [named | {"failure": f"exit code {done.returncode}: {' '.join(done.stderr.split())[-300:]}"}]
    searches: dict[tuple[str, int], list[dict]] = {}
    for line in done.stdout.splitlines():
        search = json.loads(line)
        searches.setdefault((names[search["series"]], search["seed"]), []).append(search)
    return [
        named | {"strategy": strategy, "seed": seed} | summary(of_pairs) for (strategy, seed), of_pairs in searches.items()
    ]


def series(name: str, limits: Limits) -> str:
    """What `quarry-dev bench-strategies` calls a strategy's campaigns."""
    before, after = ALL[name]
    return f"{before}:{limits.seeds[name]}:{limits.executions}{after}"


def summary(searches: list[dict]) -> dict:
    numbers = [number for number, search in enumerate(searches) if search["is_covered"]]
    covered = [searches[number] for number in numbers]
    return {
        "n_pairs": len(searches),
        "n_covered": len(covered),
        "covered": numbers,
        "seconds": [search["seconds"] for search in covered],
        "executions": [search["executions"] for search in covered],
    }


@dataclasses.dataclass(frozen=True)
class Spent:
    """A strategy's line of the table, on a unit or on all."""

    seconds: float
    executions: float
    covered: float
    pairs: float
    median: float
    siqr: float

    @property
    def coverage(self) -> float:
        return self.covered / self.pairs if self.pairs else 0.0


def spent(campaigns: Iterable[dict]) -> Spent:
    """Means over the seeds of each unit, summed over the units."""
    units: dict[str, list[dict]] = {}
    for campaign in campaigns:
        units.setdefault(campaign["unit"], []).append(campaign)

    def total(number) -> float:
        return sum(statistics.fmean(map(number, of_unit)) for of_unit in units.values())

    times = sorted(second for of_unit in units.values() for campaign in of_unit for second in campaign["seconds"])
    lower, median, upper = quartiles(times)
    return Spent(
        seconds=total(lambda campaign: sum(campaign["seconds"])),
        executions=total(lambda campaign: sum(campaign["executions"])),
        covered=total(lambda campaign: campaign["n_covered"]),
        pairs=total(lambda campaign: campaign["n_pairs"]),
        median=median,
        siqr=(upper - lower) / 2,
    )


def quartiles(times: list[float]) -> tuple[float, float, float]:
    if len(times) < 2:
        return (times[0],) * 3 if times else (0.0,) * 3
    return tuple(statistics.quantiles(times, n=4, method="inclusive"))


def report(campaigns: list[dict]) -> str:
    """The table of the paper for every unit and for all, then what the best strategy saves against each."""
    good = [campaign for campaign in campaigns if "failure" not in campaign]
    units = sorted({(campaign["group"] != "own", campaign["unit"]) for campaign in good})
    head = f"{'unit':<34} {'strategy':<18} {'time, s':>10} {'executions':>11} {'covered':>17} {'median, s':>10} {'SIQR':>8}\n"
    lines = [head]
    for _, unit in units:
        lines += rows(unit, [campaign for campaign in good if campaign["unit"] == unit])
    lines += ["\n", head]
    lines += rows(f"all {len(units)}", complete(good))
    lines += savings(complete(good))
    lines.append(f"\n{n_covered_by_nobody(good)} pairs were covered by nobody\n")
    return "".join(lines)


def n_covered_by_nobody(campaigns: list[dict]) -> int:
    covered: dict[str, set[int]] = {}
    for campaign in campaigns:
        covered.setdefault(campaign["unit"], set()).update(campaign["covered"])
    n_pairs = {campaign["unit"]: campaign["n_pairs"] for campaign in campaigns}
    return sum(n_pairs[unit] - len(numbers) for unit, numbers in covered.items())


def complete(campaigns: list[dict]) -> list[dict]:
    """Those on units that every strategy measured has results for: sums over others would not compare."""
    strategies = {campaign["strategy"] for campaign in campaigns}
    by_unit: dict[str, set[str]] = {}
    for campaign in campaigns:
        by_unit.setdefault(campaign["unit"], set()).add(campaign["strategy"])
    return [campaign for campaign in campaigns if by_unit[campaign["unit"]] == strategies]


def by_strategy(campaigns: list[dict]) -> dict[str, Spent]:
    of = {name: [campaign for campaign in campaigns if campaign["strategy"] == name] for name in ALL}
    return {name: spent(chosen) for name, chosen in of.items() if chosen}


def rows(name: str, campaigns: list[dict]) -> list[str]:
    lines = []
    for strategy, line in by_strategy(campaigns).items():
        covered = f"{line.covered:.1f}/{line.pairs:.0f} {line.coverage:>6.1%}"
        lines.append(
            f"{name:<34} {strategy:<18} {line.seconds:>10.2f} {line.executions:>11.1f} {covered:>17}"
            f" {line.median:>10.4f} {line.siqr:>8.4f}\n"
        )
        name = ""
    return lines


def savings(campaigns: list[dict]) -> list[str]:
    table = by_strategy(campaigns)
    if BEST not in table:
        return []
    both = "on pairs that both cover"
    best, lines = table[BEST], [f"\n{BEST} against        less time   fewer executions   more coverage (points)   {both}: pairs   less time   fewer executions\n"]
    for name, other in table.items():
        if name != BEST:
            points = 100 * (best.coverage - other.coverage)
            time, executions = less(best.seconds, other.seconds), less(best.executions, other.executions)
            line = f"  {name:<18} {time:>9} {executions:>18} {points:>+15.1f}"
            n_common, mine, others = common(campaigns, BEST, name)
            time, executions = (less(*of) for of in zip(mine, others))
            lines.append(f"{line} {n_common:>42} {time:>11} {executions:>18}\n")
    return lines


def common(campaigns: list[dict], one: str, other: str) -> tuple[int, list[float], list[float]]:
    """How many pairs both strategies cover with some seed, and the seconds and executions that each of them takes for these."""
    costs = [costs_of_pairs(campaign for campaign in campaigns if campaign["strategy"] == name) for name in (one, other)]
    shared = costs[0].keys() & costs[1].keys()
    sums = [[sum(of[pair][what] for pair in shared) for what in range(2)] for of in costs]
    return len(shared), *sums


def costs_of_pairs(campaigns: Iterable[dict]) -> dict[tuple[str, int], tuple[float, float]]:
    """By unit and pair: seconds and executions, as means over the seeds that covered it."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for campaign in campaigns:
        for number, *cost in zip(campaign["covered"], campaign["seconds"], campaign["executions"]):
            found.setdefault((campaign["unit"], number), []).append(tuple(cost))
    return {pair: tuple(statistics.fmean(of) for of in zip(*costs)) for pair, costs in found.items()}


def less(best: float, other: float) -> str:
    return f"{1 - best / other:.1%}" if other else "-"

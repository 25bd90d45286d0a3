"""From campaigns to numbers: means over seeds, sums over units, areas under curves."""

import dataclasses
import statistics
from collections.abc import Callable, Iterable

Campaign = dict


@dataclasses.dataclass(frozen=True)
class Key:
    """Campaigns that are compared as one: a strategy with or without filtering, on one group, for one criterion."""

    group: str
    criterion: str
    max_executions: int
    strategy: str
    filter: bool


@dataclasses.dataclass(frozen=True)
class Summary:
    """Sums over units of means over seeds."""

    n_units: int
    n_campaigns: int
    n_out_of_time: int
    executions: float
    re_executions: float
    sat: float
    unsat: float
    unknown: float
    tests: float
    covered: float
    goals: float
    decisions_covered: float
    decisions: float
    seconds: float
    # what was covered after an execution, on average over all executions of the budget
    area: float
    decision_area: float

    @property
    def queries(self) -> float:
        return self.sat + self.unsat + self.unknown


def summaries(campaigns: Iterable[Campaign]) -> dict[Key, Summary]:
    return {key: summary(units) for key, units in by_key(campaigns).items()}


def by_key(campaigns: Iterable[Campaign]) -> dict[Key, dict[str, list[Campaign]]]:
    """The campaigns of each key, by unit."""
    sorted_out: dict[Key, dict[str, list[Campaign]]] = {}
    for campaign in campaigns:
        sorted_out.setdefault(key_of(campaign), {}).setdefault(campaign["unit"], []).append(campaign)
    return sorted_out


def key_of(campaign: Campaign) -> Key:
    return Key(**{field.name: campaign[field.name] for field in dataclasses.fields(Key)})


def summary(units: dict[str, list[Campaign]]) -> Summary:
    everything = [campaign for campaigns in units.values() for campaign in campaigns]
    field = lambda name: total(units, lambda campaign: campaign[name])  # noqa: E731
    return Summary(
        n_units=len(units),
        n_campaigns=len(everything),
        n_out_of_time=sum(campaign["stop"] == "time" for campaign in everything),
        executions=field("executions"),
        re_executions=field("re_executions"),
        sat=field("sat"),
        unsat=field("unsat"),
        unknown=field("unknown"),
        tests=field("tests"),
        covered=field("n_covered"),
        goals=field("n_goals"),
        decisions_covered=field("n_decisions_covered"),
        decisions=field("n_decisions"),
        seconds=sum(campaign["seconds"] for campaign in everything),
        area=total(units, lambda campaign: area(campaign["curve"], campaign["max_executions"])),
        decision_area=total(units, lambda campaign: area(campaign["decision_curve"], campaign["max_executions"])),
    )


def total(units: dict[str, list[Campaign]], number: Callable[[Campaign], float]) -> float:
    return sum(statistics.fmean(map(number, campaigns)) for campaigns in units.values())


def area(curve: list[list[int]], n_executions: int) -> float:
    """The mean height over executions 1 up to n."""
    return sum(heights(curve, n_executions)) / n_executions


def heights(curve: list[list[int]], n_executions: int) -> list[int]:
    """What is covered after each execution."""
    covered, at, result = 0, 0, []
    for execution in range(1, n_executions + 1):
        while at < len(curve) and curve[at][0] <= execution:
            covered = curve[at][1]
            at += 1
        result.append(covered)
    return result


def mean_curve(units: dict[str, list[Campaign]], name: str, n_executions: int) -> list[float]:
    """The sum over units of what their campaigns have covered on average after each execution."""
    curve = [0.0] * n_executions
    for campaigns in units.values():
        for campaign in campaigns:
            for at, height in enumerate(heights(campaign[name], n_executions)):
                curve[at] += height / len(campaigns)
    return curve

"""Why did Quarry cover less of a function than libFuzzer?

Method: each branch that only libFuzzer's inputs take is looked up among Quarry's goals by its line; what Quarry says of the goals
there that it did not cover is the cause. Where it says that every candidate was tried, something hid the way: the function's gaps
are named, those of its inputs first. Limit: a branch inside a macro stands where the macro is defined, where no goal is; it is
then explained by what is open elsewhere in its function.
"""

import collections
import pathlib

from rivals.native import Coverage, Outcome, Place
from rivals.tools import QuarryRun

# how `goals.jsonl` words the reasons
REASONS = {
    "not tried yet": "budget",
    "the budget ended first": "budget",
    "every candidate was tried and none leads there": "saturated",
    "the solver gave up on a candidate": "solver",
    "something on the way is not supported": "unsupported",
}
NOT_NATIVE = "covered under Quarry, not natively"
UNEXPLAINED = "unexplained"
INPUT_GAP = "input"
N_NAMED = 3


def explain(run: QuarryRun, own: Coverage, other: Coverage) -> tuple[str, list[str]]:
    """The cause in a few words; and each lost branch with its own."""
    lost = sorted(other.branches - own.branches)
    causes = {outcome: cause_at(run, outcome, other.places[outcome]) for outcome in lost}
    lines = [line_of(outcome, other.places[outcome], causes[outcome]) for outcome in lost]
    counted = collections.Counter(causes.values())
    words = [f"{detail(run, cause)} {n}" for cause, n in counted.most_common()]
    return ", ".join(words), lines


def cause_at(run: QuarryRun, outcome: Outcome, place: Place) -> str:
    function = outcome[0].rsplit(":", 1)[-1]
    here = [goal for goal in run.goals if goal.get("line") == place.line and file_of(goal) == place.file]
    near = here or [goal for goal in run.goals if goal["function"] == function]
    open_goals = [goal for goal in near if goal["state"] == "undecided"]
    if open_goals:
        reasons = collections.Counter(REASONS.get(goal.get("reason"), UNEXPLAINED) for goal in open_goals)
        return reasons.most_common(1)[0][0]
    return NOT_NATIVE if here else UNEXPLAINED


def file_of(goal: dict) -> str:
    return pathlib.Path(goal.get("file") or "").name


def detail(run: QuarryRun, cause: str) -> str:
    """What the run's record adds to the cause."""
    if cause not in ("saturated", "unsupported"):
        return cause
    inputs = [gap["what"] for gap in run.record["gaps"] if gap["kind"] == INPUT_GAP]
    if inputs:
        return f"{cause}: not built {named(inputs)}"
    reached = {goal["function"] for goal in run.goals}
    others = [gap["kind"] for gap in run.record["gaps"] if gap["function"] in reached]
    if others:
        return f"{cause}: {named(others)}"
    n_divergences = run.record["result"]["divergences"]
    return f"{cause}: {n_divergences} divergences" if n_divergences else cause


def named(words: list[str]) -> str:
    different = list(dict.fromkeys(words))
    return "; ".join(different[:N_NAMED]) + (" …" if len(different) > N_NAMED else "")


def line_of(outcome: Outcome, place: Place, cause: str) -> str:
    function, _, value = outcome
    return f"{place.file}:{place.line} in {function.rsplit(':', 1)[-1]}, {'true' if value else 'false'}: {cause}"

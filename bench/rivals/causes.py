"""Why did Quarry cover less of a function than libFuzzer?

Method: each branch that only libFuzzer's inputs take is looked up among Quarry's goals by its line; the reasons of the open goals
there are the cause. If the budget ended, the report says what it was spent on; if not, something blocked
the path: inputs that are not built, gaps in the functions it can reach and executions that diverge are listed.
Limit: a branch inside a macro has the position of the macro's definition, where no goal is; it is then explained by open goals elsewhere in
its function.
"""

import collections
import pathlib

from rivals.native import Coverage, Outcome, Place
from rivals.tools import QuarryRun

BUDGET, EXHAUSTED = "budget", "exhausted"
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
    words = [f"{n} {detail(run, cause)}" for cause, n in counted.most_common()]
    return ", ".join(words), lines


def cause_at(run: QuarryRun, outcome: Outcome, place: Place) -> str:
    function = outcome[0].rsplit(":", 1)[-1]
    here = [goal for goal in run.goals if goal.get("line") == place.line and file_of(goal) == place.file]
    # a case that is not taken is another one that is, elsewhere
    is_switch = any(goal["demand"].startswith("switch") for goal in here)
    within = [goal for goal in run.goals if goal["function"] == function] if is_switch or not here else []
    for goals in (here, within):
        reasons = collections.Counter(reason_of(run, goal) for goal in goals if goal["state"] == "undecided")
        if reasons:
            return reasons.most_common(1)[0][0]
    return NOT_NATIVE if here and not is_switch else UNEXPLAINED


def reason_of(run: QuarryRun, goal: dict) -> str:
    reason = goal.get("why", {}).get("cause", UNEXPLAINED)
    # when the time was not used up, it was another limit: too many values of an address, or of candidates of a run
    return EXHAUSTED if reason == BUDGET and run.record["result"]["stop"] == EXHAUSTED else reason


def file_of(goal: dict) -> str:
    return pathlib.Path(goal.get("file") or "").name


def detail(run: QuarryRun, cause: str) -> str:
    """What the run's record adds to the cause."""
    evidence = []
    if cause == BUDGET:
        evidence = effort(run)
    elif cause in (EXHAUSTED, "saturated", "unsupported"):
        evidence = hidden(run)
    return f"{cause} ({'; '.join(evidence)})" if evidence else cause


def effort(run: QuarryRun) -> list[str]:
    """What the time was spent on."""
    result = run.record["result"]
    queries = result["queries"]
    shown = [f"{result['executions']} executions", f"{queries['unsat']} of {sum(queries.values())} queries unsat"]
    return shown + ([f"{queries['unknown']} unanswered"] if queries["unknown"] else [])


def hidden(run: QuarryRun) -> list[str]:
    """What can have kept the search from seeing a way."""
    reached = {goal["function"] for goal in run.goals}
    inputs = [gap["what"] for gap in run.record["gaps"] if gap["kind"] == INPUT_GAP]
    others = [gap["kind"] for gap in run.record["gaps"] if gap["function"] in reached]
    result = run.record["result"]
    evidence = [f"not built {named(inputs)}"] if inputs else []
    evidence += [named(others)] if others else []
    if 100 * result["divergences"] > result["executions"]:
        evidence.append(f"{result['divergences']} of {result['executions']} executions diverge")
    return evidence


def named(words: list[str]) -> str:
    different = list(dict.fromkeys(words))
    return "; ".join(different[:N_NAMED]) + (" …" if len(different) > N_NAMED else "")


def line_of(outcome: Outcome, place: Place, cause: str) -> str:
    function, _, value = outcome
    return f"{place.file}:{place.line} in {function.rsplit(':', 1)[-1]}, {'true' if value else 'false'}: {cause}"

"""The table of the comparison, as text."""

from compare.tables import aligned, percent
from rivals.results import TOOLS, Row

TITLES = {"quarry": "Quarry", "libfuzzer": "libFuzzer", "random": "random"}
RIVALS = TOOLS[1:]


def report(rows: list[Row]) -> str:
    measured = [row for row in rows if not row.failure]
    if not measured:
        return failures(rows) or "nothing was measured\n"
    budgets = sorted({row.budget for row in measured})
    head = ("function", "branches", *TITLES.values(), "MC/DC", *TITLES.values(), "result", "cause of the loss")
    cells = [cells_of(row) for row in measured]
    cells.append(sums(measured))
    text = f"== {len(measured)} functions, {', '.join(f'{budget:g}' for budget in budgets)} s for each tool and function ==\n"
    text += flush_left(aligned(head, cells), "cause of the loss") + "\n"
    text += "\n".join(standing(rival, measured) for rival in RIVALS) + "\n"
    return text + failures(rows)


def cells_of(row: Row) -> tuple[str, ...]:
    ahead = row.difference("libfuzzer")
    result = "tie" if ahead == 0 else f"{ahead:+d}"
    counts = (f"{row.n_branches}", *(f"{row.branches[tool]}" for tool in TOOLS))
    shown = (f"{row.n_conditions}", *(f"{row.conditions[tool]}" for tool in TOOLS))
    return (row.unit, *counts, *shown, result, row.cause if ahead < 0 else "")


def sums(rows: list[Row]) -> tuple[str, ...]:
    n_branches, n_conditions = sum(row.n_branches for row in rows), sum(row.n_conditions for row in rows)
    branches = {tool: sum(row.branches[tool] for row in rows) for tool in TOOLS}
    conditions = {tool: sum(row.conditions[tool] for row in rows) for tool in TOOLS}
    ahead = branches["quarry"] - branches["libfuzzer"]
    cells = ["sum", f"{n_branches}"]
    cells += [f"{branches[tool]} ({percent(branches[tool], n_branches)} %)" for tool in TOOLS]
    cells += [f"{n_conditions}"]
    cells += [f"{conditions[tool]} ({percent(conditions[tool], n_conditions)} %)" for tool in TOOLS]
    return (*cells, f"{ahead:+d}", "")


def standing(rival: str, rows: list[Row]) -> str:
    """On how many functions Quarry is ahead, level and behind."""
    words = []
    for what, differences in (
        ("branches", [row.difference(rival) for row in rows]),
        ("MC/DC", [row.mcdc_difference(rival) for row in rows]),
    ):
        won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        tied = len(differences) - won - lost
        at_least = percent(won + tied, len(differences))
        words.append(f"{what} {won} won, {tied} tied, {lost} lost (at least as much on {at_least} %)")
    return f"against {TITLES[rival]}: " + "; ".join(words)


def failures(rows: list[Row]) -> str:
    return "".join(f"not measured: {row.unit}: {row.failure}\n" for row in rows if row.failure)


def flush_left(table: str, last: str) -> str:
    """The last column begins where its title would if it were aligned to the left."""
    lines = table.splitlines()
    width = max(len(line) for line in lines)
    start = len(lines[0]) - len(last)
    longest = max((len(line[start:].strip()) for line in lines), default=0)
    start = width - max(longest, len(last))
    return "\n".join((line[:start] + line[start:].strip()).rstrip() for line in lines) + "\n"


def lost_branches(rows: list[Row]) -> str:
    """Every branch that libFuzzer covers and Quarry does not, by function."""
    parts = [f"{row.unit}\n" + "".join(f"    {line}\n" for line in row.lost) for row in rows if row.lost]
    return "\n".join(parts)

"""The table of the comparison, as text."""

from compare.tables import aligned, percent
from rivals.results import TOOLS, Row

TITLES = {"quarry": "Quarry", "libfuzzer": "libFuzzer", "random": "random"}
RIVALS = TOOLS[1:]


def report(rows: list[Row]) -> str:
    measured = [row for row in rows if not row.failure]
    if not measured:
        return failures(rows) or "nothing was measured\n"
    budgets = ", ".join(f"{budget:g}" for budget in sorted({row.budget for row in measured}))
    text = f"== {len(measured)} functions and programs, {budgets} s for each and each tool ==\n"
    text += table(measured) + "\n"
    text += "".join(shares(what, measured) for what in ("branches", "conditions"))
    text += "".join(standing(rival, measured) for rival in RIVALS)
    return text + failures(rows)


def table(rows: list[Row]) -> str:
    head = ("function", "branches", *TITLES.values(), "MC/DC", *TITLES.values(), "Quarry against libFuzzer")
    cells = [cells_of(row) for row in rows]
    causes = ["", *(row.cause if row.difference("libfuzzer") < 0 else "" for row in rows), ""]
    lines = aligned(head, [*cells, sums(rows)]).splitlines()
    return "".join(f"{line}  {cause}".rstrip() + "\n" for line, cause in zip(lines, causes))


def cells_of(row: Row) -> tuple[str, ...]:
    branches = (f"{row.n_branches}", *(f"{row.branches[tool]}" for tool in TOOLS))
    conditions = (f"{row.n_conditions}", *(f"{row.conditions[tool]}" for tool in TOOLS))
    return (row.unit, *branches, *conditions, signed(row.difference("libfuzzer")))


def sums(rows: list[Row]) -> tuple[str, ...]:
    branches = (f"{sum(row.n_branches for row in rows)}", *(f"{sum(row.branches[tool] for row in rows)}" for tool in TOOLS))
    conditions = (f"{sum(row.n_conditions for row in rows)}", *(f"{sum(row.conditions[tool] for row in rows)}" for tool in TOOLS))
    return ("sum", *branches, *conditions, signed(sum(row.difference("libfuzzer") for row in rows)))


def signed(difference: int) -> str:
    return f"{difference:+d}" if difference else "="


def shares(what: str, rows: list[Row]) -> str:
    """What each tool covers of all branches, or of all MC/DC conditions."""
    n_all = sum(getattr(row, f"n_{what}") for row in rows)
    words = [f"{TITLES[tool]} {percent(sum(getattr(row, what)[tool] for row in rows), n_all)} %" for tool in TOOLS]
    return f"{'branches' if what == 'branches' else 'MC/DC'} covered: " + ", ".join(words) + "\n"


def standing(rival: str, rows: list[Row]) -> str:
    """On how many functions Quarry is ahead, level and behind."""
    words = []
    for what, differences in (
        ("branches", [row.difference(rival) for row in rows]),
        ("MC/DC", [row.mcdc_difference(rival) for row in rows]),
    ):
        won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        at_least = percent(len(differences) - lost, len(differences))
        words.append(f"{what} {won} won, {len(differences) - won - lost} tied, {lost} lost (at least as much on {at_least} %)")
    return f"against {TITLES[rival]}: " + "; ".join(words) + "\n"


def failures(rows: list[Row]) -> str:
    return "".join(f"not measured: {row.unit}: {row.failure}\n" for row in rows if row.failure)


def lost_branches(rows: list[Row]) -> str:
    """Every branch that libFuzzer covers and Quarry does not, by function."""
    parts = [f"{row.unit}\n" + "".join(f"    {line}\n" for line in row.lost) for row in rows if row.lost]
    return "\n".join(parts)

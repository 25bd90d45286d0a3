"""The tables of the report, as text."""

import dataclasses
import statistics

from compare.campaigns import STRATEGIES, Results
from compare.summary import Campaign, Key, Summary, by_key, summaries, summary

GROUPS = {"own": "units of ours", "libraries": "functions of libraries"}
# what papers/1 reports for branch coverage
PAPER_TESTS, PAPER_CONSTRAINTS = 25.5, 36.3
PAPER_GAIN = {"rp-md2u": 26.4, "cfg-directed": 35.4}
OVERHEAD_AIM = 1.08


def report(results: Results) -> str:
    table = summaries(results.campaigns)
    parts = [heading(results, table)]
    budgets = sorted({key.max_executions for key in table})
    for group, criterion in groups(table):
        chosen = {key: value for key, value in table.items() if (key.group, key.criterion) == (group, criterion)}
        usual = {key: value for key, value in chosen.items() if key.max_executions == budgets[0]}
        title = f"{GROUPS[group]}, {criterion}"
        parts.append(strategies_table(title, usual))
        parts.append(filtering_table(title, usual))
        for budget in budgets[1:]:
            more = {key: value for key, value in chosen.items() if key.max_executions == budget}
            parts.append(filtering_table(f"{title}, budget {budget:,}", more))
        for favourite in ("pps", "auto"):
            parts.append(against_table(favourite, title, usual, results.campaigns))
    parts.append(overhead_table(results))
    return "\n".join(filter(None, parts))


def groups(table: dict[Key, Summary]) -> list[tuple[str, str]]:
    known = {(key.group, key.criterion) for key in table}
    return [(group, criterion) for group in GROUPS for criterion in sorted({c for g, c in known if g == group})]


def heading(results: Results, table: dict[Key, Summary]) -> str:
    units = {group: sorted({c["unit"] for c in results.campaigns if c["group"] == group}) for group in GROUPS}
    n_late = sum(value.n_out_of_time for value in table.values())
    lines = [
        f"{len(results.campaigns):,} campaigns on "
        + ", ".join(f"{len(names)} {GROUPS[group]}" for group, names in units.items()),
        *(f"{GROUPS[group]}: {', '.join(names)}" for group, names in units.items() if names),
        f"{n_late:,} of them ended by the time limit" + (f": {late(results.campaigns)}" if n_late else ""),
    ]
    lines += [f"skipped: {name}: {why}" for name, why in results.skipped.items()]
    n_troubled = sum(campaign["troubles"] > 0 for campaign in results.campaigns)
    if n_troubled:
        lines.append(f"{n_troubled:,} campaigns had executions that were not understood")
    lines.append("Numbers are means over seeds, summed over units.\n")
    return "\n".join(lines)


def late(campaigns: list[Campaign]) -> str:
    units: dict[str, int] = {}
    for campaign in campaigns:
        if campaign["stop"] == "time":
            units[campaign["unit"]] = units.get(campaign["unit"], 0) + 1
    named = sorted(units.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{unit} {n}" for unit, n in named[:8]) + (" …" if len(named) > 8 else "")


def ordered(table: dict[Key, Summary], filtering: bool) -> list[tuple[Key, Summary]]:
    place = {name: at for at, name in enumerate(STRATEGIES)}
    rows = [(key, value) for key, value in table.items() if key.filter == filtering]
    return sorted(rows, key=lambda row: place.get(row[0].strategy, len(place)))


def strategies_table(title: str, table: dict[Key, Summary]) -> str:
    head = ("strategy", "executions", "repeated", "sat", "unsat", "unknown", "tests", "covered")
    head += ("%", "area %", "decisions", "late")
    text = ""
    for filtering in (False, True):
        rows = []
        for key, value in ordered(table, filtering):
            rows.append((
                key.strategy, f"{value.executions:.0f}", f"{value.re_executions:.0f}", f"{value.sat:.0f}",
                f"{value.unsat:.0f}", f"{value.unknown:.0f}", f"{value.tests:.1f}",
                f"{value.covered:.1f}/{value.goals:.0f}", percent(value.covered, value.goals),
                percent(value.area, value.goals), f"{value.decisions_covered:.1f}/{value.decisions:.0f}",
                f"{value.n_out_of_time}" if value.n_out_of_time else "",
            ))  # fmt: skip
        if rows:
            text += f"== {title}: strategies {'with' if filtering else 'without'} filtering ==\n" + aligned(head, rows) + "\n"
    return text


def filtering_table(title: str, table: dict[Key, Summary]) -> str:
    """What filtering saves, strategy by strategy. An execution is what the paper calls a test."""
    rows = []
    for key, without in ordered(table, False):
        filtered = table.get(dataclasses.replace(key, filter=True))
        if filtered is None:
            continue
        mark = ">" if key.strategy == "dfs" else ""
        rows.append((
            mark + key.strategy, f"{without.executions:.0f}", f"{filtered.executions:.0f}",
            change(filtered.executions, without.executions), f"{without.queries:.0f}", f"{filtered.queries:.0f}",
            change(filtered.queries, without.queries), f"{without.covered:.1f}", f"{filtered.covered:.1f}",
            change(filtered.covered, without.covered), change(filtered.decisions_covered, without.decisions_covered),
            f"{without.n_out_of_time}, {filtered.n_out_of_time}" if without.n_out_of_time + filtered.n_out_of_time else "",
        ))  # fmt: skip
    if not rows:
        return ""
    head = ("strategy", "executions", "filtered", "", "queries", "filtered", "", "covered", "filtered", "", "decisions", "late")
    paper = f"paper, dfs: executions -{PAPER_TESTS} %, constraints -{PAPER_CONSTRAINTS} %, coverage equal or better\n"
    return f"== {title}: what filtering saves ==\n" + aligned(head, rows) + paper


def against_table(favourite: str, title: str, table: dict[Key, Summary], campaigns: list[Campaign]) -> str:
    """How much more a strategy covers than the others at the same budget."""
    units = by_key(campaigns)
    rows = []
    for filtering in (False, True):
        for key, other in ordered(table, filtering):
            own_key = dataclasses.replace(key, strategy=favourite)
            if key.strategy == favourite or own_key not in table:
                continue
            own = table[own_key]
            better, worse = wins(units[own_key], units[key])
            paper = PAPER_GAIN.get(key.strategy) if favourite == "pps" and key.criterion == "branch" and not filtering else None
            rows.append((
                key.strategy, "yes" if filtering else "no", change(own.covered, other.covered), change(own.area, other.area),
                change(own.decisions_covered, other.decisions_covered), change(own.decision_area, other.decision_area),
                f"{better}", f"{worse}", f"+{paper} %" if paper else "",
            ))  # fmt: skip
    if not rows:
        return ""
    head = ("against", "filtering", "covered", "area", "decisions", "area", "units better", "worse", "paper")
    return f"== {title}: {favourite} against the others ==\n" + aligned(head, rows)


def wins(own: dict[str, list[Campaign]], other: dict[str, list[Campaign]]) -> tuple[int, int]:
    """On how many units the area under the one curve is larger, and smaller, by more than a hundredth."""
    better = worse = 0
    for unit in own.keys() & other.keys():
        mine, theirs = (summary({unit: campaigns[unit]}).area for campaigns in (own, other))
        better += mine > theirs * 1.01
        worse += mine < theirs / 1.01
    return better, worse


def overhead_table(results: Results) -> str:
    """The time of campaigns that do the same executions, with MC/DC and with branch coverage."""
    rows, sums = [], {"branch": 0.0, "mcdc": 0.0}
    for group, title in GROUPS.items():
        lines = [line for line in results.overheads if line["group"] == group]
        if not lines:
            continue
        least = {name: sum(min(line[name]) for line in lines) for name in sums}
        for name, seconds in least.items():
            sums[name] += seconds
        ratios = [min(line["mcdc"]) / min(line["branch"]) for line in lines]
        n_executions = sum(line["executions"] for line in lines)
        rows.append((
            title, f"{n_executions}", f"{least['branch']:.2f}", f"{least['mcdc']:.2f}",
            f"{least['mcdc'] / least['branch']:.3f}", f"{statistics.median(ratios):.3f}", f"{max(ratios):.3f}",
        ))  # fmt: skip
    if not rows:
        return ""
    head = ("", "executions", "branch s", "mcdc s", "ratio", "median", "worst unit")
    whole = f"all: {sums['mcdc'] / sums['branch']:.3f} (aim at most {OVERHEAD_AIM})\n"
    return "== tracking MC/DC against branches, the same executions by dfs ==\n" + aligned(head, rows) + whole


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def change(new: float, old: float) -> str:
    return f"{100 * (new - old) / old:+.1f} %" if old else "-"


def aligned(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The rows in columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = []
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def unit_rows(results: Results) -> str:
    """Every unit with what each strategy covers of it, separated by tabs, for a closer look."""
    names = [name for name in STRATEGIES if any(campaign["strategy"] == name for campaign in results.campaigns)]
    budget = min(campaign["max_executions"] for campaign in results.campaigns)
    columns = [f"{name}{what}" for name in names for what in ("", " area")]
    lines = ["\t".join(("unit", "criterion", "filter", "goals", *columns))]
    units: dict[tuple, dict[str, list[Campaign]]] = {}
    for campaign in results.campaigns:
        if campaign["max_executions"] == budget:
            row = (campaign["group"], campaign["unit"], campaign["criterion"], campaign["filter"])
            units.setdefault(row, {}).setdefault(campaign["strategy"], []).append(campaign)
    for (_, unit, criterion, filtering), strategies in sorted(units.items()):
        cells = [unit, criterion, "on" if filtering else "off", f"{next(iter(strategies.values()))[0]['n_goals']}"]
        for name in names:
            row = summary({unit: strategies[name]}) if name in strategies else None
            cells += [f"{row.covered:.1f}", f"{row.area:.1f}"] if row else ["", ""]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"

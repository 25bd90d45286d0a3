"""Coverage over executions, as SVG: one panel without and one with path filtering, one line per strategy, labelled at its end."""

import dataclasses
import pathlib
import statistics
from xml.sax.saxutils import escape

from compare.campaigns import STRATEGIES, Results
from compare.summary import Campaign, Key, by_key, mean_curve

WIDTH, HEIGHT = 1300, 620
MARGIN_LEFT, MARGIN_TOP, MARGIN_BOTTOM = 64, 96, 64
PANEL_WIDTH, PANEL_GAP = 440, 200
PANEL_HEIGHT = HEIGHT - MARGIN_TOP - MARGIN_BOTTOM
LABEL_STEP = 15
# the first executions, in which all strategies do much the same, and blind inputs may lie below what is shown
SETTLED = 8
BLIND = "random-input"
FONT = "font-family='Inter, Helvetica, Arial, sans-serif'"
INK, FAINT, GRID = "#1c2430", "#667080", "#e4e8ee"

# the compared ones stand out, the rest stays readable behind them
STYLES = {
    "auto": ("#111827", 2.6),
    "pps": ("#1f6feb", 2.6),
    "pps+fitness": ("#0e9f8e", 2.2),
    "fitness": ("#3f9142", 1.6),
    "rp-md2u": ("#d9480f", 2.2),
    "cfg-directed": ("#9c36b5", 2.2),
    "generational": ("#b08900", 1.6),
    "random-path": ("#e07a9a", 1.4),
    "bfs": ("#8a94a6", 1.4),
    "dfs": ("#495057", 1.6),
    "random-input": ("#c0c6d0", 1.4),
}
TITLES = {
    ("own", "branch"): "Branches of our units",
    ("own", "mcdc"): "Decisions of our units with full MC/DC",
    ("libraries", "branch"): "Branches of library functions",
    ("libraries", "mcdc"): "Decisions of library functions with full MC/DC",
}


@dataclasses.dataclass(frozen=True)
class Line:
    """A strategy's curve in percent."""

    strategy: str
    heights: list[float]


def write_all(results: Results, out: pathlib.Path) -> list[pathlib.Path]:
    """A chart per group and criterion; the files written."""
    units = by_key(results.campaigns)
    budget = min(key.max_executions for key in units)
    written = []
    for (group, criterion), title in TITLES.items():
        keys = [k for k in units if (k.group, k.criterion, k.max_executions) == (group, criterion, budget)]
        panels = [[line(key, units[key]) for key in sorted_keys(keys, filtering)] for filtering in (False, True)]
        if any(panels):
            path = out / f"{group}-{criterion}.svg"
            n_units = len({unit for key in keys for unit in units[key]})
            path.write_text(chart(title, f"{n_units} functions, budget {budget} executions each, mean over seeds", panels))
            written.append(path)
    return written


def sorted_keys(keys: list[Key], filtering: bool) -> list[Key]:
    known = [key for key in keys if key.filter == filtering and key.strategy in STYLES]
    # those listed first are drawn last, over the others
    return sorted(known, key=lambda key: -STRATEGIES.index(key.strategy))


def line(key: Key, units: dict[str, list[Campaign]]) -> Line:
    curve, whole = ("decision_curve", "n_decisions") if key.criterion == "mcdc" else ("curve", "n_goals")
    n = sum(campaigns[0][whole] for campaigns in units.values())
    heights = mean_curve(units, curve, key.max_executions)
    return Line(key.strategy, [100 * height / n for height in heights])


def chart(title: str, subtitle: str, panels: list[list[Line]]) -> str:
    shown = [line.heights for lines in panels for line in lines if line.strategy != BLIND]
    shown = shown or [line.heights for lines in panels for line in lines]
    low = 10 * int(min(heights[min(SETTLED, len(heights) - 1)] for heights in shown) // 10)
    high = min(100, 10 * int(max(map(max, shown)) // 10 + 1))
    hardly = low + (high - low) / 10
    below = [line for lines in panels for line in lines if line.heights[-1] < hardly]
    subtitle += "".join(f"; {line.strategy} ends below, at {line.heights[-1]:.1f} %" for line in below)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' {FONT}>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#ffffff'/>",
        text(MARGIN_LEFT, 36, title, 21, INK, weight=600),
        text(MARGIN_LEFT, 58, subtitle, 13, FAINT),
    ]
    for number, (name, lines) in enumerate(zip(("without path filtering", "with path filtering"), panels)):
        drawn = [line for line in lines if line not in below]
        if drawn:
            left = MARGIN_LEFT + number * (PANEL_WIDTH + PANEL_GAP)
            parts += Panel(left, low, high, len(drawn[0].heights)).draw(name, drawn)
    return "\n".join([*parts, "</svg>"]) + "\n"


@dataclasses.dataclass(frozen=True)
class Panel:
    """One diagram: where it stands and what its axes span."""

    left: int
    low: int
    high: int
    n_executions: int

    def x(self, execution: float) -> float:
        return self.left + PANEL_WIDTH * execution / self.n_executions

    def y(self, height: float) -> float:
        return MARGIN_TOP + PANEL_HEIGHT * (self.high - height) / (self.high - self.low)

    def draw(self, name: str, lines: list[Line]) -> list[str]:
        parts = [text(self.left, MARGIN_TOP - 14, name, 14, INK, weight=600), *self.axes()]
        clip = f"panel-{self.left}"
        frame = f"<rect x='{self.left}' y='{MARGIN_TOP - 4}' width='{PANEL_WIDTH}' height='{PANEL_HEIGHT + 4}'/>"
        parts.append(f"<clipPath id='{clip}'>{frame}</clipPath><g clip-path='url(#{clip})'>")
        parts += [self.curve(line) for line in lines]
        return [*parts, "</g>", *self.labels(lines)]

    def axes(self) -> list[str]:
        parts = []
        for height in range(self.low, self.high + 1, 10):
            y = self.y(height)
            parts.append(f"<path d='M{self.left} {y:.1f}h{PANEL_WIDTH}' stroke='{GRID}' fill='none'/>")
            parts.append(text(self.left - 8, y + 4, f"{height} %", 12, FAINT, anchor="end"))
        for step in range(6):
            execution = self.n_executions * step // 5
            parts.append(text(self.x(execution), HEIGHT - MARGIN_BOTTOM + 20, f"{execution}", 12, FAINT, anchor="middle"))
        middle = self.left + PANEL_WIDTH / 2
        parts.append(text(middle, HEIGHT - MARGIN_BOTTOM + 42, "executions of a campaign", 12, FAINT, anchor="middle"))
        bottom = self.y(self.low)
        parts.append(f"<path d='M{self.left} {bottom:.1f}h{PANEL_WIDTH}' stroke='{FAINT}' fill='none'/>")
        return parts

    def curve(self, line: Line) -> str:
        colour, width = STYLES[line.strategy]
        points = " ".join(f"{self.x(at):.1f},{self.y(height):.1f}" for at, height in enumerate(line.heights, 1))
        return f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='{width}' stroke-linejoin='round'/>"

    def labels(self, lines: list[Line]) -> list[str]:
        """Names beside the ends of the curves, moved apart where they would lie over each other."""
        by_height = sorted(lines, key=lambda line: -line.heights[-1])
        ends = [self.y(line.heights[-1]) for line in by_height]
        parts = []
        for line, end, at in zip(by_height, ends, apart(ends)):
            colour, _ = STYLES[line.strategy]
            x = self.left + PANEL_WIDTH
            parts.append(f"<path d='M{x} {end:.1f}L{x + 14} {at:.1f}' stroke='{colour}' fill='none'/>")
            parts.append(text(x + 18, at + 4, f"{line.strategy} {line.heights[-1]:.1f}", 12.5, colour, weight=600))
        return parts


def apart(places: list[float]) -> list[float]:
    """The places, given downwards, moved as little as it takes until they are a line of text apart."""
    clusters: list[list[float]] = []
    for place in places:
        clusters.append([place])
        while len(clusters) > 1 and span(clusters[-2])[1] > span(clusters[-1])[0]:
            last = clusters.pop()
            clusters[-1] += last
    return [span(cluster)[0] + LABEL_STEP * (at + 0.5) for cluster in clusters for at in range(len(cluster))]


def span(cluster: list[float]) -> tuple[float, float]:
    """Where lines of text around these places begin and end."""
    middle, half = statistics.fmean(cluster), LABEL_STEP * len(cluster) / 2
    return middle - half, middle + half


def text(x: float, y: float, words: str, size: float, colour: str, weight: int = 400, anchor: str = "start") -> str:
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' font-weight='{weight}' fill='{colour}' text-anchor='{anchor}'>"
        f"{escape(words)}</text>"
    )

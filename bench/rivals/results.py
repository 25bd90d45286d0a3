"""The measurements of a function, as a line of JSON."""

import dataclasses
import json
import pathlib

TOOLS = ("quarry", "libfuzzer", "random")


@dataclasses.dataclass
class Row:
    """Branch outcomes and MC/DC conditions that each tool covers of a function and what it can reach."""

    unit: str
    budget: float
    n_branches: int = 0
    n_conditions: int = 0
    branches: dict[str, int] = dataclasses.field(default_factory=dict)
    conditions: dict[str, int] = dataclasses.field(default_factory=dict)
    inputs: dict[str, int] = dataclasses.field(default_factory=dict)  # kept by the tool
    stop: str = ""  # why Quarry's search ended
    cause: str = ""  # of a loss
    lost: list[str] = dataclasses.field(default_factory=list)
    failure: str = ""  # why the function could not be measured at all

    def difference(self, rival: str) -> int:
        """By how many branches Quarry is ahead."""
        return self.branches["quarry"] - self.branches[rival]

    def mcdc_difference(self, rival: str) -> int:
        return self.conditions["quarry"] - self.conditions[rival]


def read(path: pathlib.Path) -> list[Row]:
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()]


def line(row: Row) -> str:
    return json.dumps(dataclasses.asdict(row)) + "\n"

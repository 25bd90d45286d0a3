#!/usr/bin/env python3
"""Checks that `quarry goals --criterion def-use` finds the pairs that the fixtures in fixtures/dataflow/ state.

Method: comments in a fixture state which definitions the uses on each line may read: `// [a]` names a line, `// x:a,b` says that
x, used on this line, may have been defined on line a or b. Every pair found must be stated and every pair stated must be found.
In fixtures in which every address is known statically, `quarry-dev check-pairs` must find the same pairs by enumerating paths. Called with
a few small numbers in the model's interpreter, each fixture must cover the same pairs by its path as by the addresses of its
accesses (`quarry-dev check-dataflow`).
Limit: two definitions or uses of one variable on one line are not distinguished. `power.c` keeps the lines of the paper
it comes from and states its pairs with `//@ pair: x 8 17` instead. `//@ options:` are passed to `quarry goals`.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures/dataflow"


def stated(text: str) -> set:
    """Pairs (variable, line of definition, line of use) that the comments state."""
    pairs = {(name, int(a), int(b)) for name, a, b in re.findall(r"^//@ pair: (\S+) (\d+) (\d+)$", text, re.M)}
    named, uses = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        code, _, comment = line.partition(" // ")
        if not code.strip():
            continue
        for name in re.findall(r"(?<!\S)\[(\w+)\]", comment):
            assert name not in named, f"line {number}: [{name}] names two lines"
            named[name] = number
        uses += [(name, origin, number) for name, origins in re.findall(r"([\w.|\[\]]+(?:\(\))?):(\S+)", comment)
                 for origin in origins.split(",")]
    return pairs | {(name, named[origin], line) for name, origin, line in uses}


def found(quarry: str, file: pathlib.Path, function: str, options: list) -> set:
    command = [quarry, "goals", str(file), "--function", function, "--criterion", "def-use", "--message-format", "json", *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    goals = json.loads(output.splitlines()[-1])["goals"]
    return {(goal["variable"], goal["definition"]["line"], goal["line"]) for goal in goals}


def driven(quarry: str, file: pathlib.Path, function: str, options: list) -> subprocess.CompletedProcess:
    """Runs the function with a few numbers, and compares what the run covered."""
    parameters = re.search(rf"^\w[\w ]*\b{function}\(([^)]*)\)", file.read_text(), re.M).group(1).split(",")
    numbers = [[1, 0], [2, 5], [0, 2], [5, 1]]
    calls = (", ".join('"17"' if "char" in of else str(number) for of, number in zip(parameters, row)) for row in numbers)
    body = "".join(f"    (void){function}({arguments});\n" for arguments in calls)
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory) / file.name
        program.write_text(f'#include "{file.resolve()}"\nint main(void)\n{{\n{body}    return 0;\n}}\n')
        return subprocess.run([f"{quarry}-dev", "check-dataflow", program, *options], capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/debug/quarry"))
    parser.add_argument("fixtures", nargs="*", type=pathlib.Path, default=sorted(FIXTURES.glob("*.c")))
    arguments = parser.parse_args()
    n_pairs, n_compared, n_driven, n_wrong = 0, 0, 0, 0
    for file in arguments.fixtures:
        text = file.read_text()
        function = re.search(r"^//@ function: (\w+)$", text, re.M).group(1)
        options = " ".join(re.findall(r"^//@ options: (.*)$", text, re.M)).split()
        expected, actual = stated(text), found(arguments.quarry, file, function, options)
        n_pairs += len(expected)
        command = [f"{arguments.quarry}-dev", "check-pairs", str(file), "--function", function, *options]
        paths = subprocess.run(command, capture_output=True, text=True, check=False)
        run = driven(arguments.quarry, file, function, options)
        n_compared += " states" in paths.stderr
        n_driven += "pairs covered" in run.stderr
        for what, done in (("by paths", paths), ("by a run", run)):
            if done.returncode != 0:
                print(f"{file.name}: {what}:\n{done.stderr.strip()}")
                n_wrong += 1
        for what, pairs in (("not found", expected - actual), ("not stated", actual - expected)):
            for name, definition, use in sorted(pairs):
                print(f"{file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}: {name}: {definition} -> {use} is {what}")
                n_wrong += 1
    compared = f"{n_compared} compared with all paths, {n_driven} with a run"
    print(f"{n_pairs} pairs in {len(arguments.fixtures)} fixtures ({compared}), {n_wrong} differences")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

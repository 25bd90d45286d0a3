#!/usr/bin/env python3
"""Shows how the cost of def-use pairs and of their cut points grows with the size of a program at constant call depth.

Method: the units of bench/dataflow/ are combined into one program, each of them several times under other names; a main chooses
which of them runs. Twice the copies are twice the program at the same call depth. `quarry-dev bench-dataflow` times the analysis
alone, and the fastest of a few runs counts. A table goes to stdout.
Limit: copies share no variables, so this says nothing about programs whose parts all use the same globals. With `--in-a-row`, main
calls one after the other: then every path to a unit passes all units before it, and a pair has more cut points in a larger program.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("copies", "instructions", "pairs", "seconds", "us/instruction", "cut points", "seconds", "us/pair", "us/cut point", "MiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--copies", type=int, nargs="*", default=[1, 2, 4, 8, 16], help="how many (default 1 2 4 8 16)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, the fastest counts (default 5)")
    parser.add_argument("--in-a-row", action="store_true", help="main calls all units one after the other")
    options = parser.parse_args()
    print(" ".join(f"{column:>14}" for column in COLUMNS))
    for n_copies in options.copies:
        with tempfile.TemporaryDirectory(prefix="quarry-scale-") as directory:
            sources = write_program(pathlib.Path(directory), n_copies, options.in_a_row)
            runs = [measure(options.quarry, sources) for _ in range(options.runs)]
        best = {what: min(run[what] for run in runs) for what in runs[0]}
        seconds, n_instrs, n_pairs = best["seconds"], best["instructions"], best["pairs"]
        n_points, for_points = best["cut points"], best["seconds for cut points"]
        cells = (f"{n_copies}", f"{n_instrs:,.0f}", f"{n_pairs:,.0f}", f"{seconds:.3f}", f"{1e6 * seconds / n_instrs:.1f}")
        cells += (f"{n_points:,.0f}", f"{for_points:.3f}", f"{1e6 * for_points / n_pairs:.1f}", f"{1e6 * for_points / n_points:.2f}")
        cells += (f"{best['MiB at most, after']:.0f}",)
        print(" ".join(f"{cell:>14}" for cell in cells), flush=True)
    return 0


def write_program(directory: pathlib.Path, n_copies: int, in_a_row: bool) -> list[str]:
    """Copies of all units with other names for what they export, and a main; the paths of its files."""
    sources, calls = [], []
    for unit in sorted((ROOT / "bench/dataflow").glob("*.c")):
        text = unit.read_text()
        function = re.search(r"^//@ function: *(\w+)", text, re.MULTILINE)[1]
        for number in range(n_copies):
            name = f"{unit.stem}_{function}_{number}"
            path = directory / f"{unit.stem}_{number}.c"
            path.write_text(f'#define {function} {name}\n#include "{unit}"\n')
            sources.append(str(path))
            calls.append(name)
    # who is called with what does not matter to an analysis that runs nothing
    declarations = "".join(f"void {name}();\n" for name in calls)
    if in_a_row:
        body = "".join(f"    {name}();\n" for name in calls)
    else:
        cases = "".join(f"    case {number}: {name}(); break;\n" for number, name in enumerate(calls))
        body = f"    switch (argc) {{\n{cases}    }}\n"
    (directory / "main.c").write_text(f"{declarations}int main(int argc, char **argv)\n{{\n{body}}}\n")
    return [str(directory / "main.c"), *sources]


def measure(quarry: str, sources: list[str]) -> dict[str, float]:
    command = [f"{quarry}-dev", "bench-dataflow", *sources, "--", "-w"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"quarry-dev bench-dataflow failed: {done.stderr.strip()[-500:]}")
    return {what: float(number) for what, number in re.findall(r"^(.*?) {2,}([\d.]+)$", done.stdout, re.MULTILINE)}


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures what an execution costs, in one run on this machine.

Method: first what needs the engine's internals (`quarry-dev bench-exec`: executions per second under the fork server and by
fork+exec, nodes per second on symbolic code, microseconds per small query). Then the kernels: each is built by plain
clang -O0 and by Quarry (symbolic and fast), the binaries run alternately, and the least CPU time of each counts.
Limit: inputs of the kernels are concrete; symbolic data costs more, which nodes per second measures.
"""

import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
MODES = ("symbolic", "fast")
AIM = 3.0


def main() -> int:
    options = parse_arguments()
    print("== executions, nodes, queries ==", flush=True)
    inside = subprocess.run([f"{options.quarry}-dev", "bench-exec", "--time", options.time], check=False)
    print(f"\n== slowdown of concrete code against clang -O0 (aim for symbolic: at most {AIM:g}x) ==")
    ratios, wrong = measure_kernels(options)
    return 1 if inside.returncode != 0 or wrong or not ratios else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--runs", type=int, default=7, help="runs of each binary; the quickest counts (default 7)")
    parser.add_argument("--time", default="2s", help="for each measurement of the first part (default 2s)")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    if not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def measure_kernels(options: argparse.Namespace) -> tuple[list[float], bool]:
    """The ratios of the symbolic binaries, and whether any binary printed the wrong thing."""
    print(f"{'kernel':12} {'native':>9} " + " ".join(f"{mode:>9} {'ratio':>6}" for mode in MODES))
    ratios: dict[str, list[float]] = {mode: [] for mode in MODES}
    wrong = False
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as scratch:
        for source in sorted((ROOT / "bench/kernels").glob("*.c")):
            binaries = build(source, pathlib.Path(scratch), options.quarry)
            times, agree = run_in_turn(binaries, options.runs)
            wrong |= not agree
            cells = []
            for mode in MODES:
                ratio = times[mode] / times["native"]
                ratios[mode].append(ratio)
                cells.append(f"{times[mode] * 1000:6.0f} ms {ratio:5.2f}x")
            note = "" if agree else "  OUTPUT DIFFERS"
            print(f"{source.stem:12} {times['native'] * 1000:6.0f} ms " + " ".join(cells) + note, flush=True)
    for mode in MODES:
        print(f"{mode}: geometric mean {geometric_mean(ratios[mode]):.2f}x, worst {max(ratios[mode]):.2f}x")
    return ratios["symbolic"], wrong


def build(source: pathlib.Path, scratch: pathlib.Path, quarry: str) -> dict[str, pathlib.Path]:
    binaries = {name: scratch / f"{source.stem}-{name}" for name in ("native", *MODES)}
    commands = [[CLANG, "-O0", "-o", binaries["native"], source]]
    commands += [[f"{quarry}-dev", "build", source, "-o", binaries[mode], "--mode", mode] for mode in MODES]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return binaries


def run_in_turn(binaries: dict[str, pathlib.Path], runs: int) -> tuple[dict[str, float], bool]:
    """Least CPU seconds of each binary, and whether all printed the same. In turn, so that noise meets all of them."""
    least = {name: math.inf for name in binaries}
    outputs = set()
    for _ in range(runs):
        for name, binary in binaries.items():
            seconds, output = timed(binary)
            least[name] = min(least[name], seconds)
            outputs.add(output)
    return least, len(outputs) == 1


def timed(binary: pathlib.Path) -> tuple[float, tuple[int, bytes]]:
    with subprocess.Popen([binary], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, (process.returncode, output)


def geometric_mean(numbers: list[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


if __name__ == "__main__":
    sys.exit(main())

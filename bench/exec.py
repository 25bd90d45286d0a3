#!/usr/bin/env python3
"""Measures what an execution costs, in one run on this machine.

Method: first what needs the engine's internals (`quarry-dev bench-exec`: executions per second under the fork server and by
fork+exec, nodes per second on symbolic code, microseconds per small query). Then campaigns of so many executions on small and
large functions, search alone, each in three ways in turn: processes reused, a process for each execution, two workers; the least time of each
counts, and what is covered must not differ between the first two. Then the kernels: each is built by plain
clang -O0 and by Quarry (symbolic and fast), the binaries run alternately, and the least CPU time of each counts.
Limit: two workers gain only what other processes leave them of the second core; inputs of the kernels are concrete; symbolic data costs more, which nodes per second measures.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
MODES = ("symbolic", "fast")
AIM = 3.0
# Functions of bench/units with goals that stay open, so that the campaigns go on, and two generated ones that are large.
SMALL = (
    ("tokens.c", "scan", "--len text=8"),
    ("calculator.c", "calculate", "--len text=8"),
    ("telecommand.c", "receive", "--len frame=12"),
    ("connection.c", "drive", "--len segment=6"),
    ("tasks.c", "run_system", "--len call=6"),
    ("pattern.c", "find", "--len pattern=6 --len text=5"),
)
LARGE = (("wide.c", "wide", "--len bytes=64"), ("long.c", "long_loop", "--len bytes=64"))
WAYS = {"reused": [], "fork each": ["--fork-each"], "-j 2": ["-j", "2"]}


def main() -> int:
    options = parse_arguments()
    print("== executions, nodes, queries ==", flush=True)
    inside = subprocess.run([f"{options.quarry}-dev", "bench-exec", "--time", options.time], check=False)
    print(f"\n== campaigns of {options.executions} executions ==")
    alike = measure_campaigns(options)
    print(f"\n== slowdown of concrete code against clang -O0 (aim for symbolic: at most {AIM:g}x) ==")
    ratios, wrong = measure_kernels(options)
    return 1 if inside.returncode != 0 or wrong or not ratios or not alike else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--runs", type=int, default=7, help="runs of each binary; the quickest counts (default 7)")
    parser.add_argument("--time", default="2s", help="for each measurement of the first part (default 2s)")
    parser.add_argument("--executions", type=int, default=3000, help="executions of each campaign (default 3000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each campaign is run (default 3)")
    options = parser.parse_args()
    options.quarry = os.path.abspath(options.quarry)
    if not os.access(options.quarry, os.X_OK):
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def measure_campaigns(options: argparse.Namespace) -> bool:
    """Prints a row per function; whether reuse made no difference to what was covered."""
    print(f"{'function':14} {'reused':>9} {'fork each':>10} {'gain':>6} {'whole':>6} {'parents':>8} {'-j 2':>6}")
    gains, wholes, shares, ratios = [], [], [], []
    alike = True
    for file, function, arguments in SMALL + LARGE:
        best: dict[str, dict[str, float]] = {}
        covered = {}
        for _ in range(options.rounds):
            for way, flags in WAYS.items():
                figures, covered[way] = campaign(options, file, function, arguments.split() + flags)
                least = best.setdefault(way, figures)
                for name in ("execute", "campaign"):
                    least[name] = min(least[name], figures[name])
        reused, forked, both = (best[way] for way in WAYS)
        rate = {way: best[way]["executions"] / best[way]["execute"] for way in WAYS}
        gains.append(rate["reused"] / rate["fork each"])
        wholes.append(forked["campaign"] / reused["campaign"])
        shares.append(reused["repeated"] / max(1, reused["picks"]))
        ratios.append(both["campaign"] / reused["campaign"])
        same = covered["reused"] == covered["fork each"]
        alike &= same
        print(f"{function:14} {rate['reused']:7.0f}/s {rate['fork each']:8.0f}/s {gains[-1]:5.1f}x {wholes[-1]:5.1f}x "
              f"{shares[-1]:7.0%} {ratios[-1]:6.2f}" + ("" if same else "  COVERAGE DIFFERS"), flush=True)
    print(f"executions per second, small functions: geometric mean {geometric_mean(gains[:-2]):.1f}x (aim 5), "
          f"whole campaign {geometric_mean(wholes[:-2]):.1f}x; large: {geometric_mean(gains[-2:]):.1f}x")
    print(f"parents executed again: {max(shares):.0%} of picks at most (aim 20%); "
          f"-j 2 against -j 1: geometric mean {geometric_mean(ratios):.2f} (aim 0.6)")
    return alike


def wide() -> str:
    """A function with 600 branches one after another."""
    tests = "\n".join(f"    if (bytes[{i % 64}] {'<>'[i % 2]} {i % 97} && bytes[{i * 7 % 64}] != {i % 89}) n += {i};" for i in range(300))
    return f"int wide(const unsigned char *bytes)\n{{\n    int n = 0;\n{tests}\n    return n;\n}}\n"


def long_loop() -> str:
    """A function that passes its input 200 times."""
    return """int long_loop(const unsigned char *bytes)
{
    static int table[4096];
    int state = 0;
    for (int i = 0; i < 200 * 64; i++) {
        table[i % 4096] += i;
        if (i < 64 && bytes[i] == (unsigned char)(i + state))
            state++;
        else if (state > 40 && table[i % 4096] > i)
            state--;
    }
    return state;
}
"""


GENERATED = {"wide.c": wide, "long.c": long_loop}


def campaign(options: argparse.Namespace, file: str, function: str, flags: list[str]) -> tuple[dict[str, float], str]:
    """The figures of --timings, and what was covered."""
    with tempfile.TemporaryDirectory(prefix="quarry-bench-") as scratch:
        source = ROOT / "bench/units" / file
        if file in GENERATED:
            source = pathlib.Path(scratch) / file
            source.write_text(GENERATED[file]())
        command = [options.quarry, "gen", str(source), "--function", function, "--criterion",
                   "multiple-condition", "--no-filter", "--max-executions", str(options.executions), "--budget", "10m",
                   "--no-prove", "--no-minimise", "--no-sanitize", "--timings", "--quiet", "-o", f"{scratch}/out", *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stderr
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in {
        "campaign": r"^campaign ([0-9.]+) s", "execute": r"^  execute +([0-9.]+) s", "executions": r"^  ([0-9]+) executions,",
        "repeated": r"^  ([0-9]+) of [0-9]+ candidates", "picks": r"^  [0-9]+ of ([0-9]+) candidates"}.items()}
    if not all(found.values()):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{text}")
    covered = re.search(r"^[0-9]+ of [0-9]+ .* covered by [0-9]+ tests?", done.stdout, re.MULTILINE)
    return {name: float(match[1]) for name, match in found.items()}, covered[0] if covered else ""


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

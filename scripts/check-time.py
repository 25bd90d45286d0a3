#!/usr/bin/env python3
"""Checks that `quarry gen --budget` ends when it says, the build aside, also on a busy machine.

Generated functions whose search never ends by itself and programs of `fixtures/programs/` with large inputs are searched for MC/DC, one after the other,
first alone and then beside busy loops. What a command takes beyond its build, as `--timings` tells it, may exceed the budget by a twentieth.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# rungs of each function
FUNCTIONS = [100, 40, 8, 200, 60, 20, 150, 12, 80, 30]
PROGRAMS = ["calculator", "csv", "options", "stations"]
LARGE = ["--program", "--max-args", "5", "--arg-len", "24", "--stdin-size", "2000"]
SLACK = 1.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", required=True, type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=30, help="seconds")
    parser.add_argument("--functions", type=int, default=len(FUNCTIONS))
    parser.add_argument("--programs", type=int, default=len(PROGRAMS))
    parser.add_argument("--busy", type=int, default=6, help="busy loops in the second round; 0 for no second round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        subjects = [(ladder(pathlib.Path(work), n_rungs), ["--function", f"ladder{n_rungs}", "--len", f"s={n_rungs}"]) for n_rungs in FUNCTIONS[: options.functions]]
        subjects += [(ROOT / "fixtures/programs" / f"{name}.c", LARGE) for name in PROGRAMS[: options.programs]]
        n_late = check(options, subjects)
    print(f"{n_late} late" if n_late else "all in time")
    return 1 if n_late else 0


def ladder(directory: pathlib.Path, n_rungs: int) -> pathlib.Path:
    """A function with goals of which each is reached by way of the one before, and others that are too hard."""
    lines = [f"int ladder{n_rungs}(const unsigned char *s, double d)", "{", "    unsigned h = 1;"]
    for rung in range(n_rungs):
        lines += [f"    h = h * 31 + s[{rung}];"]
        lines += [f"    if ((s[{rung}] ^ (h >> 9 & 7)) != {40 + rung % 200} && s[{rung}] != {rung % 31})"]
        lines += [f"        return h * h == 0x{rung * 0x9E3779B9 & 0xFFFFFFFF:08x}u || d * d * h == {rung}.5;"]
    source = directory / f"ladder{n_rungs}.c"
    source.write_text("\n".join([*lines, "    return h * 2 == 7;", "}", ""]))
    return source


def check(options, subjects) -> int:
    n_late = 0
    for n_busy in [0, options.busy] if options.busy else [0]:
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]
        try:
            for source, arguments in subjects:
                n_late += late(options, source, arguments, n_busy)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    return n_late


def late(options, source: pathlib.Path, arguments: list[str], n_busy: int) -> bool:
    command = [str(options.quarry.resolve()), "gen", str(source), *arguments, "--criterion", "mcdc", "--timings"]
    with tempfile.TemporaryDirectory() as out:
        command += ["--budget", f"{options.budget}s", "-o", f"{out}/out"]
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.monotonic() - began
    if done.returncode not in (0, 10):
        print(f"{source.name}: ends with {done.returncode}: {done.stderr.strip()[-300:]}")
        return True
    # several functions share a budget that covers their builds
    built = sum(float(seconds) for seconds in re.findall(r"^build +([0-9.]+) s", done.stderr, re.MULTILINE))
    is_late = took - built > options.budget * SLACK
    busy = f" beside {n_busy} busy loops" if n_busy else ""
    print(f"{source.name}{busy}: {took:.2f} s, build {built:.2f} s{': LATE' if is_late else ''}", flush=True)
    return is_late


if __name__ == "__main__":
    sys.exit(main())

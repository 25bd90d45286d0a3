#!/usr/bin/env python3
"""Runs random C programs in four ways that must agree.

Method: csmith (seeds from 1 on until N programs terminated, so every run sees the same ones) generates programs free of
undefined behaviour. Each is built by plain clang -O0 and run. The model's interpreter, the instrumented program run on its own, and
the program run under the fork server with some globals symbolic must give the same output and exit code; in the last case every
evaluated term must also equal the concrete outcome. Def-use pairs found by walking the interpreter's path must be those that its
addresses show.
With --float the programs also compute with floating-point numbers.
Limit: programs that run for seconds natively (a fifth; most never end) are skipped.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
CFLAGS = ["-I/usr/include/csmith", "-w"]
# Small enough to interpret, large enough to nest: a median of some 400 lines.
CSMITH_OPTIONS = "--max-funcs 4 --max-block-depth 3 --max-block-size 4 --max-expr-complexity 6 --no-argc".split()

# What `quarry-dev interpret` ends with when the model leaves something out (such as integers wider than 128 bits).
NOT_INTERPRETED = 3


@dataclasses.dataclass
class Result:
    """What one way of running a program gave: enough to compare and to explain."""

    code: int | None  # None: it took too long
    output: str
    errors: str = ""


@dataclasses.dataclass
class Verdict:
    seed: int
    state: str  # passed, failed, skipped, or partly: right in all but the interpreter, which does not run it
    reason: str = ""
    conditions: int = 0
    seconds: float = 0.0


def main() -> int:
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    counts = {"passed": 0, "failed": 0, "skipped": 0, "partly": 0}
    conditions = 0
    for verdict in verdicts(options):
        counts[verdict.state] += 1
        conditions += verdict.conditions
        if verdict.state in ("failed", "partly") or options.verbose:
            print(f"seed {verdict.seed:5}  {verdict.state:8} {verdict.seconds:6.1f} s  {verdict.reason}", flush=True)
        elif sys.stderr.isatty():
            print(f"\rseed {verdict.seed}", end="\r", file=sys.stderr, flush=True)
    print(f"self-check compared {conditions} conditions; {time.monotonic() - started:.0f} s")
    if partly := counts.pop("partly"):
        print(f"{partly} more passed without the interpreter, which does not run them")
    print(", ".join(f"{number} {state}" for state, number in counts.items()))
    if counts["failed"]:
        print(f"failing programs are in {options.out}")
    return 1 if counts["failed"] or not counts["passed"] else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=200, help="programs to compare (default 200)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="first seed (default 1)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="programs in parallel (default 2)")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry", help="the binary to check")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/check-csmith", help="where failures are kept")
    parser.add_argument("--globals", type=int, default=8, help="globals made symbolic for the self-check (default 8)")
    parser.add_argument("--float", action="store_true", help="programs with floating-point numbers")
    parser.add_argument("--native-limit", type=float, default=2.0, metavar="SECONDS", help="skip programs slower than this")
    parser.add_argument("--limit", type=float, default=120.0, metavar="SECONDS", help="for each of Quarry's runs")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print a line for programs that pass")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    for needed in (str(options.quarry), CLANG, "csmith"):
        if shutil.which(needed) is None:
            parser.error(f"{needed} is missing (run scripts/setup.sh --tests, then cargo build --release)")
    return options


def verdicts(options: argparse.Namespace):
    """Verdicts in the order of seeds, until `n` programs were compared; at most as many again may be skipped."""
    seed, compared, last = options.first, 0, options.first + 2 * options.n
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while compared < options.n and seed < last:
            batch = range(seed, seed + options.n - compared)
            seed = batch.stop
            for verdict in pool.map(lambda s: check_seed(s, options), batch):
                compared += verdict.state not in ("skipped", "partly")
                yield verdict


def check_seed(seed: int, options: argparse.Namespace) -> Verdict:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="quarry-csmith-") as name:
        directory = pathlib.Path(name)
        verdict = compare(seed, directory, options)
        if verdict.state == "failed":
            keep(seed, directory, verdict, options.out)
    verdict.seconds = time.monotonic() - started
    return verdict


def compare(seed: int, directory: pathlib.Path, options: argparse.Namespace) -> Verdict:
    source = directory / "program.c"
    kind = "--float" if options.float else "--no-float"
    made = run(["csmith", "--seed", str(seed), kind, *CSMITH_OPTIONS, "--output", str(source)], 60, directory)
    if made.code != 0:
        return Verdict(seed, "skipped", f"csmith ended with {made.code}")
    native_exe = directory / "native"
    built = run([CLANG, "-O0", *CFLAGS, "-o", str(native_exe), str(source), "-lm"], 60, directory)
    if built.code != 0:
        return Verdict(seed, "skipped", "clang does not build it")
    native = run([str(native_exe)], options.native_limit, directory)
    if native.code is None:
        return Verdict(seed, "skipped", "runs too long")

    quarry, flags = str(options.quarry), ["--", *CFLAGS, "-lm"]
    interpreted = run([f"{quarry}-dev", "interpret", str(source), *flags], options.limit, directory)
    # csmith guards conversions of numbers to integers against all but a NaN, which the interpreter takes seriously
    is_undefined = options.float and last_line(interpreted.errors).endswith("Undefined")
    is_left_out = interpreted.code == NOT_INTERPRETED or is_undefined
    not_interpreted = last_line(interpreted.errors) if is_left_out else ""
    if not not_interpreted and (difference := difference_of(native, interpreted)):
        return Verdict(seed, "failed", f"interpreter: {difference}")
    if not not_interpreted:
        flow = run([f"{quarry}-dev", "check-dataflow", str(source), *flags], options.limit, directory)
        if flow.code != 0:
            return Verdict(seed, "failed", f"data flow: {last_line(flow.errors)}")

    instrumented_exe = directory / "instrumented"
    built = run([f"{quarry}-dev", "build", str(source), "-o", str(instrumented_exe), *flags], options.limit, directory)
    if built.code != 0:
        return Verdict(seed, "failed", f"dev build ended with {built.code}: {last_line(built.errors)}")
    instrumented = run([str(instrumented_exe)], options.limit, directory)
    if difference := difference_of(native, instrumented):
        return Verdict(seed, "failed", f"instrumented: {difference}")

    command = [f"{quarry}-dev", "self-check", str(source), "--globals", str(options.globals), *flags]
    checked = run(command, options.limit, directory)
    if checked.code is None:
        return Verdict(seed, "failed", "self-check: took too long")
    if checked.code != 0:
        return Verdict(seed, "failed", f"self-check: ended with {checked.code}: {last_line(checked.errors or checked.output)}")
    if native.output.strip() not in checked.output:
        return Verdict(seed, "failed", "self-check: the program printed something else")
    conditions = conditions_in(checked.output + checked.errors)
    return Verdict(seed, "partly" if not_interpreted else "passed", not_interpreted, conditions)


def difference_of(native: Result, other: Result) -> str | None:
    if other.code is None:
        return "took too long"
    if other.code != native.code:
        return f"ended with {other.code}, natively {native.code}: {last_line(other.errors)}"
    if other.output != native.output:
        return f"printed {other.output[:60]!r}, natively {native.output[:60]!r}"
    return None


def conditions_in(output: str) -> int:
    found = re.search(r"(\d+) conditions", output)
    return int(found[1]) if found else 0


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""


def run(command: list[str], limit: float, directory: pathlib.Path) -> Result:
    try:
        done = subprocess.run(
            command, capture_output=True, cwd=directory, timeout=limit, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        return Result(None, "")
    return Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def keep(seed: int, directory: pathlib.Path, verdict: Verdict, out: pathlib.Path) -> None:
    shutil.copy(directory / "program.c", out / f"seed-{seed}.c")
    (out / f"seed-{seed}.reason").write_text(verdict.reason + "\n")


if __name__ == "__main__":
    sys.exit(main())

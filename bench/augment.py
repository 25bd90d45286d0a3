#!/usr/bin/env python3
"""Compares the techniques of directed test-suite augmentation on programs of bench/programs/ with parts of their suites.

Method: for each seed, tests of a program's suite are drawn at random until they reach a share of the branches that is drawn between 50
and 80 %. `quarry augment` then adds to them by each technique: order of targets (dfo, random) x reuse (existing, existing+new) x
generator (concolic, genetic, hybrid); the hybrid has factors of its own. The table has the mean over all seeds of branches gained,
executions and seconds of the search. No search follows the generators, and nothing is proved.
Limit: a technique that is not done when the time for one run is over counts with what it has then, and has a `t` beside it.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench/programs"
SUBJECTS = "tokens,lexer,substitute,avoid"
TECHNIQUES = [
    (generator, order, reuse)
    for generator in ("concolic", "genetic")
    for order in ("dfo", "random")
    for reuse in ("existing", "existing+new")
] + [("hybrid", "dfo", "existing+new")]
SHARES = (0.5, 0.8)


def main() -> int:
    options = parse_arguments()
    print(f"{'':14}{'start':>14}" + "".join(f"{title(technique):>22}" for technique in TECHNIQUES))
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for subject in options.subjects.split(","):
            tests = imported(options, subject, work)
            starts, cells = [], {technique: [] for technique in TECHNIQUES}
            for seed in range(1, options.seeds + 1):
                part, n_covered = draw(tests, random.Random(f"{subject} {seed}"))
                lines = write_part(subject, part, work)
                starts.append((n_covered, len(part)))
                for technique in TECHNIQUES:
                    result = augment(options, subject, lines, technique, seed, work)
                    if result is None:
                        failed += 1
                        continue
                    cells[technique].append((result["goals"]["covered"] - n_covered, result))
            covered = mean([covered for covered, _ in starts])
            n_tests = mean([n for _, n in starts])
            total = tests["goals"]["total"]
            row = f"{covered:.0f}/{total}, {n_tests:.0f}"
            print(f"{subject:14}{row:>14}" + "".join(f"{cell(cells[technique]):>22}" for technique in TECHNIQUES), flush=True)
    print("\nbranches gained, executions, seconds of the search: means over the seeds; t: some ran out of time")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the command to measure")
    parser.add_argument("--subjects", default=SUBJECTS, help="names of programs, separated by commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", default="5s", help="time for each run")
    return parser.parse_args()


def title(technique: tuple) -> str:
    generator, order, reuse = technique
    return generator if generator == "hybrid" else f"{generator[:4]} {order[:4]} {reuse.replace('existing', 'ex')}"


def imported(options: argparse.Namespace, subject: str, work: pathlib.Path) -> dict:
    """The whole suite, with what each test covers."""
    out = work / f"{subject}.imported"
    summary = run([options.quarry, "import", f"{subject}.c", "--program", "--tests", f"{subject}.txt", "-o", str(out)])
    if summary is None:
        sys.exit(f"the suite of {subject} cannot be imported")
    for test in summary["tests"]:
        covers = json.loads((out / test["file"]).read_text())["covers"]
        test["covers"] = {goal["goal"] for goal in covers}
    return summary


def draw(tests: dict, chance: random.Random) -> tuple:
    """Tests at random until they reach a share of the branches, and how many branches that are."""
    least = chance.uniform(*SHARES) * tests["goals"]["total"]
    order = list(tests["tests"])
    chance.shuffle(order)
    part, covered = [], set()
    for test in order:
        if len(covered | test["covers"]) > SHARES[1] * tests["goals"]["total"]:
            continue
        part.append(test["name"])
        covered |= test["covers"]
        if len(covered) >= least:
            break
    return part, len(covered)


def write_part(subject: str, part: list, work: pathlib.Path) -> pathlib.Path:
    """The lines of these tests, beside the files that they name."""
    lines = (PROGRAMS / f"{subject}.txt").read_text().splitlines()
    file = work / f"{subject}.txt"
    file.write_text("".join(f"{line}\n" for line in lines if line.split(":")[0] in part))
    files = work / subject
    if (PROGRAMS / subject).is_dir() and not files.exists():
        files.symlink_to(PROGRAMS / subject)
    return file


def augment(options, subject, lines, technique, seed, work):
    generator, order, reuse = technique
    command = [options.quarry, "augment", f"{subject}.c", "--program", "--tests", str(lines), "--generator", generator]
    command += ["--order", order, "--reuse", reuse, "--no-search", "--no-prove", "--no-minimise", "--no-sanitize", "-j", "1"]
    command += ["--seed", str(seed), "--budget", options.budget, "-o", str(work / "out"), "--fresh"]
    return run(command)


def run(command: list):
    command = command + ["--message-format", "json"]
    done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def cell(results: list) -> str:
    if not results:
        return "failed"
    gained = mean([gained for gained, _ in results])
    executions = mean([result["executions"] for _, result in results])
    seconds = mean([result["seconds"] for _, result in results])
    late = "t" if any(result["stop"] == "budget" for _, result in results) else ""
    return f"+{gained:.1f} {executions:.0f} {seconds:.2f}s{late}"


def mean(numbers: list) -> float:
    return sum(numbers) / len(numbers)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Asks the prover about goals whose truth is known, and damages its proofs: no verdict may be wrong.

Method, in three parts. (1) Random functions over at most 2^20 inputs are run natively with all of them (prover/functions.py), so it is
known of every goal whether an input covers it. The prover is asked about all goals, also those that any run covers, and the whole
campaign about the same; of each function there is a twin with one token of a guard changed. A goal that is called
infeasible must not be covered by any input, and a goal that is called covered must be. (2) The proofs of part 1 are damaged, in their structure or
in their formulas: the checker must reject the former, and accept a claim only if it is true. (3) csmith's programs get labels, some behind
guards that exclude each other; no label that the program comes to natively may be proved unreachable.
Two solvers that disagree about any query end the check. Limit: what stays undecided, or is not done in time, is counted, not wrong; undecided.txt lists what the campaign leaves.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/prover"))
import functions  # noqa: E402
import labels  # noqa: E402
import mutations  # noqa: E402

CRITERIA = "branch,condition,mcdc"
# Units of about a tenth of a millisecond, for all goals of a function.
EFFORT = 30_000
# One function in so many may have 2^20 inputs; the others have at most 2^16.
LARGE = 8
LIMIT = 300
# Attempts to find a twin in which something is feasible that was not.
TWINS = 6


# What nobody decided, by seed, for those who improve the prover.
UNDECIDED = []


class Failed(Exception):
    """Quarry did not answer."""


def main() -> int:
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    counts, wrong, seconds = collections.Counter(), [], {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def all_of(what, check, seeds):
            began = time.monotonic()
            for seed, (found, mistakes) in zip(seeds, pool.map(lambda seed: guarded(check, seed, options), seeds)):
                counts.update(found)
                wrong.extend(mistakes)
                for mistake in mistakes:
                    print(f"{what} {seed}: {mistake}", flush=True)
            seconds[f"{what}s"] = time.monotonic() - began
        first = options.first
        all_of("function", check_function, range(first, first + options.functions))
        all_of("program", check_program, range(first, first + options.programs))
    undecided = [line for _, line in sorted(UNDECIDED)]
    (options.out / "undecided.txt").write_text("".join(line + "\n" for line in undecided))
    report(counts, seconds, time.monotonic() - started)
    if wrong:
        print(f"{len(wrong)} wrong or failed; what shows it is in {options.out}")
        return 1
    if counts["not done in time"] > (options.functions + options.programs) // 10:
        print("too many were not done in time")
        return 1
    enough = counts["goals"] > 0 and counts["proved"] > 0 and counts["mutated proofs"] > 0
    return 0 if enough else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", type=int, default=110, help="random functions, each with a twin (default 110)")
    parser.add_argument("--programs", type=int, default=300, help="csmith programs (default 300)")
    parser.add_argument("--mutations", type=int, default=3, help="damaged proofs for each function and kind (default 3)")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="first seed (default 1)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="checks in parallel (default 2)")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry", help="the binary to check")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/check-prover", help="where failures are kept")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    options.dev = options.quarry.with_name("quarry-dev")
    for needed in (str(options.quarry), str(options.dev), functions.CLANG, "csmith", "z3", "cvc5"):
        if shutil.which(needed) is None:
            parser.error(f"{needed} is missing (run scripts/setup.sh --tests, then cargo build --release)")
    return options


def guarded(check, seed: int, options):
    """Runs a check in a directory of its own, which is kept if something is wrong."""
    with tempfile.TemporaryDirectory(prefix="quarry-prover-") as name:
        directory = pathlib.Path(name)
        try:
            counts, mistakes = check(seed, directory, options)
        except subprocess.TimeoutExpired:
            counts, mistakes = collections.Counter({"not done in time": 1}), []
        except (Failed, subprocess.SubprocessError) as error:
            counts, mistakes = collections.Counter(failed=1), [f"{type(error).__name__}: {error}"]
        if mistakes:
            kept = options.out / f"{check.__name__}-{seed}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(directory, kept, ignore=shutil.ignore_patterns("work", "*.lock"))
    return counts, mistakes


def check_function(seed: int, directory: pathlib.Path, options):
    rng = random.Random(seed)
    most = 1 << (20 if seed % LARGE == 0 else 16)
    function = functions.Maker(seed, most).function()
    counts, mistakes = collections.Counter(), []
    proved_before = None
    for name in ("own", "twin"):
        place = directory / name
        place.mkdir()
        if name == "own":
            text, truth = functions.truth(function, place)
        else:
            text, truth = twin_of(function, truth.feasible, rng, place)
        if not truth.feasible:
            return counts, mistakes
        (place / "f.c").write_text(text)
        counts["functions"] += 1
        said = prove(place, options)
        mistakes += compare(said, truth.feasible, counts, f"{name}, prover alone")
        together = campaign(place, options)
        mistakes += compare(together, truth.feasible, counts, f"{name}, campaign")
        note_undecided(seed, name, together, truth.feasible)
        proved = {key for key, verdict in said.items() if verdict == "infeasible"}
        if proved_before is not None:
            counts["feasible twins"] += sum(truth.feasible.get(key, False) for key in proved_before)
        else:
            mistakes += damage(place, truth.feasible, rng, counts, options)
        proved_before = proved
    return counts, mistakes


def twin_of(function, feasible: dict, rng: random.Random, place: pathlib.Path):
    """The function with one token of a guard changed, such that an input covers what none did, if a few attempts find that."""
    for _ in range(TWINS):
        text, truth = functions.truth(functions.twin(function, rng), place)
        if any(is_feasible and feasible.get(key) is False for key, is_feasible in truth.feasible.items()):
            break
    return text, truth


def run(command: list, directory: pathlib.Path) -> str:
    ran = subprocess.run([str(part) for part in command], cwd=directory, capture_output=True, text=True, timeout=LIMIT)
    if ran.returncode != 0:
        raise Failed(f"{pathlib.Path(command[0]).name} {command[1]} ended with {ran.returncode}: {ran.stderr[-400:]}")
    return ran.stdout


def prove(place: pathlib.Path, options) -> dict:
    """What the prover says by itself, by goal."""
    command = [options.dev, "prove", "f.c", "--function", "f", "--criterion", CRITERIA, "--effort", EFFORT, "-o", "proved"]
    lines = map(json.loads, run(command, place).splitlines())
    return {key_of(line["goal"]): line["verdict"] for line in lines}


def campaign(place: pathlib.Path, options) -> dict:
    """What a campaign says, by goal."""
    command = [options.quarry, "gen", "f.c", "--function", "f", "--max-executions", 300, "--no-sanitize", "--quiet", "--no-minimise"]
    run([*command, *[f"--criterion={name}" for name in CRITERIA.split(",")], "-o", "campaign"], place)
    lines = map(json.loads, (place / "campaign/goals.jsonl").read_text().splitlines())
    return {key_of(line): line["state"] for line in lines}


def key_of(goal: dict) -> tuple:
    """The goal as the oracle names it; others are not compared."""
    value = re.search(r" is (true|false)$| being (true|false) decides ", goal["demand"])
    if not value or "line" not in goal:
        return ("other", goal["key"])
    return (goal["criterion"], goal["line"], goal["column"], "true" in value.group(0))


def compare(said: dict, feasible: dict, counts, who: str) -> list:
    mistakes = []
    for key, verdict in said.items():
        if key not in feasible:
            counts["not compared"] += 1
            continue
        counts["goals"] += 1
        if verdict == "infeasible":
            counts["proved"] += 1
            if feasible[key]:
                mistakes.append(f"{who}: {key} is called infeasible, and an input covers it")
        elif verdict == "covered":
            counts["covered"] += 1
            if not feasible[key]:
                mistakes.append(f"{who}: {key} is called covered, and no input covers it")
        elif verdict == "misled":
            counts["misled"] += 1
        else:
            counts["undecided, feasible" if feasible[key] else "undecided, infeasible"] += 1
    return mistakes


def note_undecided(seed: int, name: str, said: dict, feasible: dict) -> None:
    for key, verdict in said.items():
        if key in feasible and verdict not in ("infeasible", "covered"):
            truth = "feasible" if feasible[key] else "infeasible"
            UNDECIDED.append(((seed, name, key), f"function {seed} ({name}): {' '.join(map(str, key))} is {truth}, and not decided"))


def damage(place: pathlib.Path, feasible: dict, rng: random.Random, counts, options) -> list:
    """Damages proofs and lets the checker look at them."""
    proofs = sorted((place / "proved/proofs").glob("*.proof"))
    rng.shuffle(proofs)
    damaged = place / "damaged"
    damaged.mkdir()
    for kind in mutations.KINDS:
        for number, proof in enumerate(proofs[: options.mutations]):
            text = mutations.mutate(proof.read_text(), kind, rng, [other.read_text() for other in proofs])
            if text is not None:
                (damaged / f"{kind}-{number}.proof").write_text(text)
    if not any(damaged.iterdir()):
        return []
    command = [options.dev, "check-proofs", "f.c", "--function", "f", "--criterion", CRITERIA, "--proofs", "damaged"]
    truths = {json.loads(line)["key"]: key_of(json.loads(line)) for line in (place / "campaign/goals.jsonl").read_text().splitlines()}
    mistakes = []
    for line in map(json.loads, run(command, place).splitlines()):
        counts["mutated proofs"] += 1
        kind = line["file"].rsplit("-", 1)[0]
        if "disagreement" in line.get("refused", ""):
            mistakes.append(f"solvers disagree about {line['file']}: {line['refused']}")
        if "accepted" not in line:
            continue
        counts["mutated proofs that are valid"] += 1
        if kind in mutations.STRUCTURAL:
            mistakes.append(f"{line['file']} is accepted although it is no proof")
        elif feasible.get(truths.get(line["accepted"]), False):
            mistakes.append(f"{line['file']} is accepted for a goal that an input covers")
    return mistakes


def check_program(seed: int, directory: pathlib.Path, options):
    made = labels.make(seed, directory)
    counts, mistakes = collections.Counter(), []
    if made is None:
        counts["programs skipped"] += 1
        return counts, mistakes
    counts["programs"] += 1
    command = [options.dev, "prove", "program.c", "--function", "func_1", "--criterion", "statement", "--effort", EFFORT, "-o", "proved"]
    said = run([*command, "--", *labels.FLAGS], directory)
    for line in map(json.loads, said.splitlines()):
        label = made.by_line.get(line["goal"].get("line"))
        if label is None:
            continue
        counts["labels"] += 1
        is_reached, is_excluded = label in made.reached, label in made.excluded
        if line["verdict"] == "infeasible":
            counts["labels proved"] += 1
            counts["excluded labels proved"] += is_excluded
            if is_reached:
                mistakes.append(f"label {label} is called unreachable, and the program comes to it")
        counts["excluded labels"] += is_excluded
        counts["reached labels"] += is_reached
    return counts, mistakes


def report(counts, parts: dict, seconds: float) -> None:
    for name, number in sorted(counts.items()):
        print(f"{name:32} {number:8}")
    print(f"{seconds:.0f} s: " + ", ".join(f"{part} {spent:.0f} s" for part, spent in parts.items()))


if __name__ == "__main__":
    sys.exit(main())

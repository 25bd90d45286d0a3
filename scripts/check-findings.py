#!/usr/bin/env python3
"""Are Quarry's findings true, and does it find what is there?

Method: `quarry gen` runs on every function of fixtures/findings/ that a line `//@ function: NAME` names. A function in correct/ must have no
finding, and its tests must pass under clang's sanitizers, which shows that the function is correct for the inputs
that Quarry tries. A function in faulty/ has one memory error, on the line with the comment `error`: a finding must be reported there. Findings are the results in
`report/results.sarif`. Limit: a finding at the right line for another reason counts as found.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^//@ function: *(\w+)$", re.MULTILINE)
ERROR = "/* error */"
# Errors that must be found at their line, of 60.
FOUND_AT_LEAST = 55
# A few of each list, for `make test`.
SAMPLE = {"trim_right", "two_blocks", "key_of_link", "days_of", "no_room_for_end", "read_freed"}
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


@dataclasses.dataclass(frozen=True)
class Subject:
    source: pathlib.Path
    function: str
    error: int | None  # the line; None when there is none

    def name(self) -> str:
        return f"{self.source.parent.name}/{self.source.name} {self.function}"


@dataclasses.dataclass
class Outcome:
    subject: Subject
    findings: list[tuple[int | None, str]]  # line and message
    complaint: str = ""
    seconds: float = 0.0

    def verdict(self) -> str:
        if self.complaint:
            return "failed"
        if self.subject.error is None:
            return "false" if self.findings else "clean"
        if not self.findings:
            return "missed"
        return "found" if any(line == self.subject.error for line, _ in self.findings) else "elsewhere"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", required=True, type=pathlib.Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget", default="5s", help="of each function")
    parser.add_argument("--executions", type=int, help="of each function instead: the same result on a busy machine")
    parser.add_argument("--part", help="only one part of all functions, such as 2/3")
    parser.add_argument("--sample", action="store_true", help="only a few functions")
    parser.add_argument("functions", nargs="*", help="only these")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    chosen = set(options.functions) or (SAMPLE if options.sample else None)
    subjects = [subject for subject in all_subjects() if chosen is None or subject.function in chosen]
    if options.part:
        number, n_parts = map(int, options.part.split("/"))
        subjects = subjects[number - 1 :: n_parts]
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda subject: run(subject, options, pathlib.Path(work)), subjects))
    return report(outcomes)


def all_subjects() -> list[Subject]:
    subjects = []
    for source in sorted((ROOT / "fixtures/findings").glob("*/*.c")):
        text = source.read_text()
        begins = list(FUNCTION.finditer(text))
        for begin, end in zip(begins, [match.start() for match in begins[1:]] + [len(text)]):
            at = text.find(ERROR, begin.start(), end)
            if (at < 0) != (source.parent.name == "correct"):
                sys.exit(f"{source}: {begin[1]} must have an error exactly if it is in faulty/")
            subjects.append(Subject(source, begin[1], text.count("\n", 0, at) + 1 if at >= 0 else None))
    return subjects


def run(subject: Subject, options, work: pathlib.Path) -> Outcome:
    out = work / f"{subject.source.stem}.{subject.function}"
    command = [options.quarry, "gen", subject.source, "--function", subject.function]
    command += ["--max-executions", str(options.executions)] if options.executions else ["--budget", options.budget]
    command += ["--quiet", "-o", out]
    outcome = Outcome(subject, [])
    before = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    outcome.seconds = time.monotonic() - before
    if done.returncode != 0:
        outcome.complaint = f"quarry gen exits with {done.returncode}: {done.stderr.strip()[-200:]}"
        return outcome
    log = json.loads((out / "report/results.sarif").read_text())
    for result in log["runs"][0]["results"]:
        places = [place["physicalLocation"]["region"]["startLine"] for place in result.get("locations", [])]
        outcome.findings.append((places[0] if places else None, result["message"]["text"]))
    if subject.error is None:
        outcome.complaint = sanitized(out)
    return outcome


def sanitized(out: pathlib.Path) -> str:
    """Why the tests do not pass under the sanitizers; nothing if they do."""
    program = out / "sanitized"
    command = ["clang-19", "-w", *SANITIZERS, out / "tests/replay.c", "-o", program]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        return f"the tests do not build: {built.stderr.strip()[:200]}"
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program], capture_output=True, text=True, env=environment, errors="replace")
    said = [line for line in done.stderr.splitlines() if "ERROR" in line or "runtime error" in line]
    return f"the tests do not pass under sanitizers: {(said or [done.returncode])[0]}" if done.returncode else ""


def report(outcomes: list[Outcome]) -> int:
    for outcome in outcomes:
        verdict = outcome.verdict()
        if verdict in ("clean", "found"):
            continue
        where = f" (the error is on line {outcome.subject.error})" if outcome.subject.error else ""
        print(f"{verdict:9} {outcome.subject.name()}{where}")
        if outcome.complaint:
            print(f"          {outcome.complaint}")
        for line, message in outcome.findings:
            print(f"          line {line}: {message}")
    counts = {place: collections.Counter() for place in ("correct", "faulty")}
    for outcome in outcomes:
        counts[outcome.subject.source.parent.name][outcome.verdict()] += 1
    for place, of_place in counts.items():
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(of_place.items()))
        print(f"{place + ':':9}{sum(of_place.values())} functions: {told}")
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    print(f"slowest: {slowest.subject.name()}, {slowest.seconds:.1f} s")
    n_faulty = sum(counts["faulty"].values())
    few = counts["faulty"]["found"] * 60 < FOUND_AT_LEAST * n_faulty
    failed = any(of_place["failed"] for of_place in counts.values())
    return 1 if counts["correct"]["false"] or failed or few else 0


if __name__ == "__main__":
    sys.exit(main())

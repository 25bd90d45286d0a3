#!/usr/bin/env python3
"""Compares statement coverage as Quarry measures it with llvm-cov's counts on a native build.

Method: functions of the fixtures, of random programs, of zlib and of cJSON get generated suites (native/subjects.py). Both tools measure the whole
suite, every second test and the first test alone: a statement must be covered exactly if llvm-cov counts something at
its position.
Limit: llvm-cov does not know that a call did not return; tests that end the program in a call are left out.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/native"))
import boolean  # noqa: E402
import subjects  # noqa: E402


def main() -> int:
    options = subjects.parse_arguments(__doc__)
    options.criterion = "statement"
    options.choose, options.chosen = "function", re.compile("")
    return subjects.check_all(options, check, "check-statements", ("compared", "covered", "unknown"))


def check(subject, options, result) -> None:
    for tests in (subject.tests, subject.tests[::2], subject.tests[:1]):
        compare(subject, tests, options, result)


def compare(subject, tests, options, result) -> None:
    text = boolean.Text(subject.source.read_text(errors="replace"))
    measured = subject.replay.measure(tests)
    for goal, covered in subject.covered(options.quarry, tests, ["--criterion", "statement"]):
        place = (goal["line"], goal["column"])
        count = measured.count_at(inside(text, place))
        if count is None:
            result.counts["unknown"] += 1
            continue
        result.counts["compared"] += 1
        result.counts["covered"] += covered
        if covered != (count > 0):
            at = text.offset(place)
            line = text.text[at:].split("\n", 1)[0]
            said = f"covered {covered}, llvm-cov counts {count}: {line}"
            result.complaints.append(f"{place[0]}:{place[1]} ({len(tests)} tests): {said}")


def inside(text: boolean.Text, place):
    """Where llvm-cov counts the statement: for `while`, which may end a `do`, its condition."""
    at = text.offset(place)
    if text.text.startswith("while", at):
        opened = text.text.index("(", at)
        skipped = text.text[at : opened + 1]
        return (place[0] + skipped.count("\n"), place[1] + len(skipped)) if "\n" not in skipped else place
    return place


if __name__ == "__main__":
    sys.exit(main())

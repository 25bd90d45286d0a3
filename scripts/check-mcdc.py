#!/usr/bin/env python3
"""Compares MC/DC as Quarry measures it with what llvm-cov measures on a native build.

Method: functions of the fixtures, of random programs, of zlib and of cJSON get generated suites (native/subjects.py); both tools measure
the whole suite and every second test of it. For each decision that clang measures, three things must agree: the
vectors evaluated, unique-cause MC/DC per condition, and masking MC/DC per condition and value as it follows from
clang's vectors. If they do not, the suite is measured once more with objects at other addresses, and what differs between the
two native builds is counted as such. Decisions that clang treats differently are counted by reason, which is checked; docs/mcdc.md explains each.
Limit: clang has no record for a decision of one condition, which is compared by its branch counts instead.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/native"))
import boolean  # noqa: E402
import llvm  # noqa: E402
import subjects  # noqa: E402

COLUMNS = ("decisions", "agree", "single", "part", "joined", "nested", "no operator", "no record", "addresses")
RULES = ("unique-cause", "masking")


def main() -> int:
    options = subjects.parse_arguments(__doc__)
    options.criterion = "mcdc"
    # functions with a decision of several conditions
    options.choose, options.chosen = "multiple-condition", re.compile("evaluated as [TF-]{2,}$")
    return subjects.check_all(options, check, "check-mcdc", COLUMNS)


def check(subject: subjects.Subject, options, result: subjects.Result) -> None:
    for tests in (subject.tests, subject.tests[::2]):
        compare(subject, tests, options, result)


class Decision:
    """A decision as Quarry sees it: where it and its conditions begin, what is covered of each, the vectors evaluated."""

    def __init__(self, row: dict, text: boolean.Text):
        self.text = row["text"]
        self.begin = text.offset((row["line"], row["column"]))
        self.names = [condition["text"] for condition in row["conditions"]]
        self.places = [text.offset((condition["line"], condition["column"])) for condition in row["conditions"]]
        self.shown: dict[str, list[set[bool]]] = {rule: [set() for _ in self.places] for rule in RULES}
        self.vectors: set[str] = set()


def ours(subject: subjects.Subject, text: boolean.Text, tests: list[str], quarry: pathlib.Path) -> list[Decision]:
    command = [str(quarry), "goals", str(subject.source), "--function", subject.function, "--criterion", "mcdc"]
    command += ["--message-format", "json", "--", "-w", *subject.unit.flags]
    table = json.loads(subjects.run(command, subject.source.parent).splitlines()[-1])["decisions"]
    decisions = [Decision(row, text) for row in table]
    said = {}
    for decision in decisions:
        for index, (name, place) in enumerate(zip(decision.names, decision.places)):
            for value in (True, False):
                words = f"({name}) being {str(value).lower()} decides ({decision.text})"
                said[place, words] = (decision, index, value)
    begins = {(decision.begin, decision.text): decision for decision in decisions}
    for rule in RULES:
        for goal, covered in subject.covered(quarry, tests, ["--criterion", "mcdc,multiple-condition", "--mcdc", rule]):
            place, demand = text.offset((goal["line"], goal["column"])), goal["demand"]
            if covered and (place, demand) in said:
                decision, index, value = said[place, demand]
                decision.shown[rule][index].add(value)
            elif covered and " is evaluated as " in demand:
                decided, _, vector = demand.rpartition(" is evaluated as ")
                begins[place, decided[1:-1]].vectors.add(vector)
    return decisions


def compare(subject: subjects.Subject, tests: list[str], options, result: subjects.Result) -> None:
    text = boolean.Text(subject.source.read_text(errors="replace"))
    measured = subject.replay.measure(tests)
    rest = ours(subject, text, tests, options.quarry)
    for theirs in measured.decisions:
        begin, end = text.offset(theirs.begin), text.offset(theirs.end)
        touched = [decision for decision in rest if any(begin <= place < end for place in decision.places)]
        whole = squeeze(text.text[begin:end])
        same = [decision for decision in touched if squeeze(decision.text) == whole]
        around = [decision for decision in touched if whole in squeeze(decision.text) and decision.begin <= begin]
        if not touched or not (same or around):
            continue  # of a function that this one cannot reach, or compared as part of another one already
        result.counts["decisions"] += 1
        if same:
            kind, complaints = compare_decision(theirs, same[0], text)
            if complaints and theirs.vectors != vectors_at(subject.replay.measure_moved(tests, options.limit), theirs):
                kind, complaints = "addresses", []
        else:
            kind, complaints = "part", []
        rest.remove((same or around)[0])
        result.counts[kind] += 1
        line, column = theirs.begin
        result.complaints += [f"{line}:{column} ({len(tests)} tests): {complaint}" for complaint in complaints]
    for decision in rest:
        result.counts["decisions"] += 1
        kind, complaint = compare_rest(subject, text, measured, decision)
        if complaint:
            moved = subject.replay.measure_moved(tests, options.limit)
            if branch_counts(text, moved, decision) != branch_counts(text, measured, decision):
                kind, complaint = "addresses", None
        result.counts[kind] += 1
        if complaint:
            line = text.text[: decision.begin].count("\n") + 1
            result.complaints.append(f"{line} ({len(tests)} tests): {decision.text!r}: {complaint}")


def vectors_at(measured: llvm.Measured, decision: llvm.Decision) -> list | None:
    """The vectors that were evaluated of the decision that stands where this one does."""
    return next((other.vectors for other in measured.decisions if other.begin == decision.begin), None)


def compare_decision(theirs: llvm.Decision, decision: Decision, text: boolean.Text) -> tuple[str, list[str]]:
    """How clang sees the decision, and what is wrong if it sees the same one."""
    begins = [text.offset(condition.place) for condition in theirs.conditions]
    ends = [*begins[1:], text.offset(theirs.end)]
    operands = [[i for i, at in enumerate(decision.places) if b <= at < e] for b, e in zip(begins, ends)]
    real = [index for index, condition in enumerate(theirs.conditions) if not condition.folded]
    if any(len(operands[index]) > 1 for index in real):
        return "joined", []
    # a constant with an effect before it, such as `(f(), 1)`, is a condition for clang
    seen = [{values[index] for values, _ in theirs.vectors} - {None} for index in range(len(begins))]
    constant = [index for index in real if not operands[index] and len(seen[index]) < 2]
    real = [index for index in real if index not in constant]
    missing = [begins[index] for index in real if not operands[index]]
    if missing:
        return "agree", [f"no condition of ours at {text.text[at:at + 30]!r}" for at in missing]
    complaints = [f"constant, but llvm-cov has a pair: {begins[index]}" for index in constant if theirs.conditions[index].covered]
    tree = boolean.shape(text.text, text.offset(theirs.begin), text.offset(theirs.end), begins)
    folded = [index for index, condition in enumerate(theirs.conditions) if condition.folded]
    constants = boolean.folded_values(tree, theirs.vectors, folded) if tree is not None else []
    vectors = [""] * len(theirs.vectors)
    for index in real:
        number, condition = operands[index][0], theirs.conditions[index]
        name, negated = decision.names[number], is_negated(text.text[begins[index] : decision.places[number]])
        pair = boolean.unique_cause(theirs.vectors, index)
        if pair != condition.covered:
            complaints.append(f"{name!r}: llvm-cov says pair {condition.covered}, its vectors say {pair}")
        unique = decision.shown["unique-cause"][number]
        if unique != ({True, False} if condition.covered else set()):
            complaints.append(f"{name!r}: unique-cause {unique}, llvm-cov says {condition.covered}")
        expected = [boolean.masking(tree, theirs.vectors, index, values) for values in constants]
        expected = [{value != negated for value in shown} for shown in expected]
        if decision.shown["masking"][number] not in expected:
            complaints.append(f"{name!r}: masking {decision.shown['masking'][number]}, vectors say {expected}")
        vectors = [known + letter(values[index], negated) for known, (values, _) in zip(vectors, theirs.vectors)]
    evaluated = {vector for vector in vectors if vector.strip("-")}  # else only constants were evaluated
    if evaluated != decision.vectors:
        complaints.append(f"vectors {sorted(decision.vectors)}, llvm-cov has {sorted(evaluated)}")
    return "agree", complaints


def is_negated(prefix: str) -> bool:
    return prefix.count("!") % 2 == 1


def squeeze(expression: str) -> str:
    """The expression without spaces and outer parentheses and negations."""
    expression = re.sub(r"\s+", "", expression)
    while expression.startswith("!") or is_wrapped(expression):
        expression = expression[1:] if expression.startswith("!") else expression[1:-1]
    return expression


def is_wrapped(expression: str) -> bool:
    if not (expression.startswith("(") and expression.endswith(")")):
        return False
    depth = 0
    for at, character in enumerate(expression):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return at == len(expression) - 1
    return False


def letter(value: bool | None, flip: bool) -> str:
    return "-" if value is None else "TF"[value == flip]


def compare_rest(subject, text: boolean.Text, measured: llvm.Measured, decision: Decision) -> tuple[str, str | None]:
    """Why clang has no record of its own for a decision, and what is wrong with it all the same."""
    refused = [text.offset(place) for place in subject.replay.refused]
    if any(same_expression(text.text, at, decision.begin) for at in refused):
        return "nested", None
    if len(decision.places) > 1:
        if "&&" in decision.text or "||" in decision.text:
            return "no record", "llvm-cov does not know it"
        return "no operator", None
    taken = branch_counts(text, measured, decision)
    if taken is None:
        return "no record", None
    shown = decision.shown["masking"][0]
    # beside a constant the outcomes of a condition say nothing about its effect
    has_constant = "&&" in decision.text or "||" in decision.text
    return "single", None if shown == taken or has_constant else f"masking {shown}, llvm-cov counts {taken}"


def branch_counts(text: boolean.Text, measured: llvm.Measured, decision: Decision) -> set[bool] | None:
    """The outcomes of the only condition that llvm-cov counted."""
    place, name = decision.places[0], squeeze(decision.names[0])
    for (begin, end), (when_true, when_false) in measured.branches.items():
        first, last = text.offset(begin), text.offset(end)
        before, region = text.text[first:place], squeeze(text.text[first:last])
        effects = before.rstrip("(! \t\n")
        if first <= place < last and (region == name if not effects else effects.endswith(",") and region.endswith(name)):
            negated = is_negated(before[len(effects) :])
            return {value != negated for value, count in ((True, when_true), (False, when_false)) if count}
    return None


def same_expression(text: str, a: int, b: int) -> bool:
    """Whether no statement ends between two places."""
    first, last = sorted((a, b))
    return not re.search(r"[;{}]", text[first:last])


if __name__ == "__main__":
    sys.exit(main())

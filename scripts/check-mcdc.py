#!/usr/bin/env python3
"""Compares MC/DC as Quarry measures it with what llvm-cov measures on a native build.

Method: functions of the fixtures, of zlib and of cJSON get generated suites (native/subjects.py); the whole suite and every
other test of it are measured by both tools. Per decision that clang measures, three things must agree: the vectors
evaluated, unique-cause MC/DC per condition, and masking MC/DC per condition and value as it follows from clang's
vectors. Decisions clang sees otherwise are counted by the reason, which is checked; docs/mcdc.md explains each.
Limit: clang has no record for a decision of one condition, which is compared by its branch counts instead.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/native"))
import boolean  # noqa: E402
import llvm  # noqa: E402
import subjects  # noqa: E402

COLUMNS = ("decisions", "agree", "single", "part", "joined", "nested", "no operator", "no record", "same start")
DECIDES = re.compile(r"^\((.*)\) being (true|false) decides \((.*)\)$", re.DOTALL)
EVALUATED = re.compile(r"^\((.*)\) is evaluated as ([TF-]+)$", re.DOTALL)


def main() -> int:
    options = subjects.parse_arguments(__doc__)
    options.criterion = "mcdc"
    # functions with a decision of several conditions
    options.choose, options.chosen = "multiple-condition", re.compile("evaluated as [TF-]{2,}$")
    return subjects.check_all(options, check, "check-mcdc", COLUMNS)


def check(subject: subjects.Subject, options, result: subjects.Result) -> None:
    for tests in (subject.tests, subject.tests[::2]):
        compare(subject, tests, options, result)


class Ours:
    """What Quarry says: per condition and value by both rules, per decision its vectors; all by where the operand begins."""

    def __init__(self, subject: subjects.Subject, text: boolean.Text, tests: list[str], quarry: pathlib.Path):
        self.conditions: dict[int, dict[tuple[str, bool], bool]] = collections.defaultdict(dict)
        self.decision_of: dict[int, str] = {}
        self.vectors: dict[int, set[str]] = collections.defaultdict(set)
        for rule in ("unique-cause", "masking"):
            options = ["--criterion", "mcdc,multiple-condition", "--mcdc", rule]
            for goal, covered in subject.covered(quarry, tests, options):
                at = text.start((goal["line"], goal["column"]))
                if match := DECIDES.match(goal["demand"]):
                    self.conditions[at][rule, match[2] == "true"] = covered
                    self.decision_of[at] = match[3]
                elif (match := EVALUATED.match(goal["demand"])) and covered:
                    self.vectors[at].add(match[2])

    def both(self, at: int, rule: str) -> set[bool]:
        return {value for value in (True, False) if self.conditions[at][rule, value]}


def compare(subject: subjects.Subject, tests: list[str], options, result: subjects.Result) -> None:
    text = boolean.Text(subject.source.read_text(errors="replace"))
    measured = subject.replay.measure(tests)
    ours = Ours(subject, text, tests, options.quarry)
    seen: set[int] = set()
    for decision in measured.decisions:
        operands = operands_of(decision, text, ours)
        if not any(operands):
            continue  # of a function that this one cannot reach
        result.counts["decisions"] += 1
        kind, complaints = compare_decision(decision, operands, text, ours)
        result.counts[kind] += 1
        decided = {ours.decision_of[at] for operand in operands for at in operand}
        begin = text.offset(decision.begin)
        near = [at for at in ours.conditions if same_expression(text.text, begin, at)]
        seen.update(at for at in near if ours.decision_of[at] in decided)
        line, column = decision.begin
        result.complaints += [f"{line}:{column} ({len(tests)} tests): {complaint}" for complaint in complaints]
    compare_rest(subject, text, measured, ours, seen, result)


def operands_of(decision: llvm.Decision, text: boolean.Text, ours: Ours) -> list[list[int]]:
    """Our conditions within each condition of clang's, without those of decisions inside it."""
    begins = [text.offset(condition.place) for condition in decision.conditions]
    ends = [*begins[1:], text.offset(decision.end)]
    within = [[at for at in sorted(ours.conditions) if begin <= at < end] for begin, end in zip(begins, ends)]
    # the decision is what holds the first condition of each
    return [[at for at in places if ours.decision_of[at] == ours.decision_of[places[0]]] for places in within]


def compare_decision(decision: llvm.Decision, operands: list[list[int]], text: boolean.Text, ours: Ours):
    """How clang sees the decision, and what is wrong if it sees the same one."""
    real = [index for index, condition in enumerate(decision.conditions) if not condition.folded]
    begin, end = text.offset(decision.begin), text.offset(decision.end)
    whole = {ours.decision_of[at] for operand in operands for at in operand}
    if not all(squeeze(decided) == squeeze(text.text[begin:end]) for decided in whole):
        return "part", []
    if any(len(operands[index]) > 1 for index in real):
        return "joined", []
    missing = [text.offset(decision.conditions[index].place) for index in real if not operands[index]]
    if missing:
        return "agree", [f"no condition of ours at {text.text[at:at + 30]!r}" for at in missing]
    complaints = []
    tree = boolean.shape(text.text, begin, end, [text.offset(condition.place) for condition in decision.conditions])
    folded = [index for index, condition in enumerate(decision.conditions) if condition.folded]
    constants = boolean.folded_values(tree, decision.vectors, folded) if tree is not None else []
    for index in real:
        at, condition = operands[index][0], decision.conditions[index]
        name = f"{text.text[at:at + 30]!r}"
        pair = boolean.unique_cause(decision.vectors, index)
        if pair != condition.covered:
            complaints.append(f"{name}: llvm-cov says pair {condition.covered}, its vectors say {pair}")
        if ours.both(at, "unique-cause") != ({True, False} if condition.covered else set()):
            complaints.append(f"{name}: unique-cause {ours.both(at, 'unique-cause')}, llvm-cov says {condition.covered}")
        expected = [boolean.masking(tree, decision.vectors, index, values) for values in constants]
        expected = [{value != text.is_negated(condition.place) for value in shown} for shown in expected]
        if ours.both(at, "masking") not in expected:
            complaints.append(f"{name}: masking {ours.both(at, 'masking')}, vectors say {expected}")
    negated = [text.is_negated(decision.conditions[index].place) for index in real]
    vectors = {"".join(letter(values[index], flip) for index, flip in zip(real, negated)) for values, _ in decision.vectors}
    vectors.discard("-" * len(real))  # only constants were evaluated
    if vectors != ours.vectors[text.skip(begin)]:
        complaints.append(f"vectors {sorted(ours.vectors[text.skip(begin)])}, llvm-cov has {sorted(vectors)}")
    return "agree", complaints


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


def compare_rest(subject, text: boolean.Text, measured: llvm.Measured, ours: Ours, seen: set[int], result: subjects.Result) -> None:
    """Decisions for which clang has no record of its own."""
    refused = [text.start(place) for place in subject.replay.refused]
    branches: dict[int, dict[bool, bool]] = {}
    # `(a ? b : c) == d` and `a` begin at the same token, and places are all that both sides have
    shared = {start for start, n in collections.Counter(map(text.start, measured.branches)).items() if n > 1}
    for place, (when_true, when_false) in measured.branches.items():
        sides = {True: when_true > 0, False: when_false > 0}
        if text.is_negated(place):
            sides = {value: sides[not value] for value in sides}
        branches[text.start(place)] = sides
    by_decision = collections.defaultdict(list)
    for at in sorted(set(ours.conditions) - seen):
        by_decision[ours.decision_of[at]].append(at)
    for decided, places in by_decision.items():
        result.counts["decisions"] += 1
        plain = len(places) == 1 and squeeze(decided) == squeeze(text.text[places[0] : places[0] + len(decided)])[: len(squeeze(decided))]
        where = f"{decided!r} at {text.text[: places[0]].count(chr(10)) + 1}"
        if any(same_expression(text.text, at, place) for at in refused for place in places):
            result.counts["nested"] += 1
        elif len(places) > 1 and "&&" not in decided and "||" not in decided:
            result.counts["no operator"] += 1
        elif len(places) == 1 and places[0] in shared:
            result.counts["same start"] += 1
        elif len(places) == 1 and places[0] in branches:
            result.counts["single"] += 1
            shown = ours.both(places[0], "masking")
            taken = {value for value, happened in branches[places[0]].items() if happened}
            if shown != taken and not has_constant(decided):
                result.complaints.append(f"{where}: masking {shown}, llvm-cov counts {taken}")
        elif len(places) == 1:
            result.counts["no record"] += 1
        else:
            result.complaints.append(f"{where}: llvm-cov does not know it")


def has_constant(decided: str) -> bool:
    """Whether a decision with one condition has an operator: the other operand is a constant."""
    return "&&" in decided or "||" in decided


def same_expression(text: str, a: int, b: int) -> bool:
    """Whether no statement ends between two places."""
    first, last = sorted((a, b))
    return not re.search(r"[;{}]", text[first:last])


if __name__ == "__main__":
    sys.exit(main())

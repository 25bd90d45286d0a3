#!/usr/bin/env python3
"""Event-condition-action systems as whole programs, with the truth of every branch: how many of their infeasible goals are proved, and is any verdict wrong?

Method: a system is a model first: variables with few values, and others that arithmetic keeps within ranges; rules that an input fires in some of the states; conditions
that end the program with an error. All states that can be reached are listed, so it is known which rules fire and which errors are raised. The C is printed from the same model:
one loop reads an input from 1 to 6 and hands it to a chain of `if`s. `quarry gen` then searches and proves within a budget; with --effort, `quarry-dev prove` only proves, with effort
that is counted instead of timed, so that a busy machine gives the same answer. Limit: systems of up to 150,000 states.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS = range(1, 7)
MOST_STATES = 150_000
# The variables with few values, those with ranges, rules, and how the latter change.
KINDS = {"plain": (7, 0, 120, "range"), "arithmetic": (4, 2, 80, "range"), "nested": (6, 1, 100, "range"), "steps": (3, 2, 60, "step")}
ERRORS, REACHED_ERRORS = 40, 8


def main() -> int:
    options = parse_arguments()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="quarry-systems-") as work:
        directory = options.out or pathlib.Path(work)
        directory.mkdir(parents=True, exist_ok=True)
        for kind in options.kinds.split(","):
            for seed in range(options.first, options.first + options.count):
                system = System(seed, kind)
                source = directory / f"{kind}_{seed}.c"
                source.write_text(system.text())
                if not options.write_only:
                    counts.update(judge(source, len(system.reached), options, directory))
    if counts:
        print(f"{counts['programs']} programs: {counts['proved']} of {counts['infeasible']} infeasible branches proved, {counts['covered']} of {counts['feasible']} feasible ones covered, {counts['wrong']} wrong")
    return 1 if counts["wrong"] or counts["failed"] else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"), help="the binary to measure")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=3, help="programs of each kind (default 3)")
    parser.add_argument("--budget", type=int, default=60, help="seconds for a program (default 60)")
    parser.add_argument("--effort", type=int, help="only prove, with this effort; --quarry is quarry-dev then")
    parser.add_argument("--write-only", action="store_true", help="write the programs to -o and run nothing")
    parser.add_argument("-o", dest="out", type=pathlib.Path, help="keep programs and results here")
    return parser.parse_args()


def judge(source: pathlib.Path, n_states: int, options, directory: pathlib.Path) -> dict:
    truth = {number: mark for number, line in enumerate(source.read_text().splitlines(), 1) for mark in re.findall(r"/\* (feasible|infeasible) \*/", line)}
    out = directory / f"{source.stem}.out"
    command = [options.quarry, "prove" if options.effort else "gen", str(source), "-o", str(out)]
    command += ["--function", "main", "--effort", str(options.effort)] if options.effort else ["--program", "--budget", f"{options.budget}s", "--quiet", "--no-sanitize", "-j", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        print(f"{source.stem}: exit code {ran.returncode}: {ran.stderr[-300:]}")
        return {"failed": 1}
    lines = ran.stdout.splitlines() if options.effort else (out / "goals.jsonl").read_text().splitlines()
    said = {}
    for goal in map(json.loads, lines):
        where = goal.get("goal", goal)
        if where["demand"].endswith(" is true"):
            said[where["line"]] = goal.get("verdict") or goal["state"]
    counts = collections.Counter(programs=1)
    for line, mark in truth.items():
        counts[mark] += 1
        verdict = said.get(line, "none")
        counts["proved"] += verdict == "infeasible"
        counts["covered"] += verdict == "covered"
        if (verdict, mark) in (("infeasible", "feasible"), ("covered", "infeasible")):
            counts["wrong"] += 1
            print(f"{source}:{line} is {mark}, and said to be {verdict}")
    print(f"{source.stem}: {n_states} states, {counts['proved']} of {counts['infeasible']} proved, {counts['covered']} of {counts['feasible']} covered", flush=True)
    return counts


@dataclasses.dataclass
class Range:
    """A variable that arithmetic changes; conditions ask in which range it is."""

    bounds: list
    first: int

    def ranges(self) -> list:
        low, middle, high = self.bounds
        return [(None, low), (low, middle), (middle, high), (high, None)]


def divide(one: int, other: int) -> int:
    """As C does."""
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def remainder(one: int, other: int) -> int:
    return one - other * divide(one, other)


class System:
    def __init__(self, seed: int, kind: str):
        self.rng = rng = random.Random(f"{kind} {seed}")
        self.kind = kind
        n_few, n_ranges, n_rules, self.change = KINDS[kind]
        self.few = [sorted(rng.sample(range(17), rng.choice([2, 3, 4, 5]))) for _ in range(n_few)]
        self.ranges = [self.range() for _ in range(n_ranges)]
        self.names = [f"a{number}" for number in rng.sample(range(1, 40), n_few + n_ranges)]
        self.first = tuple([rng.choice(values) for values in self.few] + [one.first for one in self.ranges])
        self.rules, self.errors = [], []
        states = [self.first]
        for number in range(n_rules):
            self.rules.append((rng.choice(INPUTS), self.condition(states), self.actions()))
            if number % 20 == 19:
                reached = self.reach()
                if reached is None:
                    del self.rules[-20:]
                else:
                    states = rng.sample(sorted(reached[0]), min(3000, len(reached[0])))
        self.add_errors()
        self.reached, self.fired, self.raised = self.reach()

    def range(self) -> Range:
        bounds = sorted(self.rng.sample(range(-120, 320), 3))
        return Range(bounds, self.rng.randint(bounds[0] + 1, bounds[1]))

    def condition(self, states: list) -> dict:
        """What some variables have in one of these states, or nearly."""
        rng, base, condition = self.rng, self.rng.choice(states), {}
        for at in rng.sample(range(len(self.few)), min(len(self.few), rng.choice([2, 3, 3, 4]))):
            condition[at] = base[at] if rng.random() < 0.85 else rng.choice(self.few[at])
        for at, one in enumerate(self.ranges, len(self.few)):
            if rng.random() < 0.6:
                near = next(limits for limits in one.ranges() if within(base[at], limits))
                condition[at] = near if rng.random() < 0.85 else rng.choice(one.ranges())
        return condition

    def actions(self) -> list:
        rng, actions = self.rng, []
        for at in rng.sample(range(len(self.few)), min(len(self.few), rng.choice([1, 1, 2, 3]))):
            value = rng.choice(self.few[at])
            actions.append((at, str(value), lambda _, value=value: value))
        for at, one in enumerate(self.ranges, len(self.few)):
            if rng.random() < 0.35:
                actions.append((at, *self.arithmetic(self.names[at], one)))
        return actions

    def arithmetic(self, name: str, one: Range) -> tuple:
        """An assignment as text and as a function; the results are few."""
        rng = self.rng
        if self.change == "step":
            by, modulus = rng.randint(1, 5), rng.choice([11, 17, 23])
            return f"(({name} + {by}) % {modulus} - 2)", lambda value: remainder(value + by, modulus) - 2
        low, high = rng.choice([(one.bounds[0], one.bounds[1]), (one.bounds[1], one.bounds[2]), (one.bounds[2], one.bounds[2] + 60)])
        modulus, by = max(2, min(high - low, rng.choice([7, 13, 23, 25, 29]))), rng.randint(1, 300)
        to = low + modulus
        return rng.choice([
            (f"((({name} + {by}) % {modulus}) + {to})", lambda value: remainder(value + by, modulus) + to),
            (f"(((({name} * 9) / 10) % {modulus}) - {-to})", lambda value: remainder(divide(value * 9, 10), modulus) + to),
            (f"((({name} - {by}) % {modulus}) + {to})", lambda value: remainder(value - by, modulus) + to),
            (f"(((({name} * 5) % {modulus}) - 2) + {to})", lambda value: remainder(value * 5, modulus) - 2 + to),
            (f"((({name} / 5) % {modulus}) + {to})", lambda value: remainder(divide(value, 5), modulus) + to),
        ])

    def holds(self, condition: dict, state: tuple) -> bool:
        return all(within(state[at], what) if isinstance(what, tuple) else state[at] == what for at, what in condition.items())

    def reach(self):
        """The states at the head of the loop, the rules that fire and the errors that are raised, by number; nothing if there are too many states."""
        reached, fired, raised, waiting = {self.first}, set(), set(), [self.first]
        while waiting:
            state = waiting.pop()
            error = next((number for number, condition in enumerate(self.errors) if self.holds(condition, state)), None)
            if error is not None:
                raised.add(error)
                continue
            for event in INPUTS:
                number = next((number for number, (on, condition, _) in enumerate(self.rules) if on == event and self.holds(condition, state)), None)
                if number is None:
                    continue
                fired.add(number)
                after = list(state)
                for at, _, change in self.rules[number][2]:
                    after[at] = change(state[at])
                after = tuple(after)
                if after not in reached:
                    reached.add(after)
                    waiting.append(after)
            if len(reached) > MOST_STATES:
                return None
        return reached, fired, raised

    def add_errors(self):
        """Conditions that few states meet, or none."""
        rng, states = self.rng, sorted(self.reach()[0])
        errors = []
        for _ in range(100 * ERRORS):
            base, condition = rng.choice(states), {}
            for at in rng.sample(range(len(self.few)), min(len(self.few), rng.choice([2, 3, 4]))):
                condition[at] = base[at] if rng.random() < 0.7 else rng.choice(self.few[at])
            for at, one in enumerate(self.ranges, len(self.few)):
                if rng.random() < 0.4:
                    condition[at] = rng.choice(one.ranges())
            n_met = sum(self.holds(condition, state) for state in states)
            most = REACHED_ERRORS if n_met else ERRORS - REACHED_ERRORS
            if not self.holds(condition, self.first) and n_met <= max(3, len(states) // 100) and sum((n > 0) == (n_met > 0) for n, _ in errors) < most:
                errors.append((n_met, condition))
        self.errors = [condition for _, condition in errors]

    def words(self, condition: dict) -> list:
        found = []
        for at, what in condition.items():
            name = self.names[at]
            if isinstance(what, tuple):
                low, high = what
                limits = ([f"({low} < {name})"] if low is not None else []) + ([f"({high} >= {name})"] if high is not None else [])
                found.append(f"({' && '.join(limits)})" if len(limits) > 1 else limits[0])
            else:
                found.append(f"({name} == {what})")
        self.rng.shuffle(found)
        return found

    def text(self) -> str:
        text = "extern int __VERIFIER_nondet_int(void);\nextern void abort(void);\nvoid reach_error(void) { }\n"
        text += "".join(f"int {name} = {value};\n" for name, value in zip(self.names, self.first))
        text += "\nint calculate_output(int input)\n{\n"
        for number, condition in enumerate(self.errors):
            words, mark = self.words(condition), f"/* {'feasible' if number in self.raised else 'infeasible'} */"
            inner = f"if ({' && '.join(words[1:] if self.kind == 'nested' else words)}) {mark}"
            text += f"    if ({words[0]})\n        {inner}\n        {{ reach_error(); abort(); }}\n" if self.kind == "nested" else f"    {inner}\n        {{ reach_error(); abort(); }}\n"
        for number, (event, condition, actions) in enumerate(self.rules):
            words = " && ".join([*self.words(condition), f"(input == {event})"])
            text += f"    {'} else ' if number else ''}if ({words}) {{ /* {'feasible' if number in self.fired else 'infeasible'} */\n"
            text += "".join(f"        {self.names[at]} = {what};\n" for at, what, _ in actions) + f"        return {20 + number % 7};\n"
        asked = " && ".join(f"input != {event}" for event in INPUTS)
        return text + (
            "    }\n    return -2;\n}\n\nint main(void)\n{\n    int output = -1;\n    while (1) {\n        int input = __VERIFIER_nondet_int();\n"
            f"        if ({asked})\n            return -2;\n        output = calculate_output(input);\n    }}\n}}\n"
        )


def within(value: int, limits: tuple) -> bool:
    low, high = limits
    return (low is None or value > low) and (high is None or value <= high)


if __name__ == "__main__":
    sys.exit(main())

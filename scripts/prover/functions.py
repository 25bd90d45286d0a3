"""Random functions over few inputs, and what any of their inputs does, found by running all of them natively.

Method: a function is a tree of statements, printed twice from the same tree: as Quarry gets it, with every decision on a line of
its own, and for the oracle, with a call around every condition and decision that notes what it was. The oracle's program
calls the function with every input and prints what it noted. Nothing here is shared with Quarry.
"""

import copy
import dataclasses
import pathlib
import random
import subprocess

CLANG = "clang-19"
LOCALS = ["x", "y", "k"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


@dataclasses.dataclass
class Condition:
    left: str
    operator: str
    right: str

    def text(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclasses.dataclass
class Both:
    operator: str  # && or ||
    parts: list


@dataclasses.dataclass
class Not:
    part: object


@dataclasses.dataclass
class Assign:
    name: str
    value: str


@dataclasses.dataclass
class If:
    decision: object
    then: list
    otherwise: list


@dataclasses.dataclass
class Loop:
    counter: str
    times: int
    body: list


@dataclasses.dataclass
class While:
    decision: object
    body: list


@dataclasses.dataclass
class Switch:
    value: str
    cases: list  # of (constant, statements)
    otherwise: list


@dataclasses.dataclass
class Function:
    parameters: list  # of (type, name, low, high)
    initial: dict  # globals with their values
    body: list

    def n_inputs(self) -> int:
        n = 1
        for _, _, low, high in self.parameters:
            n *= high - low + 1
        return n


TYPES = [("unsigned char", 0, 255), ("signed char", -128, 127), ("short", -32768, 32767), ("unsigned short", 0, 65535), ("_Bool", 0, 1)]


class Maker:
    """Makes a function from a seed."""

    def __init__(self, seed: int, most_inputs: int):
        self.rng = random.Random(seed)
        self.parameters = []
        n_inputs, names = 1, iter("abcd")
        for _ in range(self.rng.randint(1, 4)):
            kind, low, high = self.rng.choice(TYPES)
            if n_inputs * (high - low + 1) <= most_inputs:
                self.parameters.append((kind, next(names), low, high))
                n_inputs *= high - low + 1
        if not self.parameters:
            self.parameters = [("unsigned char", "a", 0, 255)]
        self.initial = {"mode": self.rng.randint(0, 5)} if self.rng.random() < 0.4 else {}
        self.n_loops = 0

    def function(self) -> Function:
        body = [Assign(name, self.expression(LOCALS[:index])) for index, name in enumerate(LOCALS)]
        body += self.block(self.rng.randint(3, 6), 0)
        return Function(self.parameters, self.initial, body)

    def variables(self, among) -> list:
        return [name for _, name, _, _ in self.parameters] + list(among) + list(self.initial)

    def constant(self) -> str:
        return str(self.rng.choice([0, 1, 2, 3, 5, 7, 10, 16, 40, 100, 127, 128, 200, 255, -1, -5, -128]))

    def expression(self, among=LOCALS) -> str:
        """Always within a few thousand, so that nothing overflows."""
        one = self.rng.choice(self.variables(among))
        other = self.rng.choice([self.constant(), self.rng.choice(self.variables(among))])
        if other.startswith("-"):
            other = f"({other})"
        return self.rng.choice([
            one, self.constant(), f"({one} & 255) + ({other} & 15)", f"({one} & 127) - ({other} & 63)", f"({one} & 63) * ({other} & 7)",
            f"({one} ^ {other}) & 1023", f"({one} | {other}) & 511", f"({one} & 1023) >> {self.rng.randint(1, 4)}", f"{one} & {self.rng.choice([1, 3, 6, 7, 15])}",
            f"(int)((unsigned){one} % {self.rng.choice([3, 5, 8, 10])}u)", f"(int)(unsigned char)({one} * 3 + {other})",
        ])

    def condition(self) -> Condition:
        left = self.rng.choice([self.rng.choice(self.variables(LOCALS)), self.expression()])
        right = self.constant() if self.rng.random() < 0.7 else self.rng.choice(self.variables(LOCALS))
        return Condition(left, self.rng.choice(COMPARISONS), right)

    def decision(self, depth: int = 0):
        draw = self.rng.random()
        if depth >= 2 or draw < 0.5:
            return self.condition()
        if draw < 0.6:
            return Not(self.decision(depth + 1))
        parts = [self.decision(depth + 1) for _ in range(2)]
        return Both(self.rng.choice(["&&", "||"]), parts)

    def block(self, n: int, depth: int) -> list:
        return [self.statement(depth) for _ in range(n)]

    def assignment(self):
        name = self.rng.choice(LOCALS + list(self.initial) * (self.rng.random() < 0.3))
        return Assign(name, self.expression())

    def statement(self, depth: int):
        draw = self.rng.random()
        if depth >= 2 or draw < 0.3:
            return self.assignment()
        inner = lambda: self.block(self.rng.randint(1, 2), depth + 1)
        if draw < 0.7:
            return If(self.decision(), inner(), inner() if self.rng.random() < 0.4 else [])
        if draw < 0.82 and self.n_loops < 3:
            self.n_loops += 1
            return Loop(f"i{self.n_loops}", self.rng.randint(1, 6), inner())
        if draw < 0.9 and self.n_loops < 3:
            self.n_loops += 1
            name, most = self.rng.choice(LOCALS), self.rng.choice([0, 3, 20])
            step = Assign(name, f"{name} - {self.rng.choice([1, 2, 3, 7])}")
            others = [one for one in inner() if not isinstance(one, Loop | While)]
            return While(Condition(name, ">", str(most)), without(others, name) + [step])
        if draw < 0.96:
            values = self.rng.sample(range(8), 3)
            return Switch(f"({self.expression()}) & 7", [(value, inner()) for value in values], inner())
        return self.assignment()


def without(statements: list, name: str) -> list:
    """The same without assignments to a name, which could keep a loop from ending."""
    kept = []
    for one in statements:
        match one:
            case Assign():
                kept += [] if one.name == name else [one]
            case If():
                kept.append(If(one.decision, without(one.then, name), without(one.otherwise, name)))
            case Switch():
                kept.append(Switch(one.value, [(value, without(part, name)) for value, part in one.cases], without(one.otherwise, name)))
            case Loop() | While():
                kept.append(type(one)(*[getattr(one, field.name) for field in dataclasses.fields(one)][:-1], without(one.body, name)))
    return kept


class Printer:
    """Prints a function for Quarry, or for the oracle, and knows where conditions and decisions are."""

    def __init__(self, function: Function, is_oracle: bool):
        self.function, self.is_oracle = function, is_oracle
        self.lines: list[str] = []
        self.conditions: list[tuple[int, int]] = []  # line, column
        self.decisions: list[tuple[int, int, object]] = []  # and the tree, with the numbers of its conditions

    def text(self) -> str:
        for name, value in self.function.initial.items():
            self.lines.append(f"static int {name} = {value};")
        parameters = ", ".join(f"{kind} {name}" for kind, name, _, _ in self.function.parameters)
        self.lines.append(f"int f({parameters})")
        self.lines.append("{")
        declared = LOCALS + [one.counter for one in every(self.function.body) if isinstance(one, Loop)]
        for name in declared:
            self.lines.append(f"    int {name} = 0;")
        self.block(self.function.body, 1)
        self.lines.append("    return x + y + k;")
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def block(self, statements: list, depth: int):
        for one in statements:
            self.statement(one, depth)

    def statement(self, one, depth: int):
        indent = "    " * depth
        match one:
            case Assign():
                self.lines.append(f"{indent}{one.name} = {one.value};")
            case If():
                self.decided(f"{indent}if (", one.decision, ") {")
                self.block(one.then, depth + 1)
                if one.otherwise:
                    self.lines.append(f"{indent}}} else {{")
                    self.block(one.otherwise, depth + 1)
                self.lines.append(f"{indent}}}")
            case Loop():
                self.lines.append(f"{indent}{one.counter} = 0;")
                self.decided(f"{indent}while (", Condition(one.counter, "<", str(one.times)), ") {")
                self.block(one.body, depth + 1)
                self.lines.append(f"{indent}    {one.counter}++;")
                self.lines.append(f"{indent}}}")
            case While():
                self.decided(f"{indent}while (", one.decision, ") {")
                self.block(one.body, depth + 1)
                self.lines.append(f"{indent}}}")
            case Switch():
                self.lines.append(f"{indent}switch ({one.value}) {{")
                for value, part in one.cases:
                    self.lines.append(f"{indent}case {value}:")
                    self.block(part, depth + 1)
                    self.lines.append(f"{indent}    break;")
                self.lines.append(f"{indent}default:")
                self.block(one.otherwise, depth + 1)
                self.lines.append(f"{indent}    break;")
                self.lines.append(f"{indent}}}")

    def decided(self, before: str, decision, after: str):
        number = len(self.decisions)
        self.decisions.append((len(self.lines) + 1, len(before) + 1, None))
        self.text_of_line = before
        if self.is_oracle:
            self.text_of_line += f"E({number}, "
        tree = self.expression(decision, number)
        self.decisions[number] = (*self.decisions[number][:2], tree)
        self.lines.append(self.text_of_line + (")" if self.is_oracle else "") + after)

    def expression(self, decision, number: int):
        match decision:
            case Condition():
                index = len(self.conditions)
                self.conditions.append((len(self.lines) + 1, len(self.text_of_line) + 1))
                text = decision.text()
                self.text_of_line += f"C({number}, {index}, {text})" if self.is_oracle else text
                return index
            case Not():
                self.text_of_line += "!("
                tree = ("!", self.expression(decision.part, number))
                self.text_of_line += ")"
                return tree
            case Both():
                self.text_of_line += "("
                first = self.expression(decision.parts[0], number)
                self.text_of_line += f") {decision.operator} ("
                second = self.expression(decision.parts[1], number)
                self.text_of_line += ")"
                return (decision.operator, first, second)


def every(statements: list):
    for one in statements:
        yield one
        match one:
            case If():
                yield from every(one.then)
                yield from every(one.otherwise)
            case Loop() | While():
                yield from every(one.body)
            case Switch():
                for _, part in one.cases:
                    yield from every(part)
                yield from every(one.otherwise)


def conditions_in(decision):
    match decision:
        case Condition():
            yield decision
        case Not():
            yield from conditions_in(decision.part)
        case Both():
            for part in decision.parts:
                yield from conditions_in(part)


def twin(function: Function, rng: random.Random) -> Function:
    """The same with one token of one guard changed."""
    changed = copy.deepcopy(function)
    guards = [one for statement in every(changed.body) if isinstance(statement, If) for one in conditions_in(statement.decision)]
    if guards:
        guard = rng.choice(guards)
        if rng.random() < 0.5:
            guard.operator = rng.choice([one for one in COMPARISONS if one != guard.operator])
        else:
            guard.right = str(rng.choice([0, 1, 2, 3, 4, 7, 9, 16, 64, 100, 127, 128, 254]))
    return changed


HEAD = """#include <stdio.h>
static unsigned char outcomes[{n_conditions}][2];
static int vectors[{n_decisions}];
static unsigned char seen[{n_decisions}][729][2];
static const int powers[] = {{1, 3, 9, 27, 81, 243}};
static int first[{n_decisions}] = {{{first}}};
static int C(int decision, int condition, int value)
{{
    outcomes[condition][!!value] = 1;
    vectors[decision] += powers[condition - first[decision]] * (1 + !!value);
    return !!value;
}}
static int E(int decision, int value)
{{
    seen[decision][vectors[decision]][!!value] = 1;
    vectors[decision] = 0;
    return !!value;
}}
"""


@dataclasses.dataclass
class Truth:
    """What some input does, by goal: (criterion, line, column, value)."""

    feasible: dict


def tell(printer: Printer, tree) -> list:
    return [tree] if isinstance(tree, int) else [one for part in tree[1:] for one in tell(printer, part)]


def evaluate(tree, values: dict):
    """The value of a decision, and the conditions that decide it: those whose change would change it, masking others."""
    if isinstance(tree, int):
        return values[tree], {tree}
    if tree[0] == "!":
        value, deciding = evaluate(tree[1], values)
        return not value, deciding
    left, of_left = evaluate(tree[1], values)
    stops = left if tree[0] == "||" else not left
    if stops:
        return left, of_left
    right, of_right = evaluate(tree[2], values)
    # the right side decides; the left one does so where the right side, had it been asked alone, gives the other value
    keeps = (not right) if tree[0] == "||" else right
    return right, of_right | (of_left if keeps else set())


def truth(function: Function, directory: pathlib.Path) -> tuple[str, Truth]:
    """The text that Quarry gets, and what is true of it."""
    plain, oracle = Printer(function, False), Printer(function, True)
    text, noted = plain.text(), oracle.text()
    sizes = [tell(plain, tree) for _, _, tree in plain.decisions]
    if not plain.decisions or any(len(one) > 6 for one in sizes):
        return text, Truth({})
    first = ", ".join(str(one[0]) for one in sizes)
    head = HEAD.format(n_conditions=len(plain.conditions), n_decisions=len(plain.decisions), first=first)
    loops = "".join(f"    for (int p{name} = {low}; p{name} <= {high}; p{name}++)\n" for _, name, low, high in function.parameters)
    arguments = ", ".join(f"({kind})p{name}" for kind, name, _, _ in function.parameters)
    resets = "".join(f" {name} = {value};" for name, value in function.initial.items())
    main = (
        f"int main(void)\n{{\n{loops}    {{{resets} f({arguments}); }}\n"
        f"    for (int c = 0; c < {len(plain.conditions)}; c++) printf(\"%d %d\\n\", outcomes[c][0], outcomes[c][1]);\n"
        f"    for (int d = 0; d < {len(plain.decisions)}; d++) for (int v = 0; v < 729; v++) for (int o = 0; o < 2; o++)\n"
        "        if (seen[d][v][o]) printf(\"%d %d %d\\n\", d, v, o);\n    return 0;\n}\n"
    )
    source, program = directory / "oracle.c", directory / "oracle"
    source.write_text(head + noted + main)
    subprocess.run([CLANG, "-O1", "-w", "-o", program, source], check=True, capture_output=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()
    return text, Truth(goals(plain, sizes, said))


def goals(plain: Printer, sizes: list, said: list) -> dict:
    feasible = {}
    for (line, column), told in zip(plain.conditions, said):
        for value, was in zip((False, True), told.split()):
            feasible["condition", line, column, value] = was == "1"
    for (line, column, tree), conditions in zip(plain.decisions, sizes):
        for value in (False, True):
            feasible["branch", line, column, value] = False
            for condition in conditions:
                feasible["mcdc", *plain.conditions[condition], value] = False
    for told in said[len(plain.conditions):]:
        decision, vector, outcome = map(int, told.split())
        line, column, tree = plain.decisions[decision]
        feasible["branch", line, column, bool(outcome)] = True
        values = {}
        for condition in sizes[decision]:
            digit, vector = vector % 3, vector // 3
            if digit:
                values[condition] = digit == 2
        value, deciding = evaluate(tree, values)
        assert value == bool(outcome), "the oracle contradicts itself"
        for condition in deciding:
            feasible["mcdc", *plain.conditions[condition], values[condition]] = True
    return feasible

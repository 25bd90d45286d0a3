"""Decisions as llvm-cov shows them: their operators from the source text, and what vectors prove about a condition.

Nothing here comes from Quarry: the text and the positions of the conditions are clang's, and the rules are implemented a second time.
"""

import itertools

Place = tuple[int, int]
Vector = tuple[tuple[bool | None, ...], bool]


class Text:
    """A source file by place."""

    def __init__(self, text: str):
        self.text = text
        self.starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]

    def offset(self, place: Place) -> int:
        return self.starts[place[0] - 1] + place[1] - 1


def shape(text: str, begin: int, end: int, conditions: list[int]):
    """The tree over the conditions (offsets) of text[begin:end]: an index, ("and", …) or ("or", …); None when unclear."""
    inside = [index for index, at in enumerate(conditions) if begin <= at < end]
    if len(inside) == 1:
        return inside[0]
    if not inside:
        return None
    while text[begin].isspace():
        begin += 1
    while text[end - 1].isspace():
        end -= 1
    for operator, name in (("||", "or"), ("&&", "and")):
        cuts = top_level(text, begin, end, operator)
        if cuts:
            begins, ends = [begin, *(cut + 2 for cut in cuts)], [*cuts, end]
            operands = [shape(text, b, e, conditions) for b, e in zip(begins, ends)]
            return None if None in operands else (name, *operands)
    if text[begin] == "(" and text[end - 1] == ")":
        return shape(text, begin + 1, end - 1, conditions)
    return None


def top_level(text: str, begin: int, end: int, operator: str) -> list[int]:
    """Where the operator stands outside parentheses and literals; none below `?:` and commas, which bind less."""
    depth, at, found = 0, begin, []
    while at < end:
        character = text[at]
        if character in "\"'":
            at = literal_end(text, at)
            continue
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and character in "?,":
            return []
        elif depth == 0 and text.startswith(operator, at):
            found.append(at)
            at += 1
        at += 1
    return found


def literal_end(text: str, at: int) -> int:
    quote, at = text[at], at + 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def evaluate(tree, values) -> bool | None:
    """The tree's value; None when values that are not known decide it."""
    if isinstance(tree, int):
        return values[tree]
    name, *operands = tree
    ending = name == "or"
    results = [evaluate(operand, values) for operand in operands]
    if ending in results:
        return ending
    return None if None in results else not ending


def differences(a: Vector, b: Vector) -> list[int]:
    pairs = enumerate(zip(a[0], b[0]))
    return [index for index, (x, y) in pairs if x is not None and y is not None and x != y]


def unique_cause(vectors: list[Vector], condition: int) -> bool:
    pairs = itertools.combinations(vectors, 2)
    return any(a[1] != b[1] and differences(a, b) == [condition] for a, b in pairs)


def masking(tree, vectors: list[Vector], condition: int, folded: dict[int, bool]) -> set[bool]:
    """The values with which some vector shows that the condition decides: changing it may change the outcome."""
    shown = set()
    for values, outcome in vectors:
        value = values[condition]
        if value is None:
            continue
        changed = [folded.get(index, known) for index, known in enumerate(values)]
        changed[condition] = not value
        if evaluate(tree, changed) != outcome:
            shown.add(value)
    return shown


def folded_values(tree, vectors: list[Vector], folded: list[int]) -> list[dict[int, bool]]:
    """The values that constants can have, judging by the outcomes."""
    possible = []
    for choice in itertools.product([False, True], repeat=len(folded)):
        constants = dict(zip(folded, choice))
        filled = lambda values: [constants.get(index, known) for index, known in enumerate(values)]  # noqa: E731
        if all(evaluate(tree, filled(values)) == outcome for values, outcome in vectors):
            possible.append(constants)
    return possible

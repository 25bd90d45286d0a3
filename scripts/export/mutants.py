"""Mutants of a function: one operator of its text replaced by another.

Method: the text between two positions is split into tokens; comments, literals and preprocessor lines are left alone. Each operator
that has a counterpart gives one mutant. Limit: tokens alone do not distinguish a multiplication from a pointer, so `*` and `&` are never changed.
"""

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\s+)
      | (?P<word>[A-Za-z_0-9.]+)
      | (?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
COUNTERPARTS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<",
}  # fmt: skip
# behind these, + and - have two operands
ENDS_OPERAND = re.compile(r"[\w)\]]$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A text with one operator changed, and where."""

    line: int
    operator: str
    counterpart: str
    text: str


def mutants(text: str, begin: int, end: int) -> list[Mutant]:
    """All mutants of text[begin:end], in order."""
    found, before, at = [], "", begin
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            at += 1
            continue
        operator = match["operator"]
        if operator in COUNTERPARTS and (operator not in "+-" or ENDS_OPERAND.search(before)):
            other = COUNTERPARTS[operator]
            changed = text[:at] + other + text[at + len(operator) :]
            found.append(Mutant(text.count("\n", 0, at) + 1, operator, other, changed))
        if match["skip"] is None:
            before = match[0]
        at = match.end()
    return found


def some(all_of_them: list[Mutant], n: int) -> list[Mutant]:
    """At most n of them, evenly spread."""
    if len(all_of_them) <= n:
        return all_of_them
    return [all_of_them[index * len(all_of_them) // n] for index in range(n)]

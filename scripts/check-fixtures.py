#!/usr/bin/env python3
"""Checks that fixtures/branch/*.c and bench/units/*.c say the truth about themselves.

Method: every fixture must start with a comment, carry the directives `function`, `branches` and `infeasible`, and compile
without a warning under gcc and clang. Its branch goals are then counted on clang's syntax tree, independently of
Quarry, over the function and everything it can call: two per `if while for do ?:` whose condition is not constant, one per
`case`, one per `default` (also an implicit one).
Limit: a condition without variables and calls counts as constant; nothing cleverer is folded.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
PLACES = ("fixtures/branch", "bench/units")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
REQUIRED = ("function", "branches", "infeasible")


def main() -> int:
    names = [pathlib.Path(name) for name in sys.argv[1:]]
    names = names or [path for place in PLACES for path in sorted((ROOT / place).glob("*.c"))]
    complaints = [f"{path.name}: {complaint}" for path in names for complaint in check(path)]
    for complaint in complaints:
        print(complaint)
    print(f"check-fixtures: {len(names)} fixtures, {len(complaints)} complaints")
    return 1 if complaints else 0


def check(path: pathlib.Path) -> list[str]:
    text = path.read_text()
    directives = directives_of(text)
    missing = [name for name in REQUIRED if name not in directives]
    if missing:
        return [f"directive missing: {', '.join(missing)}"]
    complaints = []
    if not re.match(r"// \w", text):
        complaints.append("the first line must be a comment that says why the fixture exists")
    for compiler in ("gcc", CLANG):
        done = subprocess.run(
            [compiler, *WARNINGS, "-c", "-o", "/dev/null", str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            complaints.append(f"{compiler} complains:\n{done.stderr}")
    counted = len(goals_of(syntax_tree(preprocessed(path)), directives["function"]))
    if counted != int(directives["branches"]):
        complaints.append(f"says {directives['branches']} branches, its syntax tree has {counted}")
    infeasible = int(directives["infeasible"])
    explained = len(re.findall(r"/\* infeasible\b", text))
    if infeasible != explained:
        complaints.append(f"says {infeasible} goals are infeasible and explains {explained}")
    return complaints


def directives_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^//@ ([\w-]+): *(.*)$", text, re.MULTILINE))


def preprocessed(path: pathlib.Path) -> str:
    return subprocess.run([CLANG, "-E", "-P", str(path)], capture_output=True, text=True, check=True).stdout


def syntax_tree(text: str) -> dict:
    command = [CLANG, "-x", "cpp-output", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", "-"]
    return json.loads(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)


def goals_of(tree: dict, function: str) -> list[tuple[dict, str]]:
    """(syntax node, outcome) of every branch goal."""
    goals: list[tuple[dict, str]] = []
    for body in reachable_definitions(tree, function):
        collect_goals(body, goals)
    return goals


def reachable_definitions(tree: dict, function: str) -> list[dict]:
    """Function definitions that `function` may call, also through tables of function pointers."""
    definitions = {}
    for node in tree["inner"]:
        is_function = node["kind"] == "FunctionDecl" and any(c["kind"] == "CompoundStmt" for c in node.get("inner", []))
        if is_function or (node["kind"] == "VarDecl" and "inner" in node):
            definitions[node["name"]] = node
    if function not in definitions:
        raise SystemExit(f"no definition of {function}")
    reached, todo = {}, [function]
    while todo:
        name = todo.pop()
        if name in reached or name not in definitions:
            continue
        reached[name] = definitions[name]
        todo.extend(names_used(definitions[name]))
    return [node for node in reached.values() if node["kind"] == "FunctionDecl"]


def names_used(node: dict) -> list[str]:
    return [n["referencedDecl"]["name"] for n in descendants(node) if n.get("kind") == "DeclRefExpr"]


def descendants(node: dict):
    yield node
    for child in node.get("inner", []):
        yield from descendants(child)


def collect_goals(node: dict, goals: list[tuple[dict, str]]) -> None:
    condition = controlling_condition(node)
    if condition is not None and not is_constant(condition):
        goals += [(condition, "true"), (condition, "false")]
    kind = node.get("kind")
    if kind in ("CaseStmt", "DefaultStmt"):
        goals.append((node, "label"))
    if kind == "SwitchStmt" and not has_default(node):
        goals.append((node, "implicit default"))
    for child in node.get("inner", []):
        collect_goals(child, goals)


def controlling_condition(node: dict) -> dict | None:
    kind = node.get("kind")
    if kind in ("IfStmt", "WhileStmt", "ConditionalOperator"):
        return node["inner"][0]
    if kind == "DoStmt":
        return node["inner"][1]
    if kind == "ForStmt":  # init, condition variable, condition, step, body
        condition = node["inner"][2]
        return condition if condition.get("kind") else None
    return None


def is_constant(condition: dict) -> bool:
    def varies(node: dict) -> bool:
        if node.get("kind") == "CallExpr":
            return True
        return node.get("kind") == "DeclRefExpr" and node["referencedDecl"]["kind"] != "EnumConstantDecl"

    return not any(varies(node) for node in descendants(condition))


def has_default(switch: dict) -> bool:
    """Whether the switch itself, not one nested in it, has a default."""

    def search(node: dict) -> bool:
        if node.get("kind") == "SwitchStmt":
            return False
        return node.get("kind") == "DefaultStmt" or any(search(child) for child in node.get("inner", []))

    return any(search(child) for child in switch["inner"])


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the directives of the files in fixtures/, bench/units/, bench/chaining/ and bench/dataflow/ (see PLACES) are true.

Method: every fixture must start with a comment, have the directives `function`, `infeasible` and `branches` or `mcdc`, and
compile without a warning under gcc and clang. Its goals are then counted on clang's syntax tree, independently of
Quarry, over the function and everything it can call. Branch goals: two per `if while for do ?:` whose condition is not
constant, one per `case`, one per `default` (even if implicit). MC/DC goals: two per condition of every decision, one
per function, one per `return`, one per end of a body that may be reached.
Limit: only a condition without variables and calls counts as constant. A body's end counts as
reached unless its last statement is a `return` or a call of a function that does not return.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
PLACES = (
    "fixtures/branch",
    "fixtures/boundary",
    "fixtures/checked",
    "fixtures/causes",
    "fixtures/calls",
    "fixtures/float",
    "fixtures/inputs",
    "fixtures/library",
    "fixtures/mcdc",
    "fixtures/memory",
    "fixtures/programs",
    "fixtures/testcomp",
    "bench/units",
    "bench/chaining",
    "bench/dataflow",
)
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
REQUIRED = ("function", "infeasible")
COUNTED = ("boundaries", "branches", "mcdc")


def main() -> int:
    names = [pathlib.Path(name) for name in sys.argv[1:]]
    names = names or [path for place in PLACES for path in sorted((ROOT / place).glob("*.c"))]
    # the compilers do the work, one fixture for each processor
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(check, names))
    complaints = [f"{path.name}: {complaint}" for path, of_one in zip(names, found) for complaint in of_one]
    for complaint in complaints:
        print(complaint)
    print(f"check-fixtures: {len(names)} fixtures, {len(complaints)} complaints")
    return 1 if complaints else 0


def check(path: pathlib.Path) -> list[str]:
    text = path.read_text()
    directives = directives_of(text)
    missing = [name for name in REQUIRED if name not in directives]
    if not any(name in directives for name in COUNTED):
        missing.append(" or ".join(COUNTED))
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
    bodies = reachable_definitions(syntax_tree(preprocessed(path)), directives["function"])
    counted = {"boundaries": boundary_goals(bodies), "branches": len(goals_of(bodies)), "mcdc": mcdc_goals(bodies)}
    for name in COUNTED:
        if name in directives and counted[name] != int(directives[name]):
            complaints.append(f"says {directives[name]} {name}, its syntax tree has {counted[name]}")
    explained = explanations(text, "infeasible")
    stated = {"infeasible": explained}
    if "unique-cause-infeasible" in directives:
        stated["unique-cause-infeasible"] = explained + explanations(text, "unique-cause infeasible")
    for name, number in stated.items():
        if int(directives[name]) != number:
            complaints.append(f"{name}: says {directives[name]} and explains {number}")
    return complaints


def explanations(text: str, what: str) -> int:
    """How many goals are explained by comments that begin so; `(2)` behind it stands for two."""
    return sum(int(number or 1) for number in re.findall(rf"/\* {what}\b(?: \((\d+)\))?", text))


def directives_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"^//@ ([\w-]+): *(.*)$", text, re.MULTILINE))


def preprocessed(path: pathlib.Path) -> str:
    return subprocess.run([CLANG, "-E", "-P", str(path)], capture_output=True, text=True, check=True).stdout


def syntax_tree(text: str) -> dict:
    command = [CLANG, "-x", "cpp-output", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", "-"]
    return json.loads(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)


def goals_of(bodies: list[dict]) -> list[tuple[dict, str]]:
    """(syntax node, outcome) of every branch goal."""
    goals: list[tuple[dict, str]] = []
    for body in bodies:
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


def mcdc_goals(bodies: list[dict]) -> int:
    conditions = [c for body in bodies for d in decisions_in(body, False) for c in conditions_of(d) if not is_constant(c)]
    returns = [node for body in bodies for node in descendants(body) if node.get("kind") == "ReturnStmt"]
    ends = [body for body in bodies if may_end(body)]
    return 2 * len(conditions) + len(bodies) + len(returns) + len(ends)


def boundary_goals(bodies: list[dict]) -> int:
    conditions = [c for body in bodies for d in decisions_in(body, False) for c in conditions_of(d) if not is_constant(c)]
    return 3 * sum(compares_numbers(peel(condition)) for condition in conditions)


def compares_numbers(node: dict) -> bool:
    if node.get("kind") != "BinaryOperator" or node["opcode"] not in ("<", "<=", ">", ">=", "==", "!="):
        return False
    # as they are compared, after conversions
    types = [side["type"].get("desugaredQualType", side["type"]["qualType"]) for side in node["inner"]]
    return not any("*" in name or name in ("bool", "_Bool", "long double") for name in types)


def decisions_in(node: dict, inside: bool) -> list[dict]:
    """Decisions below, where `inside` says that the node is part of one already and is none by itself."""
    found = []
    control = controlling_condition(node)
    if control is not None and not (inside and node["kind"] == "ConditionalOperator"):
        found.append(control)
    if not inside and is_decision(node):
        found.append(node)
        inside = True
    operands = [id(operand) for operand in split(node)] if inside else []
    for child in node.get("inner", []):
        is_part = child is control or id(child) in operands or (inside and peel(node) is peel(child))
        found += decisions_in(child, is_part)
    return found


def is_decision(node: dict) -> bool:
    """Whether an expression whose value is used is a decision."""
    if node.get("kind") == "UnaryOperator":
        return node["opcode"] == "!"
    if node.get("kind") == "BinaryOperator" and node["opcode"] in ("==", "!=", "^"):
        return bool(split(node)) and any(is_logical(peel(operand)) for operand in node["inner"])
    return is_logical(node)


def is_logical(node: dict) -> bool:
    return node.get("opcode") in ("&&", "||", "!") and node["kind"] in ("UnaryOperator", "BinaryOperator")


def conditions_of(decision: dict) -> list[dict]:
    operands = split(peel(decision))
    return [c for operand in operands for c in conditions_of(operand)] if operands else [decision]


def split(node: dict) -> list[dict]:
    """The operands, if the node joins booleans."""
    inner = node.get("inner", [])
    if is_logical(node):
        return inner
    if node.get("kind") == "BinaryOperator" and node["opcode"] in ("==", "!=", "^"):
        return inner if all(is_boolean(operand) for operand in inner) else []
    if node.get("kind") == "ConditionalOperator":
        return inner if all(is_boolean(arm) for arm in inner[1:]) else []
    return []


def is_boolean(node: dict) -> bool:
    inner = peel(node)
    if inner.get("kind") == "BinaryOperator" and inner["opcode"] in ("<", "<=", ">", ">=", "==", "!="):
        return True
    return inner["type"]["qualType"] in ("bool", "_Bool") or is_logical(inner) or bool(split(inner))


def peel(node: dict) -> dict:
    while node.get("kind") in ("ParenExpr", "ImplicitCastExpr", "ConstantExpr"):
        node = node["inner"][0]
    return node


def may_end(function: dict) -> bool:
    body = next(child for child in function["inner"] if child["kind"] == "CompoundStmt")
    last = body.get("inner", [{}])[-1]
    stops = any("noreturn" in node.get("type", {}).get("qualType", "") for node in descendants(last))
    return last.get("kind") != "ReturnStmt" and not stops


if __name__ == "__main__":
    sys.exit(main())

"""Proofs that were damaged: in what they claim and how they are built, which no checker may accept, or in their formulas."""

import random
import re

# No proof remains when these are done to one.
STRUCTURAL = ("program", "truncated", "word")
KINDS = (*STRUCTURAL, "goal", "entry", "block", "exchanged", "clause", "constant", "operator", "formula", "inlined", "row", "value")

OPERATORS = ["bvslt", "bvsle", "bvsgt", "bvsge", "bvult", "bvule", "bvugt", "bvuge"]


def mutate(text: str, kind: str, rng: random.Random, others: list) -> str | None:
    """The text with one thing of this kind changed; nothing if it has none."""
    lines = text.splitlines()
    at = {word: [index for index, line in enumerate(lines) if line.startswith(word + " ")] for word in ("program", "goal", "entry", "cut", "inline")}
    match kind:
        case "program":
            index = at["program"][0]
            digits = lines[index].split()[1]
            place = rng.randrange(len(digits))
            lines[index] = f"program {digits[:place]}{(int(digits[place], 16) + 1) % 16:x}{digits[place + 1:]}"
        case "truncated":
            lines = lines[: rng.randrange(1, len(lines))]
        case "word":
            index = rng.choice([index for index, line in enumerate(lines) if line.strip()])
            lines[index] = re.sub(r"[a-z]{3,}", lambda found: found.group(0)[::-1] + "x", lines[index], count=1)
        case "goal":
            index = at["goal"][0]
            lines[index] = with_other_number(lines[index], rng, r"\b(true|false)\b|\d+")
        case "entry":
            index = at["entry"][0]
            lines[index] = with_other_number(lines[index], rng, r"\d+")
        case "block":
            if not at["cut"]:
                return None
            index = rng.choice(at["cut"])
            lines[index] = with_other_number(lines[index].split(";")[0], rng, r"\d+")
        case "exchanged":
            goal = rng.choice([line for other in others for line in other.splitlines() if line.startswith("goal ")])
            if lines[at["goal"][0]] == goal:
                return None
            lines[at["goal"][0]] = goal
        case "clause":
            clauses = [index for index, line in enumerate(lines) if line.startswith("    (")]
            if not clauses:
                return None
            gone = rng.choice(clauses)
            if lines[gone].count(")") > lines[gone].count("("):
                lines[gone] = "    true)"
            else:
                lines[gone] = "    true"
        case "constant":
            return changed(text, r"(?<=:)-?\d+", rng, lambda number: str(int(number) + rng.choice([-1, 1, 7])))
        case "operator":
            return changed(text, r"\bbv[su][lg][te]\b", rng, lambda word: rng.choice([one for one in OPERATORS if one != word]))
        case "formula":
            if not at["cut"]:
                return None
            index = rng.choice(at["cut"])
            end = next((later for later in range(index + 1, len(lines)) if not lines[later].startswith("  ")), len(lines))
            lines[index + 1 : end] = ["  " + rng.choice(["true", "false"])]
        case "row" | "value":
            rows = [index for index, line in enumerate(lines) if line.startswith("  row ")]
            if not rows:
                return None
            index = rng.choice(rows)
            if kind == "row":
                del lines[index]
            else:
                lines[index] = changed(lines[index], r"\d+", rng, lambda number: rng.choice(["_", str(int(number) + 1)]))
        case "inlined":
            if not at["inline"]:
                return None
            del lines[rng.choice(at["inline"])]
    damaged = "\n".join(lines) + "\n"
    return damaged if damaged != text else None


def changed(text: str, pattern: str, rng: random.Random, change) -> str | None:
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    one = rng.choice(found)
    return text[: one.start()] + change(one.group(0)) + text[one.end() :]


def with_other_number(line: str, rng: random.Random, pattern: str) -> str:
    found = rng.choice(list(re.finditer(pattern, line)))
    word = found.group(0)
    other = {"true": "false", "false": "true"}.get(word) or str(max(0, int(word) + rng.choice([-1, 1])))
    return line[: found.start()] + other + line[found.end() :]

"""csmith's programs with labels: statements of which it is known whether the program comes to them.

Method: `label_n = 1;` is inserted before statements of csmith's first function, some of it within `if`s whose conditions exclude each other.
The program is run natively and prints the labels that it came to.
"""

import dataclasses
import pathlib
import random
import re
import subprocess

FLAGS = ["-I/usr/include/csmith", "-w"]
OPTIONS = "--max-funcs 4 --max-block-depth 3 --max-block-size 4 --max-expr-complexity 6 --no-argc --no-float --seed".split()
SECONDS = 2
MOST_LABELS = 24


@dataclasses.dataclass
class Labelled:
    by_line: dict  # label by line
    reached: set
    excluded: set


def make(seed: int, directory: pathlib.Path) -> Labelled | None:
    """Writes program.c; nothing if csmith's program takes too long."""
    text = subprocess.run(["csmith", *OPTIONS, str(seed)], cwd=directory, check=True, capture_output=True, text=True, timeout=60).stdout
    lines, by_line, excluded = labelled(text.splitlines(), random.Random(seed))
    (directory / "program.c").write_text("\n".join(lines) + "\n")
    program = directory / "program"
    subprocess.run(["clang-19", "-O0", *FLAGS, "-o", program, directory / "program.c"], check=True, capture_output=True)
    try:
        said = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    reached = {int(number) for number in re.findall(r"^label (\d+)$", said.stdout, re.M)}
    return Labelled(by_line, reached, excluded) if by_line else None


def labelled(lines: list, rng: random.Random):
    main = next(index for index, line in enumerate(lines) if line.startswith("int main"))
    bodies = next(index for index, line in enumerate(lines) if "--- FUNCTIONS ---" in line)
    # not before declarations, which csmith puts first in a block
    own = next(index for index in range(bodies, main) if re.search(r"\bfunc_1\(void\)$", lines[index]))
    end = next(index for index in range(own, main) if lines[index].startswith("}"))
    places = [index for index in range(own, end) if re.match(r"^ +[a-z(*].*;$", lines[index]) and is_statement(lines, index)]
    chosen = set(rng.sample(places, min(len(places), MOST_LABELS)))
    written, by_line, excluded = [], {}, set()
    declared = "".join(f"static int label_{n};" for n in range(MOST_LABELS))
    for index, line in enumerate(lines):
        if index == bodies:
            written.append(declared)
        if index in chosen:
            n = len(by_line)
            if rng.random() < 0.4:
                guard = rng.choice(["label_0 > 5 && label_0 < 3", "crc32_context != crc32_context", "label_1 * label_1 == 2", "(label_2 & 6) == 1"])
                written.append(f"if ({guard})")
                excluded.add(n)
            written.append(f"label_{n} = 1;")
            by_line[len(written)] = n
        if index > main and line.strip().startswith("platform_main_end"):
            written += [f'if (label_{n}) printf("label {n}\\n");' for n in by_line.values()]
        written.append(line)
    return written, by_line, excluded


def is_statement(lines: list, index: int) -> bool:
    """Whether a statement may stand before this line: it begins one, and does not depend on the line before."""
    before = lines[index - 1].strip()
    declares = re.match(r"^ +(?:static |const |volatile |struct |union )*(?:u?int\d+_t|int|unsigned|char|short|long|float|double|void|S\d|U\d)\b", lines[index])
    return not declares and (before.endswith(";") or before == "{" or before == "}") and not before.startswith("for")

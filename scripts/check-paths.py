#!/usr/bin/env python3
"""Checks that every path a root document or a page of docs/ names exists.

Method: a path is a word in backticks, or a link's target, that has a slash or a known file ending and no placeholder in it.
It is looked up from the repository's root, links also from the document's own directory. Directories end in a slash.
Limit: fenced code is what a person types, not a claim about files here; it is not looked at.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
FILE_ENDINGS = (".rs", ".c", ".h", ".md", ".py", ".sh", ".toml", ".lock")
# What Quarry writes, users write or the system has is no path of the repository.
ELSEWHERE = re.compile(r"^(quarry\.(out|toml)|quarry_(unit|support|checks)\.|target|tests|harness|crashes|hangs|logs|coverage|report|~|/|\.\./)")


def main() -> int:
    wrong = [complaint for document in DOCUMENTS for complaint in check(document)]
    for complaint in wrong:
        print(complaint)
    print(f"check-paths: {len(DOCUMENTS)} documents, {len(wrong)} complaints")
    return 1 if wrong else 0


def check(document: pathlib.Path) -> list[str]:
    complaints = []
    fenced = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        for path, bases in paths_in(line, document):
            if not any(exists(base / path, path) for base in bases):
                complaints.append(f"{document.relative_to(ROOT)}:{number}: there is no {path}")
    return complaints


def paths_in(line: str, document: pathlib.Path):
    for word in re.findall(r"`([^`\s]+)`", line):
        looks_like_path = "/" in word or word.endswith(FILE_ENDINGS)
        if looks_like_path and not re.search(r"[…*<>{}$|=\[\]():]", word) and not ELSEWHERE.match(word):
            yield word, [ROOT]
    for target in re.findall(r"\]\(([^)\s#]+)", line):
        if "://" not in target:
            yield target, [document.parent]


def exists(path: pathlib.Path, written: str) -> bool:
    return path.is_dir() if written.endswith("/") else path.exists()


if __name__ == "__main__":
    sys.exit(main())

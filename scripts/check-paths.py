#!/usr/bin/env python3
"""Checks that paths and headings that documents refer to exist, and that docs/README.md links to every page of docs/.

Method: a path is a word in backticks that has a slash or a known file ending and no placeholder in it, or a link's target. Words
are looked up from the repository's root, links from the document's own directory. Directories end in a slash. A link with `#name`
needs a heading of that name in its document, as GitHub derives names from headings.
Limit: fenced code shows what a person types and is not checked.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = ROOT / "docs/README.md"
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
FILE_ENDINGS = (".rs", ".c", ".h", ".md", ".py", ".sh", ".toml", ".lock")
# What Quarry writes, users write or the system has is no path of the repository.
ELSEWHERE = re.compile(r"^(quarry\.(out|toml)|quarry_(unit|support|checks)\.|target|tests|harness|crashes|hangs|suspicions|logs|proofs|contradiction|coverage|report|~|/|\.\./)")


def main() -> int:
    wrong = [complaint for document in DOCUMENTS for complaint in check(document)]
    wrong += [f"{page.relative_to(ROOT)}: {INDEX.relative_to(ROOT)} has no link to this page" for page in unlisted()]
    for complaint in wrong:
        print(complaint)
    print(f"check-paths: {len(DOCUMENTS)} documents, {len(wrong)} complaints")
    return 1 if wrong else 0


def check(document: pathlib.Path) -> list[str]:
    complaints = []
    for number, line in prose(document):
        for path, base in [*words(line), *links(line, document)]:
            if not exists(base / path, path):
                complaints.append(f"{document.relative_to(ROOT)}:{number}: there is no {path}")
        for path, name in re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", line):
            target = document.parent / path if path else document
            if target.suffix == ".md" and target.exists() and name not in headings(target):
                complaints.append(f"{document.relative_to(ROOT)}:{number}: {path or document.name} has no heading #{name}")
    return complaints


def headings(document: pathlib.Path) -> set[str]:
    texts = [line.lstrip("#").strip().lower() for _, line in prose(document) if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", text).replace(" ", "-") for text in texts}


def unlisted() -> list[pathlib.Path]:
    """The pages of docs/ that the index does not link to."""
    listed = {(base / path).resolve() for _, line in prose(INDEX) for path, base in links(line, INDEX)}
    return sorted(set(ROOT.glob("docs/**/*.md")) - listed - {INDEX})


def prose(document: pathlib.Path):
    """The numbered lines outside of fenced code."""
    fenced = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def words(line: str):
    for word in re.findall(r"`([^`\s]+)`", line):
        looks_like_path = "/" in word or word.endswith(FILE_ENDINGS)
        if looks_like_path and not re.search(r"[…*<>{}$|=~\[\]():]", word) and not ELSEWHERE.match(word):
            yield word, ROOT


def links(line: str, document: pathlib.Path):
    for target in re.findall(r"\]\(([^)\s#]+)", line):
        if "://" not in target:
            yield target, document.parent


def exists(path: pathlib.Path, written: str) -> bool:
    return path.is_dir() if written.endswith("/") else path.exists()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the crates depend on each other as ARCHITECTURE.md draws it, and that no crate's modules form a cycle.

Crates: a row `name ─► other, other` of the diagram lists every crate of ours that `name` may use. Each arrow must be a dependency
in crates/name/Cargo.toml, each dependency must be an arrow, and each crate stands above the ones it uses. Dev-dependencies need no
arrow: tests may use any crate.

Modules: the nodes are a crate's top-level modules, the edges are the paths in its sources (`crate::a::b`, `super::a`, nested groups
of a `use`, names that lib.rs re-exports). Code under `#[cfg(test)]`, and files that only such code declares, do not count.
Limit: macros are not expanded, and a module that is reached through a re-export of another module counts as that other module.
"""

import argparse
import bisect
import dataclasses
import pathlib
import re
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Crates whose modules still form a cycle. It is an error to list a crate that has none.
NOT_YET_CLEAN = set()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="run the tests of this script")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the repository to check")
    arguments = parser.parse_args()
    if arguments.self_test:
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(SelfTest)
        return 0 if unittest.TextTestRunner(stream=sys.stdout).run(suite).wasSuccessful() else 1
    crates = sorted(manifest.parent for manifest in arguments.root.glob("crates/*/Cargo.toml"))
    complaints = check_crates(arguments.root, crates)
    for crate in crates:
        complaints += check_modules(arguments.root, crate)
    for complaint in complaints:
        print(complaint)
    print(f"check-architecture: {len(crates)} crates, {len(complaints)} complaints")
    return 1 if complaints else 0


# The crates


def check_crates(root: pathlib.Path, crates: list[pathlib.Path]) -> list[str]:
    drawn = drawn_arrows((root / "ARCHITECTURE.md").read_text())
    complaints = []
    order = list(drawn)
    names = {crate.name for crate in crates}
    for name in sorted(names - set(drawn)):
        complaints.append(f"ARCHITECTURE.md: the diagram has no row for the crate {name}")
    for name in sorted(set(drawn) - names):
        complaints.append(f"ARCHITECTURE.md: the diagram has a row for {name}, but there is no crates/{name}")
    for crate in crates:
        used = dependencies(root, crate)
        arrows = drawn.get(crate.name, set())
        for other in sorted(used - arrows):
            complaints.append(f"crates/{crate.name}/Cargo.toml depends on {other}, but ARCHITECTURE.md draws no arrow {crate.name} ─► {other}")
        for other in sorted(arrows - used):
            complaints.append(f"ARCHITECTURE.md draws the arrow {crate.name} ─► {other}, but crates/{crate.name}/Cargo.toml has no such dependency")
        for other in sorted(arrows & used & set(drawn)):
            if order.index(other) < order.index(crate.name):
                complaints.append(f"ARCHITECTURE.md: the arrow {crate.name} ─► {other} points up; {other} belongs below {crate.name}")
    return complaints


def drawn_arrows(document: str) -> dict[str, set[str]]:
    """The rows of the diagram: of the fenced block in which every line is a crate, an arrow and the crates it uses."""
    for block in re.findall(r"^```\n(.*?)^```", document, re.MULTILINE | re.DOTALL):
        rows = [re.fullmatch(r"([\w-]+)(?:\s+─►\s*([\w, -]*))?", line.strip()) for line in block.splitlines() if line.strip()]
        if any(rows) and "─►" in block and all(rows):
            return {row[1]: {name.strip() for name in (row[2] or "").split(",") if name.strip()} for row in rows}
    sys.exit("ARCHITECTURE.md has no diagram of crates: a fenced block with rows such as `engine ─► coverage, model`")


def dependencies(root: pathlib.Path, crate: pathlib.Path) -> set[str]:
    """The directories of the crates of ours that a crate needs to build."""
    shared = tomllib.loads((root / "Cargo.toml").read_text()).get("workspace", {}).get("dependencies", {})
    manifest = tomllib.loads((crate / "Cargo.toml").read_text())
    found = set()
    for table in [manifest, *manifest.get("target", {}).values()]:
        for kind in ("dependencies", "build-dependencies"):
            for name, entry in table.get(kind, {}).items():
                if isinstance(entry, dict) and entry.get("workspace"):
                    entry = shared.get(name, {})
                if isinstance(entry, dict) and "path" in entry:
                    found.add(pathlib.PurePath(entry["path"]).name)
    return found


# The modules


@dataclasses.dataclass(frozen=True)
class Edge:
    source: str
    target: str
    file: pathlib.Path
    line: int
    path: str


def check_modules(root: pathlib.Path, crate: pathlib.Path) -> list[str]:
    library = crate / "src" / "lib.rs"
    edges = module_edges(library if library.exists() else crate / "src" / "main.rs")
    cycles = [cycle for component in components(edges) for cycle in [shortest_cycle(edges, component)]]
    if crate.name in NOT_YET_CLEAN:
        return [] if cycles else [f"crates/{crate.name} has no cycle: remove it from NOT_YET_CLEAN in scripts/check-architecture.py"]
    complaints = []
    for cycle in cycles:
        names = " -> ".join([*(edge.source for edge in cycle), cycle[0].source])
        arrows = [f"    {edge.file.relative_to(root)}:{edge.line}: {edge.source} uses {edge.path}" for edge in cycle]
        complaints.append("\n".join([f"crates/{crate.name}: modules in a cycle: {names}", *arrows]))
    return complaints


def module_edges(crate_root: pathlib.Path) -> list[Edge]:
    """One edge for each ordered pair of top-level modules of which the first names the second. The crate root is a module as well."""
    files = list(module_files(crate_root))
    modules = {path[0] for path, _, _ in files if path}
    root_source = files[0][2]
    exported = {name: path[0] for path, name, _ in used_names(root_source) if path and path[0] in modules}
    edges: dict[tuple[str, str], Edge] = {}
    for path, file, source in files:
        for named, line in paths(source, path):
            origin = path[0] if path else crate_root.stem
            if not path and line in root_source.reexport_lines:
                continue
            if named[0] == "*":
                targets = modules
            elif named[0] in modules:
                targets = {named[0]}
            else:
                targets = {exported.get(named[0], crate_root.stem)}
            for target in targets - {origin}:
                edges.setdefault((origin, target), Edge(origin, target, file, line, "crate::" + "::".join(named)))
    return list(edges.values())


def module_files(crate_root: pathlib.Path):
    """The module path, the file and the source of each file that the crate root declares, outside of tests."""
    waiting = [((), crate_root)]
    while waiting:
        path, file = waiting.pop(0)
        source = Source(file.read_text())
        yield path, file, source
        directory = file.parent if file == crate_root or file.name == "mod.rs" else file.with_suffix("")
        for inner, name, explicit in source.declared:
            base = directory.joinpath(*inner)
            candidates = [file.parent / explicit] if explicit else [base / f"{name}.rs", base / name / "mod.rs"]
            for candidate in candidates:
                if candidate.exists():
                    waiting.append(((*path, *inner, name), candidate))


class Source:
    """A Rust file as tokens without comments, literals and code for tests."""

    def __init__(self, text: str):
        blank, self.texts = without_comments_and_literals(text)
        starts = [match.end() for match in re.finditer("\n", blank)]
        self.tokens = []
        for match in re.finditer(r"[^\W\d]\w*|::|\S", blank):
            self.tokens.append((match[0], bisect.bisect_right(starts, match.start()) + 1, match.start()))
        self.tokens = without_test_code(self.tokens)
        self.inline = list(inline_modules(self.tokens))
        self.declared = list(self.declarations())
        self.reexport_lines = {line for _, _, line in used_names(self)}

    def inner_path(self, position: int) -> tuple[str, ...]:
        """The inline modules around a token."""
        return tuple(name for start, end, name in self.inline if start < position < end)

    def declarations(self):
        for i, (token, _, _) in enumerate(self.tokens[:-2]):
            if token == "mod" and self.tokens[i + 2][0] == ";":
                yield self.inner_path(i), self.tokens[i + 1][0], self.path_attribute(i)

    def path_attribute(self, i: int) -> str | None:
        """The file of `#[path = "file"] mod name;`."""
        before = [token for token, _, _ in self.tokens[max(0, i - 8) : i]]
        for start in range(len(before)):
            if before[start : start + 4] == ["#", "[", "path", "="]:
                offset = self.tokens[max(0, i - 8) + start + 3][2]
                return next((literal for at, literal in self.texts if at > offset), None)
        return None


def without_comments_and_literals(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with spaces instead of comments and literals, and the contents of its string literals by their position."""
    pattern = re.compile(
        r"""(?P<line>//[^\n]*)|(?P<block>/\*)
        |(?P<raw>\b[bc]?r(?P<hashes>\#*)"(?P<raw_text>.*?)"(?P=hashes))
        |(?P<string>\b[bc]?"(?P<text>(?:\\.|[^"\\])*)"|"(?P<plain>(?:\\.|[^"\\])*)")
        |(?P<char>\bb?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'|'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])')""",
        re.VERBOSE | re.DOTALL,
    )
    pieces, texts, at = [], [], 0
    while match := pattern.search(text, at):
        end = match.end()
        if match["block"]:
            depth, end = 1, match.end()
            while depth and (mark := re.compile(r"/\*|\*/").search(text, end)):
                depth += 1 if mark[0] == "/*" else -1
                end = mark.end()
        for group in ("raw_text", "text", "plain"):
            if match[group] is not None:
                texts.append((match.start(), match[group]))
        pieces += [text[at : match.start()], re.sub(r"[^\n]", " ", text[match.start() : end])]
        at = end
    return "".join([*pieces, text[at:]]), texts


def without_test_code(tokens: list) -> list:
    """The tokens without each item that an attribute `#[cfg(test)]` stands before; nothing when the whole file is for tests."""
    kept, i = [], 0
    while i < len(tokens):
        inner = [token for token, _, _ in tokens[i : i + 3]] == ["#", "!", "["]
        if tokens[i][0] != "#" or not (inner or tokens[i + 1 : i + 2] and tokens[i + 1][0] == "["):
            kept.append(tokens[i])
            i += 1
            continue
        end = matching(tokens, i + (2 if inner else 1))
        attribute = [token for token, _, _ in tokens[i:end]]
        for_tests = "cfg" in attribute and "test" in attribute and "not" not in attribute and "any" not in attribute
        if for_tests and inner:
            return []
        if not for_tests:
            kept += tokens[i : end + 1]
            i = end + 1
            continue
        i = end_of_item(tokens, end + 1)
    return kept


def end_of_item(tokens: list, i: int) -> int:
    """The index after an item that starts at i: after its first `;` or its first braces that no bracket encloses."""
    is_use = False
    while i < len(tokens):
        token = tokens[i][0]
        is_use = is_use or token == "use"
        if token in "([{":
            i = matching(tokens, i)
            if token == "{" and not is_use:
                return i + 1
        elif token in (";", ","):
            return i + 1
        elif token in ")]}":
            return i
        i += 1
    return i


def matching(tokens: list, i: int) -> int:
    """The index of the bracket that closes the one at i."""
    depth = 0
    for end in range(i, len(tokens)):
        depth += (tokens[end][0] in "([{") - (tokens[end][0] in ")]}")
        if depth == 0:
            return end
    return len(tokens) - 1


def inline_modules(tokens: list):
    for i, (token, _, _) in enumerate(tokens[:-2]):
        if token == "mod" and tokens[i + 2][0] == "{":
            yield i + 2, matching(tokens, i + 2), tokens[i + 1][0]


def paths(source: Source, module: tuple[str, ...]):
    """Every path into the crate that a file of a module names, from the crate root, with its line."""
    tokens = source.tokens
    for i, (token, line, _) in enumerate(tokens):
        follows = tokens[i + 1][0] if i + 1 < len(tokens) else ""
        before = tokens[i - 1][0] if i else ""
        if before == "::" or follows != "::" or not re.match(r"[^\W\d]", token):
            continue
        here = (*module, *source.inner_path(i))
        # In the root and in the paths of 2018 code, a bare name may be a sibling; elsewhere only these three words reach out.
        if token not in ("crate", "super", "self") and here:
            continue
        for segments, _, at in tree(tokens, i):
            named = resolve(segments, here)
            if named:
                yield named, at


def resolve(segments: tuple[str, ...], here: tuple[str, ...]) -> tuple[str, ...]:
    base = () if segments[0] == "crate" else here
    for segment in segments:
        if segment == "super":
            base = base[:-1]
        elif segment not in ("crate", "self"):
            base = (*base, segment)
    return base


def tree(tokens: list, i: int):
    """The paths of a use tree that starts at i, each with the name it binds and its line."""
    prefix, line = [], tokens[i][1]
    while i < len(tokens):
        token, line, _ = tokens[i]
        if token == "{":
            end = matching(tokens, i)
            i += 1
            while i < end:
                for segments, name, at in tree(tokens, i):
                    yield (*prefix, *segments), (prefix[-1] if name == "self" and prefix else name), at
                depth_end = i
                while depth_end < end and tokens[depth_end][0] != ",":
                    depth_end = matching(tokens, depth_end) + 1 if tokens[depth_end][0] == "{" else depth_end + 1
                i = depth_end + 1
            return
        prefix.append(token)
        if i + 1 < len(tokens) and tokens[i + 1][0] == "::":
            i += 2
            continue
        renamed = i + 2 < len(tokens) and tokens[i + 1][0] == "as"
        yield tuple(prefix), (tokens[i + 2][0] if renamed else token), line
        return


def used_names(source: Source):
    """The names that `use` binds at the top of a file: the path from the crate root, the name, the line."""
    for i, (token, _, _) in enumerate(source.tokens[:-1]):
        if token == "use" and not source.inner_path(i):
            for segments, name, line in tree(source.tokens, i + 1):
                yield resolve(segments, ()), name, line


# Cycles


def components(edges: list[Edge]) -> list[set[str]]:
    """The sets of modules that reach each other."""
    nodes = sorted({name for edge in edges for name in (edge.source, edge.target)})
    reached = {node: reachable(edges, node) for node in nodes}
    found: list[set[str]] = []
    for node in nodes:
        component = {other for other in reached[node] if node in reached[other]}
        if len(component) > 1 and component not in found:
            found.append(component)
    return found


def reachable(edges: list[Edge], start: str) -> set[str]:
    seen, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        for edge in edges:
            if edge.source == node and edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return seen


def shortest_cycle(edges: list[Edge], component: set[str]) -> list[Edge]:
    inside = sorted((edge for edge in edges if {edge.source, edge.target} <= component), key=lambda edge: (edge.source, edge.target))
    found = [cycle for node in sorted(component) if (cycle := cycle_through(inside, node))]
    return min(found, key=len)


def cycle_through(edges: list[Edge], start: str) -> list[Edge]:
    """A shortest way from a module back to itself."""
    waiting, seen = [(start, [])], set()
    while waiting:
        node, way = waiting.pop(0)
        for edge in edges:
            if edge.source == node and edge.target == start:
                return [*way, edge]
            if edge.source == node and edge.target not in seen:
                seen.add(edge.target)
                waiting.append((edge.target, [*way, edge]))
    return []


class SelfTest(unittest.TestCase):
    def edges(self, files: dict[str, str]) -> set[tuple[str, str, int]]:
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                file = pathlib.Path(directory, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return {(edge.source, edge.target, edge.line) for edge in module_edges(pathlib.Path(directory, "lib.rs"))}

    def pairs(self, files: dict[str, str]) -> set[tuple[str, str]]:
        return {(source, target) for source, target, _ in self.edges(files)}

    def test_nested_groups_name_every_module(self):
        files = {"lib.rs": "mod a; mod b; mod c; mod d;", "b.rs": "", "c.rs": "", "d.rs": ""}
        files["a.rs"] = "use crate::{\n    b::{self, X, y::{Z, W}},\n    c,\n};\nfn f() { crate::d::g(); }"
        self.assertEqual(self.edges(files), {("a", "b", 2), ("a", "c", 3), ("a", "d", 5)})

    def test_comments_and_literals_name_nothing(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": ""}
        files["a.rs"] = (
            "//! crate::b\n/* crate::b /* crate::b */ crate::b */\n"
            'const A: &str = "crate::b \\" crate::b"; const B: &str = r#"crate::b " crate::b"#; const C: char = \'"\';\n'
            "fn f<'a>(x: &'a str) -> char { '\\'' }\n"
        )
        self.assertEqual(self.pairs(files), set())

    def test_a_lifetime_does_not_hide_what_follows(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": "", "a.rs": "fn f<'a, 'b>(x: &'a crate::b::T<'b>) {}"}
        self.assertEqual(self.pairs(files), {("a", "b")})

    def test_code_for_tests_does_not_count(self):
        files = {"lib.rs": "mod a; mod b;\n#[cfg(test)]\nmod testing;", "testing.rs": "use crate::a::X;", "b.rs": "", "a/tests.rs": "use crate::b::X;"}
        files["a.rs"] = (
            "#[cfg(test)]\nuse crate::{b::X};\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::b::Y; }\n"
            "#[cfg(test)]\nimpl A { fn f() -> [u8; 2] { crate::b::f() } }\nfn g() {}\n"
        )
        self.assertEqual(self.pairs(files), set())

    def test_code_after_code_for_tests_counts(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": "", "a.rs": "#[cfg(test)]\nconst A: [u8; 1] = [0];\nuse crate::b;"}
        self.assertEqual(self.edges(files), {("a", "b", 3)})

    def test_code_outside_of_tests_only_counts(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": "", "a.rs": "#[cfg(not(test))]\nuse crate::b;"}
        self.assertEqual(self.pairs(files), {("a", "b")})

    def test_super_is_relative_to_the_module_of_the_file(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": "mod inner { use super::super::a; }", "a/mod.rs": "mod c; mod b;", "a/b.rs": ""}
        files["a/c.rs"] = "use super::b; use super::super::b::X;"
        self.assertEqual(self.pairs(files), {("a", "b"), ("b", "a")})

    def test_super_inside_a_module_stays_there(self):
        files = {"lib.rs": "mod a; mod b;", "b.rs": "", "a.rs": "mod b;", "a/b.rs": "use super::X; use super::b::Y;"}
        self.assertEqual(self.pairs(files), set())

    def test_a_name_that_the_root_exports_leads_to_its_module(self):
        files = {"lib.rs": "mod a; mod b;\npub use b::{X, y as z};", "b.rs": "use crate::a;", "a.rs": "use crate::z;"}
        self.assertEqual(self.pairs(files), {("a", "b"), ("b", "a")})

    def test_what_the_root_itself_defines_is_a_module_as_well(self):
        files = {"lib.rs": "mod a;\npub struct X;\nfn f() { a::g(); }", "a.rs": "use crate::X;"}
        self.assertEqual(self.pairs(files), {("a", "lib"), ("lib", "a")})

    def test_cycles_are_found_and_as_short_as_possible(self):
        edges = [Edge(*pair, pathlib.Path("f"), 1, "") for pair in ("ab", "bc", "ca", "cd", "dc", "de")]
        self.assertEqual(components(edges), [set("abcd")])
        self.assertEqual([edge.source for edge in shortest_cycle(edges, set("abcd"))], ["c", "d"])
        self.assertEqual(components([edge for edge in edges if edge.target not in "ac"]), [])

    def test_arrows_are_the_rows_of_the_diagram(self):
        document = "```\nC ──► goals\n │\n```\n\n```\ncli ─► engine, model\nengine ─► bitwuzla-sys\nmodel\nbitwuzla-sys\n```\n"
        self.assertEqual(drawn_arrows(document), {"cli": {"engine", "model"}, "engine": {"bitwuzla-sys"}, "model": set(), "bitwuzla-sys": set()})

    def test_arrows_and_dependencies_must_agree(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in {
                "Cargo.toml": '[workspace.dependencies]\nb = { path = "crates/b" }\nc = { path = "crates/c" }\n',
                "crates/a/Cargo.toml": '[dependencies]\nb.workspace = true\nlibc = "1"\n[dev-dependencies]\nc.workspace = true\n',
                "crates/b/Cargo.toml": '[dependencies]\nc = { path = "../c" }\n',
                "crates/c/Cargo.toml": "",
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            crates = sorted((root / "crates").iterdir())
            for diagram, n_complaints in {"a ─► b\nb ─► c\nc": 0, "a\nb ─► c\nc": 1, "a ─► b, c\nb ─► c\nc": 1, "b ─► c\na ─► b\nc": 1, "a ─► b\nb ─► c": 1}.items():
                (root / "ARCHITECTURE.md").write_text(f"```\n{diagram}\n```\n")
                self.assertEqual(len(check_crates(root, crates)), n_complaints, diagram)


if __name__ == "__main__":
    sys.exit(main())

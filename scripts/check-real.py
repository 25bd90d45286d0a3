#!/usr/bin/env python3
"""Puts real packages through the front end and compares instrumented programs with native ones.

Method: sources of zlib, cJSON, libcsv, http-parser and Lua are fetched into a cache (real/sources.py). Every translation
unit is lowered to a verified model; then whole programs are built twice, by plain clang -O0 and by Quarry, and run on the
same input: output, errors, exit code and written files must be the same.
Limit: one version per package, on the host's own target.
"""

import argparse
import concurrent.futures
import dataclasses
import filecmp
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "scripts/real"
sys.dont_write_bytecode = True  # leaves no cache beside the data
sys.path.insert(0, str(DATA))
import sources  # noqa: E402  (lives beside the data it fetches for)

CLANG = "clang-19"


@dataclasses.dataclass(frozen=True)
class Program:
    """A whole program: its sources by pattern, and runs of it as (arguments, file for standard input)."""

    name: str
    sources: tuple[str, ...]
    runs: tuple[tuple[tuple[str, ...], pathlib.Path | None], ...]
    without: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    units: tuple[str, ...]
    flags: tuple[str, ...]
    programs: tuple[Program, ...]
    libraries: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # names its sources expect of an installed copy, and what they stand for


def compressed(path: pathlib.Path) -> pathlib.Path:
    """The file gzipped, beside the fetched sources."""
    gz = sources.cache_directory() / f"{path.name}.gz"
    gz.parent.mkdir(parents=True, exist_ok=True)
    gz.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    return gz


TEXT = DATA / "work.lua"
CSV = DATA / "records.csv"
PACKAGES = (
    Package(
        "zlib",
        ("*.c", "test/example.c", "test/minigzip.c"),
        ("-I.", "-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1"),
        (
            Program("example", ("*.c", "test/example.c"), (((), None),)),
            Program("minigzip", ("*.c", "test/minigzip.c"), (((), TEXT), (("-9", "-r"), TEXT), (("-d",), compressed(TEXT)))),
        ),
    ),
    Package(
        "cjson",
        ("cJSON.c", "cJSON_Utils.c", "test.c", str(DATA / "parse_json.c")),
        ("-I.",),
        (
            Program("test", ("cJSON.c", "cJSON_Utils.c", "test.c"), (((), None),)),
            Program("parse_json", ("cJSON.c", str(DATA / "parse_json.c")), (((), DATA / "documents.jsonl"),)),
        ),
        ("-lm",),
    ),
    Package(
        "libcsv",
        ("libcsv.c", "test_csv.c", "examples/*.c"),
        ("-I.",),
        (
            Program("test_csv", ("libcsv.c", "test_csv.c"), (((), None),)),
            Program("csvtest", ("libcsv.c", "examples/csvtest.c"), (((), CSV), (("-s",), CSV))),
            Program("csvinfo", ("libcsv.c", "examples/csvinfo.c"), (((str(CSV),), None), (("-s", str(CSV)), None))),
            Program("csvvalid", ("libcsv.c", "examples/csvvalid.c"), (((str(CSV),), None),)),
            Program("csvfix", ("libcsv.c", "examples/csvfix.c"), (((str(CSV), "fixed.csv"), None),)),
        ),
        links=(("libcsv", "."),),
    ),
    Package(
        "http-parser",
        ("http_parser.c", "test.c", "bench.c"),
        ("-I.", "-DHTTP_PARSER_STRICT=1"),
        (
            Program("test", ("http_parser.c", "test.c"), (((), None),)),
            Program("bench", ("http_parser.c", "bench.c"), ()),  # parses gigabytes: built, not run
        ),
    ),
    Package(
        "lua5.4",
        ("src/*.c",),
        ("-Isrc", "-std=gnu99", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX"),
        (
            Program("lua", ("src/*.c",), (((str(TEXT),), None), (("-",), TEXT), (("-v", "-e", "x ="), None)), ("src/luac.c",)),
            Program("luac", ("src/*.c",), ((("-o", "out.luac", str(TEXT)), None),), ("src/lua.c",)),
        ),
        ("-lm", "-ldl"),
    ),
)


@dataclasses.dataclass
class Row:
    """A package's line of the table, and what went wrong in it."""

    package: str
    units: int = 0
    lines: int = 0
    seconds: float = 0.0
    decisions: int = 0
    gaps: int = 0
    programs: int = 0
    runs: int = 0
    complaints: list[str] = dataclasses.field(default_factory=list)


def main() -> int:
    options = parse_arguments()
    chosen = [p for p in PACKAGES if not options.packages or p.name in options.packages]
    rows = []
    for package in chosen:
        try:
            directory = sources.fetch(package.name)
        except sources.FetchError as error:
            rows.append(Row(package.name, complaints=[f"not fetched: {error}"]))
            continue
        if options.fetch_only:
            print(f"{package.name}: {directory}")
            continue
        rows.append(check(package, directory, options))
        print_row(rows[-1], header=len(rows) == 1)
    failed = [row for row in rows if row.complaints]
    for row in failed:
        for complaint in row.complaints:
            print(f"{row.package}: {complaint}")
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", help=f"some of: {' '.join(p.name for p in PACKAGES)} (default: all)")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry", help="the binary to check")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="translation units in parallel (default 2)")
    parser.add_argument("--limit", type=float, default=300.0, metavar="SECONDS", help="for each build and each run")
    parser.add_argument("--fetch-only", action="store_true", help="only fill the cache")
    options = parser.parse_args()
    unknown = set(options.packages) - {package.name for package in PACKAGES}
    if unknown:
        parser.error(f"unknown package {', '.join(sorted(unknown))}")
    options.quarry = options.quarry.resolve()
    if not options.fetch_only and shutil.which(str(options.quarry)) is None:
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def check(package: Package, directory: pathlib.Path, options: argparse.Namespace) -> Row:
    started = time.monotonic()
    row = Row(package.name)
    for name, target in package.links:
        if not (directory / name).is_symlink():
            (directory / name).symlink_to(target)
    units, absent = expand(directory, package.units)
    row.complaints += [f"the fetched sources have no {pattern}" for pattern in absent]
    row.units = len(units)
    row.lines = sum(path.read_bytes().count(b"\n") for path in units)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda unit: lower(unit, package, directory, row, options), units))
    with tempfile.TemporaryDirectory(prefix="quarry-real-") as scratch:
        for program in package.programs:
            compare(program, package, directory, pathlib.Path(scratch) / program.name, row, options)
    row.seconds = time.monotonic() - started
    return row


def expand(
    directory: pathlib.Path, patterns: tuple[str, ...], without: tuple[str, ...] = ()
) -> tuple[list[pathlib.Path], list[str]]:
    """The files that match, and the patterns that match nothing."""
    found: list[pathlib.Path] = []
    absent = []
    for pattern in patterns:
        matches = [pathlib.Path(pattern)] if pattern.startswith("/") else sorted(directory.glob(pattern))
        found += matches
        if not matches:
            absent.append(pattern)
    return [path for path in found if path not in {directory / name for name in without}], absent


def lower(unit: pathlib.Path, package: Package, directory: pathlib.Path, row: Row, options: argparse.Namespace) -> None:
    command = [f"{options.quarry}-dev", "lower", str(unit), "--", *package.flags]
    done = run(command, directory, options.limit)
    if done is None:
        row.complaints.append(f"dev lower {unit.name}: took too long")
    elif done.returncode != 0:
        row.complaints.append(f"dev lower {unit.name}: ended with {done.returncode}: {tail(done.stderr)}")
    else:
        counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stderr.decode(errors="replace"))}
        if "decisions" not in counts or "gaps" not in counts:
            row.complaints.append(f"dev lower {unit.name}: no counts in {tail(done.stderr)!r}")
            return
        row.gaps += counts["gaps"]
        row.decisions += counts["decisions"]


def compare(
    program: Program, package: Package, directory: pathlib.Path, scratch: pathlib.Path, row: Row, options: argparse.Namespace
) -> None:
    paths, absent = expand(directory, program.sources, program.without)
    if absent:
        row.complaints.append(f"{program.name}: not built, for want of {', '.join(absent)}")
        return
    scratch.mkdir()
    files = [str(path) for path in paths]
    flags = [*package.flags, *package.libraries]
    native, instrumented = scratch / "native.exe", scratch / "instrumented.exe"
    builds = {
        native: [CLANG, "-O0", "-w", "-o", str(native), *files, *flags],
        instrumented: [f"{options.quarry}-dev", "build", *files, "-o", str(instrumented), "--", *flags],
    }
    for exe, command in builds.items():
        done = run(command, directory, options.limit)
        if done is None or done.returncode != 0:
            why = "took too long" if done is None else f"ended with {done.returncode}: {tail(done.stderr)}"
            row.complaints.append(f"{program.name}: {exe.stem} does not build: {why}")
            return
    row.programs += 1
    for number, (arguments, stdin) in enumerate(program.runs):
        row.runs += 1
        outcomes = {}
        for exe in builds:
            work = scratch / f"{number}-{exe.stem}"
            work.mkdir()
            # The same name for both: programs print argv[0].
            link = scratch / program.name
            link.unlink(missing_ok=True)
            link.symlink_to(exe)
            outcomes[exe] = (run([str(link), *arguments], work, options.limit, stdin), work)
        if difference := difference_of(*outcomes[native], *outcomes[instrumented]):
            row.complaints.append(f"{program.name} {' '.join(arguments)}: {difference}")


def difference_of(native, native_dir: pathlib.Path, other, other_dir: pathlib.Path) -> str | None:
    if native is None or other is None:
        return f"{'native' if native is None else 'instrumented'} took too long"
    if native.returncode != other.returncode:
        return f"ended with {other.returncode}, natively {native.returncode}: {tail(other.stderr)}"
    for stream in ("stdout", "stderr"):
        ours, theirs = getattr(other, stream), getattr(native, stream)
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            return f"{stream} differs at byte {at}: {ours[at:at + 40]!r}, natively {theirs[at:at + 40]!r}"
    names = [sorted(path.name for path in directory.iterdir()) for directory in (native_dir, other_dir)]
    if names[0] != names[1]:
        return f"wrote the files {names[1]}, natively {names[0]}"
    _, mismatch, errors = filecmp.cmpfiles(native_dir, other_dir, names[0], shallow=False)
    return f"wrote other bytes into {', '.join(mismatch + errors)}" if mismatch or errors else None


def run(command: list[str], directory: pathlib.Path, limit: float, stdin: pathlib.Path | None = None):
    """The finished process with bytes of both streams, or None when it took too long."""
    with open(stdin or "/dev/null", "rb") as source:
        try:
            return subprocess.run(command, cwd=directory, stdin=source, capture_output=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None


def tail(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "no message"


def print_row(row: Row, header: bool) -> None:
    if header:
        print(f"{'package':12} {'units':>5} {'lines':>7} {'decisions':>9} {'gaps':>5} {'programs':>8} {'runs':>5} {'seconds':>8}  native = instrumented")
    verdict = "yes" if not row.complaints else "NO"
    print(
        f"{row.package:12} {row.units:5} {row.lines:7} {row.decisions:9} {row.gaps:5} {row.programs:8} {row.runs:5} {row.seconds:8.1f}  {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())

"""Functions with generated suites, on which Quarry's measurements are compared with clang's.

Method: a source is preprocessed to one file without macros but with its system includes, so that a position means the same to
both tools and the replay program can include it. Each function of the file gets a suite from `quarry gen`; functions that Quarry
cannot call are left out with the reason.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import llvm

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/real"))
import sources  # noqa: E402  (fetches the packages)

GROUPS = ("fixtures", "csmith", "zlib", "cjson")
CSMITH = "csmith --max-funcs 4 --max-block-depth 3 --max-block-size 4 --max-expr-complexity 6 --no-float --no-argc".split()
N_PROGRAMS = 8
DIRECTIVE = re.compile(r"^//@ ([\w-]+): *(.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Unit:
    """A translation unit; without functions named, all that it defines."""

    group: str
    source: pathlib.Path
    flags: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@dataclasses.dataclass
class Subject:
    """A function with its suite, and the native program that replays it."""

    unit: Unit
    function: str
    source: pathlib.Path  # preprocessed
    suite: pathlib.Path
    tests: list[str]
    replay: llvm.Replay
    wrong: dict[str, str]  # tests that are not compared, and why

    def covered(self, quarry: pathlib.Path, tests: list[str], options: list[str]) -> list[tuple[dict, bool]]:
        """Every goal, and whether these tests cover it as `quarry cover` measures."""
        part = self.suite.parent / "part"
        part.mkdir(exist_ok=True)
        for old in part.iterdir():
            old.unlink()
        for test in tests:
            (part / f"{test}.json").write_bytes((self.suite / f"{test}.json").read_bytes())
        command = [str(quarry), "cover", str(self.source), str(part), "--function", self.function, *options]
        command += ["--message-format", "json", *lengths(self.unit.arguments), "--", "-w", *self.unit.flags]
        summary = json.loads(run(command, self.source.parent).splitlines()[-1])
        if summary["unmeasured"]:
            raise llvm.NativeError(f"{self.function}: {summary['unmeasured']}")
        added = [goal for measured in summary["inputs"] for goal in measured["adds"]]
        return [(goal, True) for goal in added] + [(goal, False) for goal in summary["uncovered"]]


class Result:
    """What comparing one function gave."""

    def __init__(self):
        self.counts = collections.Counter()
        self.complaints: list[str] = []


def parse_arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=f"some of: {' '.join(GROUPS)} (default: all)")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry", help="the binary to check")
    parser.add_argument("--budget", default="3s", help="for each suite (default 3s)")
    parser.add_argument("--limit", type=float, default=20.0, metavar="SECONDS", help="for each native run")
    parser.add_argument("--function", help="only functions with this name")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="units at a time (default 2)")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the functions that are left out")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"unknown group {', '.join(sorted(unknown))}")
    options.quarry = options.quarry.resolve()
    if shutil.which(str(options.quarry)) is None:
        parser.error(f"{options.quarry} is missing (run cargo build --release)")
    return options


def check_all(options: argparse.Namespace, check, name: str, columns: tuple[str, ...]) -> int:
    """Lets `check(subject, options, result)` compare every function, prints the table and gives the exit code."""
    counts = collections.defaultdict(collections.Counter)
    complaints, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="quarry-native-") as scratch:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            work = pathlib.Path(scratch)
            units = fixtures() + random_programs(work) + packages()
            units = [unit for unit in units if not options.groups or unit.group in options.groups]
            jobs = [pool.submit(check_unit, unit, work / str(number), options, check) for number, unit in enumerate(units)]
            for unit, job in zip(units, jobs):
                for function, result in job.result():
                    where = f"{unit.source.name}: {function}"
                    if isinstance(result, str):
                        left_out.append(f"{where}: {result}")
                    else:
                        counts[unit.group].update(result.counts)
                        complaints += [f"{where}: {complaint}" for complaint in result.complaints]
    columns = ("functions", "tests", "not run", *columns)
    print(f"{'':10} " + " ".join(f"{column:>11}" for column in columns))
    for group, row in counts.items():
        print(f"{group:10} " + " ".join(f"{row[column]:11}" for column in columns))
    print(f"{len(left_out)} functions are left out" + (":" if options.verbose else " (--verbose names them)"))
    for line in (left_out if options.verbose else []) + complaints:
        print(line)
    print(f"{name}: {len(complaints)} disagreements without an explanation")
    return 1 if complaints else 0


def check_unit(unit: Unit, work: pathlib.Path, options: argparse.Namespace, check) -> list[tuple[str, Result | str]]:
    results = []
    source, functions = prepare(unit, work, options)
    for function in functions:
        if options.function in (None, function):
            results.append((function, check_function(unit, source, function, work / function, options, check)))
    if options.verbose and results:
        print(f"{unit.source.name}: {len(results)} functions", file=sys.stderr, flush=True)
    return results


def check_function(unit: Unit, source: pathlib.Path, function: str, work: pathlib.Path, options, check) -> Result | str:
    result = Result()
    try:
        subject = generate(unit, source, function, options, work)
        if isinstance(subject, str):
            return subject
        result.counts["functions"] += 1
        result.counts["tests"] += len(subject.tests)
        result.counts["not run"] += len(subject.wrong)
        check(subject, options, result)
    except llvm.NativeError as error:
        result.complaints.append(str(error))
    shutil.rmtree(work)
    return result


def fixtures() -> list[Unit]:
    units = []
    for path in sorted(ROOT.glob("fixtures/mcdc/*.c")) + sorted(ROOT.glob("fixtures/branch/*.c")):
        directives = dict(DIRECTIVE.findall(path.read_text()))
        arguments = tuple(directives.get("args", "").split())
        units.append(Unit("fixtures", path, (), (directives["function"],), arguments))
    return units


def random_programs(work: pathlib.Path) -> list[Unit]:
    units = []
    for seed in range(1, N_PROGRAMS + 1):
        program = work / f"csmith{seed}.c"
        program.write_text(run([*CSMITH, "--seed", str(seed)], work))
        units.append(Unit("csmith", program, ("-I/usr/include/csmith",)))
    return units


def packages() -> list[Unit]:
    zlib, cjson = sources.fetch("zlib"), sources.fetch("cjson")
    flags = ("-I.", "-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1")
    units = [Unit("zlib", path, flags) for path in sorted(zlib.glob("*.c"))]
    return units + [Unit("cjson", cjson / name, ("-I.",)) for name in ("cJSON.c", "cJSON_Utils.c")]


def prepare(unit: Unit, work: pathlib.Path, options: argparse.Namespace) -> tuple[pathlib.Path, list[str]]:
    """The preprocessed source, and functions of the unit itself: those with a goal of `options.choose` that says
    `options.chosen`."""
    work.mkdir(parents=True, exist_ok=True)
    source = work / unit.source.name
    command = [llvm.CLANG, "-E", "-P", "-Xclang", "-fkeep-system-includes", *unit.flags, str(unit.source), "-o", str(source)]
    run(command, unit.source.parent)
    if unit.functions:
        return source, list(unit.functions)
    command = [str(options.quarry), "goals", str(unit.source), "--criterion", options.choose, "--message-format", "json", "--"]
    goals = json.loads(run([*command, *unit.flags], unit.source.parent).splitlines()[-1])["goals"]
    here = [goal for goal in goals if pathlib.Path(goal["file"]).name == unit.source.name]
    chosen = {goal["function"]: None for goal in here if options.chosen.search(goal["demand"])}
    return source, list(chosen)


def generate(unit: Unit, source: pathlib.Path, function: str, options, work: pathlib.Path) -> Subject | str:
    """A subject, or why there is none."""
    work.mkdir(parents=True, exist_ok=True)
    out = work / "out"
    command = [str(options.quarry), "gen", "--fresh", str(source), "--function", function, "--criterion", options.criterion]
    command += ["--budget", options.budget, "--quiet", "-o", str(out), *unit.arguments, "--", "-w", *unit.flags]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        return f"no suite: {last_line(done.stderr)}"
    tests = sorted(path.stem for path in (out / "tests").glob("*.json"))
    if not tests:
        return "no test ends in order"
    native = work / "native"
    native.mkdir(exist_ok=True)
    replay = llvm.Replay(out / "tests/replay.c", source, native, (*unit.flags, "-lm"))
    wrong = {test: why for test in tests if (why := why_not(out / f"tests/{test}.json") or replay.run(test, options.limit))}
    if len(wrong) == len(tests):
        return f"each test {' or '.join(sorted(set(wrong.values())))}"
    return Subject(unit, function, source, out / "tests", [test for test in tests if test not in wrong], replay, wrong)


def why_not(test: pathlib.Path) -> str | None:
    """llvm-cov computes counts as if every call came back."""
    return None if json.loads(test.read_text())["end"] == "returned" else "ends the program in a call"


def lengths(arguments: tuple[str, ...]) -> list[str]:
    """The options of gen that cover takes too."""
    pairs = zip(arguments, arguments[1:])
    return [word for option, value in pairs if option == "--len" for word in (option, value)]


def run(command: list[str], directory: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise llvm.NativeError(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return done.stdout


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else "no message"

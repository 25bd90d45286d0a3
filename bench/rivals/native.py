"""Native builds of a function with its harness: one that libFuzzer drives, one that measures.

Method: the harness that Quarry generated is compiled after the function's own source, unchanged, and linked with `cells.c`, which
supplies values from a fuzzer's bytes, from a test's cells or at random. The one measuring build replays all inputs of all
tools, each in its own process, and keeps the counts even if they crash.
Limit: macros of the source are still defined in the harness; one with the name of a parameter would change it.
"""

import dataclasses
import json
import os
import pathlib
import re
import resource
import subprocess

import llvm
from compare.units import Unit

HERE = pathlib.Path(__file__).resolve().parent
# what Quarry's own build takes C to mean
MEANING = ("-fwrapv", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks")
FUZZER = ("-O1", "-fsanitize=fuzzer", "-Wl,--wrap=exit")
USER_MAIN = "__quarry_user_main"  # as harnesses call it
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
MEMORY = 2 << 30
N_FILES = 500  # for one call of the measuring build
N_COLUMNS, BRANCH_COLUMN = 10, 7  # of llvm-cov's report on functions

Outcome = tuple[str, int, int]  # function, number of the branch or decision in it, and which outcome or condition of it


@dataclasses.dataclass(frozen=True)
class Place:
    file: str
    line: int


@dataclasses.dataclass
class Coverage:
    """What a set of inputs covers of the functions that count."""

    branches: set[Outcome]
    conditions: set[Outcome]
    places: dict[Outcome, Place]  # of branches
    n_branches: int
    n_conditions: int


class Objects:
    """The drivers, compiled once."""

    def __init__(self, work: pathlib.Path):
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        for name in ("cells", "program", "guard", "confine", "fuzz", "fuzz_program", "replay"):
            self.compile(name, name)
        self.compile("replay", "replay_program", "-DBATCH=1")

    def compile(self, source: str, name: str, *flags: str) -> None:
        llvm.tool([llvm.CLANG, "-O2", *flags, "-c", str(HERE / f"{source}.c"), "-o", str(self.work / f"{name}.o")])

    def of(self, main: str, unit: Unit) -> list[str]:
        """What a build is linked with whose driver is `main`."""
        names = ("cells", "program", "guard", "confine", f"{main}_program" if unit.is_program else main)
        return [str(self.work / f"{name}.o") for name in names]


class Native:
    """A function's two builds."""

    def __init__(self, unit: Unit, harness: pathlib.Path, objects: Objects, work: pathlib.Path):
        self.unit, self.work = unit, work
        self.fuzzer, self.program = work / "fuzzer", work / "replay"
        (work / "scratch").mkdir()
        text = work / "unit.c"
        text.write_text(unit_text(unit, harness))
        source = [str(text), *unit.files[1:], *unit.flags, f"-Dmain={USER_MAIN}", "-w", *MEANING]
        for flags, driver, program in ((FUZZER, "fuzz", self.fuzzer), (llvm.FLAGS, "replay", self.program)):
            command = [llvm.CLANG, *flags, *source, *objects.of(driver, unit), "-o", str(program), "-lm"]
            llvm.build(command, work, unit.directory)

    def input_size(self) -> int:
        """The bytes that the harness asks for, at most in a few tries where that depends on their values."""
        return max(int(self.run(["size"], 120)), 1)

    def replay(self, mode: str, files: list[pathlib.Path], name: str) -> pathlib.Path:
        """Runs these inputs; where their counts are."""
        counts = self.counts(name)
        for first in range(0, max(len(files), 1), N_FILES):  # once even for none: counts of zero
            some = [str(file) for file in files[first : first + N_FILES]]
            self.run([mode, str(counts), *some], 10 + 3 * len(some))
        return counts

    def random(self, seconds: float, seed: int, name: str) -> pathlib.Path:
        counts = self.counts(name)
        self.run(["random", str(counts), f"{seconds}", f"{seed}"], 60 + 2 * seconds)
        return counts

    def counts(self, name: str) -> pathlib.Path:
        directory = self.work / f"{name}-counts"
        directory.mkdir()
        return directory

    def run(self, arguments: list[str], limit: float) -> str:
        command = [str(self.program), *arguments]
        done = subprocess.run(
            command, cwd=self.work, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
            check=False, preexec_fn=bound,
        )  # fmt: skip
        if done.returncode != 0:
            raise llvm.NativeError(f"{' '.join(command[:3])}: exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def measure(self, counts: pathlib.Path, functions: set[tuple[str, str]]) -> Coverage:
        """Coverage of these functions, given by file and name."""
        merged = counts / "merged.profdata"
        llvm.tool([llvm.PROFDATA, "merge", *map(str, counts.glob("*.profraw")), "-o", str(merged)])
        profile = [str(self.program), "-instr-profile", str(merged)]
        export = json.loads(llvm.tool([llvm.COV, "export", *profile, "-skip-expansions"]))
        records = [record for record in export["data"][0]["functions"] if counts_for(record, functions)]
        coverage = Coverage(set(), set(), {}, 0, 0)
        for record in records:
            add_function(coverage, record)
        totals = self.n_branches(profile, {record["filenames"][0] for record in records})
        coverage.n_branches = sum(totals.get(record["name"], 0) for record in records)
        return coverage

    def n_branches(self, profile: list[str], files: set[str]) -> dict[str, int]:
        """Branch outcomes by function as llvm-cov counts them: without those of constant conditions."""
        found = {}
        command = [llvm.COV, "report", *profile, "--show-functions", "--show-branch-summary", *sorted(files)]
        for line in llvm.tool(command).splitlines():
            words = line.split()
            if len(words) == N_COLUMNS and words[BRANCH_COLUMN].isdigit():
                found[words[0]] = int(words[BRANCH_COLUMN])
        return found


def unit_text(unit: Unit, harness: pathlib.Path) -> str:
    text = f'#include "{unit.directory / unit.files[0]}"\n'
    function = unit.function
    by_pointer = re.search(rf"\*__quarry_\w+ = {function};", harness.read_text())
    if not unit.is_program and not by_pointer:
        # a call whose result is not used may be left out by the compiler
        text += f"static __typeof__({function}) *volatile quarry_called = {function};\n"
        text += f"#define {function} (*quarry_called)\n"
    return text + f'#include "{harness}"\n'


def counts_for(record: dict, functions: set[tuple[str, str]]) -> bool:
    file, name = os.path.basename(record["filenames"][0]), record["name"].rsplit(":", 1)[-1]
    return (file, "main" if name == USER_MAIN else name) in functions


def add_function(coverage: Coverage, record: dict) -> None:
    name, files = record["name"], record["filenames"]
    for number, (line, _, _, _, n_true, n_false, file, _, _) in enumerate(record["branches"]):
        for outcome, count in ((1, n_true), (0, n_false)):
            coverage.places[name, number, outcome] = Place(os.path.basename(files[file]), line)
            if count:
                coverage.branches.add((name, number, outcome))
    for number, decision in enumerate(record["mcdc_records"]):
        shown = decision[-1]
        coverage.n_conditions += len(shown)
        coverage.conditions |= {(name, number, condition) for condition, covered in enumerate(shown) if covered}


def bound() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))

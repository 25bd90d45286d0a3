"""What clang's own tools measure on a native build of a replayed suite.

Method: the replay program is built once with source-based coverage and MC/DC, each test runs alone and leaves its own profile,
and profiles of any part of the suite are merged. Counts come from the JSON export, evaluated vectors of decisions from the
text that `llvm-cov show --show-mcdc` prints, because the export of version 19 omits them.
A test that accesses memory it does not own (by AddressSanitizer) is ignored: what it reads there differs from build to build.
Limit: a test that ends without the exit handlers (a signal, `_exit`) leaves no profile. Reads of uninitialised memory are not
detected.
"""

import dataclasses
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile

CLANG, PROFDATA, COV = "clang-19", "llvm-profdata-19", "llvm-cov-19"
FLAGS = ("-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc")
MEMORY = (1 << 30) + (2 << 20)  # what a program may allocate under Quarry, and what a small one has anyway
REFUSED = "unsupported MC/DC boolean expression"

Place = tuple[int, int]  # line and column


class NativeError(Exception):
    """A tool failed; the message is what it said."""


@dataclasses.dataclass
class Condition:
    place: Place
    folded: bool
    covered: bool


@dataclasses.dataclass
class Decision:
    """A decision with its conditions and the vectors that were evaluated: values by condition (None: not), and outcome."""

    begin: Place
    end: Place
    conditions: list[Condition]
    vectors: list[tuple[tuple[bool | None, ...], bool]]


@dataclasses.dataclass
class Measured:
    decisions: list[Decision]
    branches: dict[tuple[Place, Place], tuple[int, int]]  # from, to: how often true, how often false
    segments: list[tuple[Place, int, bool]]  # from here on: count, whether there is one

    def count_at(self, place: Place) -> int | None:
        """How often the code at this place was executed; None when no region holds it."""
        count = None
        for begin, number, counted in self.segments:
            if begin > place:
                break
            count = number if counted else None
        return count


class Replay:
    """A replay program built for measuring, and the profiles of its tests."""

    def __init__(self, replay: pathlib.Path, source: pathlib.Path, work: pathlib.Path, flags: tuple[str, ...] = ()):
        self.replay, self.source, self.work, self.flags = replay, source, work, flags
        self.program, self.checked = work / "replay", work / "checked"
        where = re.compile(rf"^{re.escape(str(source))}:(\d+):(\d+): warning: {re.escape(REFUSED)}", re.MULTILINE)
        said = build([CLANG, *FLAGS, str(replay), "-o", str(self.program), *flags], work)
        self.refused = [(int(line), int(column)) for line, column in where.findall(said)]
        build([CLANG, "-w", "-O0", "-fsanitize=address", str(replay), "-o", str(self.checked), *flags], work)
        self.profiles: dict[str, pathlib.Path] = {}
        self.moved: Replay | None = None

    def run(self, test: str, limit: float) -> str | None:
        """Runs the test with this name; why it cannot be compared, if it cannot."""
        profile = self.work / f"{test}.profraw"
        ran = self._run(self.program, test, limit, {"LLVM_PROFILE_FILE": str(profile)}, MEMORY)
        if ran is None:
            return "takes too long"
        checked = self._run(self.checked, test, limit, {"ASAN_OPTIONS": "detect_leaks=0"})
        if checked is None or b"ERROR: AddressSanitizer" in checked.stderr:
            return "touches memory that is not its own"
        if not profile.is_file() or profile.stat().st_size == 0:
            return "leaves no profile"
        self.profiles[test] = profile
        return None

    def _run(self, program: pathlib.Path, test: str, limit: float, environment: dict[str, str], memory: int | None = None):
        environment["PATH"] = "/usr/bin:/bin"
        bound = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
        # streams as under Quarry: a program may read from its output and write to its input, by descriptor
        with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            streams = {"stdin": nothing, "stdout": output, "stderr": errors}
            try:
                ran = subprocess.run(
                    [str(program), test], cwd=self.work, env=environment, timeout=limit, check=False, preexec_fn=bound, **streams
                )
            except subprocess.TimeoutExpired:
                return None
            errors.seek(0)
            ran.stderr = errors.read()
            return ran

    def measure_moved(self, tests: list[str], limit: float) -> Measured:
        """The same with objects at other addresses: what comes out differently depends on where they lie."""
        if self.moved is None:
            work = self.work / "moved"
            work.mkdir()
            self.moved = Replay(self.replay, self.source, work, (*self.flags, "-no-pie", "-fno-pie"))
        for test in tests:
            if test not in self.moved.profiles and (why := self.moved.run(test, limit)):
                raise NativeError(f"{test} ran natively, but not with other addresses: it {why}")
        return self.moved.measure(tests)

    def measure(self, tests: list[str]) -> Measured:
        merged = self.work / "merged.profdata"
        tool([PROFDATA, "merge", *(str(self.profiles[test]) for test in tests), "-o", str(merged)])
        profile = [str(self.program), "-instr-profile", str(merged)]
        export = json.loads(tool([COV, "export", *profile, "-skip-expansions", str(self.source)]))
        shown = tool([COV, "show", *profile, "--show-mcdc", str(self.source)])
        branches: dict[tuple[Place, Place], tuple[int, int]] = {}
        segments = []
        for file in export["data"][0]["files"]:
            for record in file["branches"]:
                place = ((record[0], record[1]), (record[2], record[3]))
                before = branches.get(place, (0, 0))
                branches[place] = (before[0] + record[4], before[1] + record[5])
            segments += [((line, column), count, counted) for line, column, count, counted, *_ in file["segments"]]
        return Measured(decisions(shown), branches, segments)


def build(command: list[str], work: pathlib.Path, directory: pathlib.Path | None = None) -> str:
    """Builds in the directory, with stubs for what is missing; what clang said."""
    run = {"cwd": directory, "capture_output": True, "text": True, "errors": "replace", "check": False}
    done = subprocess.run(command, **run)
    missing = set(re.findall(r"undefined (?:reference to|symbol:) [`']?(\w+)", done.stderr))
    if done.returncode != 0 and missing:
        # as Quarry does with a symbol that is defined nowhere
        stubs = work / "stubs.c"
        stubs.write_text("".join(f"long {name}(void) {{ return 0; }}\n" for name in sorted(missing)))
        done = subprocess.run([*command, str(stubs)], **run)
    if done.returncode != 0:
        raise NativeError(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return done.stderr


def tool(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise NativeError(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return done.stdout


DECISION = re.compile(r"^\s*\|---> MC/DC Decision Region \((\d+):(\d+)\) to \((\d+):(\d+)\)")
CONDITION = re.compile(r"^\s*\|\s+Condition C\d+ --> \((\d+):(\d+)\)")
VECTOR = re.compile(r"^\s*\|\s+\d+ \{ (.*?)\s+= ([TF])\s*\}")
PAIR = re.compile(r"^\s*\|\s+C(\d+)-Pair: (.*)")
VALUES = {"T": True, "F": False, "-": None, "C": None}


def decisions(shown: str) -> list[Decision]:
    found: list[Decision] = []
    for line in shown.splitlines():
        if match := DECISION.match(line):
            a, b, c, d = map(int, match.groups())
            found.append(Decision((a, b), (c, d), [], []))
        elif match := CONDITION.match(line):
            found[-1].conditions.append(Condition((int(match[1]), int(match[2])), False, False))
        elif match := VECTOR.match(line):
            values = tuple(VALUES[value.strip()] for value in match[1].split(","))
            found[-1].vectors.append((values, match[2] == "T"))
        elif match := PAIR.match(line):
            condition = found[-1].conditions[int(match[1]) - 1]
            condition.folded = "constant folded" in match[2]
            condition.covered = match[2].startswith("covered")
    return found

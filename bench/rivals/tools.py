"""The three tools: each gets the same harness and the same time on one core, and produces inputs."""

import dataclasses
import json
import pathlib
import subprocess
import time

from compare.units import Unit
from rivals.native import ENVIRONMENT, Native, bound

# llvm-cov's branches are outcomes of conditions, and its MC/DC is by unique cause
CRITERIA = ("--criterion", "branch,condition,mcdc", "--mcdc", "unique-cause")
# libFuzzer's own handlers would end it at the first crash; the driver has its own
FUZZER_OPTIONS = (
    "-handle_segv=0", "-handle_bus=0", "-handle_fpe=0", "-handle_ill=0", "-handle_abrt=0",
    "-rss_limit_mb=0", "-timeout=20", "-close_fd_mask=1", "-print_final_stats=0", "-verbosity=0", "-len_control=0",
)  # fmt: skip

class ToolError(Exception):
    """A tool gave no result; the message says why."""


@dataclasses.dataclass
class QuarryRun:
    """What Quarry said about a function."""

    harness: pathlib.Path
    goals: list[dict]
    record: dict  # run.json
    tests: list[pathlib.Path]  # cells, for the measuring build

    def functions(self) -> set[tuple[str, str]]:
        """What the function under test can reach: file and name of each function with goals."""
        return {(pathlib.Path(goal["file"]).name, goal["function"]) for goal in self.goals}


def run_quarry(quarry: str, unit: Unit, budget: float, seed: int, work: pathlib.Path) -> QuarryRun:
    out = work / "quarry"
    function = [] if unit.is_program else ["--function", unit.function]
    command = [quarry, "gen", "--fresh", *unit.files, *function, *unit.arguments]
    command += [*CRITERIA, "--budget", f"{budget}s", "--seed", f"{seed}"]
    command += ["-j", "1", "--quiet", "--message-format", "json", "-o", str(out), "--", *unit.flags]
    said(command, unit.directory, 300 + 3 * budget)
    goals = [json.loads(line) for line in (out / "goals.jsonl").read_text().splitlines()]
    record = json.loads((out / "run.json").read_text())
    has_tests = any(out.glob("*/*.json"))
    lines = said([f"{quarry}-dev", "cells", str(out)], unit.directory, 300) if has_tests else ""
    return QuarryRun(out / "harness/harness.c", goals, record, write_cells(lines, work / "cells"))


def said(command: list[str], directory: pathlib.Path, limit: float) -> str:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise ToolError("does not end") from error
    if done.returncode != 0:
        raise ToolError(f"exit code {done.returncode}: {' '.join(done.stderr.split())[:200]}")
    return done.stdout


def write_cells(lines: str, directory: pathlib.Path) -> list[pathlib.Path]:
    """The lines of `quarry-dev cells` as files of pairs, 8 bytes each."""
    directory.mkdir()
    files = []
    for line in lines.splitlines():
        name, *cells = line.split()
        pairs = sorted(tuple(int(number, 16) for number in cell.split(":")) for cell in cells)
        file = directory / name.replace("/", "-")
        file.write_bytes(b"".join(number.to_bytes(8, "little") for pair in pairs for number in pair))
        files.append(file)
    return files


def run_fuzzer(native: Native, budget: float, seed: int) -> list[pathlib.Path]:
    """The inputs that libFuzzer kept; it is started again when a run leaves it unable to go on."""
    corpus = native.work / "corpus"
    corpus.mkdir()
    (corpus / "empty").write_bytes(b"")  # its first input, which it does not keep
    size = native.input_size()
    end = time.monotonic() + budget
    while (left := end - time.monotonic()) > 0.1:
        command = [str(native.fuzzer), *FUZZER_OPTIONS, f"-seed={seed}", f"-max_len={size}"]
        # in whole seconds, so the time is kept here
        command += [f"-max_total_time={int(left) + 1}", f"-artifact_prefix={native.work}/artifact-", str(corpus)]
        fuzzer = subprocess.Popen(
            command, cwd=native.work, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=bound,
        )  # fmt: skip
        try:
            fuzzer.wait(left)
        except subprocess.TimeoutExpired:
            fuzzer.kill()
            fuzzer.wait()
        seed += 1
    return sorted([*corpus.iterdir(), *native.work.glob("artifact-*")])

"""How many seeded faults does a suite of invocations find?

Method: bench/programs/NAME.faults lists changes of a program's text, each of which makes a program with one fault. Each is compiled, runs all
tests of a suite, each in an empty directory with the test's files, and is found when the output, the exit status or a file that was written
differs from the correct program's. Limit: what differs only in standard error is not found, and a fault that makes no difference is found by nobody.
"""

import json
import os
import pathlib
import subprocess
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
TIMEOUT = 5


def read_faults(name: str) -> list[tuple[str, str]]:
    """The text as it is and as it is with the fault, for each fault."""
    source = (PROGRAMS / f"{name}.c").read_text()
    faults = []
    for block in (PROGRAMS / f"{name}.faults").read_text().split("\n\n")[1:]:
        lines = block.strip("\n").splitlines()
        before, after = ("\n".join(line[2:] for line in lines if line.startswith(sign)) for sign in "-+")
        if source.count(before) != 1:
            raise ValueError(f"{name}.faults: {before!r} is in {name}.c {source.count(before)} times")
        faults.append((before, after))
    return faults


def quarry_tests(directory: pathlib.Path, most: int) -> list[dict]:
    """The first tests of a suite, as invocations."""
    files = sorted((directory / "tests").glob("test_*.json"))[:most]
    return [json.loads(file.read_text())["input"] for file in files]


def behaviour(binary: pathlib.Path, test: dict) -> tuple:
    """What a test shows of a program: how it ends, what it prints, what its directory then holds."""
    text = lambda it: it.encode("latin-1")
    with tempfile.TemporaryDirectory() as directory:
        for file, content in test.get("files", {}).items():
            if content is not None:
                path = pathlib.Path(directory, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text(content))
        variables = {key: value for key, value in test.get("env", {}).items() if value is not None}
        command = [str(binary), *map(text, test.get("argv", []))]
        try:
            done = subprocess.run(command, cwd=directory, input=text(test.get("stdin") or ""), timeout=TIMEOUT, check=False,
                                  env={"PATH": os.environ["PATH"], **variables}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return ("runs on",)
        written = {str(path.relative_to(directory)): path.read_bytes() for path in pathlib.Path(directory).rglob("*") if path.is_file()}
        return done.returncode, done.stdout, tuple(sorted(written.items()))


def compile_program(source: pathlib.Path, binary: pathlib.Path, flags: list[str]) -> None:
    subprocess.run(["gcc", "-O1", "-w", "-o", str(binary), str(source), *flags], check=True)


def found(name: str, tests: list[dict], flags: list[str]) -> list[bool]:
    """For each fault of a program: whether a test finds it."""
    source = (PROGRAMS / f"{name}.c").read_text()
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(place)
        correct = directory / name
        compile_program(PROGRAMS / f"{name}.c", correct, flags)
        expected = [behaviour(correct, test) for test in tests]
        result = []
        for number, (before, after) in enumerate(read_faults(name)):
            text, binary = directory / f"fault{number}.c", directory / f"{name}{number}"
            text.write_text(source.replace(before, after))
            compile_program(text, binary, flags)
            result.append(any(behaviour(binary, test) != shown for test, shown in zip(tests, expected)))
        return result

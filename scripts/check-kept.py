#!/usr/bin/env python3
"""Ends commands at many moments over an existing suite and checks that nothing of its owner's is lost.

A suite is generated once; then a person edits a test, adds another, adds notes, and edits the replay program. Each moment starts from a copy
of it with one of these: a new campaign that is killed, one that gets Ctrl-C, a resumed one that is killed, a misspelt option, an unknown function,
a source that does not build, files that may not grow (as on a full disk), and a campaign that runs to its end. Afterwards every file of the
suite must be there, byte by byte: those that a person wrote in the directory itself or in its numbered predecessor, the others in one of
them unless the campaign was resumed, which may replace what Quarry wrote. Limit: moments are chosen by chance, with a seed.
"""

import argparse
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = """#include <string.h>
int classify(const char *s, int n)
{
    int score = 0;
    if (!s)
        return -1;
    for (int i = 0; i < 12 && s[i]; i++) {
        if (s[i] >= '0' && s[i] <= '9')
            score += s[i] - '0';
        else if (s[i] == '-' && i == 0)
            score = -score;
        else if (s[i] == 'x')
            score *= n;
        else
            return score;
    }
    if (score == 31 && n > 7)
        return 1000;
    if (strcmp(s, "seven") == 0)
        return 7;
    return score;
}
"""
BROKEN = SOURCE.replace("int score = 0;", "int score = ;")
CHANGED = SOURCE.replace("score == 31", "score == 32")
FILE_LIMIT = 3000
SEARCHES = ["--budget", "4s"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", required=True, type=pathlib.Path)
    parser.add_argument("--moments", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments")
    options = parser.parse_args()
    quarry = str(options.quarry.resolve())
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as work:
        base = pathlib.Path(work, "base")
        base.mkdir()
        (base / "f.c").write_text(SOURCE)
        command = [quarry, "gen", "f.c", "--function", "classify", "--quiet"]
        subprocess.run([*command, "--max-executions", "60"], cwd=base, check=True, stdout=subprocess.DEVNULL)
        own = edit(base / "quarry.out")
        n_lost = 0
        for number in range(options.moments):
            name, act = ACTS[number % len(ACTS)]
            place = pathlib.Path(work, f"moment{number}")
            shutil.copytree(base, place, symlinks=True)
            began = time.monotonic()
            said = act(command, place, rng)
            took = time.monotonic() - began
            lost = missing(base, place, own, is_resumed="resumed" in name)
            n_lost += bool(lost)
            print(f"{number + 1:2}  {name}: {said}, {took:.1f} s: {'; '.join(lost) or 'nothing lost'}", flush=True)
            shutil.rmtree(place)
    print(f"{options.moments - n_lost} of {options.moments} moments lost nothing")
    return 1 if n_lost else 0


def edit(out: pathlib.Path) -> set[str]:
    """What a person does to a suite; the files that are theirs now."""
    tests = sorted((out / "tests").glob("test_*.json"))
    edited, copied = tests[0], out / "tests" / "of_mine.json"
    copied.write_text(tests[-1].read_text().replace('"input"', '"note": "added by hand", "input"', 1))
    edited.write_text(edited.read_text().replace('"description": "', '"description": "edited: ', 1))
    (out / "tests" / "NOTES.txt").write_text("why these tests are here\n")
    (out / "crashes").mkdir(exist_ok=True)
    (out / "crashes" / "seen_once.json").write_text(tests[0].read_text())
    with (out / "tests" / "replay.c").open("a") as replay:
        replay.write("/* a remark */\n")
    files = [edited, copied, out / "tests" / "NOTES.txt", out / "crashes" / "seen_once.json", out / "tests" / "replay.c"]
    return {str(file.relative_to(out)) for file in files}


def missing(base: pathlib.Path, place: pathlib.Path, own: set[str], *, is_resumed: bool) -> list[str]:
    """Files of the suite that are nowhere, or elsewhere with other bytes."""
    lost = []
    kept = [place / "quarry.out", *sorted(place.glob("quarry.out.old*"))]
    for file in sorted((base / "quarry.out").rglob("*")):
        name = str(file.relative_to(base / "quarry.out"))
        is_suite = name.split("/")[0] in ("tests", "crashes", "hangs")
        if not file.is_file() or not (is_suite or name == "goals.jsonl") or (is_resumed and name not in own):
            continue
        if not any((root / name).is_file() and (root / name).read_bytes() == file.read_bytes() for root in kept):
            lost.append(f"{name} is lost" + (" (a person's)" if name in own else ""))
    return lost


def ended(command: list[str], place: pathlib.Path, rng: random.Random, how: signal.Signals, longest: float) -> str:
    """Sends the command a signal at a moment."""
    moment = rng.uniform(0, longest)
    child = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    child.send_signal(how)
    sent = time.monotonic()
    child.wait()
    return f"{how.name} after {moment:.2f} s, over {time.monotonic() - sent:.2f} s later with {child.returncode}"


def killed(command, place, rng):
    return ended([*command, *SEARCHES, "--fresh", "--seed", "7"], place, rng, signal.SIGKILL, 5)


def killed_early(command, place, rng):
    return ended([*command, *SEARCHES, "--fresh", "--seed", "7"], place, rng, signal.SIGKILL, 0.6)


def interrupted(command, place, rng):
    return ended([*command, *SEARCHES, "--fresh", "--seed", "7"], place, rng, signal.SIGINT, 5)


def killed_resumed(command, place, rng):
    return ended([*command, "--max-executions", "60", "--seed", "0"], place, rng, signal.SIGKILL, 2)


def changed(command, place, rng):
    (place / "f.c").write_text(CHANGED)
    return ended([*command, *SEARCHES], place, rng, signal.SIGKILL, 5)


def failing(arguments: list[str], source: str | None = None, function: str | None = None):
    def act(command, place, _):
        if source:
            (place / "f.c").write_text(source)
        command = [function if function and word == "classify" else word for word in command]
        done = subprocess.run([*command, *arguments], cwd=place, capture_output=True, check=False)
        if done.returncode == 0:
            raise SystemExit(f"check-kept: {command} does not fail")
        return f"fails with {done.returncode}"

    return act


def full(command, place, _):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))  # noqa: E731
    command = [*command, "--budget", "2s", "--fresh"]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False, preexec_fn=limit)
    return f"ends with {done.returncode}"


def finished(command, place, _):
    done = subprocess.run([*command, "--max-executions", "40", "--fresh"], cwd=place, capture_output=True, check=False)
    return f"ends with {done.returncode}"


ACTS = [
    ("a new campaign, killed", killed),
    ("a misspelt option", failing(["--budgte", "4s"])),
    ("a new campaign, Ctrl-C", interrupted),
    ("a source that does not build", failing(["--fresh"], source=BROKEN)),
    ("a resumed campaign, killed", killed_resumed),
    ("a full disk", full),
    ("a new campaign, killed while building", killed_early),
    ("an unknown function", failing(["--fresh"], function="clasify")),
    ("a changed source, killed", changed),
    ("a new campaign, finished", finished),
]

if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Kills campaigns at random moments and checks that nothing that was found is lost.

Each round starts a campaign in its own directory, kills it (SIGKILL) at a random moment of its search, resumes it and
kills it again some seconds after its start. After each kill every file must be readable and no process may be left; `quarry cover`
measures the tests written so far. Then the campaign is resumed and runs to its end, and must cover at least as much as was measured before.
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

RUNGS = 100


def ladder() -> str:
    """Hundreds of goals, each reached by way of the one before, and one that is never reached: no campaign ends early."""
    lines = ["int ladder(const unsigned char *s)", "{", "    unsigned h = 1;"]
    for rung in range(RUNGS):
        lines += [f"    h = h * 31 + s[{rung}];"]
        lines += [f"    if ((s[{rung}] ^ (h >> 9 & 7)) != {40 + rung % 200} && s[{rung}] != {rung % 31})"]
        lines += [f"        return h == 0x{rung * 0x9E3779B9 & 0xFFFFFFFF:08x}u;"]
    return "\n".join([*lines, "    return h * 2 == 7;", "}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--budget", type=float, default=60, help="seconds of a campaign; it is killed within them")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments at which campaigns are killed")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    rng = random.Random(options.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work, "ladder.c")
        source.write_text(ladder())
        for number in range(1, options.rounds + 1):
            complaints, summary = play(source, options, rng, number)
            failures += bool(complaints)
            print(f"round {number:2}: {summary}: {'; '.join(complaints) or 'nothing lost'}", flush=True)
    print(f"{options.rounds - failures} of {options.rounds} rounds lost nothing")
    return 1 if failures else 0


def play(source: pathlib.Path, options, rng: random.Random, number: int) -> tuple[list[str], str]:
    out = source.parent / f"out{number}"
    command = [str(options.quarry), "gen", source.name, "--len", f"s={RUNGS}", "--criterion", "branch,condition"]
    command += ["--quiet", "-o", str(out)]
    first, second = rng.uniform(0, options.budget), rng.uniform(0, 10)
    covered, complaints, summary = 0, [], []
    for moment, begin in [(first, out / "journal.jsonl"), (second, None)]:
        killed([*command, "--budget", f"{options.budget}s"], source.parent, moment, begin)
        now = measured(source, out, options, complaints)
        if now < covered:
            complaints.append(f"{covered} goals before, {now} after")
        covered = max(covered, now)
        summary.append(f"killed after {moment:.1f} s with {now} goals")
    done = subprocess.run(
        [*command, "--budget", "3s", "--message-format", "json"], cwd=source.parent, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return [*complaints, f"resuming ends with {done.returncode}: {done.stderr.strip()}"], ", ".join(summary)
    final = json.loads(done.stdout.splitlines()[-1])["goals"]["covered"]
    if final < covered:
        complaints.append(f"{covered} goals were found, {final} are left")
    again = measured(source, out, options, complaints)
    if again < final:
        complaints.append(f"{final} goals are claimed, {again} measured")
    return complaints, ", ".join([*summary, f"{final} in the end"])


def killed(command: list[str], directory: pathlib.Path, moment: float, begin: pathlib.Path | None) -> None:
    """Kills the command some time after the file appears, or after its own start."""
    child = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL)
    while begin and not begin.exists() and child.poll() is None:
        time.sleep(0.01)
    time.sleep(moment)
    child.send_signal(signal.SIGKILL)
    child.wait()


def measured(source: pathlib.Path, out: pathlib.Path, options, complaints: list[str]) -> int:
    """Goals that the tests in the directory cover; what is wrong with it goes to the complaints."""
    time.sleep(0.5)
    left = [exe for exe in pathlib.Path("/proc").glob("[0-9]*/exe") if target(exe).startswith(f"{out}/")]
    if left:
        complaints.append(f"{len(left)} processes are left")
    if not (out / "run.json").exists():
        return 0
    for file in [out / "run.json", *out.glob("*/*.json")]:
        try:
            json.loads(file.read_text())
        except ValueError as error:
            complaints.append(f"{file.name}: {error}")
    for file in out.glob("goals.jsonl"):
        for line in file.read_text().splitlines():
            json.loads(line)
    if not any(out.glob("tests/*.json")):
        return 0
    command = [str(options.quarry), "cover", source.name, str(out), "--criterion", "branch,condition"]
    done = subprocess.run(
        [*command, "--message-format", "json"], cwd=source.parent, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        complaints.append(f"cover ends with {done.returncode}: {done.stderr.strip()}")
        return 0
    return json.loads(done.stdout.splitlines()[-1])["goals"]["covered"]


def target(link: pathlib.Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())

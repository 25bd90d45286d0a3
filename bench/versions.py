#!/usr/bin/env python3
"""Compares campaigns for a change with full ones: executions, and whether all impacted obligations are covered.

Method: each seeded change of bench/versions/changes.toml makes a new version of bench/versions/advisory.c. Both campaigns are asked for MC/DC
with the same seeds and at most so many executions; `--since` counts only the obligations that the change concerns. `since` are the
executions after which it covered its last goal, `full` those of a full campaign until it ends: that one cannot know that what is left is
infeasible, so it ends with its limit. `last` are those until the full campaign covered its last goal. The share is `since` of `full`. An impacted
obligation that only the full campaign covers is a failure. Exits with 1 on a failure, or when the mean share is above the aim.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUBJECT = ROOT / "bench/versions/advisory.c"
CHANGES = ROOT / "bench/versions/changes.toml"


def main() -> int:
    options = parse_arguments()
    changes = tomllib.loads(CHANGES.read_text())["change"]
    text = SUBJECT.read_text()
    shares, failures = [], 0
    print(f"{'':34}{'impacted':>10}{'of all':>8}{'covered':>9}{'since':>8}{'last':>8}{'full':>8}{'share':>8}{'differences':>13}")
    for change in changes:
        assert text.count(change["old"]) == 1, change
        sums = {"since": 0, "last": 0, "full": 0}
        for seed in range(1, options.seeds + 1):
            with tempfile.TemporaryDirectory() as directory:
                new = pathlib.Path(directory) / "advisory.c"
                new.write_text(text.replace(change["old"], change["new"]))
                since = campaign(options, new, seed, ["--since", str(SUBJECT)])
                full = campaign(options, new, seed, [])
            impacted = set(since["goals"])
            missed = {key for key in impacted if full["goals"][key] == "covered" and since["goals"][key] != "covered"}
            failures += len(missed)
            for key in missed:
                print(f"  missed: {key}")
            sums["since"] += since["executions"]
            sums["last"] += full["executions"]
            sums["full"] += full["until_end"]
        share = sums["since"] / sums["full"]
        shares.append(share)
        covered = sum(state == "covered" for state in since["goals"].values())
        columns = (len(impacted), len(full["goals"]), covered, sums["since"] / options.seeds, sums["last"] / options.seeds,
                   sums["full"] / options.seeds)
        print(f"{change['name']:34}{columns[0]:>10}{columns[1]:>8}{columns[2]:>9}{columns[3]:>8.0f}{columns[4]:>8.0f}"
              f"{columns[5]:>8.0f}{share:>8.0%}{since['differences']:>13}", flush=True)
    mean = sum(shares) / len(shares)
    print(f"mean share of executions: {mean:.1%} (aim: {options.aim:.0%}); impacted obligations that only the full campaign covers: {failures}")
    return int(failures > 0 or mean > options.aim)


def campaign(options: argparse.Namespace, source: pathlib.Path, seed: int, more: list[str]) -> dict:
    """Goals with their states, executions until the last covered goal, and differences."""
    out = source.parent / ("since" if more else "full")
    command = [options.quarry, "gen", str(source), "--function", "advise", "--criterion", "mcdc", "--seed", str(seed), "--no-prove",
               "--no-sanitize", "--no-minimise", "--max-executions", str(options.executions), "--budget", "600s", "--quiet",
               "--message-format", "json", "-o", str(out), *more]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    summary = json.loads(ran.stdout.splitlines()[-1])
    goals = {goal["key"]: goal["state"] for goal in map(json.loads, (out / "goals.jsonl").read_text().splitlines())}
    timeline = json.loads((out / "coverage/timeline.json").read_text())
    points = timeline["points"]
    most = max((point["covered"] for point in points), default=0)
    executions = next((point["executions"] for point in points if point["covered"] == most), 0)
    return {"goals": goals, "executions": max(executions, 1), "until_end": summary["executions"], "differences": summary.get("differences", 0)}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--executions", type=int, default=400, help="limit of a campaign")
    parser.add_argument("--aim", type=float, default=0.25)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

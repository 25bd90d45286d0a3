#!/usr/bin/env python3
"""Does `quarry gen -p build/` serve whole projects within its budget?

Method: CMake configures each project (fetched into the cache), and `quarry gen -p build/` runs on all of it. The command must end within a
twentieth of the budget after it; every function must have a result that rests on executions, or a reason; no raw message of a linker may
be printed; and the tests of a sample of functions must replay.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/real"))
import sources  # noqa: E402

# Debian's name of the source package -> options of CMake
PROJECTS = {
    "json-c": ["-DBUILD_APPS=ON"],
    "cmark": [],
    "jansson": ["-DJANSSON_BUILD_DOCS=OFF"],
    "cjson": ["-DENABLE_CJSON_UTILS=ON"],
}
SLACK = 1.05
N_REPLAYED = 5
RAW = ["/usr/bin/ld", "undefined reference", "linker command failed"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("projects", nargs="*", default=["json-c", "cmark"], help=f"of {', '.join(PROJECTS)}")
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("--budget", type=int, default=120, help="seconds for each project (default 120)")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    complaints = []
    with tempfile.TemporaryDirectory() as work:
        for name in options.projects:
            complaints += [f"{name}: {complaint}" for complaint in check(name, pathlib.Path(work), options)]
    for complaint in complaints:
        print(f"check-projects: {complaint}")
    print(f"check-projects: {len(options.projects)} projects, {len(complaints)} complaints")
    return 1 if complaints else 0


def check(name: str, work: pathlib.Path, options) -> list[str]:
    build, out = work / f"{name}-build", work / f"{name}-out"
    configure = ["cmake", "-S", sources.fetch(name), "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *PROJECTS[name]]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    command = [options.quarry, "gen", "-p", build, "--budget", f"{options.budget}s", "-o", out]
    begin = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    seconds = time.monotonic() - begin
    complaints = []
    if ran.returncode != 0:
        return [f"exit code {ran.returncode}: {ran.stderr[-400:]}"]
    if seconds > options.budget * SLACK:
        complaints.append(f"took {seconds:.1f} s of {options.budget}")
    complaints += [f"printed {raw!r}" for raw in RAW if raw in ran.stdout + ran.stderr]
    entries = json.loads((out / "functions.json").read_text())["functions"]
    results = [entry for entry in entries if entry["result"]]
    complaints += [f"{entry['function']} has neither result nor reason" for entry in entries if not entry["result"] and not entry["reason"]]
    complaints += [f"{entry['function']} has a result without an execution" for entry in results if not entry["result"]["executions"]]
    goals = [entry["result"]["goals"] for entry in results]
    covered, total = (sum(counts[key] for counts in goals) for key in ("covered", "total"))
    print(f"{name}: {len(results)} of {len(entries)} functions with a result, {covered} of {total} goals covered, {seconds:.1f} s", flush=True)
    for entry in [entry for entry in results if entry["result"]["tests"]][:: max(1, len(results) // N_REPLAYED)]:
        replayed = subprocess.run([options.quarry, "replay", out / entry["directory"]], capture_output=True, text=True, errors="replace", check=False)
        if replayed.returncode != 0:
            complaints.append(f"the tests of {entry['function']} do not replay: {replayed.stdout[-300:]}{replayed.stderr[-300:]}")
    return complaints


if __name__ == "__main__":
    sys.exit(main())

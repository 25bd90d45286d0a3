#!/usr/bin/env python3
"""How long do builds take, compared with `clang-19 -O0 -c` of the same files in the same run?

Method: `quarry gen --budget 0` with an empty cache (cold) and again with what that left (warm); CPU and wall time of the command
with all processes that it starts, divided by those of clang, which compiles every file several times. Two functions are generated, with
thousands of branches and with hundreds of calls of one helper, also at 1/8, 1/4 and 1/2 of their size: growth is time per
size, relative to the smallest. Of a library of many functions, the time of each after the first is shown. Limit: on a busy machine wall times say little.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/real"))
import sources  # noqa: E402

CLANG = ["clang-19", "-O0", "-w", "-c"]
SMALL = ["base64", "bubble", "calendar", "crossing", "elevator", "heap", "isbn", "limits", "number", "utf8"]
ZLIB = ["adler32", "compress", "crc32", "deflate", "trees", "zutil"]
# 40 functions of ten files of zlib, from those that call nothing to those that reach all of the compressor
LIBRARY_FILES = [*ZLIB, "inffast", "inflate", "inftrees", "uncompr"]
LIBRARY = """zlibVersion adler32 adler32_z adler32_combine compress compress2 compressBound crc32 crc32_z crc32_combine crc32_combine_gen crc32_combine_op
    get_crc_table deflateInit_ deflateEnd deflateReset deflateSetDictionary deflateGetDictionary deflateSetHeader deflatePending deflatePrime deflateTune
    deflateBound deflateCopy uncompress uncompress2 inflateInit_ inflateReset inflatePrime inflateEnd inflateGetDictionary inflateSetDictionary
    inflateGetHeader inflateSync inflateSyncPoint inflateCopy inflateUndermine inflateMark zError zlibCompileFlags""".split()
GROWTH = [1, 2, 4, 8]


def branches(n: int) -> str:
    lines = [f"if (p[{i % 64}] {'< > == !='.split()[i % 4]} {i * 37 % 251}) s += {i % 13}; else s ^= {i % 7 + 1};" for i in range(n)]
    return "int branches(const unsigned char *p) {\nint s = 0;\n" + "\n".join(lines) + "\nreturn s;\n}\n"


def calls(n: int) -> str:
    helper = """static inline int step(int s, int x, int k) {
  if (x < k) s += x; else if (x == k) s ^= 3;
  if (s > 1000) s -= 1000;
  for (int i = 0; i < (x & 3); i++) s = s * 3 + i;
  return s;
}
"""
    lines = [f"s = step(s, p[{i % 64}], {i * 37 % 251});" for i in range(n)]
    return helper + "int calls(const unsigned char *p) {\nint s = 0;\n" + "\n".join(lines) + "\nreturn s;\n}\n"


def measured(command: list[str], directory: pathlib.Path, cache: pathlib.Path) -> tuple[float, float]:
    """CPU and wall seconds of a command with all its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=directory, env={**os.environ, "QUARRY_CACHE": str(cache)}, capture_output=True, text=True, check=False)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 2):  # 2: not all goals are covered
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


class Bench:
    def __init__(self, quarry: str, scratch: pathlib.Path) -> None:
        self.quarry, self.scratch = str(pathlib.Path(quarry).resolve()), scratch

    def clang(self, files: list[str], flags: list[str], directory: pathlib.Path) -> tuple[float, float]:
        """The least of three times: what disturbs takes time."""
        def once() -> tuple[float, float]:
            times = [measured([*CLANG, *flags, file, "-o", str(self.scratch / "x.o")], directory, self.scratch) for file in files]
            return sum(cpu for cpu, _ in times), sum(wall for _, wall in times)
        return min(once() for _ in range(3))

    def times(self, runs: list[tuple[list[str], list[str]]], flags: list[str], directory: pathlib.Path):
        """(cold, warm) of runs of Quarry, each a list of files and of options, all with one cache that is empty at first."""
        cache, out = self.scratch / "cache", self.scratch / "out"
        shutil.rmtree(cache, ignore_errors=True)
        def all_of_them() -> tuple[float, float]:
            total = [0.0, 0.0]
            for files, options in runs:
                command = [self.quarry, "gen", *files, *options, "--budget", "0", "--fresh", "-o", str(out), "--", *flags]
                shutil.rmtree(out, ignore_errors=True)
                for index, seconds in enumerate(measured(command, directory, cache)):
                    total[index] += seconds
            return total[0], total[1]
        return all_of_them(), all_of_them()

    def row(self, name: str, runs, flags: list[str], directory: pathlib.Path, aims: str) -> float:
        files = [file for files, _ in runs for file in files]
        clang = self.clang(files, flags, directory)
        cold, warm = self.times(runs, flags, directory)
        ratios = [of[index] / clang[index] for of in (cold, warm) for index in (0, 1)]
        cells = "  ".join(f"{ratio:7.1f}" for ratio in ratios)
        print(f"{name:28} {clang[0]:8.3f}  {cells}   {cold[0]:8.2f}   {aims}", flush=True)
        return cold[0]

    def library(self, directory: pathlib.Path) -> None:
        """CPU seconds of functions of one library, each by a command of its own, with a cache that is empty at first."""
        cache, out = self.scratch / "cache", self.scratch / "out"
        shutil.rmtree(cache, ignore_errors=True)
        times = {}
        for function in LIBRARY:
            shutil.rmtree(out, ignore_errors=True)
            files = [f"{name}.c" for name in LIBRARY_FILES]
            command = [self.quarry, "gen", *files, "--function", function, "--budget", "0", "--fresh", "-o", str(out), "--", "-I."]
            times[function] = measured(command, directory, cache)[0]
        first, rest = LIBRARY[0], sorted((seconds, function) for function, seconds in times.items() if function != LIBRARY[0])
        mean = sum(seconds for seconds, _ in rest) / len(rest)
        print(f"zlib, {len(LIBRARY)} functions: {first} first {times[first]:.2f} s, then {mean:.2f} s on average (aim <= 0.3), {rest[len(rest) // 2][0]:.2f} s in the "
              f"middle, {rest[-1][0]:.2f} s for {rest[-1][1]}", flush=True)

    def growth(self, name: str, make, largest: int, function: str) -> None:
        times = []
        for size in GROWTH:
            n = largest * size // GROWTH[-1]
            file = self.scratch / f"{function}{n}.c"
            file.write_text(make(n))
            runs = [([file.name], ["--function", function])]
            self.times([(["small.c"], ["--function", "small"])], [], self.scratch)  # the runtime is there
            (_, _), cache = (0, 0), self.scratch / "cache"
            command = [self.quarry, "gen", *runs[0][0], *runs[0][1], "--budget", "0", "--fresh", "-o", str(self.scratch / "out")]
            times.append(measured(command, self.scratch, cache)[0])
        shown = "  ".join(f"{size}x {seconds:.2f} s ({seconds / times[0] / size * GROWTH[0]:.2f})" for size, seconds in zip(GROWTH, times))
        print(f"{name:28} {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quarry", default=str(ROOT / "target/release/quarry"))
    parser.add_argument("--quick", action="store_true", help="the small and the generated functions only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quarry-start-") as scratch:
        run(Bench(arguments.quarry, pathlib.Path(scratch)), arguments.quick)


def run(bench: Bench, quick: bool) -> None:
    scratch = bench.scratch
    (scratch / "small.c").write_text("int small(int a) { return a > 3; }\n")
    print(f"{'':28} {'clang':>8}  {'cold':>7}  {'':>7}  {'warm':>7}  {'':>7}   {'cold':>8}")
    print(f"{'':28} {'CPU s':>8}  {'CPU x':>7}  {'wall x':>7}  {'CPU x':>7}  {'wall x':>7}   {'CPU s':>8}   aims (CPU)")
    units = ROOT / "bench/units"
    small = [([f"{name}.c"], ["--function", function_of(units / f"{name}.c")]) for name in SMALL]
    bench.row("ten small functions", small, [], units, "cold <= 12, warm <= 4")
    for name, make, n in [("branches", branches, 5000), ("calls", calls, 400)]:
        (scratch / f"{name}.c").write_text(make(n))
        bench.row(f"{name}, {n}", [([f"{name}.c"], ["--function", name])], [], scratch, "cold <= 10")
    if not quick:
        zlib = sources.fetch("zlib")
        bench.row("zlib's compress2", [([f"{name}.c" for name in ZLIB], ["--function", "compress2"])], ["-I."], zlib, "")
        bench.library(zlib)
        lua = sources.fetch("lua5.4") / "src"
        files = sorted(path.name for path in lua.glob("*.c") if path.name not in ("lua.c", "luac.c")) + ["lua.c"]
        bench.row("lua", [(files, ["--program"])], ["-DLUA_USE_POSIX"], lua, "")
        mimetex = sources.fetch("mimetex")
        bench.row("mimetex", [(["mimetex.c", "gifsave.c"], ["--program"])], ["-DAA"], mimetex, "cold <= 5, warm <= 1")
    print("growth: CPU seconds, and relative to size")
    bench.growth("branches", branches, 5000, "branches")
    bench.growth("calls", calls, 400, "calls")


def function_of(unit: pathlib.Path) -> str:
    """The function that a unit is about: `//@ function: NAME`, or the last one that is not static."""
    import re
    text = unit.read_text()
    named = re.search(r"//@.*function[:= ]+(\w+)", text)
    found = re.findall(r"^(?!static)[A-Za-z_][\w \*]*?\b(\w+)\([^;{]*\)\s*\{", text, re.MULTILINE)
    return named.group(1) if named else [name for name in found if name != "main"][-1]


if __name__ == "__main__":
    main()

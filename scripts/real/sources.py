"""Fetches real C packages into a cache, never into the repository: for check-real.py and the benchmarks.

Method: Debian source packages, through a private apt configuration whose deb-src lines are derived from the system's own
package sources, so that nothing of the system changes and no root is needed. If that fails, crates that contain the
same C. A package is unpacked elsewhere and renamed, so the cache holds only complete packages. One process fetches at a time.
Limit: the upstream tarball is used unchanged, without Debian's patches; crates contain the library but not its test programs.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

ETC_APT = pathlib.Path("/etc/apt")
# Debian's name -> crate that carries the sources, the directory inside it, and where upstream's tarball has that directory.
CRATES = {
    "zlib": ("libz-sys", "src/zlib", "."),
    "lua5.4": ("lua-src", "lua-5.4*", "src"),
    "miniz": ("miniz-sys", ".", "."),
}

SIGNATURES = {".asc", ".sig"}


class FetchError(Exception):
    """A package could not be had; the message says from where and why."""


def cache_directory() -> pathlib.Path:
    home_cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return pathlib.Path(os.environ.get("QUARRY_CACHE") or home_cache / "quarry") / "real"


def fetch(package: str) -> pathlib.Path:
    """The directory of the package's sources, fetched when it is not in the cache."""
    destination = cache_directory() / package
    if destination.is_dir():
        return destination
    with alone():
        if not destination.is_dir():  # while this one waited, another may have fetched it
            fetch_to(destination, package)
    return destination


@contextlib.contextmanager
def alone():
    """Other processes that fetch into the same cache wait."""
    cache_directory().mkdir(parents=True, exist_ok=True)
    with open(cache_directory() / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch_to(destination: pathlib.Path, package: str) -> None:
    scratch = destination.with_name(f".{package}.fetching")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        fetched = fetch_from_debian(package, scratch)
    except FetchError as error:
        if package not in CRATES:
            raise
        print(f"{package}: {error}; trying a crate")
        fetched = fetch_from_crate(*CRATES[package], scratch)
    fetched.rename(destination)
    shutil.rmtree(scratch)


def fetch_from_debian(package: str, scratch: pathlib.Path) -> pathlib.Path:
    apt = private_apt()
    run([*apt, "source", "--download-only", "--tar-only", package], scratch, f"cannot download the source package {package}")
    tarballs = sorted(path for path in scratch.glob("*.orig.tar.*") if path.suffix not in SIGNATURES)
    if len(tarballs) != 1:
        raise FetchError(f"the source package {package} has {len(tarballs)} upstream tarballs, expected 1")
    unpacked = scratch / "unpacked"
    with tarfile.open(tarballs[0]) as tarball:
        tarball.extractall(unpacked, filter="data") if hasattr(tarfile, "data_filter") else tarball.extractall(unpacked)
    entries = list(unpacked.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else unpacked


def private_apt() -> list[str]:
    """apt-get with its own lists and sources, refreshed once per process."""
    base = cache_directory() / "apt"
    command = [
        "apt-get", "-qq",
        "-o", f"Dir::Etc::sourcelist={base}/sources.list", "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::Lists={base}/lists", "-o", f"Dir::Cache={base}/cache",
    ]  # fmt: skip
    if os.geteuid() == 0:  # apt would drop to a user who cannot write here
        command += ["-o", "APT::Sandbox::User=root"]
    if base not in _refreshed:
        for directory in ("lists/partial", "cache/archives/partial"):
            (base / directory).mkdir(parents=True, exist_ok=True)
        lines = source_lines()
        if not lines:
            raise FetchError("the system names no Debian package sources")
        (base / "sources.list").write_text("\n".join(lines) + "\n")
        run([*command, "update"], base, "cannot refresh the lists of source packages")
        _refreshed.add(base)
    return command


_refreshed: set[pathlib.Path] = set()


def source_lines() -> list[str]:
    """deb-src lines for everything the system takes binary packages from, in both formats apt knows."""
    lines = []
    for path in [ETC_APT / "sources.list", *sorted((ETC_APT / "sources.list.d").glob("*.list"))]:
        if path.is_file():
            lines += ["deb-src" + line[3:] for line in path.read_text().splitlines() if re.match(r"deb\s", line)]
    for path in sorted((ETC_APT / "sources.list.d").glob("*.sources")):
        for paragraph in re.split(r"\n\s*\n", path.read_text()):
            lines += lines_of_paragraph(dict(re.findall(r"^([\w-]+): *(.*)$", paragraph, re.MULTILINE)))
    return lines


def lines_of_paragraph(fields: dict[str, str]) -> list[str]:
    if "deb" not in fields.get("Types", "").split() or fields.get("Enabled", "yes") == "no":
        return []
    signed = f"[signed-by={fields['Signed-By']}] " if fields.get("Signed-By") else ""
    components = fields.get("Components", "main")
    return [
        f"deb-src {signed}{uri} {suite} {components}"
        for uri in fields["URIs"].split()
        for suite in fields["Suites"].split()
    ]


def fetch_from_crate(crate: str, inside: str, place: str, scratch: pathlib.Path) -> pathlib.Path:
    project = scratch / "project"
    (project / "src").mkdir(parents=True)
    (project / "src/lib.rs").write_text("")
    (project / "Cargo.toml").write_text(
        f'[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{crate} = "*"\n[workspace]\n'
    )
    run(["cargo", "vendor", "--quiet", "vendor"], project, f"cannot download the crate {crate}")
    found = sorted((project / "vendor").glob(f"{crate}/{inside}"))
    if not found:
        raise FetchError(f"the crate {crate} has no {inside}")
    result = scratch / "result"
    shutil.copytree(found[-1], result / place)
    return result


def run(command: list[str], directory: pathlib.Path, failure: str) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FetchError(f"{failure}: {' '.join(done.stderr.split())[-300:]}")

"""What is measured: our own units, by their directives, and functions of real libraries, by a list."""

import dataclasses
import pathlib
import re
import shlex
import tomllib
from collections.abc import Collection

import sources

OWN, LIBRARIES = "own", "libraries"


@dataclasses.dataclass(frozen=True)
class Unit:
    """A function to run campaigns on. Sources and flags are relative to the directory."""

    name: str
    group: str
    function: str
    directory: pathlib.Path
    files: tuple[str, ...]
    arguments: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @property
    def is_program(self) -> bool:
        """Whether it is called as a whole program, with arguments, files and environment."""
        return "--program" in self.arguments


def own_units(directory: pathlib.Path) -> list[Unit]:
    units = []
    for path in sorted(directory.glob("*.c")):
        directives = dict(re.findall(r"^//@ ([\w-]+): *(.*)$", path.read_text(), re.MULTILINE))
        arguments = tuple(shlex.split(directives.get("args", "")))
        units.append(Unit(path.stem, OWN, directives["function"], directory, (path.name,), arguments))
    return units


def library_functions(
    listing: pathlib.Path, packages: Collection[str] | None = None
) -> tuple[list[Unit], list[tuple[str, str]]]:
    """The functions listed, of these packages or of all, which are fetched; and packages that could not be had, with the reason."""
    units, missing = [], []
    for package, entry in tomllib.loads(listing.read_text()).items():
        if packages is not None and package not in packages:
            continue
        try:
            directory = sources.fetch(package)
        except sources.FetchError as error:
            missing.append((package, str(error)))
            continue
        flags = [flag.replace("{directory}", str(directory)) for flag in entry["flags"]]
        flags += headers_of(package, entry.get("headers", {}))
        for function in entry["functions"]:
            units.append(
                Unit(
                    name=f"{package}/{function['name']}",
                    group=LIBRARIES,
                    function=function["name"],
                    directory=directory,
                    files=tuple(function["files"]),
                    arguments=tuple(shlex.split(function.get("args", ""))),
                    flags=tuple(flags),
                )
            )
    return units, missing


def headers_of(package: str, headers: dict[str, str]) -> list[str]:
    """Writes headers that the package's configuration would make; the flags that find them."""
    if not headers:
        return []
    directory = sources.cache_directory() / f"{package}.headers"
    for name, text in headers.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [f"-I{directory}"]

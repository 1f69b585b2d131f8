"""Run benchmarks: `make bench`, or `make bench NAME=results`. Writes `NAME.json`.

Each file names the machine, the date, the commit and the build. `python validation/benches/run.py --age`
lists how many lines of code changed since.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence

from result_files import FOLDER, write

PROJECT = FOLDER.parents[1]
CODE = ("crates", "python/sledlab")
sys.path.insert(0, str(PROJECT))

from validation.build import WrongBuildError, require_release_build  # noqa: E402

BENCHMARKS: dict[str, tuple[str, ...]] = {
    "results": ("sim/speed", "command_line"),
    "decisions": ("sim/decisions",),
    "growth": ("sim/growth", "growth"),
    "cluster": ("sim/cluster",),
    "mining": ("mining/mining",),
    "volumes": ("volumes",),
    **{
        name: (name,)
        for name in (
            *(
                "jobs",
                "studies",
                "fleet",
                "trace_hash",
                "machines",
                "plug_ins",
                "replacement",
                "miss_ratios",
                "first_use",
                "web",
                "emulation",
                "estimates",
            ),
            *("closed_loop", "guarantees", "hostile", "power", "client_delay", "applications"),
        )
    },
}
"""Parts of each benchmark, in order: `crate/name` is a benchmark in Rust, `name` a script in this folder."""


def commands(parts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the commands that run the parts of a benchmark."""
    for part in parts:
        crate, _, name = part.rpartition("/")
        if crate:
            yield ("cargo", "bench", "--locked", "--package", f"sledlab-{crate}", "--bench", name)
        else:
            yield (sys.executable, f"validation/benches/{name}.py")


def run(name: str) -> None:
    """Run a benchmark."""
    for command in commands(BENCHMARKS[name]):
        subprocess.run(command, cwd=PROJECT, check=True)
    file = FOLDER / f"{name}.json"
    if file.is_file():  # those in Rust do not write where their numbers are from
        write(name, json.loads(file.read_text(encoding="utf-8")))


def print_ages() -> None:
    """Print the commit and date of each file, and what has changed in the code since."""
    for file in sorted(FOLDER.glob("*.json")):
        origin = json.loads(file.read_text(encoding="utf-8"))
        command = ["git", "diff", "--shortstat", origin["commit"], "--", *CODE]
        changes = subprocess.run(
            command, cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()
        print(f"{file.stem:<14} {origin['date']}  {origin['commit']}  {changes or 'no changes'}")


def main() -> int:
    """Run the benchmarks named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="*", help=f"default: all of {', '.join(BENCHMARKS)}")
    parser.add_argument("--age", action="store_true", help="list the age of all results, and run nothing")
    options = parser.parse_args()
    if unknown_names := set(options.name) - set(BENCHMARKS):
        parser.error(f"unknown benchmark {unknown_names.pop()}; available: {', '.join(BENCHMARKS)}")
    if options.age:
        print_ages()
        return 0
    try:
        require_release_build()
    except WrongBuildError as error:
        print(error, file=sys.stderr)
        return 2
    failed_names = []
    for name in options.name or BENCHMARKS:
        try:
            run(name)
        except subprocess.CalledProcessError as error:
            failed_names.append(name)
            print(f"{name} failed: {error}", file=sys.stderr)
    subprocess.run((sys.executable, "-m", "validation.sections"), cwd=PROJECT, check=True)  # their pages
    return int(bool(failed_names))


if __name__ == "__main__":
    sys.exit(main())

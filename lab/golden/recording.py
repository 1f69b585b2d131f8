"""Runs every command in a scratch directory and records its output and the files that it writes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.golden.reducing import plain_file, plain_output

if TYPE_CHECKING:
    import argparse

COMMANDS = Path(__file__).parent / "commands.toml"
LIMIT_S = 600
ENVIRONMENT = {"COLUMNS": "120", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def record(given: argparse.Namespace) -> int:
    """Runs all commands with the arguments of the command line; 0 when done."""
    said = tomllib.loads(COMMANDS.read_text(encoding="utf-8"))
    given.target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
        scratch = (given.scratch or Path(temporary) / "scratch").absolute()
        _furnish(scratch, said["files"], given)
        seconds, skipped = _run_all(said["commands"], scratch, given)
    facts = {"program": given.program, "pythonpath": str(given.pythonpath), "seconds": seconds}
    _write(given.target / "record.json", json.dumps({**facts, "skipped": skipped}, indent=1))
    print(f"{len(seconds)} commands in {sum(seconds.values()):.0f} s, {len(skipped)} skipped: {given.target}")
    return 0


def _furnish(scratch: Path, files: dict[str, str], given: argparse.Namespace) -> None:
    """Makes the scratch directory with all files that commands read."""
    scratch.mkdir(parents=True)
    (scratch / "sample").symlink_to(given.sample.resolve())
    if given.reference.is_dir():
        (scratch / "reference").symlink_to(given.reference.resolve())
    for name, text in files.items():
        _write(scratch / name, text)


def _run_all(
    commands: dict[str, str], scratch: Path, given: argparse.Namespace
) -> tuple[dict[str, float], list[str]]:
    """Runs the commands in order; returns the time of each, and those that could not run."""
    seconds, skipped = {}, []
    paths = {str(scratch): "<scratch>", str((given.pythonpath or scratch).absolute()): "<program>"}
    for name, line in commands.items():
        if "reference/" in line and not (scratch / "reference").exists():
            skipped.append(name)
            continue
        began = time.perf_counter()
        seen = _state(scratch)
        done = _run(line, scratch, given)
        seconds[name] = round(time.perf_counter() - began, 2)
        left = [path for path, state in _state(scratch).items() if seen.get(path) != state]
        _keep(given.target / name, line, done, scratch, left, paths)
        print(f"{seconds[name]:6.1f} s  {name}", file=sys.stderr, flush=True)
    return seconds, skipped


def _run(line: str, scratch: Path, given: argparse.Namespace) -> subprocess.CompletedProcess[bytes]:
    """Runs one command; `< FILE` at its end is read as standard input."""
    line, _, source = line.partition(" < ")
    arguments = shlex.split(given.program) + [_existing(word, scratch) for word in shlex.split(line)]
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"} | ENVIRONMENT
    if given.pythonpath:
        environment["PYTHONPATH"] = str(given.pythonpath.absolute())
    with (scratch / source if source else Path(os.devnull)).open("rb") as stdin:
        return subprocess.run(
            arguments,
            cwd=scratch,
            env=environment,
            stdin=stdin,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )


def _existing(word: str, scratch: Path) -> str:
    """The first of `DIR/{a,b}.toml` that exists, so that files may change their names."""
    found = re.fullmatch(r"([\w./-]+/)\{([\w.,-]+)\}([\w.]*)", word)
    if not found:
        return word
    names = [found[1] + name + found[3] for name in found[2].split(",")]
    return next((name for name in names if (scratch / name).exists()), names[0])


def _state(scratch: Path) -> dict[Path, tuple[int, int, int]]:
    """All files in a directory, links not followed, with the attributes that change on writing."""
    files = {path: path.stat() for path in sorted(scratch.rglob("*")) if path.is_file()}
    return {
        path: (said.st_ino, said.st_size, said.st_mtime_ns)
        for path, said in files.items()
        if path.relative_to(scratch).parts[0] not in ("sample", "reference", "__pycache__")
    }


def _keep(
    place: Path,
    line: str,
    done: subprocess.CompletedProcess[bytes],
    scratch: Path,
    left: list[Path],
    paths: dict[str, str],
) -> None:
    """Records the output of a command, and the files that it wrote."""
    streams: dict[str, Any] = {"stdout": done.stdout, "stderr": done.stderr}
    kept = {"exit": (".txt", f"{done.returncode}\n"), "command": (".txt", line + "\n")}
    kept |= {name: plain_output(data.decode(errors="replace")) for name, data in streams.items()}
    kept |= {f"left/{path.relative_to(scratch)}": plain_file(path) for path in left}
    hidden = re.compile("|".join(map(re.escape, paths)))
    for name, (suffix, text) in kept.items():
        plain = hidden.sub(lambda found: paths[found[0]], text)
        _write(place / (name if name.endswith(suffix) else name + suffix), plain)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

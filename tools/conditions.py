"""Run the tests under conditions that differ from those of a developer's machine: `make conditions`.

Each condition runs in its own clone of the last commit, with the native module of this checkout:

    python tools/conditions.py                        all conditions, each in a separate run
    python tools/conditions.py path locale            these conditions
    python tools/conditions.py --combine path locale  these conditions together in one run
    python tools/conditions.py --tests all            all tests instead of the quick ones

A table at the end has the result and the first failure of each run. The exit code is 1 if a run failed, or if
a condition cannot be created and SLEDLAB_REQUIRE=1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "target" / "conditions"
"""Output of the runs, and uv where it is not installed."""
LOCKS = ("requirements.lock", "requirements-dev.lock")
BUILT_FILES = ("python/sledlab/_native*", "python/sledlab/show/charts", "python/sledlab/view")
"""Built and fetched files, which a clone does not contain."""
SUBSET = (
    "tests/api/test_simulate.py",
    "tests/cli/test_encodings.py",
    "tests/cli/test_lines.py",
    "tests/cli/test_mistakes.py",
    "tests/cli/test_places.py",
    "tests/cli/test_progress.py",
    "tests/cli/test_simulate.py",
    "tests/cli/test_streams.py",
    "tests/cli/test_trace.py",
    "tests/cli/test_widths.py",
    "tests/job/test_tables.py",
    "tests/setup/test_imports.py",
    "tests/setup/test_names.py",
    "tests/witnesses",
)
"""Files that read and write files, print text, start processes or compute with numpy and polars."""
TESTS = {
    "subset": ("-m", "not slow", *SUBSET),
    "quick": ("-m", "not slow"),
    "all": (),
    "clients": ("tests/clients",),
    "data": ("tests/data",),
    "web": ("tests/web",),
}
"""Arguments of pytest for each selection of tests."""
OLDEST_CORE = "Nehalem"
"""The processor of 2008 whose kernels OpenBLAS uses: without AVX, AVX2 and FMA."""
UNPRIVILEGED_USER = "65534"
OLD_LIBC = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4,-BMI2"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
EXTRAS = ("cluster", "jobs", "mpi", "object-stores")
"""Optional dependencies of which the tests use the oldest versions, too."""
LINTERS = r"astral-|codespell|import-linter|maturin|mkdocs|mypy|nodejs|ruff"
"""Packages of the dev group that no test imports."""


class UnavailableError(Exception):
    """A condition that cannot be created on this machine."""


@dataclass
class Run:
    """One run of the tests, to which conditions add.

    Attributes:
        scratch: A directory for this run.
        clone: The name of the clone in that directory.
        python: The interpreter.
        environment: Environment variables to set.
        arguments: Arguments of pytest.
        prefix: A command that starts the tests.
        user: A command that changes the user, after the prefix.
        has_git: Whether the clone has the directory .git.
    """

    scratch: Path
    clone: str = "sledlab"
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    has_git: bool = True

    @property
    def directory(self) -> Path:
        """The clone."""
        return self.scratch / self.clone

    def new_directory(self, name: str) -> Path:
        """Return a new directory next to the clone."""
        path = self.scratch / name
        path.mkdir(parents=True)
        return path


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    Attributes:
        conditions: The names of its conditions.
        result: The counts of pytest, or why there are none.
        has_failed: Whether a test failed.
        first_failure: The first test that failed.
        elapsed_s: Wall-clock time.
    """

    conditions: str
    result: str
    has_failed: bool = False
    first_failure: str = ""
    elapsed_s: float = 0


def processor(run: Run) -> None:
    """An older processor: newer instructions off in numpy, OpenBLAS, Arrow, polars and the C library."""
    program = "import json, numpy; print(json.dumps(numpy.show_config('dicts')['SIMD Extensions']))"
    features = json.loads(output(run.python, "-c", program)).get("found", [])
    run.environment |= {
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "OPENBLAS_CORETYPE": OLDEST_CORE,
        "ARROW_USER_SIMD_LEVEL": "NONE",
        "POLARS_DISABLE_AVX512": "1",
        "GLIBC_TUNABLES": OLD_LIBC,
    }


def polars_compat(run: Run) -> None:
    """The build of polars for processors without AVX2, AVX or FMA."""
    version = output(run.python, "-c", "import polars; print(polars.__version__)").strip()
    place = run.new_directory("compat")
    place_only = ("--quiet", "--no-deps", "--python", run.python, "--target", place)
    uv("pip", "install", *place_only, f"polars-runtime-compat=={version}")
    run.environment |= {"PYTHONPATH": str(place), "POLARS_FORCE_PKG": "compat"}


def one_core(run: Run) -> None:
    """One processor core."""
    run.prefix += (program("taskset"), "-c", "0")


def nohup(run: Run) -> None:
    """A session that ignores SIGHUP, without a terminal."""
    run.prefix += (program("nohup"),)


def locale(run: Run) -> None:
    """The C locale, which is not UTF-8."""
    run.environment |= {"LANG": "C", "LC_ALL": "C"}


def timezone(run: Run) -> None:
    """A time zone 14 hours ahead of UTC."""
    run.environment["TZ"] = "Pacific/Kiritimati"


def caches(run: Run) -> None:
    """Cache and configuration directories that cannot be written."""
    place = run.new_directory("read-only")
    run.environment |= dict.fromkeys(("XDG_CACHE_HOME", "MPLCONFIGDIR"), str(place))
    if os.geteuid():
        place.chmod(0o500)
        return
    # Permissions do not bind root; a read-only mount does, and ends with the run.
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    run.prefix += (program("unshare"), "--mount", "sh", "-c", mount, str(place))
    if subprocess.run([*run.prefix, "true"], capture_output=True, check=False).returncode:
        raise UnavailableError("this machine permits no mounts")


def user(run: Run) -> None:
    """A user other than root, with an empty home directory."""
    if os.geteuid():
        raise UnavailableError("only root can change the user")
    run.user = (
        program("setpriv"),
        "--reuid",
        UNPRIVILEGED_USER,
        "--regid",
        UNPRIVILEGED_USER,
        "--clear-groups",
    )
    run.environment["HOME"] = str(run.new_directory("home"))
    usable = (python for python in ("/usr/bin/python3", *interpreters().values()) if works(*run.user, python))
    python = next(usable, None)
    if python is None:
        raise UnavailableError("no interpreter that other users may run")
    run.python = environment(run.scratch, python)


def path(run: Run) -> None:
    """A path with a space and an umlaut."""
    run.clone = "sled läb"


def no_git(run: Run) -> None:
    """Sources without version control, as in an archive of a release."""
    run.has_git = False


def oldest(run: Run) -> None:
    """The oldest versions of all dependencies that pyproject.toml allows."""
    pins = run.scratch / "oldest.txt"
    python = interpreters()[min(interpreters())]
    extras = (word for extra in EXTRAS for word in ("--extra", extra))
    resolve = ("pip", "compile", "--quiet", "--resolution", "lowest-direct", "--python", python)
    uv(*resolve, *extras, "--output-file", pins, PROJECT / "pyproject.toml")
    run.python = environment(run.scratch, python, "--requirement", pins, *packages_of_tests())
    # Old releases of matplotlib call functions that new releases of its own dependencies deprecate.
    run.arguments = ("-W", "ignore::DeprecationWarning")


def python_version(version: str, run: Run) -> None:
    """This version of Python."""
    run.python = environment(run.scratch, interpreters()[version])


CONDITIONS = (processor, polars_compat, one_core, nohup, locale, timezone, caches, user, path, no_git, oldest)


def conditions() -> dict[str, Callable[[Run], None]]:
    """Return all conditions by name; versions of Python are those of this machine."""
    result: dict[str, Callable[[Run], None]] = {each.__name__.replace("_", "-"): each for each in CONDITIONS}
    return result | {f"python{version}": partial(python_version, version) for version in interpreters()}


def description(condition: Callable[[Run], None]) -> str:
    """Return what a condition is."""
    return str((condition.func if isinstance(condition, partial) else condition).__doc__)


def output(*command: object) -> str:
    """Return what a command prints."""
    parts = list(map(str, command))
    done = subprocess.run(parts, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise UnavailableError(f"{Path(parts[0]).name} failed with exit code {done.returncode}")
    return done.stdout


def works(*command: str) -> bool:
    """Return whether an interpreter starts and is new enough."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([*command, "-c", check], capture_output=True, check=False).returncode == 0


def program(name: str) -> str:
    """Return the path of a program."""
    result = shutil.which(name)
    if result is None:
        raise UnavailableError(f"{name} is not installed")
    return result


@cache
def interpreters() -> dict[str, str]:
    """Return an interpreter for each version of Python on the path or of pyenv."""
    result = {}
    for version in PYTHONS:
        candidates = (shutil.which(f"python{version}"), *PYENV.glob(f"{version}.*/bin/python{version}"))
        usable = next((str(each) for each in candidates if each and works(str(each))), None)
        if usable:
            result[version] = usable
    return result


@cache
def uv_program() -> str:
    """Return the path of uv, which is installed if it is missing."""
    own = OUTPUT / "uv" / "bin" / "uv"
    result = shutil.which("uv") or (str(own) if own.exists() else None)
    if result is None:
        output(sys.executable, "-m", "venv", OUTPUT / "uv")
        output(OUTPUT / "uv" / "bin" / "pip", "install", "--quiet", "uv")
    return result or str(own)


def uv(*parts: object) -> None:
    """Run uv."""
    output(uv_program(), *parts)


def environment(place: Path, python: str, *packages: object) -> str:
    """Create a virtual environment with packages, by default the locked ones, and return its interpreter."""
    uv("venv", "--quiet", "--python", python, place / "environment")
    created = place / "environment" / "bin" / "python"
    locked = [word for name in LOCKS for word in ("--requirement", PROJECT / name)]
    uv("pip", "install", "--quiet", "--python", created, *(packages or locked))
    return str(created)


def packages_of_tests() -> list[str]:
    """Return the requirements of the tests: the dev group without linters and build tools."""
    groups = tomllib.loads((PROJECT / "pyproject.toml").read_text())["dependency-groups"]
    named = [each for group in ("data", "dev") for each in groups[group] if isinstance(each, str)]
    return [each for each in named if not re.match(LINTERS, each)]


def clone(run: Run) -> None:
    """Clone the last commit, and copy what a clone does not contain."""
    output("git", "clone", "--quiet", "--no-hardlinks", PROJECT, run.directory)
    for built in (path for pattern in BUILT_FILES for path in PROJECT.glob(pattern)):
        copy = shutil.copytree if built.is_dir() else shutil.copy
        copy(built, run.directory / built.relative_to(PROJECT))
    if not run.has_git:
        shutil.rmtree(run.directory / ".git")
    if run.user:
        run.scratch.chmod(0o755)
        output(
            "chown", "-R", f"{UNPRIVILEGED_USER}:{UNPRIVILEGED_USER}", run.directory, run.environment["HOME"]
        )


def measure(names: Sequence[str], tests: str, scratch: Path) -> Outcome:
    """Run tests under conditions, and return the outcome."""
    begun = time.monotonic()
    run, label = Run(scratch), " ".join(names)
    try:
        for name in names:
            conditions()[name](run)
        clone(run)
    except UnavailableError as reason:
        return Outcome(label, f"not run: {reason}", os.environ.get("SLEDLAB_REQUIRE") == "1")
    log = OUTPUT / f"{'-'.join(names)}.log"
    with log.open("w", encoding="utf-8") as file:
        code = subprocess.run(
            [
                *run.prefix,
                *run.user,
                run.python,
                "-m",
                "pytest",
                "-q",
                "-n",
                "auto",
                *run.arguments,
                *TESTS[tests],
            ],
            cwd=run.directory,
            env=variables(run),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    result, first = summary(log.read_text(encoding="utf-8", errors="replace"))
    return Outcome(label, result or f"exit code {code}", code != 0, first, time.monotonic() - begun)


def variables(run: Run) -> dict[str, str]:
    """Return the environment variables of a run: its interpreter and its clone come first."""
    shared = PROJECT.parent / "shared"  # next to this checkout
    data = {"SLEDLAB_REFERENCE": str(shared / "reference"), "SLEDLAB_PAPERS": str(shared / "papers")}
    paths = {
        "PATH": [str(Path(run.python).parent), os.environ["PATH"]],
        "PYTHONPATH": [str(run.directory / "python"), run.environment.get("PYTHONPATH", "")],
    }
    joined = {name: os.pathsep.join(filter(None, entries)) for name, entries in paths.items()}
    return data | os.environ | run.environment | joined


def summary(log: str) -> tuple[str, str]:
    """Return the counts of pytest and the first failure.

    >>> summary("F.\\nFAILED tests/test_a.py::test_b - assert 0\\n1 failed, 1 passed in 0.10s\\n")
    ('1 failed, 1 passed', 'tests/test_a.py::test_b - assert 0')
    >>> summary("Segmentation fault")
    ('', '')
    """
    counts = re.findall(r"^=*\s*(\d+ (?:passed|failed|error|skipped).*?) in [\d.]+s", log, re.MULTILINE)
    failures = re.findall(r"^(?:FAILED|ERROR) (.*)", log, re.MULTILINE)
    return (counts or [""])[-1], (failures or [""])[0]


def table(outcomes: Sequence[Outcome], tests: str) -> str:
    """Return a table of the outcomes."""
    rows = [
        ("condition", "tests", "result", "time", "first failure"),
        *(
            (each.conditions, tests, each.result, f"{each.elapsed_s:.0f} s", each.first_failure)
            for each in outcomes
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def main() -> int:
    """Run the conditions given on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the tests under unusual conditions.")
    parser.add_argument("names", nargs="*", metavar="CONDITION", help="default: all, see --list")
    parser.add_argument("--combine", action="store_true", help="Combine the conditions in one run")
    parser.add_argument("--tests", choices=TESTS, default="quick", help="Tests to run (default: quick)")
    parser.add_argument("--list", action="store_true", help="List the conditions")
    options = parser.parse_args()
    known = conditions()
    if options.list:
        print(*(f"{name:15} {description(each)}" for name, each in known.items()), sep="\n")
        return 0
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown condition {unknown.pop()}; available: {', '.join(known)}")
    names = options.names or list(known)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for together in [names] if options.combine else [[name] for name in names]:
        with tempfile.TemporaryDirectory(prefix="conditions-") as scratch:
            print(f"== {' '.join(together)}", file=sys.stderr, flush=True)
            outcomes.append(measure(together, options.tests, Path(scratch)))
    print(table(outcomes, options.tests))
    print(f"output of the tests: {OUTPUT.relative_to(PROJECT)}")
    return int(any(each.has_failed for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())

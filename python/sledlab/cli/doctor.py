"""`sledlab doctor`: what is installed, and what is missing for what."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from sledlab import _native
from sledlab.cli.options import json_option, show_json, show_table
from sledlab.emulation.attachment import PACKAGES, PROGRAMS, find_program
from sledlab.errors import Error
from sledlab.job.data import home
from sledlab.lazy import later, metadata, shutil
from sledlab.model.experiment import names
from sledlab.show import terminal
from sledlab.traces.remote import INSTALL
from sledlab.traces.samples import samples

version = later("importlib.metadata:version")
has_charts = later("sledlab.show.document:has_charts")
processors = later("sledlab.study.executor.worker_choice:processors")

REQUIRED_PACKAGES = ("click", "jinja2", "loky", "matplotlib", "numpy", "platformdirs", "polars", "rich")
"""Libraries without which sledlab does not work."""

XARRAY = "pip install 'sledlab[xarray]'"
JOBS = "pip install 'sledlab[jobs]'"
MPI = "pip install 'sledlab[mpi]'"
CLUSTER = "pip install 'sledlab[cluster]'"
CHARTS = "install a wheel, or install npm and run `make setup`"

CLIENTS = {"fio": "fio", "qemu-nbd": "qemu-utils", "nbd-client": "nbd-client"}
"""Programs that use a served device, and their Debian packages."""

BROWSERS = ("xdg-open", "firefox", "firefox-esr", "chromium", "google-chrome", "open")


@dataclass(frozen=True)
class Finding:
    """A library, program, file or fact of the machine that `sledlab doctor` looks for.

    Attributes:
        what: Its name.
        found: Its version, place or number; empty where it is missing.
        purpose: What sledlab uses it for.
        remedy: The command that installs it.
        needed: Whether sledlab does not work without it.
    """

    what: str
    found: str
    purpose: str
    remedy: str = ""
    needed: bool = False


@click.command()
@json_option
def doctor(*, as_json: bool) -> int:
    """Check the installation: optional packages, programs and files.

    Prints the command that installs each missing one. The exit code is 1 if a required package is missing.

    \b
    Examples:
      sledlab doctor
    """
    components = findings()
    missing = [component for component in components if not component.found]
    if as_json:
        show_json([asdict(component) for component in components])
        return int(any(component.needed for component in missing))
    show_table(
        ("what", "found", "for"),
        [(component.what, component.found or "missing", component.purpose) for component in components],
    )
    for component in missing:
        terminal.say_sentences(f"{component.what} is missing (required for {component.purpose}):")
        terminal.say(f"  {component.remedy}")
    if not missing:
        terminal.say("Nothing is missing.")
    return int(any(component.needed for component in missing))


def findings() -> list[Finding]:
    """Every library, program, file and fact that is looked for, found or missing."""
    extension = Path(_native.__file__ or "")
    installation = [
        Finding("sledlab", _native.__version__, "everything", needed=True),
        Finding("extension", f"{extension.name}, {_native.BUILD_PROFILE} build", "simulation", needed=True),
        Finding("Python", f"{platform.python_version()}, {sys.executable}", "everything", needed=True),
        Finding("system", f"{platform.system()} {platform.machine()}", "everything"),
        Finding("processors", str(processors()), "parallel runs of studies"),
        Finding("memory", memory(), "long queues, tables of requests"),
        Finding("experiments", str(len(names()) or ""), "figures of the papers by name", "reinstall sledlab"),
        Finding("uPlot", "installed" if has_charts() else "", "interactive figures of reports", CHARTS),
        Finding("samples", str(len(samples()) or ""), "traces by name", "reinstall sledlab"),
        Finding(
            "data",
            data_directory(),
            "generated tables and cached work records (SLEDLAB_DATA)",
            "make it writable",
        ),
    ]
    required_libraries = [
        library(name, "everything", f"pip install {name}", needed=True) for name in REQUIRED_PACKAGES
    ]
    return [
        *installation,
        *required_libraries,
        library("duckdb", "queries, and tables of TPC-H", JOBS),
        library("tpchgen-cli", "tables of TPC-H: jobs scan, sort, join, q1 to q22", JOBS),
        library("distributed", "studies on many machines (--cluster)", CLUSTER),
        library("xarray", "tables of studies as arrays (to_xarray)", XARRAY),
        library("mpi4py", "jobs with a process for each node (--mpi)", MPI),
        library("fsspec", "traces at addresses: memory, https:// and others", INSTALL),
        library("pyarrow", "Parquet files at addresses", INSTALL),
        library("aiohttp", "traces on web servers, https://", INSTALL),
        library("gcsfs", "traces in Google's object store, gs://", INSTALL),
        library("s3fs", "traces in S3, s3://", INSTALL),
        Finding("mpiexec", shutil.which("mpiexec") or "", "jobs with a process for each node (--mpi)", MPI),
        *(program(name, attachments(name), package) for name, package in PACKAGES.items()),
        *(program(name, "clients of sledlab serve", package) for name, package in CLIENTS.items()),
        Finding(
            "browser", browser(), "pages: sledlab view --open, report.html", "apt-get install firefox-esr"
        ),
    ]


def program(name: str, purpose: str, package: str) -> Finding:
    """Return the finding of a program: its path, or that it is missing."""
    return Finding(name, find_program(name) or "", purpose, f"apt-get install {package}")


def attachments(name: str) -> str:
    """Return the kinds of `sledlab serve --attach` that need a program."""
    return f"sledlab serve --attach {', '.join(kind for kind in PROGRAMS if name in PROGRAMS[kind])}"


def browser() -> str:
    """Return the path of a web browser; empty if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def library(name: str, purpose: str, remedy: str, *, needed: bool = False) -> Finding:
    """The finding of a library: its version, or that it is missing."""
    try:
        return Finding(name, version(name), purpose, remedy, needed)
    except metadata.PackageNotFoundError:
        return Finding(name, "", purpose, remedy, needed)


def memory() -> str:
    """The memory of the machine, in 10^9 bytes, or `unknown`."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{size / 1e9:.1f} GB"


def data_directory() -> str:
    """The directory for data of jobs and work records; empty where it cannot be written."""
    try:
        return str(home())
    except Error:
        return ""

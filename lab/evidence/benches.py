"""The benchmarks: their commands, the files that they write, and the code that they measure.

The fingerprint of a benchmark is the hash of the code that it runs, with its own file: see `code`.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..results import PROJECT
from ..validation.__main__ import SECTIONS, write_page
from .code import code_hash
from .entry import EvidenceEntry, Output, publish_nothing

BENCHES = PROJECT / "benches"

REPLAY = ("core", "models", "trace", "sim")
"""Crates of a replay."""
PYTHON = ("model", "runs", "traces")
"""Python packages of a replay."""
STUDY = (*PYTHON, "study", "studies")
SERVE = (*PYTHON, "emulation")

IMPORT_NAME = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
RUST_MODULE = re.compile(r"^mod (\w+);", re.MULTILINE)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Attributes:
        name: The name of its file in `benches`.
        scripts: Scripts in Python that write it, in order, in `benches`.
        rust: The benchmark in Rust that writes it first, `crate/name`.
        crates: Crates whose code it measures.
        packages: Python packages whose code it measures.
    """

    name: str
    scripts: tuple[str, ...] = ()
    rust: str = ""
    crates: tuple[str, ...] = REPLAY
    packages: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path of the file."""
        return f"benches/{self.name}.json"

    def commands(self) -> Iterator[Sequence[str]]:
        """Yield the commands that measure."""
        if self.rust:
            crate, name = self.rust.split("/")
            yield ("cargo", "bench", "--locked", "--package", f"sledlab-{crate}", "--bench", name)
        for script in self.scripts:
            yield (sys.executable, f"benches/{script}.py")

    def measure(self, _: str = "") -> None:
        """Run the commands."""
        for command in self.commands():
            subprocess.run(command, cwd=PROJECT, check=True)

    def fingerprint(self) -> str:
        """Return the hash of the code that it measures and of the benchmark itself."""
        measured = [f"crates/sledlab-{name}/src" for name in self.crates]
        measured += [f"python/sledlab/{name}" for name in self.packages]
        parts = (code_hash(_files(tuple(measured))), code_hash(tuple(self._benchmark_files()), strings=True))
        return hashlib.sha256("".join(parts).encode()).hexdigest()[:12]

    def _benchmark_files(self) -> Iterator[Path]:
        """Yield the files of the benchmark, except the module that formats tables."""
        if self.rust:
            crate, name = self.rust.split("/")
            file = PROJECT / f"crates/sledlab-{crate}/benches/{name}.rs"
            yield file
            modules = set(RUST_MODULE.findall(file.read_text(encoding="utf-8"))) - {"table"}
            yield from (file.parent / module / "mod.rs" for module in sorted(modules))
        yield from _import_closure([BENCHES / f"{script}.py" for script in self.scripts])


@cache
def _files(folders: tuple[str, ...]) -> tuple[Path, ...]:
    result = (file for folder in folders for file in (PROJECT / folder).rglob("*"))
    return tuple(sorted(file for file in result if file.suffix in (".rs", ".py")))


def _import_closure(scripts: Sequence[Path]) -> Iterator[Path]:
    """Yield scripts and the files of `benches` that they import."""
    seen: set[Path] = set()
    todo = list(scripts)
    while todo:
        file = todo.pop(0)
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        todo += [BENCHES / f"{name}.py" for name in IMPORT_NAME.findall(file.read_text(encoding="utf-8"))]
    yield from sorted(seen)


EMULATION = (*REPLAY, "emulation")

BENCHMARKS = (
    Benchmark("results", ("command_line",), "sim/speed", packages=(*STUDY, "cli")),
    Benchmark("decisions", rust="sim/decisions"),
    Benchmark("growth", ("growth",), "sim/growth", packages=STUDY),
    Benchmark("cluster", rust="sim/cluster"),
    Benchmark("mining", rust="mining/mining", crates=("core", "mining")),
    Benchmark("jobs", ("jobs",), crates=("core", "trace", "mining"), packages=("job",)),
    Benchmark("studies", ("studies",), packages=(*STUDY, "job")),
    Benchmark("fleet", ("fleet",), packages=STUDY),
    Benchmark("trace_hash", ("trace_hash",), packages=PYTHON),
    Benchmark("machines", ("machines",), packages=STUDY),
    Benchmark("plug_ins", ("plug_ins",), crates=(*REPLAY, "python"), packages=PYTHON),
    Benchmark("first_use", ("first_use",), packages=(*STUDY, "cli", "show")),
    Benchmark("volumes", ("volumes",), packages=("traces",)),
    Benchmark("emulation", ("emulation",), crates=EMULATION, packages=SERVE),
    Benchmark("closed_loop", ("closed_loop",), crates=EMULATION, packages=SERVE),
    Benchmark("kills", ("kills",), crates=EMULATION, packages=SERVE),
    Benchmark("guarantees", ("guarantees",), crates=EMULATION, packages=SERVE),
    Benchmark("hostile", ("hostile",), crates=EMULATION, packages=SERVE),
    Benchmark("power", ("power",), crates=EMULATION, packages=SERVE),
    Benchmark("client_delay", ("client_delay",), crates=EMULATION, packages=SERVE),
    Benchmark("web", ("web",), crates=(*REPLAY, "web")),
    Benchmark("applications", ("applications",), crates=EMULATION, packages=SERVE),
)
"""All benchmarks, in the order in which they run: those of pure computation first."""


def outputs() -> list[Output]:
    """Return the benchmark files; each benchmark writes its file itself."""
    return [_output(bench) for bench in BENCHMARKS]


def _output(bench: Benchmark) -> Output:
    entry = EvidenceEntry(f"bench-{bench.name}", bench.fingerprint, bench.measure, is_cheap=True)
    quoted = any(PROJECT / bench.path in section.benchmarks for section in SECTIONS)
    publish = (lambda _: write_page(())) if quoted else publish_nothing
    return Output(bench.path, "bench", [entry], publish)


def all_code() -> str:
    """Return the hash of all code that simulates."""
    folders = [f"crates/sledlab-{name}/src" for name in (*REPLAY, "mining")]
    return code_hash(_files((*folders, *(f"python/sledlab/{name}" for name in (*STUDY, "job")))))

"""Fingerprints of experiments: hashes of the results of short runs, of seconds each.

Most changes of the sources change no result, and nobody should have to simulate for an hour to learn that:
where the fingerprint is the one noted when points were kept, the points stay valid. That is no proof, as a
long run can meet cases that a short one does not: `tests/validation/test_recomputed.py` computes ten
verdicts a day from scratch.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..simulator import experiment
from .runs import Planned, run

OF_REQUESTS = ("--limit", "300", "--warmup", "0", "--seeds", "1")
OF_JOBS = {"scale_factor": "0.002", "transactions_per_node": "500", "records": "20000"}
"""Sizes of a job's data in a short run, by the name of the setting."""

TIMED = ("decision_cost.csv",)
"""Tables of wall-clock time."""


RENAMED = {
    "arrival_rate_iops": "arrival_rate",
    "arrival_rate_ci95_iops": "arrival_rate_ci95",
    "request_energy_uj": "energy_per_request_uj",
    "total_energy_per_request_mj": "energy_per_request_mj",
}
"""Columns by the names that they had when fingerprints were noted: a new name changes no result."""


@dataclass(frozen=True)
class Short:
    """The short run of an experiment, for its fingerprint."""

    planned: Planned

    @property
    def options(self) -> tuple[str, ...]:
        """Options beside those of the experiment, which override them."""
        study = experiment(self.planned.experiment)["study"]
        if study["kind"] != "smart":
            return OF_REQUESTS
        own = _sizes(self.planned.options) or _sizes(study["job_settings"])
        return tuple(word for size in own for word in ("--job-set", f"{size}={OF_JOBS[size]}"))

    @property
    def run(self) -> Planned:
        """The planned short run."""
        return replace(self.planned, options=(*self.planned.options, *self.options))

    def fingerprint(self, directory: Path) -> str:
        """The hash of all tables that the short run left in a directory."""
        left = sorted((directory / self.planned.place).glob("*.csv"))
        tables = [file for file in left if file.name not in TIMED]
        if not tables:
            raise FileNotFoundError(f"a short run of {self.planned.place} left no tables")
        digest = hashlib.sha256()
        for file in tables:
            digest.update(f"{file.name}\0".encode())
            head, _, rows = file.read_bytes().partition(b"\n")
            names = (RENAMED.get(name, name) for name in head.decode().split(","))
            digest.update(",".join(names).encode() + b"\n" + rows)
        return digest.hexdigest()[:12]


def _sizes(words: Iterable[str]) -> list[str]:
    """Settings of data sizes among some words of options."""
    return [name for name in (word.split("=", maxsplit=1)[0] for word in words) if name in OF_JOBS]


FOUND: dict[Planned, str] = {}
"""Fingerprints found since this process began."""


def fingerprints(plan: Sequence[Planned]) -> dict[str, str]:
    """The fingerprint of each experiment, by place: seconds of simulation each, once in a process."""
    shorts = [Short(each) for each in plan if each not in FOUND]
    with tempfile.TemporaryDirectory(prefix="sledlab-fingerprints-") as name:
        directory = Path(name)
        run([each.run for each in shorts], directory, side_by_side=True)
        FOUND.update((each.planned, each.fingerprint(directory)) for each in shorts)
    return {each.place: FOUND[each] for each in plan}

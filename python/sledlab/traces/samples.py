"""Traces and work records that come with sledlab: `sample:mail-a` names one wherever a file is expected.

The simulator finds them by itself (`samples_lie_in`, said once when the package is imported), so that
experiments keep the name and mean the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from sledlab.lazy import tomllib

PREFIX = "sample:"
"""What stands before the name of a sample."""

PLACE = Path(__file__).parents[1] / "sample"
"""Their files: in a checkout a link to `sample`, in a wheel the files, without the longest traces."""

FILES = {"traces": "{}.csv.zst", "work": "{}.work"}
"""Names of files, by folder."""


@dataclass(frozen=True)
class Sample:
    """A trace or a work record that comes with sledlab.

    Attributes:
        name: As it is written where a file is expected: `sample:mail-a`.
        meaning: What it was recorded from, one line.
        folder: `traces`, or `work` for work records.
        requests: Reads and writes of a trace.
        duration_s: How long a trace was recorded, in s.
    """

    name: str
    meaning: str
    folder: str
    requests: int = 0
    duration_s: float = 0.0

    @property
    def file(self) -> Path:
        """Where it lies."""
        return PLACE / self.folder / FILES[self.folder].format(self.name.removeprefix(PREFIX))


def samples(folder: str = "traces") -> list[Sample]:
    """The traces that come with sledlab, or with `work` the work records.

    Examples:
        >>> [sample.name for sample in samples("work")]
        ['sample:scan', 'sample:sort', 'sample:join', 'sample:exchange']
    """
    told = tomllib.loads((PLACE / "samples.toml").read_text(encoding="utf-8"))[folder]
    found = [Sample(PREFIX + name, folder=folder, **facts) for name, facts in told.items()]
    return [sample for sample in found if sample.file.exists()]


def located(file: str) -> Path:
    """The file that the name of a trace or a record stands for: itself, or that of a sample.

    Examples:
        >>> located("app.csv"), located("sample:sort").name
        (PosixPath('app.csv'), 'sort.work')
    """
    if not file.startswith(PREFIX):
        return Path(file)
    name = file.removeprefix(PREFIX)
    found = [PLACE / folder / form.format(name) for folder, form in FILES.items()]
    return next((each for each in found if each.exists()), Path(file))


def called(file: str) -> str:
    """What a trace is called in sentences: the name of its file without endings, or that of a sample.

    Examples:
        >>> called("traces/app.csv.zst"), called("sample:mail-a")
        ('app', 'mail-a')
    """
    return PurePath(file).name.split(".")[0].removeprefix(PREFIX)

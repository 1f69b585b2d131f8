"""Traces and work records that come with sledlab: `sample:mail-a` names one wherever a file is expected.

The simulator finds samples in the directory that the package passes to `set_sample_directory` when it is
imported, so that an experiment keeps the sample's name and means the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from sledlab.lazy import tomllib

PREFIX = "sample:"
"""The prefix of the name of a sample."""

SAMPLE_DIRECTORY = Path(__file__).parents[1] / "sample"
"""Directory of the samples: in a checkout a link to `sample`, in a wheel without the longest trace."""

FILES = {"traces": "{}.csv.zst", "work": "{}.work"}
"""File names of samples, by folder."""


@dataclass(frozen=True)
class Sample:
    """A trace or a work record that comes with sledlab.

    Attributes:
        name: Its name with the prefix, as written where a file is expected: `sample:mail-a`.
        meaning: The system that it was recorded from, in one line.
        folder: `traces`, or `work` for work records.
        requests: Number of reads and writes of a trace.
        duration_s: Length of the recording of a trace, in s.
    """

    name: str
    meaning: str
    folder: str
    requests: int = 0
    duration_s: float = 0.0

    @property
    def file(self) -> Path:
        """The path of its file."""
        return SAMPLE_DIRECTORY / self.folder / FILES[self.folder].format(self.name.removeprefix(PREFIX))


def samples(folder: str = "traces") -> list[Sample]:
    """The traces that come with sledlab, or with `work` the work records.

    Examples:
        >>> [sample.name for sample in samples("work")]
        ['sample:scan', 'sample:sort', 'sample:join', 'sample:exchange']
    """
    tables_by_name = tomllib.loads((SAMPLE_DIRECTORY / "samples.toml").read_text(encoding="utf-8"))[folder]
    all_samples = [
        Sample(PREFIX + name, folder=folder, **attributes) for name, attributes in tables_by_name.items()
    ]
    return [sample for sample in all_samples if sample.file.exists()]


def locate(file: str) -> Path:
    """The path of a trace or a record: `file` itself, or the path of the sample of that name.

    Examples:
        >>> locate("app.csv"), locate("sample:sort").name
        (PosixPath('app.csv'), 'sort.work')
    """
    if not file.startswith(PREFIX):
        return Path(file)
    name = file.removeprefix(PREFIX)
    candidates = [SAMPLE_DIRECTORY / folder / pattern.format(name) for folder, pattern in FILES.items()]
    return next((candidate for candidate in candidates if candidate.exists()), Path(file))


def trace_label(file: str) -> str:
    """The name of a trace in sentences: that of its file without endings, or of its sample without prefix.

    Examples:
        >>> trace_label("traces/app.csv.zst"), trace_label("sample:mail-a")
        ('app', 'mail-a')
    """
    return PurePath(file).name.split(".")[0].removeprefix(PREFIX)

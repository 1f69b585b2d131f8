"""The workers that measure the runs of a study, as options choose them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping

CLUSTER = "SLEDLAB_CLUSTER"
"""Variable of the environment that names the cluster, where no option chooses workers."""

CONTRADICTIONS = (
    ("cluster", "parallel", "its workers decide how many runs there are at the same time"),
    ("cluster", "share", "a cluster distributes the runs itself"),
    ("cluster", "executor", "runs execute in one place only"),
    ("executor", "parallel", "it decides how many runs there are at the same time"),
    ("executor", "share", "an executor distributes the runs itself"),
)
"""Pairs of options that exclude each other, and why."""


@dataclass(frozen=True)
class Share:
    """A share of the runs, for job arrays: its number, and the number of shares.

    Each run is in exactly one share, whether or not its result is cached.
    """

    number: int
    total: int

    @staticmethod
    def parse(text: str) -> Share:
        """A share from the text of an option.

        Raises:
            Error: The text is no share.

        Examples:
            >>> Share.parse("3/8")
            Share(number=3, total=8)
        """
        number, _, total = str(text).partition("/")
        if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
            raise Error(f"`{text}` is not a share", remedy="write it as 3/8: the third of eight")
        return Share(int(number), int(total))

    def contains(self, position: int) -> bool:
        """Whether a run is in the share, by its place among all different runs, longest-running first.

        Examples:
            >>> [share for share in (1, 2, 3) if Share(share, 3).contains(31)]
            [2]
        """
        return position % self.total == self.number - 1

    def __str__(self) -> str:
        """The share as the text of an option."""
        return f"{self.number}/{self.total}"


@dataclass(frozen=True)
class WorkerChoice:
    """The workers that measure runs.

    Attributes:
        parallel: Number of runs measured at the same time, on this machine.
        cluster: Workers of Dask instead: the address or the file of a scheduler, or a client.
        executor: Another executor instead.
        share: The share of the runs to measure here, where other processes measure the other shares.
        sends_files: Whether input files are sent to workers of the cluster.
    """

    parallel: int = 1
    cluster: Any = None
    executor: Any = None
    share: Share | None = None
    sends_files: bool = False

    @staticmethod
    def from_options(options: Mapping[str, Any], *, has_directory: bool) -> WorkerChoice:
        """The workers that options choose.

        Args:
            options: Values of options by keyword; other options are ignored.
            has_directory: Whether there is a directory for results.

        Raises:
            Error: Options exclude each other, or one is invalid.
        """
        chosen = {
            name: options[name]
            for name in ("cluster", "executor", "parallel", "share")
            if _is_given(options, name)
        }
        for option, other_option, reason in CONTRADICTIONS:
            if option in chosen and other_option in chosen:
                raise Error(
                    f"`{_flag(option)}` cannot be combined with `{_flag(other_option)}`: {reason}",
                    remedy="omit one of them",
                )
        if not chosen and os.environ.get(CLUSTER):
            chosen["cluster"] = os.environ[CLUSTER]
        sends_files = bool(options.get("send_trace"))
        if sends_files and "cluster" not in chosen:
            raise Error(
                "`--send-trace` requires a cluster",
                remedy="specify the cluster with --cluster, or omit --send-trace",
            )
        share = Share.parse(chosen["share"]) if "share" in chosen else None
        if share is not None and not has_directory:
            raise Error(
                "`--share` needs a directory for the result cache that all shares use",
                remedy="give the same --out to all",
            )
        return WorkerChoice(
            parallel_runs(chosen.get("parallel")),
            chosen.get("cluster"),
            chosen.get("executor"),
            share,
            sends_files,
        )


def _is_given(options: Mapping[str, Any], name: str) -> bool:
    value = options.get(name)
    return value is not None and not (isinstance(value, str) and not value)


def _flag(name: str) -> str:
    """The name of an option on the command line; of `executor`, which only Python has, the keyword."""
    return name if name == "executor" else f"--{name}"


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def parallel_runs(parallel: int | None) -> int:
    """Number of runs at the same time: `parallel`, by default the number of processors.

    Raises:
        Error: `parallel` is no whole number above 0.
    """
    count = processors() if parallel is None else parallel
    if count < 1:
        raise Error(f"`{parallel}` is not a number of runs", remedy="give a whole number, 1 or more")
    return count

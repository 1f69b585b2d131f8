"""Where a study's points are to be measured, as options say it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.study.executor.local import processors

if TYPE_CHECKING:
    from collections.abc import Mapping

CLUSTER = "SLEDLAB_CLUSTER"
"""A variable of the environment: the cluster, where no option says where points are measured."""

CONTRADICTIONS = (
    ("cluster", "jobs", "its workers decide how many runs there are at the same time"),
    ("cluster", "share", "a cluster shares points out by itself"),
    ("cluster", "executor", "points are measured in one place"),
    ("executor", "jobs", "it decides how many runs there are at the same time"),
    ("executor", "share", "an executor shares points out by itself"),
)
"""What does not go together, and why."""


@dataclass(frozen=True)
class Share:
    """A share of the points, in a job array: which, and of how many.

    A point is in one share and in no other, whatever is kept already.
    """

    number: int
    of: int

    @staticmethod
    def read(word: str) -> Share:
        """A share as options say it.

        Raises:
            Error: It is none.

        Examples:
            >>> Share.read("3/8")
            Share(number=3, of=8)
        """
        number, _, of = str(word).partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise Error(f"`{word}` is not a share", remedy="write it as 3/8: the third of eight")
        return Share(int(number), int(of))

    def has(self, place: int) -> bool:
        """Whether a point is in it, by its place among all that differ, those that take longest first.

        Examples:
            >>> [share for share in (1, 2, 3) if Share(share, 3).has(31)]
            [2]
        """
        return place % self.of == self.number - 1

    def __str__(self) -> str:
        """The share as options say it."""
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Where:
    """Where points are measured.

    Attributes:
        jobs: How many at the same time, on this machine.
        cluster: Workers of Dask instead: the address or the file of a scheduler, or a client.
        executor: Another executor instead.
        share: The share of the points that is measured here, where others measure the rest.
        send: Whether traces are sent to workers of the cluster.
    """

    jobs: int = 1
    cluster: Any = None
    executor: Any = None
    share: Share | None = None
    send: bool = False

    @staticmethod
    def said(said: Mapping[str, Any], *, lasting: bool) -> Where:
        """What options say.

        Args:
            said: Values by keyword; others do not matter.
            lasting: Whether there is a directory for results.

        Raises:
            Error: They contradict each other, or one makes no sense.
        """
        given = {
            name: said[name] for name in ("cluster", "executor", "jobs", "share") if _is_said(said, name)
        }
        for one, other, why in CONTRADICTIONS:
            if one in given and other in given:
                raise Error(
                    f"`{_flag(one)}` does not go with `{_flag(other)}`: {why}",
                    remedy="leave one of them out",
                )
        if not given and os.environ.get(CLUSTER):
            given["cluster"] = os.environ[CLUSTER]
        send = bool(said.get("send_trace"))
        if send and "cluster" not in given:
            raise Error(
                "`--send-trace` sends traces to the workers of a cluster, and there is none",
                remedy="name it with --cluster, or leave --send-trace out",
            )
        share = Share.read(given["share"]) if "share" in given else None
        if share is not None and not lasting:
            raise Error(
                "`--share` needs a directory in which all shares keep their points",
                remedy="give the same --out to all",
            )
        return Where(at_once(given.get("jobs")), given.get("cluster"), given.get("executor"), share, send)


def _is_said(said: Mapping[str, Any], name: str) -> bool:
    value = said.get(name)
    return value is not None and not (isinstance(value, str) and not value)


def _flag(name: str) -> str:
    """What users call it; an executor is said in Python only."""
    return name if name == "executor" else f"--{name}"


def at_once(jobs: int | None) -> int:
    """How many runs there are at the same time: as many as there are processors, unless said.

    Raises:
        Error: It is no number of jobs.
    """
    found = processors() if jobs is None else jobs
    if found < 1:
        raise Error(f"`{jobs}` is not a number of jobs", remedy="give a whole number, 1 or more")
    return found

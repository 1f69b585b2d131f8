"""A topic of papers: its experiments, its claims, its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import reference, results
from ..markdown import table
from ..page import fill
from ..results import RESULTS, Left, sources
from .claims import IN_PART, NOT, OUTCOMES, REPRODUCED, Claim, Verdict, claims, verdict
from .runs import Planned, run

PRIORITIES = (1, 2, 3)


@dataclass(frozen=True)
class Judged:
    """The verdict on a claim, and that in another reading of the paper, which does not count."""

    found: Verdict
    other: Verdict | None = None


@dataclass(frozen=True)
class Sheet:
    """All that a page is written from: verdicts by claim, and what stands in the places of its text."""

    verdicts: dict[str, Judged]
    places: dict[str, str]


@dataclass(frozen=True)
class Topic:
    """A topic by its folder: what is run, how runs are read, and what its text has beside the claims."""

    name: str
    plan: Sequence[Planned]
    runs: Callable[[Path], Any]
    places: Callable[[Any, Mapping[str, Judged]], dict[str, str]]
    other: Callable[[Path], Any] | None = None
    """How runs are read in the other reading."""
    other_title: str = "Columns read both ways"
    side_by_side: bool = False
    on_reference: bool = False
    """Whether traces of the reference data are needed."""

    def run(self, directory: Path, extra: Sequence[str] = ()) -> None:
        """Runs the experiments that a directory does not hold yet."""
        run(self.plan, directory, extra, side_by_side=self.side_by_side)

    def judge(self, directory: Path) -> Sheet:
        """Judges every claim by the runs of a directory."""
        runs, other = self.runs(directory), self.other and self.other(directory)
        verdicts = {
            name: Judged(verdict(claim, runs), verdict(claim, other) if other else None)
            for name, claim in claims(self.name).items()
        }
        return Sheet(verdicts, self.places(runs, verdicts))

    def found(self, *, as_left: bool = False) -> Left[Sheet]:
        """What came out with these sources, or what was left; runs what lacks."""
        name = f"reproduction/{self.name}"
        if as_left and (left := results.read(name, Sheet)):
            return left
        directory = RESULTS / "experiments" / sources()
        self.run(directory)
        sheet = self.judge(directory)
        results.leave(name, sheet)
        return Left(sources(), sheet)

    @property
    def missing(self) -> str | None:
        """What stands in the way of running it."""
        return reference.MISSING if self.on_reference and not reference.present() else None

    def page(self, sheet: Sheet, of: str) -> str:
        """The page in Markdown; `of` is the hash of the sources."""
        mine = claims(self.name)
        sections = {
            paper: "\n".join(
                section(claim, sheet.verdicts[name], self.other_title)
                for name, claim in mine.items()
                if claim.paper == paper
            )
            for paper in dict.fromkeys(claim.paper for claim in mine.values())
        }
        outcomes = {name: judged.found.outcome for name, judged in sheet.verdicts.items()}
        counted = counts(mine, outcomes)
        text = f"reproduction/{self.name}/page.md"
        return fill(text, counts=counted, claims=sections, sources=f"`{of}`", **sheet.places)


def counts(claims: Mapping[str, Claim], outcomes: Mapping[str, str]) -> str:
    """How many claims came out how, by priority; outcomes that only some topics know where there are any."""
    found = Counter((claims[name].priority, outcome) for name, outcome in outcomes.items())
    shown = [each for each in OUTCOMES if each in (REPRODUCED, IN_PART, NOT, *outcomes.values())]
    rows = [
        [f"priority {priority}", *(str(found[priority, outcome]) for outcome in shown)]
        for priority in PRIORITIES
    ]
    rows.append(["all", *(str(sum(found[p, outcome] for p in PRIORITIES)) for outcome in shown)])
    return table(["claims", *shown], rows)


def section(claim: Claim, judged: Judged, other_title: str) -> str:
    """One claim; what stands beside our numbers does not count."""
    found, other = judged.found, judged.other
    lines = [
        f"### {claim.id}: {found.outcome}",
        f"*{claim.where}; priority {claim.priority}, grade {claim.grade}*",
        f"**Claim.** {_sentence(claim.claim)} Published: {_sentence(claim.published)} Reproduced if: "
        f"{_sentence(claim.accept)}",
        f"**Ours.** {found.ours.rstrip()}",
    ]
    if other and other.ours != found.ours:
        lines.append(f"**{other_title}** ({other.outcome}). {other.ours}")
    if found.why and found.outcome != REPRODUCED:
        lines.append(f"**Why.** {found.why}")
    return "\n\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text.replace("*", r"\*").replace("<", "&lt;")
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")

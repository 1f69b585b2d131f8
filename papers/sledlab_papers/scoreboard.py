"""The index, with the outcomes of all claims on one screen, and the page on how claims are judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf, log

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.summary import GRADES
from sledlab.reproduction.verdicts import (
    DIRECTION_ONLY,
    MET,
    NO_EVIDENCE,
    NOT_MET,
    OUTCOMES,
    Claim,
    SensitivitySweep,
    claims,
)

from .claims import claims as topic_claims
from .headlines import HEADLINES
from .markdown import table
from .mosaic import mosaic
from .outcome_marks import MARKS
from .pictures import schematics
from .templates import TEMPLATES, fill
from .topics import TOPICS
from .wording import figure

DOCUMENT = "reproduction/index.md"
METHOD = "reproduction/method.md"


def page() -> str:
    """The page in Markdown, from the verdicts in the package."""
    claims.cache_clear()
    measured = list(claims().values())
    numbers = simulated_numbers(measured)
    return fill(
        TEMPLATES,
        "index.md",
        total=f"{len(measured)}",
        met=f"{sum(each.outcome == MET for each in measured)}",
        mosaic=mosaic(measured),
        numbers=f"{len(numbers)}",
        numbers_met=f"{sum(each.outcome == MET for each in numbers)}",
        headlines=_headlines(),
    )


def method_page() -> str:
    """The page on criteria, outcomes and open assumptions, in Markdown."""
    measured = list(claims().values())
    return fill(
        TEMPLATES,
        "method.md",
        board=_outcome_table(measured),
        misses=_misses(measured),
        sensitivity=_sensitivity(measured),
        schematics=schematics(),
    )


def simulated_numbers(measured: Sequence[Claim]) -> list[Claim]:
    """The claims for which the paper prints a number that a simulation can meet."""
    entries = {name: entry for topic in TOPICS for name, entry in topic_claims(topic).items()}
    return [each for each in measured if entries[each.id].has_simulated_number]


def _outcome_table(measured: list[Claim]) -> str:
    """Numbers of claims by outcome: by paper, by priority, by grade."""
    shown = [each for each in OUTCOMES if any(claim.outcome == each for claim in measured)]

    def row(title: str, some: list[Claim]) -> list[str]:
        counted = Counter(claim.outcome for claim in some)
        return [title, f"{len(some)}", *(f"{counted[outcome] or ''}" for outcome in shown)]

    def rows() -> Iterator[list[str]]:
        for key, paper in PAPERS.items():
            mine = [each for each in measured if each.paper == key]
            yield row(f"[{paper.citation}]({key}.md): {paper.topic}", mine)
        numbers = simulated_numbers(measured)
        met = sum(each.outcome == MET for each in numbers)
        yield row(f"**printed numbers met: {met} of {len(numbers)}**", numbers)
        for priority in (1, 2, 3):
            yield row(f"*priority {priority}*", [each for each in measured if each.priority == priority])
        for grade, meaning in GRADES.items():
            yield row(f"*grade {grade}: {meaning}*", [each for each in measured if grade in each.grade])

    return table(["", "claims", *(MARKS[outcome].label for outcome in shown)], rows())


NUMBER_COLUMNS = "claim | says | published | ours | ratio | outcome | why they differ"
MAX_CLOSE_RATIO = 2.0
"""Factor up to which a number that is missed is no worst miss."""


HEADLINE_COLUMNS = "claim | says | published | ours | outcome"


def _headlines() -> str:
    rows = [_row(claims()[name], says) for name, says in HEADLINES.items()]
    return table(HEADLINE_COLUMNS, [[*row[:4], row[5]] for row in rows], 5)


def _misses(measured: list[Claim]) -> str:
    """Claims of priority 1 and 2 that are not met, or met in direction only, the farthest numbers first."""
    missed = [each for each in measured if each.priority < 3 and _is_far_off(each)]
    rows = [
        _row(each, f"{each.claim[0].upper()}{each.claim[1:]}")
        for each in sorted(missed, key=lambda claim: (-_distance(claim), claim.priority, claim.id))
    ]
    return table(NUMBER_COLUMNS, rows, 7)


def _is_far_off(claim: Claim) -> bool:
    is_far = _distance(claim) > log(MAX_CLOSE_RATIO)
    return claim.outcome == NOT_MET or (claim.outcome == DIRECTION_ONLY and is_far)


def _distance(claim: Claim) -> float:
    """How far the farthest number is off: the logarithm of the ratio; infinite for another sign."""
    ratios = [each.ratio for each in claim.numbers]
    return max((abs(log(ratio)) if ratio > 0 else inf for ratio in ratios), default=0.0)


def _row(claim: Claim, says: str) -> list[str]:
    """A claim with the published value next to ours."""
    numbers = claim.numbers
    published = "; ".join(each.published for each in numbers) or claim.published
    ours = "; ".join(each.ours for each in numbers) or claim.short or "see there"
    ratio = "; ".join(figure(each.ratio) for each in numbers)
    cells = [link(claim.id), says, published, ours, ratio, claim.outcome_text, claim.cause]
    return [cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells]


def _sensitivity(measured: list[Claim]) -> str:
    """Number of contested claims that hold over their sweeps, and those that flip, with the cause."""
    attempted = [each for each in measured if any(not sweep.exclusion for sweep in each.sensitivity_sweeps)]
    steady = [each for each in attempted if each.outcome == MET]
    rows = [row for claim in attempted for row in cells_of_flips(claim)]
    flipping = [claim.id for claim in attempted if flipping_choices(claim)]
    counted = (
        f"Of {len(attempted)} claims that hang on something that the papers leave open, {len(steady)} are "
        f"met with every value that was tried, {len(flipping)} with some and not with others, and "
        f"{len(attempted) - len(steady) - len(flipping)} with none."
    )
    return f"{counted}\n\n{table('claim | depends on | met with | less with', rows, 4)}"


def cells_of_flips(claim: Claim) -> list[list[str]]:
    """The assumptions with values that turn a claim: claim, assumption, values that meet it, and others."""
    return [
        [
            link(claim.id),
            sweep.assumption,
            "; ".join(_values(sweep, holds=True)),
            "; ".join(_values(sweep, holds=False)),
        ]
        for sweep in claim.sensitivity_sweeps
        if sweep.flips and not sweep.exclusion
    ]


def flipping_choices(claim: Claim) -> list[str]:
    """The choices left open by the paper, with values, that turn a claim."""
    return [sweep.assumption for sweep in claim.sensitivity_sweeps if sweep.flips and not sweep.exclusion]


def _values(sweep: SensitivitySweep, *, holds: bool) -> list[str]:
    """The values with which a claim is met, or with `holds` false, those with which it is less."""
    cells = [cell for cell in sweep.cells if cell.outcome not in NO_EVIDENCE]
    return [cell.value for cell in cells if (cell.outcome == MET) is holds]


def link(name: str) -> str:
    """A claim, linked to its page."""
    return f"[{name}](claims/{name.lower()}.md)"

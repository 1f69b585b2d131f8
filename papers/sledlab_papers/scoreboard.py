"""The index, with the outcomes of all claims on one screen, and the page on how claims are judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf, log

from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.summary import GRADES
from sledlab.reproduction.verdicts import (
    DIRECTION_ONLY,
    MARKS,
    MET,
    NO_EVIDENCE,
    NOT_MET,
    OUTCOMES,
    Claim,
    SensitivitySweep,
    claims,
)

from .headlines import HEADLINES
from .markdown import table
from .mosaic import mosaic
from .pictures import schematics
from .templates import TEMPLATES, fill
from .wording import format_number

DOCUMENT = "reproduction/index.md"
METHOD = "reproduction/method.md"


def page() -> str:
    """The page in Markdown, from the verdicts in the package."""
    claims.cache_clear()
    all_claims = list(claims().values())
    claims_with_numbers = [each for each in all_claims if each.has_simulated_number]
    return fill(
        TEMPLATES,
        "index.md",
        total=f"{len(all_claims)}",
        met=f"{sum(each.outcome == MET for each in all_claims)}",
        mosaic=mosaic(all_claims),
        numbers=f"{len(claims_with_numbers)}",
        numbers_met=f"{sum(each.outcome == MET for each in claims_with_numbers)}",
        headlines=_headlines(),
    )


def method_page() -> str:
    """The page on criteria, outcomes and open assumptions, in Markdown."""
    all_claims = list(claims().values())
    return fill(
        TEMPLATES,
        "method.md",
        board=_outcome_table(all_claims),
        misses=_misses(all_claims),
        sensitivity=_sensitivity(all_claims),
        schematics=schematics(),
    )


def _outcome_table(all_claims: list[Claim]) -> str:
    """Numbers of claims by outcome: by paper, by priority, by grade."""
    outcomes = [each for each in OUTCOMES if any(claim.outcome == each for claim in all_claims)]

    def row(title: str, group: list[Claim]) -> list[str]:
        counts = Counter(claim.outcome for claim in group)
        return [title, f"{len(group)}", *(f"{counts[outcome] or ''}" for outcome in outcomes)]

    def rows() -> Iterator[list[str]]:
        for key, paper in PAPERS.items():
            paper_claims = [each for each in all_claims if each.paper == key]
            yield row(f"[{paper.citation}]({key}.md): {paper.topic}", paper_claims)
        claims_with_numbers = [each for each in all_claims if each.has_simulated_number]
        met = sum(each.outcome == MET for each in claims_with_numbers)
        yield row(f"**printed numbers met: {met} of {len(claims_with_numbers)}**", claims_with_numbers)
        for priority in (1, 2, 3):
            yield row(f"*priority {priority}*", [each for each in all_claims if each.priority == priority])
        for grade, meaning in GRADES.items():
            yield row(f"*grade {grade}: {meaning}*", [each for each in all_claims if grade in each.grade])

    return table(["", "claims", *(MARKS[outcome].label for outcome in outcomes)], rows())


NUMBER_COLUMNS = "claim | says | published | ours | ratio | outcome | why they differ"
MAX_CLOSE_RATIO = 2.0
"""Factor up to which a number that is missed is no worst miss."""


HEADLINE_COLUMNS = "claim | says | published | ours | outcome"


def _headlines() -> str:
    rows = [_row(claims()[name], says) for name, says in HEADLINES.items()]
    return table(HEADLINE_COLUMNS, [[*row[:4], row[5]] for row in rows], 5)


def _misses(all_claims: list[Claim]) -> str:
    """Claims of priority 1 and 2 that are not met, or met in direction only, the farthest numbers first."""
    missed_claims = [each for each in all_claims if each.priority < 3 and _is_far_off(each)]
    rows = [
        _row(each, f"{each.claim[0].upper()}{each.claim[1:]}")
        for each in sorted(missed_claims, key=lambda claim: (-_distance(claim), claim.priority, claim.id))
    ]
    return table(NUMBER_COLUMNS, rows, 7)


def _is_far_off(claim: Claim) -> bool:
    is_far = _distance(claim) > log(MAX_CLOSE_RATIO)
    return claim.outcome == NOT_MET or (claim.outcome == DIRECTION_ONLY and is_far)


def _distance(claim: Claim) -> float:
    """Logarithm of the ratio that is farthest from 1; infinite if our number has another sign."""
    ratios = [each.ratio for each in claim.numbers]
    return max((abs(log(ratio)) if ratio > 0 else inf for ratio in ratios), default=0.0)


def _row(claim: Claim, says: str) -> list[str]:
    """A claim with the published value next to ours."""
    numbers = claim.numbers
    published = "; ".join(each.published for each in numbers) or claim.published
    ours = "; ".join(each.ours for each in numbers) or claim.short or "see there"
    ratio = "; ".join(format_number(each.ratio) for each in numbers)
    cells = [link(claim.id), says, published, ours, ratio, claim.outcome_text, claim.cause]
    return [cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells]


def _sensitivity(all_claims: list[Claim]) -> str:
    """Number of contested claims that hold over their sweeps, and those that flip, with the cause."""
    swept_claims = [
        each for each in all_claims if any(not sweep.exclusion for sweep in each.sensitivity_sweeps)
    ]
    robust_claims = [each for each in swept_claims if each.outcome == MET]
    rows = [row for claim in swept_claims for row in flip_rows(claim)]
    flipping_ids = [claim.id for claim in swept_claims if flipping_choices(claim)]
    sentence = (
        f"Of {len(swept_claims)} claims that depend on something that the papers leave open, "
        f"{len(robust_claims)} are met with every value that was tried, {len(flipping_ids)} with some and "
        f"not with others, and {len(swept_claims) - len(robust_claims) - len(flipping_ids)} with none."
    )
    return f"{sentence}\n\n{table('claim | depends on | met with | less with', rows, 4)}"


def flip_rows(claim: Claim) -> list[list[str]]:
    """The assumptions with values that turn a claim: claim, assumption, values that meet it, and others."""
    return [
        [
            link(claim.id),
            sweep.assumption,
            "; ".join(_value_names(sweep, holds=True)),
            "; ".join(_value_names(sweep, holds=False)),
        ]
        for sweep in claim.sensitivity_sweeps
        if sweep.flips and not sweep.exclusion
    ]


def flipping_choices(claim: Claim) -> list[str]:
    """The choices left open by the paper, with values, that turn a claim."""
    return [sweep.assumption for sweep in claim.sensitivity_sweeps if sweep.flips and not sweep.exclusion]


def _value_names(sweep: SensitivitySweep, *, holds: bool) -> list[str]:
    """The values with which a claim is met, or with `holds` false, those with which it is less."""
    cells = [cell for cell in sweep.cells if cell.outcome not in NO_EVIDENCE]
    return [cell.value for cell in cells if (cell.outcome == MET) is holds]


def link(name: str) -> str:
    """A claim, linked to its row on the page of its paper."""
    return f"[{name}]({claims()[name].paper}.md#{name.lower()})"

"""Figures, claims and reproductions in words: on a terminal and on the page beside the pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.reproduction.figure import Figure
from sledlab.reproduction.verdicts import claims_of, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.reproduction.verdicts import Claim, Strip

Line = tuple[str, str, str]
"""A line of a table: name, outcome, and title of the figure or text of the claim."""

GRADES = {
    "E": "arithmetic",
    "P": "a workload that the paper specifies",
    "S": "a stand-in for a trace",
    "H": "a machine of its time",
    "C": "another work's result",
}
"""What a verdict rests on, by the grade of the claim."""


def of_figure(figure: Figure) -> Line:
    """The line of a figure."""
    found = [each.outcome for each in claims_of(figure)]
    good = sum(outcome == "reproduced" for outcome in found)
    return figure.name, f"{good} of {len(found)} reproduced" if found else "", figure.title


def of_claim(claim: Claim) -> Line:
    """The line of a claim."""
    return claim.id, claim.outcome, claim.claim


def shown(found: Figure | Claim) -> str:
    """Everything that is declared of a figure or a claim, as text."""
    return "\n".join(_of_figure(found) if isinstance(found, Figure) else _of_claim(found))


def _of_claim(claim: Claim) -> Iterator[str]:
    rests = " and ".join(GRADES.get(each, each) for each in claim.grade.split("/"))
    yield f"{claim.id}: {claim.outcome}"
    yield f"Paper {claim.paper}, {claim.where}; priority {claim.priority}; rests on {rests}"
    yield f"\nClaim      {claim.claim}"
    yield f"Published  {claim.published}"
    yield f"Accepted   {claim.accept}"
    yield f"Ours       {claim.ours}"
    if claim.why:
        yield f"Why        {claim.why}"
    yield from _sensitivity(claim)
    yield ""
    if claim.figures:
        names = ", ".join(each.name for each in claim.figures)
        yield f"Figures    {names}"
    yield from _how(claim.id, bool(claim.figures or claim.experiments))
    if found := sources()[claim.topic]:
        yield f"Judged on points of sources {found}."


def _sensitivity(claim: Claim) -> Iterator[str]:
    """Lines on where the claim holds and where it flips, over choices that sledlab had to make."""
    for strip in claim.strips:
        beside = f" (does not count: {strip.beside})" if strip.beside else ""
        yield f"\nOver {strip.over}{beside}{': it flips' if strip.flips else ''}"
        width = max(len(cell.value) for cell in strip.cells)
        for at, cell in enumerate(strip.cells):
            mark = "*" if at == strip.default else " "
            yield f"  {mark} {cell.value:<{width}}  {cell.outcome}{f'  {cell.number}' if cell.number else ''}"
    if claim.strips:
        yield "\n* what all other numbers are of"


def _how(name: str, runs: bool) -> Iterator[str]:
    if runs:
        yield f"Run it     sledlab reproduce run {name} --quick"
    else:
        yield "Run it     nothing to run: it follows from parameters, or tests hold it"


def _of_figure(figure: Figure) -> Iterator[str]:
    yield figure.heading
    yield f"Section {figure.section}"
    if figure.note:
        yield f"\n{figure.note}"
    printed = dict.fromkeys(each.said for panel in figure.panels for each in panel.printed)
    if printed:
        yield "\nPrinted"
        yield from (f"  {said}" for said in printed)
    found = claims_of(figure)
    if found:
        yield "\nClaims"
        yield from (f"  {each.id}  {each.outcome}: {each.claim}" for each in found)
    yield "\nExperiments"
    yield from (f"  {name}" for name in dict.fromkeys(each.experiment for each in figure.runs))
    yield ""
    yield from _how(figure.name, runs=True)


def shortened(said: Mapping[str, Any]) -> str:
    """The options that shortened runs, in words.

    Examples:
        >>> shortened({"limit": 5000, "seeds": 1})
        'at most 5,000 requests a run, 1 seed'
    """
    forms = {"limit": "at most {:,} requests a run", "seeds": "{} seed", "warmup": "warmup {}"}
    parts = [forms[key].format(value) for key, value in said.items() if key in forms]
    return ", ".join([*parts, *said.get("job_settings", ())])


def verdicts(found: Sequence[Claim]) -> list[Line]:
    """The lines of the claims that stand beside pictures."""
    return [of_claim(each) for each in found]


def _line(strip: Strip) -> str:
    """A strip in one line."""
    return f"Over {strip.over}: {'; '.join(f'{cell.value} {cell.outcome}' for cell in strip.cells)}."


BESIDE = "Verdicts are those on the whole runs on the papers' devices; what was run here judges nothing anew."


def page(
    name: str, figures: Sequence[Figure], found: Sequence[Claim], device: str = "", shortened: str = ""
) -> str:
    """The page beside the pictures, in Markdown."""
    parts = [f"# {name}"]
    if device:
        parts.append(f"Run on {device}.")
    if shortened:
        parts.append(f"Shortened: {shortened}.")
    parts += [f"![{each.heading}]({each.name}.svg)" for each in figures]
    parts.append(BESIDE)
    for claim in found:
        parts.append(f"## {claim.id}: {claim.outcome}")
        parts.append(f"Claim: {claim.claim}. Published: {claim.published}. Accepted: {claim.accept}.")
        parts.append(f"Ours: {claim.ours}")
        parts += [f"Why: {claim.why}"] if claim.why else []
        parts += [_line(strip) for strip in claim.strips]
    return "\n\n".join(parts) + "\n"

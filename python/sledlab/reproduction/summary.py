"""Texts about figures, claims and reproductions, for the terminal and the page."""

from __future__ import annotations

from collections import Counter
from math import isclose
from typing import TYPE_CHECKING, Any

from sledlab.reproduction.assumption import MARKS, assumptions
from sledlab.reproduction.papers import PAPERS, quotation
from sledlab.reproduction.verdicts import EXCLUSIONS, claims, figure_claims
from sledlab.reproduction.verdicts import MARKS as OUTCOME_MARKS
from sledlab.show.wording import keep_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sledlab.reproduction.assumption import Assumption
    from sledlab.reproduction.changes import Changes
    from sledlab.reproduction.figure import Figure
    from sledlab.reproduction.values import PanelValues
    from sledlab.reproduction.verdicts import Claim, SensitivitySweep

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


ALL_PAPERS = "all"


def number_counts(papers: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a table of printed numbers by outcome: its columns, which are papers, and its rows.

    Args:
        papers: Keys of `PAPERS`; of several, the last column has the sums.
    """
    groups = {PAPERS[paper].citation: {paper} for paper in papers}
    if len(papers) > 1:
        groups[ALL_PAPERS] = {*papers}
    numbers = [claim for claim in claims().values() if claim.has_simulated_number]
    counts_by_group = {
        name: Counter(claim.outcome for claim in numbers if claim.paper in members)
        for name, members in groups.items()
    }
    rows = [("printed numbers", *(str(counts.total()) for counts in counts_by_group.values()))]
    for outcome, mark in OUTCOME_MARKS.items():
        row = [counts[outcome] for counts in counts_by_group.values()]
        if any(row):
            rows.append((mark.label, *map(str, row)))
    return ("", *groups), rows


def figure_line(figure: Figure) -> Line:
    """The line of a figure."""
    return figure.name, outcome_counts(figure_claims(figure)), figure.title


def outcome_counts(some_claims: Sequence[Claim]) -> str:
    """Return how many claims have each outcome, in words."""
    counts = Counter(claim.outcome for claim in some_claims)
    return ", ".join(
        f"{counts[outcome]} {mark.label}" for outcome, mark in OUTCOME_MARKS.items() if counts[outcome]
    )


def claim_line(claim: Claim) -> Line:
    """The line of a claim; what its outcome depends on follows the claim."""
    details = f" ({claim.outcome_text})" if claim.depends_on else ""
    return claim.id, claim.outcome, f"{claim.claim}{details}"


def figure_text(figure: Figure) -> str:
    """Everything that is declared of a figure."""
    return "\n".join(_figure_lines(figure))


def claim_head(claim: Claim) -> str:
    """The outcome of a claim in a sentence, and what the paper says."""
    basis = " and ".join(GRADES.get(item, item) for item in claim.grade.split("/"))
    return (
        f"{claim_summary(claim)}\n"
        f"{PAPERS[claim.paper].citation}, {claim.where}; priority {claim.priority}; rests on {basis}\n\n"
        f"Quotation  {quotation(claim.paper, claim.quote)}\n"
        f"Published  {claim.published}\n"
        f"Met if     {claim.accept}"
    )


def claim_summary(claim: Claim) -> str:
    """The outcome of a claim in a sentence; of a single printed number, both values.

    Examples:
        >>> claim_summary(claims()["Y-15"]).partition(": ")[0]
        'Y-15, fitted'
    """
    text = f"{claim.id}, {claim.outcome_text}: {claim.claim.removesuffix('.')}."
    if len(claim.numbers) != 1:
        return text
    number = claim.numbers[0]
    return f"{text} Measured {number.ours}, published {number.published}."


NUMBER_COLUMNS = ("published", "predicted", "measured", "ratio")


def number_rows(claim: Claim) -> list[tuple[str, ...]]:
    """A row for each printed number of a claim."""
    return [(each.published, each.predicted or "-", each.ours, f"{each.ratio:.3g}") for each in claim.numbers]


def _reasons(claim: Claim) -> str:
    """Sentences that explain an outcome: the short one only where there are no others."""
    return _sentence(claim.why or claim.cause)


def claim_reasons(claim: Claim) -> str:
    """Why a claim has its outcome, and what excludes it."""
    reasons = _reasons(claim)
    parts = [f"Why        {reasons}"] if reasons else []
    if claim.contradicted_by:
        parts.append(
            f"Excluded   by {claim.contradicted_by}, on the page `Contradictions` of the documentation"
        )
    if claim.unvaried:
        parts.append(f"Unvaried   {claim.unvaried}")
    return "\n".join(parts)


SWEEP_COLUMNS = ("assumption", "here", "other values", "outcome with them", "numbers")

AS_HERE = "the same"


def sweep_rows(claim: Claim) -> list[tuple[str, ...]]:
    """A row for each assumption that was varied: those that turn the claim first."""
    sweeps = sorted(claim.sensitivity_sweeps, key=lambda sweep: (not sweep.flips, bool(sweep.exclusion)))
    return [_sweep_row(sweep) for sweep in sweeps]


def sweep_note(claim: Claim) -> str:
    """What the words in brackets behind assumptions mean; empty if there are none."""
    exclusions = {sweep.exclusion for sweep in claim.sensitivity_sweeps}
    meanings = [f"{word}: {meaning}" for word, meaning in EXCLUSIONS.items() if word in exclusions]
    return f"In brackets: why a row does not count ({'; '.join(meanings)})." if meanings else ""


def _sweep_row(sweep: SensitivitySweep) -> tuple[str, ...]:
    """A sweep: its value in all other results (*here*), and outcomes that other values change."""
    here = sweep.cells[sweep.default]
    others = [cell for cell in sweep.cells if cell is not here]
    names_by_outcome: dict[str, list[str]] = {}
    for cell in others:
        if cell.outcome != here.outcome:
            names_by_outcome.setdefault(cell.outcome, []).append(cell.value)
    changes = [f"{outcome} with {', '.join(names)}" for outcome, names in names_by_outcome.items()]
    if len({cell.outcome for cell in others}) == 1:
        changes = [*names_by_outcome]
    names = [cell.value for cell in others]
    # The number of the first value that turns the claim beside ours, or of both ends where none does.
    turning_cell = next((cell for cell in others if cell.outcome != here.outcome), None)
    shown_cells = (here, turning_cell) if turning_cell else (sweep.cells[0], sweep.cells[-1])
    shown_numbers = dict.fromkeys(cell.number for cell in shown_cells)
    numbers = "" if sweep.exclusion else "; ".join(filter(None, shown_numbers))
    return (
        f"{sweep.assumption} ({sweep.exclusion})" if sweep.exclusion else sweep.assumption,
        here.value,
        ", ".join(names if len(names) <= 3 else (names[0], "...", names[-1])),
        "; ".join(changes) or AS_HERE,
        keep_units(numbers),
    )


def claim_instructions(claim: Claim) -> str:
    """The figures that show a claim, and its command."""
    lines = [f"Figures    {', '.join(each.name for each in claim.figures)}"] if claim.figures else []
    return "\n".join([*lines, *_instructions(claim.id, bool(claim.figures or claim.experiments))])


def _sentence(text: str) -> str:
    """A text with a capital and a full stop; nothing of none."""
    return text and f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _instructions(name: str, has_runs: bool) -> Iterator[str]:
    if has_runs:
        yield f"Run it     sledlab reproduce run {name} --quick"
    else:
        yield "Run it     no experiment: parameters, single runs or tests decide it"


def _figure_lines(figure: Figure) -> Iterator[str]:
    yield figure.heading
    yield f"Section {figure.section}"
    if figure.note:
        yield f"\n{figure.note}"
    published = dict.fromkeys(item.text for panel in figure.panels for item in panel.printed)
    if published:
        yield "\nPrinted"
        yield from (f"  {statement}" for statement in published)
    claims = figure_claims(figure)
    if claims:
        yield "\nClaims"
        yield from (f"  {item.id}  {item.outcome_text}: {item.claim}" for item in claims)
    yield "\nExperiments"
    yield from (f"  {name}" for name in dict.fromkeys(item.experiment for item in figure.runs))
    yield ""
    yield from _instructions(figure.name, has_runs=True)


def assumption_counts() -> list[tuple[str, ...]]:
    """A row for each paper: its assumptions, and how many have each mark."""
    marks_by_paper = {paper: [each.mark for each in assumptions(paper)] for paper in PAPERS}
    return [
        (paper, *map(str, (len(marks), *map(marks.count, MARKS)))) for paper, marks in marks_by_paper.items()
    ]


def assumption_set(paper: str) -> str:
    """The set of assumptions of a paper, as text."""
    entries = "\n\n".join("\n".join(_assumption_lines(each)) for each in assumptions(paper))
    return f"{entries}\n\n{'; '.join(f'{mark}: {meaning}' for mark, meaning in MARKS.items())}"


def _assumption_lines(assumption: Assumption) -> Iterator[str]:
    yield f"{assumption.name} ({assumption.mark})"
    yield assumption.says
    yield f"Because: {assumption.because}"
    for key, value in assumption.settings.items():
        former = f", before the set {assumption.former[key]}" if key in assumption.former else ""
        yield f"{key} = {value}{former}"
    if assumption.claims:
        outcomes = (f"{each} {claims()[each].outcome}" for each in assumption.claims)
        yield f"Decides: {', '.join(outcomes)}"
    if assumption.fitted_to:
        yield f"Fitted to: {', '.join(assumption.fitted_to)}"


def shortening_text(options: Mapping[str, Any], full_settings: Sequence[str] = ()) -> str:
    """Return the options that shortened runs, in words.

    Args:
        options: The options.
        full_settings: Settings of jobs, `key=value`, in the full run.

    Examples:
        >>> shortening_text({"limit": 5000, "seed": 1})
        'at most 5,000 requests a run, seed 1'
        >>> full = ["scale_factor=1", "universe=9"]
        >>> shortening_text({"job_settings": ["scale_factor=0.05", "universe=9"]}, full)
        '1/20 of the data (scale_factor=0.05)'
        >>> shortening_text({"job_settings": ["records=200000"]}, ["records=4281782"])
        'about 1/21 of the data (records=200000)'
    """
    formats_by_option = {"limit": "at most {:,} requests a run", "seed": "seed {}", "warmup": "warmup {}"}
    parts = [
        formats_by_option[key].format(value) for key, value in options.items() if key in formats_by_option
    ]
    full_values_by_name = dict(full_setting.split("=", 1) for full_setting in full_settings)
    for setting in options.get("job_settings", ()):
        name, _, value = setting.partition("=")
        if full_values_by_name.get(name) != value:
            parts.append(
                _data_share(setting, float(full_values_by_name[name]) / float(value))
                if name in full_values_by_name
                else setting
            )
    return ", ".join(parts)


def _data_share(setting: str, ratio: float) -> str:
    """The part of the data that a run has, given how many times as many the full run has."""
    about = "" if isclose(ratio, round(ratio)) else "about "
    return f"{about}1/{round(ratio)} of the data ({setting})"


def verdicts(claims: Sequence[Claim]) -> list[Line]:
    """The lines of claims that the page shows next to figures."""
    return [claim_line(claim) for claim in claims]


def _sweep_line(sweep: SensitivitySweep) -> str:
    """A sensitivity sweep in one line."""
    return f"Over {sweep.assumption}: {'; '.join(f'{cell.value} {cell.outcome}' for cell in sweep.cells)}."


FULL_RUN = (
    "Verdicts and results of the full run come with sledlab: the full run is on the papers' devices. "
    "This run does not change them."
)


def page(
    name: str,
    figures: Sequence[Figure],
    claims: Sequence[Claim],
    values: Mapping[str, Sequence[PanelValues]],
    changes: Changes,
    shortened: str = "",
) -> str:
    """Return the page next to the pictures, in Markdown.

    Args:
        name: The figure or the claim that was run.
        figures: The figures that were drawn.
        claims: The claims on them.
        values: The values of this run, by the name of the figure.
        changes: What was changed in the published experiments.
        shortened: How the run was shortened, in words; empty for a full run.
    """
    parts = [f"# {name}", f"## This run: {shortened}" if shortened else "## This run"]
    parts += dict.fromkeys(each for figure in figures or (None,) for each in changes.sentences(figure))
    for each in figures:
        parts.append(f"![{each.heading}]({each.name}.svg)")
        parts += [f"{panel.title}\n\n{_table(panel.columns, panel.rows)}" for panel in values[each.name]]
    parts += ["## Full run", FULL_RUN]
    for claim in claims:
        parts.append(f"### {claim.id}: {claim.outcome_text} (full run)")
        parts.append(f"Claim: {claim.claim}. Published: {claim.published}. Met if: {claim.accept}.")
        parts.append(f"Result of the full run: {claim.ours}")
        parts += [f"{each.title}\n\n{_table(each.columns, each.rows)}" for each in claim.tables]
        parts += [f"Why: {reasons}"] if (reasons := _reasons(claim)) else []
        parts += [_sweep_line(sweep) for sweep in claim.sensitivity_sweeps]
    return "\n\n".join(parts) + "\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [columns, ("---",) * len(columns), *rows])

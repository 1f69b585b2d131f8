"""A topic of papers: its experiments, its claims, its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    DEPENDS,
    FITTED,
    OUTCOMES,
    PUBLISHED,
    SensitivitySweep,
)

from . import pictures, results
from .claims import ClaimEntry, Verdict, apply_sensitivity, claims, verdict
from .markdown import table
from .runs import PlannedExperiment, TableReads, run
from .sensitivity import choices, sensitivity_sweeps
from .templates import TEMPLATES, evidence_marker, fill

PRIORITIES = (1, 2, 3)


@dataclass(frozen=True)
class ClaimVerdict:
    """The verdict on a claim, and sweeps of choices that may turn it."""

    verdict: Verdict
    sensitivity_sweeps: tuple[SensitivitySweep, ...] = ()

    @property
    def outcome(self) -> str:
        """The outcome over each assumption that the paper leaves open."""
        outcomes = {
            apply_sensitivity(self.verdict.outcome, [cell.outcome for cell in sweep.cells])
            for sweep in self.sensitivity_sweeps
            if not sweep.exclusion
        } or {self.verdict.outcome}
        return DEPENDS if DEPENDS in outcomes else max(outcomes, key=OUTCOMES.index)

    def depends_on(self, claim: ClaimEntry) -> tuple[str, ...]:
        """The choices that the claim depends on: those of sweeps that flip, and the one that it names."""
        if self.outcome != DEPENDS:
            return ()
        is_named = self.verdict.outcome == DEPENDS and claim.depends_on != ""
        return (*self.flipping_assumptions, *([claim.depends_on] if is_named else []))

    @property
    def flipping_assumptions(self) -> tuple[str, ...]:
        """The assumptions left open by the paper with values that turn the claim."""
        sweeps = self.sensitivity_sweeps
        return tuple(dict.fromkeys(each.assumption for each in sweeps if each.flips and not each.exclusion))

    def outcome_text(self, claim: ClaimEntry) -> str:
        """The outcome, with the choices that the claim depends on."""
        return f"{self.outcome} {'; '.join(self.depends_on(claim))}".strip()


@dataclass(frozen=True)
class PageContent:
    """The contents of a page: verdicts by claim, and texts for the places of its template."""

    verdicts: dict[str, ClaimVerdict]
    texts: dict[str, str]


@dataclass(frozen=True)
class Topic:
    """A topic, by its folder: its experiments, the class that reads its runs, and further texts."""

    name: str
    plan: Sequence[PlannedExperiment]
    runs: Callable[[Path, tuple[str, ...]], Any]
    """Makes the runs of a directory in a reading: endings of directories, or marks."""
    page_texts: Callable[[Any, Mapping[str, ClaimVerdict]], dict[str, str]]
    side_by_side: bool = False
    validation_results: tuple[str, ...] = ()
    """Results of the validation that claims are judged by: experiments of `validation_results.py`."""

    def run(self, directory: Path, extra: Sequence[str] = ()) -> None:
        """Run the experiments that a directory does not hold yet."""
        run(self.plan, directory, extra, side_by_side=self.side_by_side)

    def judge(self, directory: Path) -> PageContent:
        """Judge every claim by the runs of a directory."""
        verdicts = {name: self.judge_claim(claim, directory) for name, claim in claims(self.name).items()}
        return PageContent(verdicts, self.page_texts(self.runs(directory, ()), verdicts))

    def judge_claim(self, claim: ClaimEntry, directory: Path) -> ClaimVerdict:
        """Judge a claim, and with all values of the choices that it depends on."""

        @cache
        def judge(reading: tuple[str, ...]) -> Verdict:
            return verdict(claim, self.runs(directory, reading))

        with TableReads.record() as reads:
            main_verdict = judge(())
        if main_verdict.outcome == BY_DEFINITION:
            return ClaimVerdict(main_verdict)
        relevant_choices = [
            choice.for_claim(claim.id)
            for choice in (each.with_results(directory) for each in choices(self.name))
            if len(choice.values) > 1 and choice.affects(claim.id, reads.places, directory)
        ]
        if main_verdict.outcome == FITTED:  # the moved fit is shown, and decides nothing
            relevant_choices = [choice for choice in relevant_choices if choice.exclusion == PUBLISHED]
        return ClaimVerdict(main_verdict, tuple(sensitivity_sweeps(relevant_choices, judge)))

    def judge_saved_results(self) -> PageContent:
        """Return the verdicts, judged by the saved results."""
        return self.judge(results.directory())

    def save(self, directories: Mapping[str, Path]) -> None:
        """Save the tables that judges and pictures read, of experiments that ran, given by place."""
        new_experiments = [each for each in self.full_plan if each.place in directories]
        if new_experiments:
            with (
                results.overlay_directory(self.full_plan, directories) as directory,
                TableReads.record() as reads,
            ):
                self.judge(directory)
                pictures.note_figure_columns(self.name, directory)
                new_places = {each.place for each in new_experiments}
                tables = [table for table in results.read_tables(reads) if table.experiment in new_places]
                results.replace(self.name, tables, self.experiments)

    @property
    def full_plan(self) -> Sequence[PlannedExperiment]:
        """All experiments, with those that sweeps need besides."""
        return (
            *self.plan,
            *(each for choice in choices(self.name) for each in choice.planned_experiments(self.plan)),
        )

    @property
    def experiments(self) -> set[str]:
        """Names of all tables' experiments, and of the results of the validation."""
        return {*(each.place for each in self.full_plan), *self.validation_results}

    @property
    def document_path(self) -> str:
        """The path of the page in the documentation."""
        return f"reproduction/{self.name}.md"

    @property
    def missing_data(self) -> str | None:
        """The reason why some experiment cannot run here; None if all can."""
        return next((each.missing_data for each in self.plan if each.missing_data), None)

    def page(self, content: PageContent) -> str:
        """The page in Markdown: experiments, definitions and choices."""
        outcomes = {name: claim_verdict.outcome for name, claim_verdict in content.verdicts.items()}
        return fill(
            TEMPLATES,
            f"{self.name}/page.md",
            counts=outcome_counts(claims(self.name), outcomes),
            evidence=evidence_marker(self.document_path),
            **content.texts,
        )


def outcome_counts(claims: Mapping[str, ClaimEntry], outcomes: Mapping[str, str]) -> str:
    """Numbers of claims by outcome, by priority and by grade; outcomes that no claim has are omitted."""
    shown_outcomes = [each for each in OUTCOMES if each in outcomes.values()]

    def row(title: str, names: Sequence[str]) -> list[str]:
        counts = Counter(outcomes[name] for name in names)
        return [title, *(str(counts[outcome]) for outcome in shown_outcomes), str(len(names))]

    grades = sorted({claims[name].grade for name in outcomes})
    rows = [
        row("all", list(outcomes)),
        *(
            row(f"priority {p}", [name for name in outcomes if claims[name].priority == p])
            for p in PRIORITIES
        ),
        *(row(f"grade {g}", [name for name in outcomes if claims[name].grade == g]) for g in grades),
    ]
    return table(["claims", *shown_outcomes, "all"], rows)

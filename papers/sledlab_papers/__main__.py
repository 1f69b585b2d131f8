"""Judge the claims of the papers by the saved results, and write the pages.

    python -m sledlab_papers judge [TOPIC]          # write the verdicts that come with sledlab
    python -m sledlab_papers claim ID [--runs DIR]  # print the verdict on one claim
    python -m sledlab_papers pages DIR              # write the pages and figures

No experiment is run: `python -m validation.evidence reproduce` runs those whose result has changed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sledlab.reproduction.papers import quotation

from . import pages, results, verdict_file
from .claims import ClaimEntry, claims
from .topic import Topic
from .topics import TOPICS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "pages":
        pages.write(options.directory)
    elif options.command == "claim":
        return print_claim(options.id, options.runs)
    else:
        for topic in [TOPICS[options.topic]] if options.topic else TOPICS.values():
            judge(topic)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sledlab_papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("judge", help="judge the claims and write the verdicts")
    command.add_argument("topic", nargs="?", choices=TOPICS, help="the only topic to judge [default: all]")
    command = commands.add_parser("claim", help="judge one claim and print the verdict")
    command.add_argument("id", help="claim, such as H-15")
    command.add_argument(
        "--runs",
        type=Path,
        metavar="DIR",
        help="results of new runs, a directory for each experiment, used instead of its saved results",
    )
    command = commands.add_parser("pages", help="write the pages and figures")
    command.add_argument("directory", type=Path, metavar="DIR", help="directory to write into")
    return parser


def judge(topic: Topic) -> None:
    """Judge the claims of a topic, write the verdicts and print the number of each outcome."""
    content = topic.judge_saved_results()
    verdict_file.write(topic, content)
    counts = Counter(verdict.outcome for verdict in content.verdicts.values())
    print(f"{topic.name}: {', '.join(f'{n} {outcome}' for outcome, n in counts.items())}")


def print_claim(claim_id: str, runs: Path | None) -> int:
    """Judge a claim, by the saved results or by new runs, and print the verdict; return the exit code."""
    topic_and_claim = _find_claim(claim_id)
    if topic_and_claim is None:
        print(f"unknown claim `{claim_id}`; `sledlab reproduce list` shows all", file=sys.stderr)
        return 2
    topic, claim = topic_and_claim
    directories = {
        each.place: runs / each.place for each in topic.full_plan if runs and (runs / each.place).is_dir()
    }
    if runs and not directories:
        print(f"`{runs}` has no directory named after an experiment of {topic.name}", file=sys.stderr)
        return 2
    with results.overlay_directory(
        topic.full_plan, {claim_id: place.absolute() for claim_id, place in directories.items()}
    ) as directory:
        verdict = topic.judge_claim(claim, directory)
    print(
        f"{claim.id}: {verdict.outcome_text(claim)}\nClaim      {claim.claim}\nPublished  {claim.published}"
    )
    print(f"Quotation  {quotation(claim.paper, claim.quote)}")
    print(f"Met if     {claim.accept}\nOurs       {verdict.verdict.ours.rstrip()}")
    if verdict.verdict.why:
        print(f"Why        {verdict.verdict.why}")
    return 0


def _find_claim(claim_id: str) -> tuple[Topic, ClaimEntry] | None:
    return next(
        ((topic, claims(each)[claim_id]) for each, topic in TOPICS.items() if claim_id in claims(each)), None
    )


if __name__ == "__main__":
    sys.exit(main())

"""Judges claims by lab/points and writes docs/reproduction: `python -m lab.reproduction [TOPIC]`.

Nothing runs unless `--run` or `--everything` is said; either goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from ..page import write
from . import changes, pictures, scoreboard, travelling
from .device import DEVICE
from .hybrid import HYBRID
from .points import POINTS, stale
from .power import POWER
from .scheduling import SCHEDULING
from .smart import SMART
from .topic import Topic

TOPICS = {topic.name: topic for topic in (DEVICE, HYBRID, POWER, SCHEDULING, SMART)}


def document(topic: Topic) -> str:
    """The path of a topic's page in the documentation."""
    return f"reproduction/{topic.name}.md"


def main() -> None:
    """Writes the pages from the kept points, after running the experiments asked for."""
    parser = argparse.ArgumentParser(prog="python -m lab.reproduction", description=__doc__)
    parser.add_argument("topic", nargs="?", choices=TOPICS, help="the only page to write [default: all]")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--run", action="store_true", help="run what is not kept or has changed since")
    asked.add_argument(
        "--everything", action="store_true", help="the same, with all other readings and strips"
    )
    asked.add_argument("--keep", type=Path, metavar="DIR", help="keep the points of experiments run in DIR")
    parser.add_argument("--sources", metavar="HASH", help="with --keep: the sources they are of")
    given = parser.parse_args()
    for topic in [TOPICS[given.topic]] if given.topic else TOPICS.values():
        if given.keep:
            topic.keep(left_in(given.keep, topic), given.sources)
        elif (given.run or given.everything) and topic.missing:
            print(f"{document(topic)} stays as it is: {topic.missing}")
            continue
        elif given.run or given.everything:
            topic.refresh(everything=given.everything)
        written(topic)
    write(scoreboard.page(), scoreboard.DOCUMENT)
    write(changes.page(TOPICS), changes.DOCUMENT)


def left_in(directory: Path, topic: Topic) -> dict[str, Path]:
    """The experiments of a topic that have completed in a directory, by place."""
    return {
        each.place: directory / each.place
        for each in topic.whole
        if (directory / each.place / "summary.json").exists()
    }


def written(topic: Topic) -> None:
    """Writes the page of a topic from the kept points, and prints a summary of it."""
    sheet = topic.found()
    travelling.send(topic, sheet)
    for figure in pictures.of_topic(topic.name):
        pictures.picture(figure, POINTS, pictures.IMAGES / f"{figure.name}.svg")
    write(topic.page(sheet, topic.sources), document(topic))
    found = Counter(judged.outcome for judged in sheet.verdicts.values())
    print(", ".join(f"{n} {outcome}" for outcome, n in found.items()))
    if changed := stale(topic.whole):
        print(
            f"{len(changed)} of {len(topic.whole)} experiments may leave something else now: make reproduce"
        )


if __name__ == "__main__":
    main()

"""Judges claims by lab/points and writes docs/reproduction: `python -m lab.reproduction [TOPIC]`.

Runs no experiments of the papers: `python -m lab.evidence reproduce` runs those whose result has changed.
"""

from __future__ import annotations

import argparse
from collections import Counter

from ..page import write
from . import pictures, points, scoreboard, travelling
from .device import DEVICE
from .hybrid import HYBRID
from .power import POWER
from .scheduling import SCHEDULING
from .smart import SMART
from .topic import Topic

TOPICS = {topic.name: topic for topic in (DEVICE, HYBRID, POWER, SCHEDULING, SMART)}


def main() -> None:
    """Writes the pages from the kept points."""
    parser = argparse.ArgumentParser(prog="python -m lab.reproduction", description=__doc__)
    parser.add_argument("topic", nargs="?", choices=TOPICS, help="the only page to write [default: all]")
    options = parser.parse_args()
    for topic in [TOPICS[options.topic]] if options.topic else TOPICS.values():
        write_page(topic)


def write_page(topic: Topic) -> None:
    """Write the page of a topic, its pictures and its verdicts from the kept points, and print a summary."""
    sheet = topic.found()
    travelling.send(topic, sheet)
    for figure in pictures.of_topic(topic.name):
        pictures.picture(figure, points.directory(), pictures.IMAGES / f"{figure.name}.svg")
    write(topic.page(sheet), topic.document)
    write(scoreboard.page(), scoreboard.DOCUMENT)
    outcomes = Counter(judged.outcome for judged in sheet.verdicts.values())
    print(", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()))


if __name__ == "__main__":
    main()

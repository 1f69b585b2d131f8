"""Runs the experiments of papers and writes docs/reproduction: `python -m lab.reproduction [TOPIC]`."""

from __future__ import annotations

import argparse
from collections import Counter

from ..page import write
from .hybrid import HYBRID
from .power import POWER
from .scheduling import SCHEDULING
from .smart import SMART
from .topic import Topic

TOPICS = {topic.name: topic for topic in (HYBRID, POWER, SCHEDULING, SMART)}


def document(topic: Topic) -> str:
    """Where its page is in the documentation."""
    return f"reproduction/{topic.name}.md"


def main() -> None:
    """Goes on where an earlier run of the same sources was stopped."""
    parser = argparse.ArgumentParser(prog="python -m lab.reproduction", description=__doc__)
    parser.add_argument("topic", nargs="?", choices=TOPICS, help="the only page to write [default: all]")
    parser.add_argument("--as-left", action="store_true", help="write pages from what earlier runs left")
    given = parser.parse_args()
    for topic in [TOPICS[given.topic]] if given.topic else TOPICS.values():
        if topic.missing and not given.as_left:
            print(f"{document(topic)} stays as it is: {topic.missing}")
            continue
        left = topic.found(as_left=given.as_left)
        write(topic.page(left.found, left.sources), document(topic))
        found = Counter(judged.found.outcome for judged in left.found.verdicts.values())
        print(", ".join(f"{n} {outcome}" for outcome, n in found.items()))
        if left.stale:
            print(f"of sources {left.sources}, which have changed since: run without --as-left")


if __name__ == "__main__":
    main()

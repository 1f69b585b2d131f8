"""The pages and figures of the reproduction: files of the documentation that are made from the results."""

from __future__ import annotations

import os
import site
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import matplotlib
import sledlab

from . import directory_cache, paper_pages, pictures, results, scoreboard
from .paths import BUILD, PAPERS, PROJECT
from .topics import TOPICS

PAGES = BUILD / "pages"

SOURCES = (
    ("papers", ("results/*.parquet", "experiments/*.toml")),
    ("papers/sledlab_papers", ("**/*.py", "**/*.toml", "**/*.md")),
    ("python/sledlab/reproduction", ("*.py", "*.toml", "*.json")),
    ("validation/benches", ("decisions.json",)),
)
"""Files that the pages depend on: folders of the project, with patterns."""


def files() -> dict[str, Path]:
    """Return the pages and figures by their path in the documentation.

    They are saved in `papers/build` and made again when one of `SOURCES` or the version of matplotlib or
    sledlab changes. Other changes of the simulator do not count, although some numbers on the pages come from
    short runs; `test_committed_verdicts_match_the_results` detects those that change a verdict.
    """
    directory = directory_cache.directory(PAGES, directory_cache.hash_inputs(inputs()), write)
    return {
        file.relative_to(directory).as_posix(): file
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


def inputs() -> Iterator[bytes]:
    """Yield everything that the pages depend on."""
    yield f"{matplotlib.__version__} {sledlab.__version__}".encode()
    for folder, patterns in SOURCES:
        for file in sorted({file for pattern in patterns for file in (PROJECT / folder).glob(pattern)}):
            yield file.relative_to(PROJECT).as_posix().encode()
            yield file.read_bytes()


def write(directory: Path) -> None:
    """Write all pages and figures into a directory."""
    workers = min(os.cpu_count() or 1, len(TOPICS))
    context = get_context("spawn")
    # Processes must find this package: mkdocs restores `sys.path` after it has imported `docs/hooks.py`.
    with ProcessPoolExecutor(workers, context, initializer=site.addsitedir, initargs=(str(PAPERS),)) as pool:
        for future in [pool.submit(write_topic, name, directory) for name in TOPICS]:
            future.result()
    other_pages = {scoreboard.DOCUMENT: scoreboard.page(), scoreboard.METHOD: scoreboard.method_page()}
    for path, text in (other_pages | paper_pages.pages()).items():
        _write(directory / path, text)


def write_topic(name: str, directory: Path) -> None:
    """Write the page of a topic, and its figures."""
    topic = TOPICS[name]
    _write(directory / topic.document_path, topic.page(topic.judge_saved_results()))
    for figure in pictures.topic_figures(topic.name):
        pictures.write_pictures(figure, results.directory(), directory / pictures.IMAGES)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")

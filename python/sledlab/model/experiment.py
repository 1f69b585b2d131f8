"""Experiments that come with sledlab, by name: each is a file with a description and the study that runs it.

Wherever the file of an experiment is expected, its name will do.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import difflib, later, tomllib
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator, Mapping

    from sledlab.model.entries import ExperimentEntry

suggest_option = later("sledlab.model.guess:suggest_option")
to_entry = later("sledlab.model.entries:ExperimentEntry")

PACKAGE = Path(__file__).parents[1]
FOLDERS = (PACKAGE / "experiments", PACKAGE / "reproduction" / "experiments")
"""Folders of their files: links in a checkout, folders in a wheel."""

SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


class Experiments:
    """All experiments that come with sledlab: called with a name, gives the path of its file.

    Examples:
        >>> import sledlab as sl
        >>> "lee2009-figure-2" in list(sl.experiment)
        True
        >>> sl.experiment.show("lee2009-figure-2").meaning
        'Lee 2009, figure 2: mean response over the scaling factor.'
        >>> sl.experiment.show("lee2009-figure-2").study
        'compare'
    """

    def __call__(self, name: str) -> Path:
        """The file of an experiment.

        Raises:
            Error: There is no such name; the remedy has the nearest one.
        """
        files_by_name = files()
        name = name if name in files_by_name else name.lower()
        if name not in files_by_name:
            similar = difflib.get_close_matches(name, files_by_name, n=1)
            list_hint = "`sledlab list experiment` shows all; the name of a file ends in .toml"
            suggested_option = None if similar else suggest_option(name)
            suggestion = similar[0] if similar else suggested_option
            raise Error(
                f"unknown experiment `{name}`",
                remedy=f"did you mean `{suggestion}`?" if suggestion else list_hint,
            )
        return files_by_name[name]

    def list(self) -> builtins.list[ExperimentEntry]:
        """Every experiment with its meaning and the study that runs it."""
        return [self.show(name) for name in self]

    def show(self, name: str) -> ExperimentEntry:
        """One experiment.

        Raises:
            Error: There is no such name.
        """
        text = self.text(name)
        meaning = heading(text).partition("\n")[0]
        entry: ExperimentEntry = to_entry(name, meaning, study=study_kind(tomllib.loads(text)))
        return entry

    def text(self, name: str) -> str:
        """The file of an experiment, comments included.

        Raises:
            Error: There is no such name.
        """
        return self(name).read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(names())

    def __dir__(self) -> builtins.list[str]:
        """The methods, for completion in a shell."""
        return ["list", "show", "text"]


experiment = Experiments()
"""Experiments that come with sledlab: `list()`, `show(name)`, `text(name)`; their names work as files do.

Examples:
    >>> import sledlab as sl
    >>> sl.experiment.show("lee2009-figure-2").study
    'compare'
"""


def names() -> list[str]:
    """The names of all experiments, in order."""
    return sorted(files())


def files() -> dict[str, Path]:
    """Return the files of all experiments by name."""
    return {file.name.removesuffix(".toml"): file for folder in FOLDERS for file in folder.glob("*.toml")}


def experiment_file(name: str | Path) -> Path:
    """The file that `name` stands for: `name` itself if it looks like a path, else that of an experiment.

    A word looks like a path if that file exists, or if the word has an ending or a separator of directories
    in it: `./lee2009-figure-2` is a path even where no such file exists.

    Raises:
        Error: `name` is a bare word that is neither a file nor the name of an experiment.

    Examples:
        >>> experiment_file("mine.toml"), experiment_file("lee2009-figure-2").name
        (PosixPath('mine.toml'), 'lee2009-figure-2.toml')
    """
    word = str(name)
    is_bare_word = (
        word not in ("", "-") and not Path(word).suffix and not any(sign in word for sign in SEPARATORS)
    )
    return experiment(word) if is_bare_word and not Path(word).exists() else Path(name)


def read_toml_text(path: str | Path, noun: str = "experiment") -> str:
    """The text of an experiment file or, by its name, of an experiment that comes with sledlab.

    Args:
        path: The file, or the name.
        noun: What messages call the file: `experiment`, `study` or `device`.

    Raises:
        Error: The file cannot be read.
    """
    try:
        return experiment_file(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        is_toml = Path(path).suffix.lower() == ".toml"
        remedy = "write it as UTF-8" if is_toml else f"to replay a trace, use --trace {path}"
        raise Error(f"cannot read the {noun} `{path}`: it is not text", remedy=remedy) from error
    except IsADirectoryError:
        contained_file = Path(path) / f"{noun}.toml"
        remedy = f"{contained_file} is the {noun} in it" if contained_file.is_file() else "name a file in it"
        raise Error(f"`{path}` is a directory", remedy=remedy) from None
    except OSError as error:
        raise Error(f"cannot read the {noun} `{path}`: {error.strerror}", remedy="check the path") from error


def is_name(word: str) -> bool:
    """Whether a word names an experiment that comes with sledlab, and no file that exists."""
    return word.lower() in names() and not Path(word).exists()


def is_experiment(word: str) -> bool:
    """Return whether a word names an experiment: a file with a table `[device]`, or one of sledlab."""
    if not word.endswith(".toml"):
        return is_name(word)
    try:
        tables = parse_toml(Path(word).read_text(encoding="utf-8"), word)
    except (OSError, ValueError):
        return False  # reading it as a device raises the error
    return "kind" not in tables and "device" in tables


def heading(text: str) -> str:
    """The text of the comments at the beginning of a file, without their `#`.

    Examples:
        >>> heading("# What it shows.\\n#\\n#   how to run it\\n\\nseed = 1\\n# more\\n")
        'What it shows.\\n\\n  how to run it'
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(lines)


def study_kind(tables: Mapping[str, Any]) -> str:
    """The study that runs an experiment, or the command for an experiment that sweeps nothing.

    Examples:
        >>> study_kind({"study": {"kind": "compare"}}), study_kind({"trace": {}}), study_kind({"device": {}})
        ('compare', 'simulate', 'device seek-map')
    """
    study_table = tables.get("study")
    if isinstance(study_table, dict) and "kind" in study_table:
        return str(study_table["kind"])
    if "work" in tables:
        return "smart replay"
    return "simulate" if {"trace", "workload"} & set(tables) else "device seek-map"

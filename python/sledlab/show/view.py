"""The laboratory as one page: the simulator itself, compiled for browsers, with an experiment inside."""

from __future__ import annotations

import base64
import gzip
import html
import json
import lzma
import tomllib
import webbrowser
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.model.settings import to_toml
from sledlab.runs.compose import compose, error_location, read
from sledlab.runs.execute import Experiment
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import SimulateOptions
from sledlab.runs.result import Result
from sledlab.traces.samples import locate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.runs.compose import Device, Source

__all__ = ["View", "view"]

FRAME = Path(__file__).parents[1] / "view" / "page.html"
CORE = FRAME.with_name("core.wasm.xz")
"""The page without the core, and the core: built by `make web`, and part of every wheel."""

REMEDY = "in the checkout that was installed, run: make web && pip install ."
"""How to get the page: only installations from a checkout do not have it."""

SLOT_OF_CORE = '<script type="application/octet-stream" id="core"></script>'
"""The element that the core is put into, as gzip in base64, which browsers can unpack."""

SLOT = '<script type="application/json" id="given">null</script>'
"""The element that experiment, traces and starting point are put into."""

MAX_BYTES = 16_000_000
"""Largest size of a trace inside a page."""

EXPERIMENT_FILE = "experiment.toml"
"""File of the experiment in the directory of `--out`."""


@dataclass(frozen=True, repr=False)
class View:
    """A page that simulates and shows an experiment: in a notebook, in a file, in a browser.

    Attributes:
        name: Name of the experiment.
        data: Data put into the page: the text of the experiment, its traces, where the page begins; `None`
            for the built-in experiment of the page.

    Examples:
        >>> import sledlab as sl
        >>> sl.view(experiment="lee2009-starvation", scheduler="sptf", limit=100).name
        'lee2009-starvation'
    """

    name: str
    data: Mapping[str, Any] | None = None

    @property
    def html(self) -> str:
        """The page, whole: it needs no network and no sledlab.

        Raises:
            Error: The page has not been built on this machine.
        """
        if not is_built():
            raise Error("this installation does not include the page, which wheels contain", remedy=REMEDY)
        return fill_page(FRAME, CORE, self.data)

    def write(self, path: str | Path) -> Path:
        """Write the page to a file and return its path.

        Raises:
            Error: The file cannot be written, or the page has not been built on this machine.
        """
        check_writable(Path(path))
        text = self.html
        with atomic_write(Path(path)) as draft:
            draft.write_text(text, encoding="utf-8")
        return Path(path)

    def __repr__(self) -> str:
        """A short description: the experiment's name, and how to keep the page."""
        return f"a page about {self.name}; .write(path) saves it"

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        return (
            f'<iframe title="{html.escape(self.name)}" srcdoc="{html.escape(self.html)}" '
            'style="width: 100%; height: 860px; border: 0" sandbox="allow-scripts allow-downloads"></iframe>'
        )


def is_built() -> bool:
    """Whether the page and its core are there: built on this machine, or part of the wheel."""
    return FRAME.is_file() and CORE.is_file()


def fill_page(frame: Path, core: Path, data: Any) -> str:
    """Return a page, read from the file `frame`, with the packed core and data in it."""
    # No text can end the element that holds it: `<` does not occur in it.
    data_json = json.dumps(data).replace("<", "\\u003c")
    return _insert_core(frame, core).replace(SLOT, SLOT.replace("null", data_json), 1)


@cache
def _insert_core(frame: Path, core: Path) -> str:
    """The page with the core, for any data."""
    core_gz = gzip.compress(lzma.decompress(core.read_bytes()), mtime=0)
    element = SLOT_OF_CORE.replace("><", f">{base64.b64encode(core_gz).decode('ascii')}<")
    return frame.read_text(encoding="utf-8").replace(SLOT_OF_CORE, element, 1)


@accept_options(SimulateOptions)
def view(
    what: Result | Source | None = None,
    device: Device | None = None,
    *,
    experiment: Experiment | str | Path | None = None,
    around: Literal["start", "slowest"] | int = "start",
    **options: Unpack[SimulateOptions],
) -> View:
    """Make a page that simulates a run in the browser and shows every move of the device.

    Without arguments the page starts with a built-in experiment.

    Args:
        what: A result, to watch its run; or a trace or workload, as of `simulate`.
        device: A device, its name or its file.
        experiment: An experiment, its file, or a directory that `--out` wrote.
        around: Where the page begins: at the `start`, at the `slowest` request, or at a request given by its
            `id`.
        **options: Further options, as in `simulate`.

    Returns:
        The page; it shows itself in notebooks.

    Raises:
        Error: The experiment is wrong, cannot run in a page, or its trace is too large for a page.

    Examples:
        >>> import sledlab as sl
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", scheduler="sptf", limit=1000)
        >>> sl.view(r, around="slowest")
        a page about this run; .write(path) saves it
    """
    if what is None and device is None and experiment is None and not options:
        return View("the laboratory")
    if around not in ("start", "slowest") and not (isinstance(around, int) and around >= 0):
        raise Error(
            f"unknown start of the page: `{around}`",
            remedy="use `start`, `slowest` or the number of a request",
        )
    if isinstance(what, Result):
        composed, name = compose(None, device, options, base=Experiment(what.experiment)), "this run"
    else:
        source_experiment = experiment_file(experiment)
        with error_location(source_experiment, device, options):
            base = (
                source_experiment
                if source_experiment is None or isinstance(source_experiment, Experiment)
                else read(source_experiment)
            )
            composed = compose(what, device, options, base=base)
        name = str(experiment) if isinstance(experiment, (str, Path)) else "this experiment"
    if composed.trace is not None:
        raise Error("this trace is in memory only", remedy="write it to a file, and use the path of the file")
    if composed.experiment.plugins():
        raise Error("plug-ins do not run in a page", remedy="choose models that come with sledlab")
    composed.experiment.check()
    text, traces = embed_files(composed.experiment)
    return View(name, {"experiment": text, "traces": traces, "name": name, "around": around})


def experiment_file(experiment: Experiment | str | Path | None) -> Experiment | str | Path | None:
    """The experiment file in a directory that a run wrote; any other value unchanged."""
    if not isinstance(experiment, (str, Path)):
        return experiment
    file = Path(experiment) / EXPERIMENT_FILE
    return file if file.is_file() else experiment


def embed_files(experiment: Experiment) -> tuple[str, list[dict[str, str]]]:
    """A complete experiment, and the files that it names, under their names without directories.

    Raises:
        Error: A file is too large for a page, or cannot be read.
    """
    complete = experiment.to_toml()
    file = tomllib.loads(complete).get("trace", {}).get("file")
    if file is None:
        return complete, []
    path = locate(file)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise Error(
                f"the trace `{file}` has {size / 1e6:.0f} MB; a page takes at most {MAX_BYTES / 1e6:.0f} MB",
                remedy="cut a part of it (sledlab trace slice), or compress it",
            )
        data = base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise Error(f"cannot read the trace `{file}`: {error.strerror}", remedy="check the path") from error
    renamed = Experiment(complete).with_setting("trace.file", to_toml(path.name))
    return renamed.to_toml(), [{"name": path.name, "data": data}]


def open_page(path: Path) -> bool:
    """Open a page in the browser; return whether there is a browser."""
    return webbrowser.open(path.resolve().as_uri())

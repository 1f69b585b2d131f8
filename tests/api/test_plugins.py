"""Plug-ins named in experiments: no code of them runs unless it is allowed."""

import os
import sys
import textwrap
from contextlib import suppress

import pytest
import sledlab as sl
from sledlab import Error, _native
from sledlab.model.settings import document

from tests.keys import (
    CLUSTER,
    RUN_STUDY,
    SINGLE_SYSTEM,
    STUDIES,
    TABLES,
    make_experiment,
    make_study,
    text_axes,
    text_keys,
)

FIFO = """
class Fifo:
    def __init__(self, tag="none"):
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        return self.queue.pop(0)

    def __len__(self):
        return len(self.queue)


class Patient:
    def timeout_ms(self, prices):
        return 5.0


class NoPop:
    def push(self, request):
        raise AssertionError

    __len__ = None


class Meta(type):
    def __len__(cls):
        return 0


class Hollow(metaclass=Meta):
    push = pop = print


class Marks(Fifo):
    def __init__(self):
        open("made", "w").close()
        super().__init__()


def make():
    return Fifo()


ready = Fifo()
"""

NOT_ALLOWED_ERROR = r"the experiment refers to the plug-in `{}`, which is not allowed to run"


def experiment(table, **options):
    lines = "\n".join(f"{key} = {value!r}" for key, value in options.items())
    base = """
    [device]
    preset = "mems-g2"
    [workload]
    kind = "uniform"
    [replay]
    limit = 200
    """
    return _native.Experiment(f"{textwrap.dedent(base)}\n[{table}]\n{lines}\n")


@pytest.fixture
def plugin_directory(tmp_path, monkeypatch):
    """A working directory with a module, and not on `sys.path`."""
    (tmp_path / "lying_here.py").write_text("open('imported', 'w').close()\n" + FIFO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    yield tmp_path
    sys.modules.pop("lying_here", None)


@pytest.mark.parametrize(
    ("name", "is_plugin"),
    [
        ("os:system", True),
        ("a.b:Class", True),
        ("sptf", False),
        ("zsptf:grid=40x4", False),
        ("zsptf:grid=40x4:parity=false", False),
    ],
)
def test_plugin_names_are_recognized(name, is_plugin):
    assert _native.is_plugin(name) is is_plugin


@pytest.mark.parametrize("table", ["scheduler", "power"])
@pytest.mark.parametrize("allowed", [None, [], ["lying_here:Fifo", "os:systems"]])
def test_a_file_runs_no_command(plugin_directory, table, allowed):
    e = experiment(table, kind="os:system", command="touch made").with_plugins(allowed)
    for start in (e.check, e.run):
        with pytest.raises(Error, match=NOT_ALLOWED_ERROR.format("os:system")) as caught:
            start()
        assert caught.value.remedy == "if you trust it, pass --allow-plugins (in Python: allow_plugins=True)"
    assert 'command = "touch made"' in e.to_toml()
    assert not (plugin_directory / "made").exists()


@pytest.mark.parametrize("table", ["scheduler", "power"])
def test_a_function_is_no_plugin_even_if_allowed(plugin_directory, table):
    e = experiment(table, kind="os:system", command="touch made").with_plugins(["*"])
    for start in (e.check, e.run):
        with pytest.raises(Error, match="`os:system` is not a class") as caught:
            start()
        assert "has" in caught.value.remedy
    assert not (plugin_directory / "made").exists()


def test_nothing_is_imported_that_is_not_allowed(plugin_directory):
    e = experiment("scheduler", kind="lying_here:Marks")
    assert e.plugins() == ["lying_here:Marks"]
    assert e.setting("scheduler.kind") == "lying_here:Marks"
    changed = e.with_setting("seed", "7").with_setting("scheduler.tag", "new")
    assert _native.Experiment(changed.to_toml()).to_toml() == changed.to_toml()
    with pytest.raises(Error, match=NOT_ALLOWED_ERROR.format("lying_here:Marks")):
        changed.check()
    assert {path.name for path in plugin_directory.iterdir()} == {"lying_here.py"}


FILES = {
    "workload": {"workload": {"kind": "lying_here:Any"}},
    "device": {"device": {"kind": "lying_here:Any", "startup_ms": 0}},
    "front": {"hybrid": {"kind": "write-buffer"}, "front": {"kind": "lying_here:Any"}},
    "file": {"device": {"preset": "mine.toml"}},
    "replacement": {"hybrid": {"kind": "caching-disk", "replacement": "lying_here:Any:x=1"}},
}


@pytest.mark.parametrize("plugin_kind", FILES)
@pytest.mark.parametrize("study", [None, "compare", "power", "hybrid", "tune"])
def test_disallowed_plugin_of_any_kind_is_not_imported(plugin_directory, plugin_kind, study):
    (plugin_directory / "mine.toml").write_text('kind = "lying_here:Any"\n')
    tables = {
        "device": {"preset": "mems-g2"},
        "workload": {"kind": "uniform", "requests": 99},
        **FILES[plugin_kind],
    }
    options = {"compare": {"speedup": [1.0]}, "tune": {"budget": 8.0}}.get(study, {})
    toml = document(tables | ({"study": {"kind": study, **options}} if study else {}))
    (plugin_directory / "file.toml").write_text(toml)
    if study is None:
        e = _native.Experiment(toml)
        assert e.plugins() == ["lying_here:Any"]
        assert _native.Experiment(e.to_toml()).plugins() == ["lying_here:Any"]
        starts = (e.check, e.run, lambda: sl.run(plugin_directory / "file.toml"))
    else:
        runs = {
            "compare": sl.compare,
            "power": sl.power_study,
            "hybrid": sl.hybrid_study,
            "tune": sl.tune_hybrid,
        }
        starts = (lambda: runs[study](study=plugin_directory / "file.toml"),)
    for start in starts:
        with pytest.raises(Error):
            start()
    assert not (plugin_directory / "imported").exists()


@pytest.mark.parametrize("allowed", [["*"], ["os:system", "lying_here:Fifo"]])
def test_allowed_plugin_runs_after_changes_of_the_experiment(plugin_directory, allowed):
    e = experiment("scheduler", kind="lying_here:Fifo", tag="mine").with_plugins(allowed)
    e = e.with_setting("seed", "3").with_device("mems-g3").with_workload("mems-check")
    e.check()
    assert '"requests":200' in e.run().replace(" ", "")
    toml = e.to_toml()
    assert "plug" not in toml
    assert 'tag = "mine"' in toml
    with pytest.raises(Error, match="not allowed to run"):
        _native.Experiment(toml).check()
    with pytest.raises(Error, match="not allowed to run"):
        e.with_plugins(None).run()


def test_power_policy_is_loaded_as_plugin(plugin_directory):
    e = experiment("power", kind="lying_here:Patient")
    with pytest.raises(Error, match="not allowed to run"):
        e.run()
    e.with_plugins(["lying_here:Patient"]).run()


@pytest.mark.parametrize(
    ("table", "name", "message"),
    [
        ("scheduler", "make", "is not a class"),
        ("scheduler", "ready", "is not a class"),
        ("scheduler", "NoPop", "lacks pop and __len__"),
        ("scheduler", "Hollow", "lacks __len__"),
        ("scheduler", "Patient", "lacks push, pop and __len__"),
        ("power", "Fifo", "lacks timeout_ms"),
    ],
)
def test_only_classes_with_the_methods_are_made(plugin_directory, table, name, message):
    with pytest.raises(Error, match=message) as caught:
        experiment(table, kind=f"lying_here:{name}").with_plugins(["*"]).check()
    assert caught.value.remedy in (
        "a scheduler has push, pop and __len__: see sledlab.Scheduler",
        "a power policy has timeout_ms: see sledlab.PowerPolicy",
    )


def test_a_builtin_is_refused(plugin_directory):
    with pytest.raises(Error, match="`builtins:list` lacks push"):
        experiment("scheduler", kind="builtins:list").with_plugins(["*"]).check()
    with pytest.raises(Error, match="`builtins:exec` is not a class"):
        experiment("scheduler", kind="builtins:exec").with_plugins(["*"]).check()


def test_working_directory_is_searched_last(plugin_directory):
    path_before = list(sys.path)
    experiment("scheduler", kind="lying_here:Fifo").with_plugins(["*"]).check()
    assert sys.path == path_before
    assert os.getcwd() not in sys.path
    assert "" not in sys.path


def test_file_in_working_directory_shadows_no_module(plugin_directory, monkeypatch):
    (plugin_directory / "colorsys.py").write_text("open('shadowed', 'w').close()\n" + FIFO)
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(Error, match="has no attribute 'Fifo'"):
        experiment("scheduler", kind="colorsys:Fifo").with_plugins(["*"]).check()
    assert not (plugin_directory / "shadowed").exists()


def test_failing_module_is_reported_with_traceback(plugin_directory):
    (plugin_directory / "broken_here.py").write_text("raise RuntimeError('not today')\n")
    with pytest.raises(Error, match="not today"):
        experiment("scheduler", kind="broken_here:Fifo").with_plugins(["*"]).check()
    assert str(plugin_directory) not in sys.path


CODE_NAMES = ("lying_here:Any", "lying_job.py", "lying.toml")
"""Names of code: a class, a job, and a device file that names a class."""

PLUGGABLE = {
    "one system": {
        "workload",
        "workload.kind",
        "device",
        "device.kind",
        "device.preset",
        "front",
        "front.kind",
        "front.preset",
        "hybrid.replacement",
        "scheduler",
        "scheduler.kind",
        "power",
        "power.kind",
    },
    "cluster": {
        "device",
        "device.kind",
        "device.preset",
        "front",
        "front.kind",
        "front.preset",
        "hybrid.replacement",
    },
    "compare": {"scheduler", "vary"},
    "side-by-side": {"device", "workload"},
    "power": {"device", "power"},
    "hybrid": {"replacement"},
    "tune": {"replacement"},
    "fleet": {"device"},
    "smart": {"device", "job"},
}
"""Keys whose code runs if it is allowed."""


def is_code_imported(run, tables, **options):
    """Whether running a file imports code."""
    with open("file.toml", "w") as file:
        file.write(document(tables))
    with suppress(FileNotFoundError):
        os.unlink("imported")
    sys.modules.pop("lying_here", None)
    with suppress(Error):
        run("file.toml", **options)
    return os.path.exists("imported")


@pytest.fixture
def code_directory(plugin_directory):
    """Files whose import leaves the file `imported` behind."""
    (plugin_directory / "lying_job.py").write_text(
        "open('imported', 'w').close()\ndef lying_job(node):\n    yield\n"
    )
    (plugin_directory / "lying.toml").write_text('kind = "lying_here:Any"\n')
    return plugin_directory


@pytest.mark.parametrize("is_allowed", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_code_of_experiment_keys_runs_only_if_allowed(code_directory, table, is_allowed):
    extra_options = {"allow_plugins": True} if is_allowed else {}
    runs = {
        "one system": (sl.run, SINGLE_SYSTEM),
        "cluster": (lambda file, **options: sl.replay(experiment=file, **options), CLUSTER),
    }
    for system, (run, base_tables) in runs.items():
        keys_run = {
            key
            for key in text_keys(table)
            for name in CODE_NAMES
            if is_code_imported(run, make_experiment(key, name, base_tables), **extra_options)
        }
        assert keys_run == (
            {key for key in PLUGGABLE[system] if key.split(".")[0] == table} if is_allowed else set()
        )


@pytest.mark.parametrize("is_allowed", [False, True])
@pytest.mark.parametrize("kind", STUDIES)
def test_code_of_study_axes_runs_only_if_allowed(code_directory, kind, is_allowed):
    extra_options = {"allow_plugins": True} if is_allowed else {}
    axes_run = {
        axis
        for axis in text_axes(kind)
        for name in CODE_NAMES
        if is_code_imported(
            lambda file, **options: RUN_STUDY[kind](study=file, parallel=1, **options),
            make_study(kind, axis, name),
            **extra_options,
        )
    }
    assert axes_run == (PLUGGABLE.get(kind, set()) if is_allowed else set())

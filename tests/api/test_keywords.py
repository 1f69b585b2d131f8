"""Keywords of public functions: unknown ones are errors, known ones appear in signatures."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import sledlab as sl
from sledlab.model.catalog import CATALOGS
from sledlab.runs.options import SimulateOptions, declared_options

FUNCTIONS = {name: each for name in sl.__all__ if inspect.isfunction(each := getattr(sl, name))}

REQUIRED_ARGUMENTS = {"record": ("sort",)}
"""Values of the required arguments of functions with options."""


def takes_options(function: Callable[..., Any]) -> bool:
    """Whether a function is written with `**options`."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters.values()
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)


OPTION_FUNCTIONS = [name for name, function in FUNCTIONS.items() if takes_options(function)]


def test_functions_with_options_are_found():
    assert {"simulate", "compare", "replay", "serve", "view", "fleet", "smart_size", "record"} <= set(
        OPTION_FUNCTIONS
    )


@pytest.mark.parametrize("name", OPTION_FUNCTIONS)
def test_undeclared_keyword_is_refused_by_name(refused, name):
    with refused("`schedular_of_mine`"):
        FUNCTIONS[name](*REQUIRED_ARGUMENTS.get(name, ()), schedular_of_mine="sptf")


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(OPTION_FUNCTIONS)))
def test_undeclared_keyword_of_plain_function_is_refused(name):
    required_names = [
        each.name
        for each in inspect.signature(FUNCTIONS[name]).parameters.values()
        if each.default is inspect.Parameter.empty
    ]
    with pytest.raises(TypeError, match="schedular_of_mine"):
        FUNCTIONS[name](**dict.fromkeys(required_names), schedular_of_mine="sptf")


@pytest.mark.parametrize("kind", CATALOGS)
def test_undeclared_parameter_of_model_is_refused(refused, kind):
    model = next(iter(CATALOGS[kind]))
    with refused("schedular_of_mine"):
        getattr(sl, kind)(model, schedular_of_mine=1)


@pytest.mark.parametrize(
    ("function", "options", "remedy"),
    [
        ("simulate", {"schedular": "sptf"}, "did you mean `scheduler`?"),
        ("simulate", {"limits": 10}, "did you mean `limit`?"),
        ("simulate", {"speedupp": 3}, "did you mean `speedup`?"),
        ("simulate", {"set": {"seed": 2}}, "did you mean `settings`?"),
        ("simulate", {"schedulers": ["sptf"]}, "did you mean `scheduler`?"),
        ("simulate", {"devices": ["mems-g2"]}, "did you mean `device`?"),
        ("simulate", {"trace": "app.csv"}, "pass it as `source`, the first argument"),
        ("simulate", {"active_tips": 640}, 'a parameter of the device: sl.device("mems-g1", active_tips='),
        ("simulate", {"activ_tips": 640}, "did you mean `active_tips`, a parameter of the device"),
        ("simulate", {"eta": 4}, 'of the power policy: sl.power("share", eta=4)'),
        ("simulate", {"read_share": 0.5}, 'of the workload: sl.workload("exponential", read_share=0.5)'),
        ("simulate", {"nonsense": 1}, "help(sledlab.simulate) lists all options"),
        ("compare", {"schedulers": "fcfs"}, "did you mean `scheduler`?"),
        ("fleet", {"placment": "packed"}, "did you mean `placement`?"),
        ("power_study", {"timeout": 3}, "did you mean `timeout_ms`?"),
        ("side_by_side", {"schedulers": ["fcfs"]}, "did you mean `scheduler`?"),
        ("replay", {"mhz": 1000}, 'of the node: sl.node("smart-2003", mhz=1000)'),
    ],
)  # fmt: skip
def test_error_suggests_a_similar_name(function, options, remedy):
    with pytest.raises(sl.Error) as caught:
        FUNCTIONS[function](**options)
    assert caught.value.message == f"unknown option `{next(iter(options))}`"
    assert remedy in str(caught.value.remedy)


def test_suggestion_names_the_given_model(refused):
    with refused('sl.device("mems-g3", active_tips=640)'):
        sl.simulate(sl.workload("uniform"), "mems-g3", active_tips=640)
    with refused('sl.workload("uniform", read_share=0.5)'):
        sl.simulate(sl.workload("uniform"), "mems-g3", read_share=0.5)
    with refused('sl.device("atlas-10k", rpm=7200)'):
        sl.power_study(sl.workload("uniform"), ["mems-g2", "atlas-10k"], rpm=7200)


def test_list_of_devices_takes_one_scheduler(refused):
    source = sl.workload("uniform")
    with refused("`scheduler` takes one value here, not 2"):
        sl.compare(source, ["mems-g2", "mems-g3"], scheduler=["fcfs", "sptf"], limit=10)
    result = sl.compare(source, device=["mems-g2", "mems-g3"], scheduler="sptf", limit=10, parallel=1)
    assert isinstance(result, sl.SideBySide)


@pytest.mark.parametrize("name", sorted(set(OPTION_FUNCTIONS) - {"record"}))
def test_signature_and_help_list_all_options(name):
    function = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    options = [each for each in parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert "settings" in [each.name for each in options]
    assert all(each.default is not inspect.Parameter.empty for each in options)
    assert all(f"    {each.name}: " in str(function.__doc__) for each in options)


def test_signature_of_simulate_has_declared_types():
    parameters = inspect.signature(sl.simulate).parameters
    assert set(declared_options(SimulateOptions)) <= set(parameters)
    assert parameters["speedup"].annotation == float | None
    assert parameters["speedup"].default is None


def test_preset_shows_parameters_with_their_values():
    parameters = inspect.signature(sl.device.mems_g2_3200).parameters
    assert parameters["active_tips"].default == 3200
    assert "    active_tips: " in str(sl.device.mems_g2.__doc__)
    assert "heads" not in parameters


@pytest.mark.parametrize("kind", CATALOGS)
def test_catalog_prints_its_names(kind):
    printed = repr(getattr(sl, kind))
    assert printed.startswith(f"sledlab.{kind}: ")
    assert all(name in printed for name in CATALOGS[kind])

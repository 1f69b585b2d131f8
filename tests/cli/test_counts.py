"""Counts are written alike in all commands, and help says what they count."""

import click
import pytest
import sledlab as sl
from sledlab.cli import cli
from sledlab.cli.man import walk
from sledlab.model.ranges import check_numbers

SLICE = ("trace", "slice", "sample:kv-a-60s")
SIMULATE = ("simulate", "--device", "mems-g2", "--workload", "uniform")


def test_trace_commands_accept_abbreviated_counts(sledlab, tmp_path):
    trace, part = tmp_path / "whole.csv", tmp_path / "cut.csv"
    answer = sledlab("trace", "generate", "uniform", trace, "--limit", "1.5k")
    assert "1,500 requests" in answer.err
    assert "wrote 1,000 requests" in sledlab("trace", "slice", trace, part, "--limit", "1e3").err
    assert len(sledlab("trace", "head", part, "--rows", "1e1", "--json").json) == 10
    assert "1,000 requests" in sledlab("trace", "info", part, "--sort", "1k").out


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        ((*SLICE, "out.csv", "--limit", "many"), "`--limit`: `many` is not a whole number", "20k or 1e6"),
        (
            (*SLICE, "out.csv", "--limit", "0"),
            "`--limit`: `0` is out of range",
            "give a whole number, 1 or more",
        ),
        ((*SIMULATE, "--warmup", "some"), "`--warmup`: `some` is not a whole number", "20k or 1e6"),
        ((*SIMULATE, "--seed", "first"), "`--seed`: `first` is not a whole number", "give one such as 4"),
        (("compare", "--parallel", "all"), "`--parallel`: `all` is not a whole number", "give one such as 4"),
    ],
)
def test_invalid_count_is_refused_with_working_remedy(
    sledlab, tmp_path, monkeypatch, arguments, message, remedy
):
    monkeypatch.chdir(tmp_path)
    answer = sledlab(*arguments)
    answer.assert_refused(message)
    assert remedy in " ".join(answer.err.split())


def test_warmup_accepts_counts_and_counts_operations(sledlab):
    arguments = (*SIMULATE, "--limit", "1e3", "--json")
    abbreviated, plain = (sledlab(*arguments, "--warmup", warmup).json for warmup in ("0.2k", "200"))
    assert abbreviated["requests"] == plain["requests"] == 800
    assert "first N reads, writes, flushes and trims" in " ".join(
        sledlab("simulate", "--help-all").out.split()
    )


def test_sizes_accept_units(sledlab):
    result = sledlab(
        "trace", "hits", "sample:mail-a-60s", "--replacement", "lru", "--cache-mb", "1MiB,1GB", "--json"
    ).json
    assert [row["cache_mb"] for row in result["hits"]] == [1.048576, 1000]
    result = sledlab(
        "trace", "hits", "sample:mail-a-60s", "--replacement", "lru", "--segment-kb", "1MiB", "--json"
    ).json
    assert result["segment_kb"] == 1024


@pytest.mark.parametrize("size", ["1XB", "1iB", "big", "10k", "MB"])
def test_wrong_size_names_units(sledlab, size):
    sledlab("hybrid", "--mems-mb", size).assert_refused("64MiB")


NUMBERS = (
    *(
        "0",
        "-1",
        "1.5",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "1e-320",
        "1e999",
        "1e1000000000",
        "NaNk",
        "1_000",
        "\u00b2",
    ),
    *(
        str(2**63),
        str(2**64),
        str(-(2**63) - 1),
        "9" * 5000,
        "1..1e300",
        "1,nan",
        "1,1e-320",
        "1e300MB",
        "--",
    ),
)


def options_with_values():
    """Yield every option of every command that takes a value, with its command."""
    for context in walk(cli, click.Context(cli, info_name="sledlab")):
        for param in context.command.params:
            if isinstance(param, click.Option) and not param.is_flag and param.nargs == 1:
                yield pytest.param(context, param, id=f"{context.command_path} {param.opts[-1]}")


@pytest.mark.parametrize(("context", "option"), [*options_with_values()])
def test_parser_refuses_numbers_out_of_range(context, option):
    for number in NUMBERS:
        try:
            value = option.process_value(context, (number,) if option.multiple else number)
        except (sl.Error, click.BadParameter, OSError):  # a name of a file may be too long
            continue
        check_numbers(number, value)


def test_keywords_out_of_range_are_refused(refused):
    uniform = sl.workload("uniform")
    for value in (2**63, 10**5000, float("inf"), float("nan"), 1e-320):
        with refused("`limit`: expected a number in range"):
            sl.simulate(uniform, "mems-g2", limit=value)
        with refused("`load`: expected a number in range"):
            sl.power_study(uniform, "mems-g2", load=[1, value])
    for options in ({"sort_window": 2**63}, {"sector_bytes": -1}, {"spread_s": float("nan")}):
        with refused("0 or more"):
            sl.read_trace("sample:mail-a", **options)
    with refused("is not a segment size"):
        sl.hit_ratios("sample:mail-a", segment_kb=1e300)

"""Lists and tables fit the terminal, and no number in them is split or cut."""

import re

import pytest
import rich.console
from sledlab.show import document, terminal, text_plot
from sledlab.show.columns import Columns, fold
from sledlab.show.document import Grid

SHORT_STUDY = "--device mems-g2 --workload uniform --limit 300 --parallel 1"

TABLES = [
    "list device",
    "show device mems-g2",
    "show device hp-c2247a",
    "list scheduler",
    "show scheduler zsptf",
    "show hybrid caching-disk",
    "show workload cello",
    "list replacement",
    "list job",
    "show node smart-2003",
    "list network",
    "trace head sample/traces/oltp-bank-a.csv.zst -n 20",
    "trace hits sample/traces/oltp-bank-a.csv.zst --replacement lru,fifo",
    "simulate --device mems-g2 --workload uniform --limit 300",
    f"compare {SHORT_STUDY} --scheduler fcfs,sptf --speedup 1,2,4,8",
    f"power {SHORT_STUDY} --power fixed --timeout 1,10",
    "smart show sample/work/join.work",
    "smart replay sample/work/sort.work --device mems-g2",
]
NUMBER = re.compile(r"(?<![\w.,:-])[\d.,]*\d\d?(?![\w.,:-])")


def numbers_in_tables(printed):
    table_lines = [
        line for line in printed.splitlines() if line.startswith(" ")
    ]  # tables are indented, sentences are not
    return set(NUMBER.findall("\n".join(table_lines)))


@pytest.mark.slow("every kind of table in every width")
@pytest.mark.parametrize("command", TABLES)
def test_tables_fit_and_keep_their_numbers(sledlab, monkeypatch, command):
    def printed_numbers(width):
        monkeypatch.setenv("COLUMNS", str(width))
        answer = sledlab(*command.split())
        assert answer.code == 0
        assert "…" not in answer.out
        lines = [line for line in answer.out.splitlines() if line.startswith(" ")]
        assert max(map(len, lines)) <= width
        return numbers_in_tables(answer.out)

    # Columns that are omitted for lack of room are named, and tested below.
    monkeypatch.setattr(Columns, "without_wide_columns", lambda columns: columns)
    all_numbers = printed_numbers(1000)
    for width in (200, 120, 80, 60):
        assert all_numbers - printed_numbers(width) == set()


def test_unknown_terminal_width_means_100_columns(sledlab, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert max(map(len, sledlab("list", "scheduler").out.splitlines())) == 100
    for columns in ("", "wide", "0"):
        monkeypatch.setenv("COLUMNS", columns)
        assert terminal.console().width == 100


def test_text_wraps_before_columns_are_split():
    table = Columns(("name", "mean (ms)", "why"), [("a b", "1,234.5", "because " * 10)], {0, 2}, {2})
    blocks_by_width = {width: list(table.blocks(width)) for width in (120, 60, 45, 30)}
    assert blocks_by_width[120] == [([0, 1, 2], [4, 9, 80])]
    assert blocks_by_width[60] == [([0, 1, 2], [4, 9, 39])]
    assert blocks_by_width[45] == [([0, 1, 2], [4, 9, 24])]
    assert blocks_by_width[30] == [([0, 1], [4, 9]), ([0, 2], [4, 21])]


def test_table_narrows_its_gaps_before_it_splits(capsys):
    table = Columns(("load", "a", "b"), [("1", "1,234,567", "1,234,567")])
    for width, gap in ((30, "   "), (29, "  "), (28, "  ")):
        table.print(rich.console.Console(width=width))
        printed = capsys.readouterr().out
        assert f"1,234,567{gap}1,234,567" in printed, width
        assert f"1,234,567{gap} 1,234,567" not in printed, width


def test_row_names_begin_every_block():
    table = Columns(("load", "scheduler", *"abcdefgh"), [("1", "sptf", *["1,234,567"] * 8)], {1})
    blocks = [columns for columns, _ in table.blocks(60)]
    assert blocks == [[0, 1, 2, 3, 4], [0, 1, 5, 6, 7], [0, 1, 8, 9]]


def test_a_number_stays_with_its_unit():
    assert fold("less by 22\u00a0% than that", 11) == "less by\n22\u00a0% than\nthat"


@pytest.mark.parametrize(
    "command",
    [
        "simulate --device mems-g2 --workload uniform --limit 300",
        "trace info sample/traces/oltp-bank-a.csv.zst",
        "trace hits sample/traces/oltp-bank-a.csv.zst --replacement lru",
        "show job join",
    ],
)
def test_sentences_wrap(sledlab, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, sledlab(*command.split()).out.splitlines())) <= 60


def test_table_narrows_its_gaps_and_folds_heads_before_it_splits(capsys):
    table = Columns(("", "slowest volume", "volumes in goal"), [("disk", "1,234", "0 of 3")])
    table.print(rich.console.Console(width=24))
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:3]] == [
        ["slowest", "volumes"],
        ["volume", "in", "goal"],
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_pictures_have_the_width_of_the_terminal_and_a_scale(width):
    shape = text_plot.distribution([0.5, 1, 2, 4, 8], [0.1, 0.5, 0.8, 0.9, 1.0], width)
    assert max(map(len, shape)) == max(width, len(shape[0]))
    assert shape[1].startswith("  40")
    assert shape[6].startswith("   0")


def test_overloaded_points_are_marked_above_the_scale():
    lines = {"FCFS": [(10, 1.0), (20, None)], "SPTF": [(10, 1.0), (20, 3.0)]}
    picture = text_plot.curves(lines, "ms", 60)
    assert picture[1].split() == ["overload", "A"]
    assert picture[2].split() == ["3", "B"]
    steady_lines = {"SPTF": lines["SPTF"]}
    assert not any("overload" in line for line in text_plot.curves(steady_lines, "ms", 60))


def test_table_omits_wide_columns_for_lack_of_room():
    grid = Grid(("name", "mean", "median"), [("a" * 20, "1,234.5", "1,000.0")], wide_columns=("median",))
    wide, narrow = (terminal.as_text(lambda console: document.write([grid], console), n) for n in (60, 32))
    assert "median" in wide
    assert "median" not in narrow
    assert "1,234.5" in narrow

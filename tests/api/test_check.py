"""Conformance rules: built-in models, plug-ins, and plug-ins with planted faults."""

import sys
from pathlib import Path

import pytest
import sledlab as sl

EXAMPLES = Path(__file__).parents[2] / "examples"

SERVED_RULE = "Every request is served, in a time above zero, and nothing fails."
PURE = "Predicting a service time changes nothing."
PREDICTION_RULE = "A request takes as long as was predicted before it was issued."
REPEATED_TIMES_RULE = "The same requests take the same time again, whatever was predicted in between."
EVICTS = "A full cache evicts one key that it holds, any other none, and nothing fails."
REPEATED_EVICTIONS_RULE = "The same accesses evict the same keys again."
ARRIVAL_ORDER_RULE = "Requests come in the order of arrival, none of them empty, and nothing fails."
BOUNDS_RULE = "Requests lie on the device."
SEED_RULE = "The same seed gives the same requests again."
CHOSEN_ONCE_RULE = "Every request that joins the queue is chosen exactly once, and nothing fails."
REPEATED_ORDER_RULE = "The same requests are chosen in the same order again."

FAULTY_MODELS = """
import random

import numpy as np


class Sound:
    capacity_blocks, active_mw, idle_mw = 100_000, 800.0, 200.0

    def serve(self, state, lbn, blocks, is_write):
        positioning_ms = abs(lbn - state) / 1e4
        return {"positioning_ms": positioning_ms, "transfer_ms": blocks / 100, "state": lbn + blocks}


class Buffered(Sound):
    '''The last block read or written takes no time: state changes in `serve`, as permitted.'''

    last = None

    def serve(self, state, lbn, blocks, is_write):
        return 0.001 if lbn == self.last else super().serve(state, lbn, blocks, is_write)

    def served(self, start_ns, lbn, blocks, is_write):
        self.last = lbn


class Free(Sound):
    active_mw = idle_mw = 0


class Tires(Sound):
    calls = 0

    def serve(self, state, lbn, blocks, is_write):
        self.calls += 1
        return self.calls / 10


class RemembersAsking(Buffered):
    def serve(self, state, lbn, blocks, is_write):
        served = super().serve(state, lbn, blocks, is_write)
        self.last = lbn
        return served


class Draws(Sound):
    def serve(self, state, lbn, blocks, is_write):
        return 1 + random.random()


class Wavers(Sound):
    '''The second answer since a request was served differs from the first.'''

    calls = 0

    def serve(self, state, lbn, blocks, is_write):
        self.calls += 1
        return 2 if self.calls == 2 else 1

    def served(self, start_ns, lbn, blocks, is_write):
        self.calls = 0


class Shared(Sound):
    all_requests = [0]

    def serve(self, state, lbn, blocks, is_write):
        return 1 + self.all_requests[0]

    def served(self, start_ns, lbn, blocks, is_write):
        self.all_requests[0] += 1


class Negative(Sound):
    def serve(self, state, lbn, blocks, is_write):
        return {"positioning_ms": lbn - state, "state": lbn}


class Breaks(Sound):
    def serve(self, state, lbn, blocks, is_write):
        if lbn > 90_000:
            raise RuntimeError("a head has crashed")
        return 1


class Fifo:
    def __init__(self, capacity):
        self.keys = []

    def hit(self, key):
        pass

    def insert(self, key):
        self.keys.append(key)

    def evict(self, incoming):
        return self.keys.pop(0)


class EvictsTwice(Fifo):
    def evict(self, incoming):
        return self.keys[0]


class EvictsIncoming(Fifo):
    def evict(self, incoming):
        return incoming


class LosesCount(Fifo):
    def hit(self, key):
        self.keys.remove(key)


class Whims(Fifo):
    def evict(self, incoming):
        return self.keys.pop(random.randrange(len(self.keys)))


class Steady:
    def gap_us(self, n):
        return 1000

    def place(self, n, blocks, random):
        return random.integers(blocks - 8)

    def requests(self, capacity_blocks, random):
        now_us = 0
        for n in range(500):
            now_us += self.gap_us(n)
            yield now_us, self.place(n, capacity_blocks, random), 8, "R"


class Backwards(Steady):
    def gap_us(self, n):
        return 1000 if n < 100 else -1


class Global(Steady):
    def place(self, n, blocks, random):
        return np.random.randint(blocks - 8)


class Beyond(Steady):
    def place(self, n, blocks, random):
        return blocks - 4


class Nothing(Steady):
    def requests(self, capacity_blocks, random):
        return []


class Lcfs:
    def __init__(self):
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        return self.queue.pop()

    def __len__(self):
        return len(self.queue)


class Loses(Lcfs):
    def push(self, request):
        if request.id % 5 != 4:
            super().push(request)


class LosesInSilence(Lcfs):
    length = 0

    def push(self, request):
        self.length += 1
        if request.id % 5 != 4:
            super().push(request)

    def pop(self, now_ns, device):
        if not self.queue:
            return []
        self.length -= 1
        return super().pop(now_ns, device)

    def __len__(self):
        return self.length


class Doubles(Lcfs):
    def pop(self, now_ns, device):
        chosen = self.queue.pop()
        return [chosen, chosen]


class Dice(Lcfs):
    def pop(self, now_ns, device):
        return self.queue.pop(random.randrange(len(self.queue)))


class Patient:
    def timeout_ms(self, prices):
        return 5.0


class Both(Sound, Steady):
    pass


class Neither:
    pass
"""


@pytest.fixture(autouse=True)
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text(FAULTY_MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("planted", None)


@pytest.mark.parametrize(
    ("model", "first_rule", "rule_count"),
    [
        ("tape:Tape", SERVED_RULE, 6),
        ("tape:Tape:capacity_mb=1", SERVED_RULE, 6),
        ("planted:Buffered", SERVED_RULE, 6),
        ("planted:Free", SERVED_RULE, 6),
        ("clock:Clock", EVICTS, 6),
        ("clock:Clock:marked=true", EVICTS, 6),
        ("bursts:Bursts", ARRIVAL_ORDER_RULE, 3),
        ("sstf:Sstf", CHOSEN_ONCE_RULE, 2),
        ("planted:Lcfs", CHOSEN_ONCE_RULE, 2),
    ],
)
def test_plug_ins_satisfy_rules_of_their_kind(model, first_rule, rule_count):
    rules = sl.check(model, cases=30)
    assert (rules[0], len(rules)) == (first_rule, rule_count)


@pytest.mark.parametrize(
    "model", ["mems-g2", "atlas-10k", "ram", "sptf", "p-alpha", "acme", "uniform", "cello"]
)
def test_built_in_models_satisfy_more_rules(model):
    rule_counts = {SERVED_RULE: 9, CHOSEN_ONCE_RULE: 4, EVICTS: 6, ARRIVAL_ORDER_RULE: 4}
    rules = sl.check(model, cases=2)
    assert len(rules) == rule_counts[rules[0]]


@pytest.mark.parametrize(
    ("name", "rule", "violation"),
    [
        ("Tires", PURE, "first it takes "),
        ("RemembersAsking", PURE, "first "),
        ("Draws", PURE, "first it takes "),
        ("Wavers", PREDICTION_RULE, "it then takes 2 ms"),
        ("Shared", REPEATED_TIMES_RULE, "positioning 0 ms of it; again "),
        ("Negative", SERVED_RULE, "TypeError: serve must return milliseconds, or a dict of them, not -"),
        ("Breaks", SERVED_RULE, "RuntimeError: a head has crashed"),
        ("EvictsTwice", EVICTS, "ValueError: evict must return a key that the cache holds, not "),
        ("EvictsIncoming", EVICTS, "ValueError: evict must return a key that the cache holds, not "),
        ("LosesCount", EVICTS, "Error: "),
        ("Whims", REPEATED_EVICTIONS_RULE, "first Miss"),
        ("Backwards", ARRIVAL_ORDER_RULE, "is earlier than that before it"),
        ("Nothing", ARRIVAL_ORDER_RULE, "there is no request"),
        ("Beyond", BOUNDS_RULE, "it ends past the device"),
        ("Global", SEED_RULE, "again it is request "),
        ("Loses", CHOSEN_ONCE_RULE, "Error: "),
        ("LosesInSilence", CHOSEN_ONCE_RULE, "pop returned no request although some are queued"),
        ("Doubles", CHOSEN_ONCE_RULE, "which is not in the queue"),
        ("Dice", REPEATED_ORDER_RULE, "in a second run it is request "),
    ],
)
def test_planted_fault_breaks_its_rule(name, rule, violation):
    with pytest.raises(sl.Error) as caught:
        sl.check(f"planted:{name}", seed=3)
    error = caught.value
    assert f"`planted:{name}` breaks a rule: {rule} In case " in error.message
    assert " of seed 3, " in error.message
    assert violation in error.message
    assert error.remedy
    assert error.__cause__ is None


def test_fault_report_names_the_request():
    with pytest.raises(
        sl.Error, match=r"In case \d+ of seed 1, request \d+, a (read|write) of \d+ blocks from \d+: "
    ):
        sl.check("planted:Tires")
    with pytest.raises(sl.Error, match=r"In case \d+ of seed 1, access \d+, to key \d+: "):
        sl.check("planted:EvictsTwice")


def test_equal_seed_finds_equal_fault(sledlab):
    first_report, second_report, other_report = (
        sledlab("check", "planted:Wavers", "--seed", seed).err for seed in (1, 1, 2)
    )
    assert first_report == second_report != other_report.replace("seed 2", "seed 1")


def test_a_chosen_model_is_checked():
    assert sl.check(sl.device("tape:Tape", capacity_mb=1), cases=3) == sl.check("tape:Tape", cases=3)
    assert sl.check(sl.replacement("slru", protected_share=0.3), cases=3)


@pytest.mark.parametrize(
    ("model", "options", "message", "remedy"),
    [
        ("planted:Neither", {}, "does not implement any kind of model", "sledlab.Workload"),
        ("planted:Both", {}, "may be a device or a workload", "--kind"),
        ("planted:Patient", {}, "power policies have no conformance rules", "device, scheduler"),
        ("planted:Lcfs", {"kind": "device"}, "lacks serve", "sledlab.Device"),
        ("planted:Missing", {}, "Missing", "fix the class"),
        ("sptff", {}, "unknown model `sptff`", "did you mean `sptf`?"),
        ("lru", {"kind": "scheduler"}, "unknown scheduler `lru`", ""),
        ("lru", {"cases": 0}, "0 cases", "at least 1 case"),
        ("lru", {"seed": -1}, "seed -1", "a seed from 0"),
    ],
)
def test_uncheckable_model_is_refused(model, options, message, remedy):
    with pytest.raises(sl.Error) as caught:
        sl.check(model, **options)
    assert message in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_both_kinds_of_a_class_are_checked():
    assert sl.check("planted:Both", kind="device", cases=3)[0] == SERVED_RULE
    assert sl.check("planted:Both", kind="workload", cases=3)[0] == ARRIVAL_ORDER_RULE


def test_device_file_runs_class_if_allowed(module_directory):
    file = module_directory / "mine.toml"
    file.write_text('kind = "planted:Sound"\n')
    with pytest.raises(sl.Error, match="not allowed to run"):
        sl.check(str(file))
    assert len(sl.check(str(file), cases=3, allow_plugins=True)) == 6


def test_check_command_lists_passed_rules(sledlab):
    answer = sledlab("check", "clock:Clock", "--cases", 5)
    assert answer.code == 0
    assert answer.out.splitlines()[0] == f"passed: {EVICTS}"
    assert answer.out.splitlines()[-1] == "clock:Clock passes all 6 rules, each in 5 cases with seed 1."


def test_check_command_fails_on_a_broken_rule(sledlab):
    answer = sledlab("check", "planted:Wavers")
    assert answer.code == 2
    assert answer.out.splitlines() == [f"passed: {SERVED_RULE}", f"passed: {PURE}"]
    assert PREDICTION_RULE in answer.err
    assert "help: let serve depend only on its arguments" in answer.err

"""Test a model, of sledlab or of a user, against the rules for all models of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error, unknown
from sledlab.model.catalog import CATALOGS, NAMES, PLURALS, ModelChoice, require
from sledlab.model.choices import spell
from sledlab.model.plugins import allowed_plugins

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("device", "scheduler", "replacement", "workload")
"""Kinds of models that have rules."""

PROTOCOLS = "sledlab.Device, sledlab.Scheduler, sledlab.ReplacementPolicy and sledlab.Workload"
"""The protocols with the methods of each kind of class, for messages."""


def check(
    model: str | ModelChoice,
    *,
    kind: str | None = None,
    seed: int = 1,
    cases: int = 100,
    allow_plugins: bool = False,
) -> tuple[str, ...]:
    """Test a model, a class of yours or one of sledlab, against the rules for all models of its kind.

    Each rule is tested on `cases` sequences of requests, which follow from the seed. That a model keeps a
    rule in all cases is no proof that it always does.

    Args:
        model: `module:Class`, with parameters `module:Class:key=value`; the name of a device, scheduler,
            replacement policy or workload; a device file; or what `sl.device(...)` and the like give.
        kind: `device`, `scheduler`, `replacement` or `workload`; by default the kind whose methods the class
            has.
        seed: Seed of the random numbers that make the requests.
        cases: Number of cases for each rule, at least 1.
        allow_plugins: Whether a plug-in that only a device file names may run.

    Raises:
        Error: The model breaks a rule; the message names the rule, the case, the request, and what to do. Or
            there is no such model, or its methods do not determine its kind.

    Returns:
        The rules that the model keeps, a sentence each.

    Examples:
        >>> import sledlab as sl
        >>> for rule in sl.check("lru", cases=10):
        ...     print(rule)
        A full cache evicts one key that it holds, any other none, and nothing fails.
        An access hits if its key was inserted and not evicted since, and misses otherwise.
        The length of the cache is its number of keys.
        A key that is prefetched is in the cache, which evicts one key for it if it is full.
        The same accesses evict the same keys again.
        No policy has more hits than the optimal policy, which knows the future.
    """
    return tuple(passed_rules(model, kind=kind, seed=seed, cases=cases, allow_plugins=allow_plugins))


def passed_rules(
    model: str | ModelChoice, *, kind: str | None, seed: int, cases: int, allow_plugins: bool = False
) -> Iterator[str]:
    """The rules that a model keeps, each as soon as all its cases have passed; arguments as of `check`.

    Raises:
        Error: As of `check`.
    """
    word = spell(model) if isinstance(model, ModelChoice) else model
    if not 0 <= seed < 2**64 or cases < 1:
        raise Error(
            f"{cases} cases with seed {seed} are out of range",
            remedy="use at least 1 case, and a seed from 0 to 2**64 - 1",
        )
    plugins = allowed_plugins({"allow_plugins": allow_plugins}, word)
    if kind is None:
        kind = model.kind if isinstance(model, ModelChoice) else _detect_kind(word, plugins)
    if kind not in KINDS:
        raise Error(
            f"{PLURALS.get(kind, kind)} have no conformance rules", remedy=f"known: {', '.join(KINDS)}"
        )
    if kind != "device":  # a device may be a file, which no catalog lists
        require(kind, word)
    conformance = _native.Conformance(kind, word, plugins)
    for rule in conformance.rules():
        conformance.check_cases(rule, seed, cases)
        yield rule


def _detect_kind(word: str, plugins: tuple[str, ...]) -> str:
    """The kind of a model that is given by its name alone.

    Raises:
        Error: There is no model of that name, or a class has the methods of no kind, or of several.
    """
    if word.endswith(".toml"):
        return "device"
    if not _native.is_plugin(word):
        name = word.partition(":")[0]
        for kind in KINDS:
            if name in CATALOGS[kind]:
                return kind
        error = unknown("model", name, [name for kind in KINDS for name in CATALOGS[kind]])
        suggestion = error.remedy if error.remedy and error.remedy.startswith("did") else None
        lists = ", ".join(f"`sledlab list {kind}`" for kind in KINDS)
        raise Error(error.message, remedy=suggestion or f"use a name of {lists}, or a class, `module:Class`")
    nouns = _native.kinds_of_plugin(word, plugins)
    if not nouns:
        raise Error(f"`{word}` does not implement any kind of model", remedy=f"see {PROTOCOLS}")
    if len(nouns) > 1:
        raise Error(
            f"`{word}` may be a {' or a '.join(nouns)}",
            remedy="specify the kind with --kind (in Python: kind=)",
        )
    kinds_by_noun = {name: key for key, name in NAMES.items()}
    return kinds_by_noun.get(nouns[0], nouns[0])

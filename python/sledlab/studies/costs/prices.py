"""Prices of nodes, stores, ports and energy: those that come with sledlab, and those of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, Place, unknown
from sledlab.model.error_location import add_location
from sledlab.model.ranges import is_number
from sledlab.runs.parsing import pair
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLES = {"node": "a node", "device": "a device", "device_gb": "a GB of a device", "network": "a port"}
"""Tables of prices by preset, and the unit that a price of each is for."""

NUMBERS = {"kwh": "a kWh", "years": "years"}
"""Prices without a preset, and the unit that each is for."""

OTHER_TABLE = {"device": "device_gb", "device_gb": "device"}
"""The other table of a store, which has one price: for each device, or for each GB."""

ENDURANCE = "endurance"
"""Table of how often the capacity of a device can be written."""

DEFAULT = Path(__file__).with_name("prices.toml")


@dataclass(frozen=True)
class Prices:
    """All prices, in USD.

    Attributes:
        tables: Prices by table and by name of the preset, or file without its ending: `node`, a node without
            its store; `device`, a device; `device_gb`, 10^9 bytes of a device; `network`, a port.
        kwh: Price of a kWh.
        years: Time over which prices are written off, in years.
        endurance: How often the capacity of a device can be written before it wears out, by name.
        are_explicit: Whether the user gave any price; then a part without a price is an error.
        explicit: Tables and names of prices that were given one by one.
    """

    tables: Mapping[str, Mapping[str, float]]
    kwh: float
    years: float
    endurance: Mapping[str, float] = field(default_factory=dict)
    are_explicit: bool = False
    explicit: tuple[tuple[str, str], ...] = field(default=())

    def price(self, table: str, name: str) -> float:
        """The price of a preset in a table.

        Raises:
            Error: The preset has no price.
        """
        usd = self.tables[table].get(name)
        if usd is None:
            raise no_price(table, name)
        return usd

    def select(self, names: Mapping[str, set[str]]) -> dict[str, Any]:
        """The prices of the named presets, by `node`, `device` and `network`, as plain data."""
        return {
            **{
                table: {name: usd for name, usd in prices.items() if name in names[table.removesuffix("_gb")]}
                for table, prices in self.tables.items()
            },
            "kwh": self.kwh,
            "years": self.years,
        }

    def check(self, names: Mapping[str, set[str]]) -> None:
        """Check that each price given one by one is of a preset that sledlab prices or the study uses.

        Raises:
            Error: A price is of neither.
        """
        for table, name in self.explicit:
            kind = "device" if table == ENDURANCE else table.removesuffix("_gb")
            default_tables = defaults().tables
            known_names = {*names[kind], *default_tables[kind], *default_tables.get(f"{kind}_gb", {})}
            if name not in known_names:
                raise unknown(f"{kind} with a price", name, sorted(known_names))


def no_price(table: str, name: str) -> Error:
    """The error about a preset without a price, and how to give it one."""
    example = f"--price {table}.{name or 'NAME'}={'40' if table == 'network' else '100'}"
    subject = TABLES[table] if table == "network" else f"the {table}"
    return Error(f"{subject} `{name}` has no price", remedy=f"set it in USD: {example}")


@cache
def defaults() -> Prices:
    """The prices that come with sledlab; `prices.toml` has their sources."""
    return _merge_prices(None, _read(DEFAULT))


def prices(given: Sequence[str | Path] | str | Path | None = None) -> Prices:
    """Return the prices that come with sledlab, replaced by given ones.

    Args:
        given: Prices in USD such as `mems-g3=50`, `node.mine=200`, `device_gb.mems-g3=12`, `kwh=0.2`;
            `years=5`; `endurance.mine=1000`, writes of the capacity; and files of the same form as
            `prices.toml`. Later ones override earlier ones.

    Raises:
        Error: A file cannot be read, or a price is invalid or of no known preset.

    Examples:
        >>> prices(["mems-g3=50"]).price("device", "mems-g3")
        50.0
        >>> prices().price("network", "fast-ethernet")
        40.0
    """
    price_list = defaults()
    entry_list = [given] if isinstance(given, (str, Path)) else list(given or ())
    priced_names = []
    for entry in map(str, entry_list):
        if _is_file(entry):
            price_list = _merge_file(price_list, entry)
            continue
        key, value = pair("--price", entry)
        table, name = _table_and_name(price_list, key)
        price_list = _merge_prices(
            price_list, {table: {name: _number(value)}} if name else {table: _number(value)}, "--price: "
        )
        if name:
            priced_names.append((table, name))
    return replace(price_list, are_explicit=bool(entry_list), explicit=tuple(priced_names))


def _is_file(entry: str) -> bool:
    """Whether an entry names a file of prices."""
    return entry.endswith(".toml") or Path(entry).is_file()


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Error(f"cannot read the prices: {reason}", Place(str(path), 0, 0, "")) from error


def _table_and_name(known_prices: Prices, key: str) -> tuple[str, str]:
    """The table and the name of a preset that a key means; no name for a price without preset.

    Raises:
        Error: The key means nothing, or several presets.
    """
    table, dot, name = key.partition(".")
    if dot and table in (*TABLES, ENDURANCE) and name:
        return table, name
    if key in NUMBERS:
        return key, ""
    tables = {
        table.removesuffix("_gb")
        for table, prices_by_name in known_prices.tables.items()
        if key in prices_by_name
    }
    if len(tables) > 1:
        raise Error(f"`{key}` has several prices", remedy=f"specify the table: {min(tables)}.{key}=...")
    if not tables:
        names = [
            *NUMBERS,
            *(name for prices_by_name in known_prices.tables.values() for name in prices_by_name),
        ]
        error = unknown("price", key, names)
        keys = ", ".join(f"{each}.{key}" for each in TABLES)
        remedy = f"a preset without a price requires the table: {keys}"
        raise Error(error.message, remedy=f"{error.remedy}; {remedy}" if error.remedy else remedy)
    return tables.pop(), key


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Error(f"`--price`: `{text}` is not a number") from None


def _merge_file(base: Prices, file: str) -> Prices:
    """Prices with those of a file in their place.

    Raises:
        Error: The file cannot be read, or a value in it is wrong; the error has its line.
    """
    try:
        with add_location(file, {}):
            return _merge_prices(base, _read(Path(file)))
    except Error as error:
        error.place = error.place or Place(file, 0, 0, "")
        raise


def _merge_prices(base: Prices | None, values: Mapping[str, Any], source: str = "") -> Prices:
    """Prices laid over others, checked; errors begin with `source`.

    Raises:
        Error: A value is no price, a name is unknown, or a price is given twice.
    """
    tables = {table: dict(base.tables[table]) if base else {} for table in TABLES}
    numbers = {"kwh": base.kwh, "years": base.years} if base else {}
    endurance = dict(base.endurance) if base else {}
    for key, value in values.items():
        if key in NUMBERS:
            numbers[key] = _check_price(value, f"{source}{key}", is_positive=key == "years")
        elif key not in (*TABLES, ENDURANCE):
            raise unknown("table", key, [*NUMBERS, *TABLES, ENDURANCE])
        elif not isinstance(value, Mapping):
            raise Error(f"{source}{key}: expected a table, found `{value!s:.60}`")
        elif key == ENDURANCE:
            endurance |= {
                name: _check_price(writes, f"{source}{key}.{name}", is_positive=True)
                for name, writes in value.items()
            }
        else:
            _set_prices(tables, key, value, source)
    if priced_twice := set(values.get("device", ())) & set(values.get("device_gb", ())):
        remedy = "remove it from device or from device_gb"
        name = f"device.{min(priced_twice)}"
        raise Error(f"{source}{name} has a price for a device and one for a GB", remedy=remedy)
    return Prices(tables, numbers["kwh"], numbers["years"], endurance)


def _set_prices(
    tables: Mapping[str, dict[str, float]], table: str, values: Mapping[str, Any], source: str
) -> None:
    for name, value in values.items():
        tables[table][name] = _check_price(value, f"{source}{table}.{name}")
        if table in OTHER_TABLE:
            tables[OTHER_TABLE[table]].pop(name, None)


def _check_price(value: Any, name: str, *, is_positive: bool = False) -> float:
    """A price, or a time above 0, as a number.

    Raises:
        Error: The value is no such number.
    """
    if not is_number(value) or value < 0 or (is_positive and value == 0):
        bound = "above 0" if is_positive else "of 0 or more"
        raise Error(f"{name}: expected a number {bound}, found `{value!s:.60}`")
    return float(value)

"""Compares two records command by command."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")


@dataclass
class Comparer:
    """Prints the differences between two records.

    Attributes:
        digits: Significant digits to which numbers are rounded before they are compared; by default exact.
        lines: Most lines of each difference that are printed; 0 for all.
        renamed: New names of files by their old names.
        counts: Number of commands by result, such as equal or different.
    """

    digits: int | None = None
    lines: int = 40
    renamed: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def compare(self, before: Path, after: Path) -> int:
        """Compares all commands; 1 if any differs."""
        names = [_commands(place) for place in (before, after)]
        for name in dict.fromkeys(names[0] + names[1]):
            if name not in names[0] or name not in names[1]:
                verdict = "only after" if name in names[1] else "only before"
                print(f"=== {name}: {verdict}")
            else:
                verdict = self.command(name, before / name, after / name)
            self.counts[verdict] = self.counts.get(verdict, 0) + 1
        print(", ".join(f"{count} {verdict}" for verdict, count in sorted(self.counts.items())))
        return int(not set(self.counts) <= {"identical", f"same to {self.digits} digits"})

    def command(self, name: str, before: Path, after: Path) -> str:
        """Compares the output and the files of one command; returns the result in a word."""
        olds, news = self._files(before, self.renamed), self._files(after, {})
        moved = [f"file added: {path}" for path in news if path not in olds]
        moved += [f"file removed: {path}" for path in olds if path not in news]
        found = {path: self.file(olds[path], news[path]) for path in olds if path in news}
        close = [f"same to {self.digits} digits: {path}" for path, said in found.items() if said == []]
        changed = {path: said for path, said in found.items() if said}
        if moved or changed or close:
            print(f"=== {name}: sledlab {(after / 'command.txt').read_text(encoding='utf-8').strip()}")
        for line in moved + close:
            print(f"  {line}")
        for path, said in changed.items():
            print(f"  --- {path}")
            self._show(said)
        if changed or moved:
            return "changed" if changed else "with files added or removed only"
        return f"same to {self.digits} digits" if close else "identical"

    @staticmethod
    def _files(place: Path, renamed: dict[str, str]) -> dict[str, Path]:
        """The recorded files of a command, by the names that they have after the change."""
        found = {}
        for path in sorted(path for path in place.rglob("*") if path.is_file()):
            name = str(path.relative_to(place))
            for old, new in renamed.items():
                name = re.sub(rf"(?<=/){re.escape(old)}(?=(?:\.\w+)?$)", new, name)
            found[name] = path
        return found

    def file(self, before: Path, after: Path) -> list[str] | None:
        """Differences between two files: an empty list where only digits beyond `digits` differ."""
        old, new = (path.read_text(encoding="utf-8") for path in (before, after))
        if old == new:
            return None
        if before.suffix == ".table":
            return self._tables(old, new)
        if before.suffix == ".json":
            documents = [json.loads(text) for text in (old, new)]
            old, new = (json.dumps(each, indent=1, sort_keys=True, ensure_ascii=False) for each in documents)
            if old == new:
                return ["only the order of keys or the spelling of numbers differs"]
        return self._texts(old.splitlines(), new.splitlines())

    def _texts(self, old: list[str], new: list[str]) -> list[str]:
        """Lines that differ, as a unified diff."""
        old, new = ([self._rounded(line) for line in lines] for lines in (old, new))
        if old != new and sorted(old) == sorted(new):
            return ["only the order of lines differs"]
        return list(difflib.unified_diff(old, new, "before", "after", n=1, lineterm=""))[2:]

    def _tables(self, old: str, new: str) -> list[str]:
        """Columns that were added, removed or have another type, and cells that differ."""
        (types, rows), (new_types, new_rows) = (_table(text) for text in (old, new))
        said = [f"column added: {name}" for name in new_types if name not in types]
        said += [f"column removed: {name}" for name in types if name not in new_types]
        common = [name for name in types if name in new_types]
        said += [
            f"type of {name}: {types[name]} -> {new_types[name]}"
            for name in common
            if types[name] != new_types[name]
        ]
        if not said and list(types) != list(new_types):
            said.append("the order of columns differs")
        lines = [[_values(row, common) for row in each] for each in (rows, new_rows)]
        if len(rows) != len(new_rows):
            return [*said, f"rows: {len(rows)} -> {len(new_rows)}", *self._texts(*lines)]
        if sorted(lines[0]) == sorted(lines[1]):
            return said + self._texts(*lines)
        cells = (
            (at, name, self._rounded(json.dumps(row[name])), self._rounded(json.dumps(new_row[name])))
            for at, (row, new_row) in enumerate(zip(rows, new_rows, strict=True))
            for name in common
        )
        return said + [f"row {at}, {name}: {a} -> {b}" for at, name, a, b in cells if a != b]

    def _rounded(self, text: str) -> str:
        """The text with its numbers rounded."""
        if self.digits is None:
            return text
        return NUMBER.sub(lambda found: f"{float(found[0]):.{self.digits}g}", text)

    def _show(self, said: list[str]) -> None:
        shown = said[: self.lines] if self.lines else said
        for line in shown:
            print(f"  {line}")
        if len(said) > len(shown):
            print(f"  ... and {len(said) - len(shown)} more lines")


def _commands(place: Path) -> list[str]:
    """The commands of a record, in the order in which they ran."""
    return list(json.loads((place / "record.json").read_text(encoding="utf-8"))["seconds"])


def _table(text: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Types by column, and the rows by column."""
    types, *rows = (json.loads(line) for line in text.splitlines())
    return types, [dict(zip(types, row, strict=True)) for row in rows]


def _values(row: dict[str, Any], columns: list[str]) -> str:
    return json.dumps({name: row[name] for name in columns}, ensure_ascii=False)

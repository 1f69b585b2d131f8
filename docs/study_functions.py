"""Griffe extension: functions made by `Study.function` are documented as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import griffe

if TYPE_CHECKING:
    import ast


class StudyFunctions(griffe.Extension):
    """Replace the attribute that holds such a function by the function."""

    def on_module_members(self, *, node: ast.AST | griffe.ObjectNode, mod: griffe.Module, **_: Any) -> None:
        """Inspect the module if it has such a function."""
        made = [
            name for name, each in mod.attributes.items() if str(each.value).startswith("STUDY.function(")
        ]
        if made and not isinstance(node, griffe.ObjectNode):
            inspected = griffe.inspect(mod.path, filepath=mod.filepath, import_paths=[])
            for name in made:
                mod.set_member(name, inspected.members[name])

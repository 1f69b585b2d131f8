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
        function_names = [
            name for name, each in mod.attributes.items() if str(each.value).startswith("STUDY.function(")
        ]
        if function_names and not isinstance(node, griffe.ObjectNode):
            inspected_module = griffe.inspect(mod.path, filepath=mod.filepath, import_paths=[])
            for name in function_names:
                mod.set_member(name, inspected_module.members[name])

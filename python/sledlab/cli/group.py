"""A group of commands that imports each only when it is used, and suggests the nearest name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class SuggestingGroup(click.Group):
    """A group that answers an unknown command with the nearest known one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named first in `args`; a usage error with a suggestion if there is none."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            near = get_close_matches(args[0], known, n=1)
            help_text = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
            raise click.UsageError(f"unknown command `{args[0]}`\n  help: {help_text}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(SuggestingGroup):
    """A group whose commands live in modules that are imported when needed."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str, str]], **kwargs: Any) -> None:
        """`lazy`: for each command its module, its name there, and its line in the help."""
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order given."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the command."""
        if cmd_name not in self.lazy:
            return None
        module, name, _ = self.lazy[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self.lazy.items()])

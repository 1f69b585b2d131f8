"""Groups of commands: some import commands when used, suggest the nearest name, or run as a command too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sledlab.cli.help import GroupedHelp
from sledlab.errors import Error
from sledlab.lazy import difflib, load_object
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Mapping


class LegibleHelp(click.HelpFormatter):
    """Help in characters that standard output can show; click writes UTF-8 even where output is ASCII."""

    def getvalue(self) -> str:
        """The text of the help."""
        return terminal.printable_text(super().getvalue())


class SuggestingGroup(click.Group):
    """A group that answers an unknown command with the nearest known one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named first in `args`; an error with the nearest name if that is unknown."""
        known = self.list_commands(ctx)
        if not ctx.resilient_parsing and args and args[0] not in known and not args[0].startswith("-"):
            raise Error(f"unknown command `{ctx.command_path} {args[0]}`", remedy=self.remedy(args[0], known))
        return super().resolve_command(ctx, args)

    def remedy(self, word: str, known: list[str]) -> str:
        """Return the remedy for an unknown command: the nearest known one, or all."""
        similar = difflib.get_close_matches(word, known, n=1)
        return f"did you mean `{similar[0]}`?" if similar else f"known: {', '.join(known)}"


class CommandGroup(GroupedHelp, SuggestingGroup):
    """A command with commands beneath it: runs the one that the first word names, or else itself."""

    allow_interspersed_args = True  # options may follow its argument, as with other commands
    allow_extra_args = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make the group; without words it runs itself, which may say that an option is missing."""
        super().__init__(*args, **{"no_args_is_help": False, **kwargs})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the name of a command beneath, or the group's own arguments and options."""
        if args and args[0] in self.commands:
            ctx._protected_args, ctx.args = args[:1], args[1:]  # as `click.Group` does
            return ctx.args
        word = args[0] if args and args[0] else "-"
        similar = difflib.get_close_matches(word, self.commands, n=1)
        if similar and word[0] != "-" and not Path(word).exists() and not ctx.resilient_parsing:
            raise Error(
                f"unknown command `{ctx.command_path} {word}`", remedy=f"did you mean `{similar[0]}`?"
            )
        return click.Command.parse_args(self, ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The pieces of the usage line: the group's own arguments, or a command beneath."""
        return [*click.Command.collect_usage_pieces(self, ctx), f"| {'|'.join(self.commands)} ..."]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command beneath that the words name, or the group itself."""
        if not ctx._protected_args:
            return click.Command.invoke(self, ctx)
        name, command, args = self.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
        assert command is not None
        with command.make_context(name, args, parent=ctx) as subcontext:
            return command.invoke(subcontext)


class LazyCommand(NamedTuple):
    """A command that is imported when used: `module:name` within `sledlab.cli`, and its line in the help."""

    target: str
    meaning: str


class LazyGroup(SuggestingGroup):
    """A group whose commands are imported when needed, listed in sections."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, LazyCommand]], **kwargs: Any) -> None:
        """Create the group.

        Args:
            args: Arguments of `click.Group`.
            sections: Commands by name, by the title of their section in the help.
            kwargs: Attributes of `click.Group`.
        """
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.lazy_commands = {
            name: command for section in sections.values() for name, command in section.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(self.lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; if a function makes it, call that with the command's name."""
        if cmd_name not in self.lazy_commands:
            return None
        target = load_object(f"sledlab.cli.{self.lazy_commands[cmd_name].target}")
        command: click.Command = target if isinstance(target, click.Command) else target(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section without importing them."""
        width = max(len(name) for name in self.lazy_commands)
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{width}}", command.meaning) for name, command in section.items()]
                )

"""`sledlab setup man`: pages of manual, made from the help of every command."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sledlab._native import __version__
from sledlab.files import atomic_write, make_directory
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
def man(directory: str) -> None:
    """Write a page of manual for every command into DIR, such as ~/.local/share/man/man1.

    \b
    Examples:
      sledlab setup man man1
    """
    output = make_directory(Path(directory))
    root = click.get_current_context().find_root()
    pages = list(walk(root.command, root))
    for context in pages:
        with atomic_write(output / f"{page_name(context)}.1") as draft:
            draft.write_text(page(context), encoding="utf-8")
    terminal.say(f"wrote {len(pages)} pages to {output}; read one with: man {output / 'sledlab.1'}")


def walk(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    """A command and all commands beneath it, each in a click context with its full name."""
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            if subcommand is not None:
                yield from walk(subcommand, click.Context(subcommand, info_name=name, parent=context))


def page_name(context: click.Context) -> str:
    """The name of a page: `sledlab-trace-info`."""
    return context.command_path.replace(" ", "-")


def page(context: click.Context) -> str:
    """A page of manual in the language of man."""
    command = context.command
    name = page_name(context)
    usage = " ".join(command.collect_usage_pieces(context))
    help_text = inspect.cleandoc(command.help or "")
    records = [
        record
        for record in (param.get_help_record(context) for param in command.get_params(context))
        if record
    ]
    lines = [
        f'.TH {name.upper()} 1 "" "sledlab {__version__}" "sledlab"',
        ".SH NAME",
        f"{name} \\- {roff(first_sentence(help_text))}",
        ".SH SYNOPSIS",
        f".B {context.command_path}",
        roff(usage),
        ".SH DESCRIPTION",
        *paragraphs(help_text),
    ]
    if records:
        lines.append(".SH OPTIONS")
        for option, meaning in records:
            lines += [".TP", f".B {roff(option)}", roff(meaning)]
    if isinstance(command, click.Group) and (names := command.list_commands(context)):
        lines.append(".SH SEE ALSO")
        lines.append(
            ",\n".join(f".BR {name}-{command_name} (1)" for command_name in names).replace(",\n.BR", "\n.BR")
        )
    return "\n".join(lines) + "\n"


def first_sentence(text: str) -> str:
    """The first sentence of a help text, without its full stop."""
    return re.split(r"\.(?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def paragraphs(text: str) -> Iterator[str]:
    """A help text in the language of man; paragraphs behind a backspace keep their lines."""
    for paragraph in text.split("\n\n"):
        is_verbatim = paragraph.startswith("\b\n")
        yield ".PP"
        yield from (
            [".nf", roff(paragraph.removeprefix("\b\n")), ".fi"]
            if is_verbatim
            else [roff(" ".join(paragraph.split()))]
        )


def roff(text: str) -> str:
    """Text escaped so that man takes no part of it as a command.

    Examples:
        >>> print(roff("--out DIR"), roff(".toml"))
        \\-\\-out DIR \\&.toml
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)

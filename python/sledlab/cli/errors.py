"""Errors on the command line, converted to an `Error` with location and remedy."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from sledlab.cli import streams
from sledlab.errors import Error, unknown
from sledlab.lazy import difflib
from sledlab.model.guess import suggest_option
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence


NO_RECORD = "this is no work record"
"""Beginning of the message about a file that is no work record."""

MIN_SIMILARITY = 0.75
"""Least similarity of an option to one that a message suggests."""

OS_ERROR = r" \(os error \d+\)"
EXPECTED_PATTERN = r"expected (.*), found (.*)$"


def decode_arguments(arguments: Sequence[str]) -> list[str]:
    """The words of the command line, decoded as UTF-8, also where the locale's encoding is another one.

    Raises:
        Error: A word is not UTF-8: the simulator, tables and pages name files in UTF-8.
    """
    return [word if word.isascii() else _decode_argument(word) for word in arguments]


def _decode_argument(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(word).decode()
        except UnicodeDecodeError:
            raise Error(
                f"`{visible(word)}` is not valid UTF-8",
                remedy="rename the file, or create a link to it: ln -s FILE trace.csv",
            ) from None
    return word


def encoding_error(error: UnicodeEncodeError) -> Error:
    """The error about a name that the encoding of this locale cannot express."""
    return Error(
        f"`{visible(error.object)}` cannot be represented in the encoding of this locale, {error.encoding}",
        remedy="set PYTHONUTF8=1, or a locale such as LC_ALL=C.UTF-8",
    )


def output_error(reason: str) -> Error:
    """The error about standard output that cannot be written, with the system's or simulator's reason."""
    reason = reason.removeprefix(streams.WRITE_ERROR_PREFIX).partition(" (os error")[0]
    return Error(
        f"standard output: {streams.WRITE_ERROR_PREFIX}{reason}",
        remedy="redirect it to a file system with free space",
    )


def system_error(error: OSError) -> Error:
    """An error of the operating system as an `Error`."""
    reason = error.strerror or str(error)
    message = f"{error.filename}: {reason}" if error.filename else reason
    return Error(message, remedy="check that the file exists, and its permissions")


def with_remedy(error: Error, command: click.Command, arguments: Sequence[str]) -> Error:
    """The error with a remedy: its own, one from its message, or else a hint to the help of the command.

    Args:
        error: The error.
        command: The root of all commands.
        arguments: The words after `sledlab`.
    """
    message, place, remedy = error.message, error.place, error.remedy
    if place is not None and message.startswith(NO_RECORD):
        place = replace(place, text="")  # a file of another kind may hold text that is private
    message = re.sub(OS_ERROR, "", message)
    if message.count("\n") == 1:
        message = message.replace("\n", ": ")
    if remedy is None:
        remedy = _suggest_remedy(message) or f"see `{_path(command, arguments)} --help`"
    return Error(message, place, remedy)


def _suggest_remedy(message: str) -> str | None:
    """A remedy from a message that states what was expected; `None` for other messages."""
    if message.endswith("No such file or directory"):
        return "check the path"
    if message.endswith("valid UTF-8"):
        return "write it as UTF-8"
    result = re.search(EXPECTED_PATTERN, message)
    if result is None:
        return None
    text = result[1].removeprefix("one of ").split(", ") if result[1].startswith("one of ") else []
    near = difflib.get_close_matches(result[2].strip('`"'), text, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return "use one of these values" if text else f"give {result[1]}"


def _path(command: click.Command, arguments: Sequence[str]) -> str:
    """The command, with its groups, that the words name: `sledlab trace info`."""
    path = ["sledlab"]
    for word in arguments:
        if not isinstance(command, click.Group):
            break
        result = command.get_command(click.Context(command), word)
        if result is None:
            break
        command = result
        path.append(word)
    return " ".join(path)


def is_help_request(mistake: click.ClickException) -> bool:
    """Whether the words were the name of a group alone; older versions of click show the help themselves."""
    return type(mistake).__name__ == "NoArgsIsHelpError"


def usage_error(mistake: click.ClickException, command: click.Command, arguments: Sequence[str]) -> Error:
    """The error about wrong options or arguments.

    Args:
        mistake: The error as click reports it.
        command: The root of all commands.
        arguments: The words after `sledlab`.
    """
    path = _path(command, arguments)
    see = f"`{path} --help` lists its arguments and options"
    match mistake:
        case click.NoSuchOption(option_name=name, possibilities=near):
            near = _options_with_word(name, mistake.ctx) or difflib.get_close_matches(
                name, near or (), n=1, cutoff=MIN_SIMILARITY
            )
            options = " or ".join(f"`{each}`" for each in near)
            return Error(f"unknown option `{name}`", remedy=f"did you mean {options}?" if near else see)
        case click.MissingParameter(param=click.Parameter() as parameter):
            return Error(
                f"`{_name(parameter)}` is missing", remedy=f"write `{_usage_line(path, mistake, parameter)}`"
            )
        case click.BadOptionUsage(option_name=name):
            return Error(f"`{name}` {_value_problem(mistake.message)}", remedy=see)
        case click.BadParameter(param=click.Parameter() as parameter):
            return _bad_value(mistake, parameter)
    extra = re.search(r"unexpected extra arguments? \((.*)\)", mistake.format_message())
    if extra:
        meant = suggest_option(extra[1].split()[0])
        remedy = f"did you mean `{meant}`? Separate several values by commas" if meant else see
        return Error(f"`{path}`: unexpected argument `{extra[1]}`", remedy=remedy)
    return Error(mistake.format_message().rstrip("."), remedy=see)


def _options_with_word(name: str, context: click.Context | None) -> list[str]:
    """Return up to three options of a command that begin with an unknown one or contain it as a word.

    `--configs` matches `--configuration`, `--set` matches `--job-set`; `--out` is `--save` for a single file.
    """
    parameters = context.command.get_params(context) if context else []
    known = [_name(each) for each in parameters if isinstance(each, click.Option)]
    word = name.removesuffix("s")
    if word in known or (name == "--out" and "--save" in known):
        return [word if word in known else "--save"]
    begins = [each for each in known if each.startswith(word)] if len(word) >= len("--abc") else []
    return [*begins, *(each for each in known if name.strip("-") in each.strip("-").split("-")[1:])][:3]


def _name(parameter: click.Parameter) -> str:
    """The longest name of an option, or the name of an argument in capitals."""
    metavar = parameter.metavar or ""
    word = metavar if metavar.isalpha() else (parameter.name or "").upper()
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else word


def _usage_line(path: str, mistake: click.UsageError, missing: click.Parameter) -> str:
    """The usage line of a command, with the missing option or argument in it."""
    context = mistake.ctx or click.Context(click.Command(""))
    pieces = context.command.collect_usage_pieces(context)
    if isinstance(missing, click.Option):
        pieces.append(f"{_name(missing)} {missing.metavar or 'VALUE'}")
    return " ".join([path, *pieces])


def _value_problem(message: str) -> str:
    """Whether an option takes no value or needs one, for the message."""
    return "takes no value" if "does not take a value" in message else "needs a value"


def _bad_value(mistake: click.BadParameter, parameter: click.Parameter) -> Error:
    """The error about a wrong value of an option or argument."""
    name, kind = _name(parameter), parameter.type
    if isinstance(kind, click.Choice):
        value = next(iter(re.findall(r"'(.*?)'", mistake.message)), "")
        error = unknown("value", value, [str(each) for each in kind.choices])
        return Error(f"`{name}`: {error.message}", remedy=error.remedy)
    return Error(f"`{name}`: {mistake.message.rstrip('.')}", remedy="correct the value")

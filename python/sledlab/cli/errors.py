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
        remedy = _suggest_remedy(message) or f"see `{_command_path(command, arguments)} --help`"
    return Error(message, place, remedy)


def _suggest_remedy(message: str) -> str | None:
    """A remedy from a message that states what was expected; `None` for other messages."""
    if message.endswith("No such file or directory"):
        return "check the path"
    if message.endswith("valid UTF-8"):
        return "write it as UTF-8"
    match = re.search(EXPECTED_PATTERN, message)
    if match is None:
        return None
    alternatives = match[1].removeprefix("one of ").split(", ") if match[1].startswith("one of ") else []
    similar = difflib.get_close_matches(match[2].strip('`"'), alternatives, n=1)
    if similar:
        return f"did you mean `{similar[0]}`?"
    return "use one of these values" if alternatives else f"give {match[1]}"


def _command_path(command: click.Command, arguments: Sequence[str]) -> str:
    """The command, with its groups, that the words name: `sledlab trace info`."""
    words = ["sledlab"]
    for word in arguments:
        if not isinstance(command, click.Group):
            break
        subcommand = command.get_command(click.Context(command), word)
        if subcommand is None:
            break
        command = subcommand
        words.append(word)
    return " ".join(words)


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
    command_path = _command_path(command, arguments)
    help_hint = f"`{command_path} --help` lists its arguments and options"
    match mistake:
        case click.NoSuchOption(option_name=name, possibilities=similar):
            similar = _options_with_word(name, mistake.ctx) or difflib.get_close_matches(
                name, similar or (), n=1, cutoff=MIN_SIMILARITY
            )
            options = " or ".join(f"`{option}`" for option in similar)
            return Error(
                f"unknown option `{name}`", remedy=f"did you mean {options}?" if similar else help_hint
            )
        case click.MissingParameter(param=click.Parameter() as parameter):
            return Error(
                f"`{_parameter_name(parameter)}` is missing",
                remedy=f"write `{_usage_line(command_path, mistake, parameter)}`",
            )
        case click.BadOptionUsage(option_name=name):
            return Error(f"`{name}` {_value_problem(mistake.message)}", remedy=help_hint)
        case click.BadParameter(param=click.Parameter() as parameter):
            return _bad_value(mistake, parameter)
    match = re.search(r"unexpected extra arguments? \((.*)\)", mistake.format_message())
    if match:
        suggestion = suggest_option(match[1].split()[0])
        remedy = (
            f"did you mean `{suggestion}`? Separate several values by commas" if suggestion else help_hint
        )
        return Error(f"`{command_path}`: unexpected argument `{match[1]}`", remedy=remedy)
    return Error(mistake.format_message().rstrip("."), remedy=help_hint)


def _options_with_word(name: str, context: click.Context | None) -> list[str]:
    """Return up to three options of a command that begin with an unknown one or contain it as a word.

    `--configs` matches `--configuration`, `--set` matches `--job-set`; `--out` is `--save` for a single file.
    """
    parameters = context.command.get_params(context) if context else []
    option_names = [_parameter_name(option) for option in parameters if isinstance(option, click.Option)]
    word = name.removesuffix("s")
    if word in option_names or (name == "--out" and "--save" in option_names):
        return [word if word in option_names else "--save"]
    with_prefix = (
        [option_name for option_name in option_names if option_name.startswith(word)]
        if len(word) >= len("--abc")
        else []
    )
    return [
        *with_prefix,
        *(
            option_name
            for option_name in option_names
            if name.strip("-") in option_name.strip("-").split("-")[1:]
        ),
    ][:3]


def _parameter_name(parameter: click.Parameter) -> str:
    """The longest name of an option, or the name of an argument in capitals."""
    metavar = parameter.metavar or ""
    word = metavar if metavar.isalpha() else (parameter.name or "").upper()
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else word


def _usage_line(path: str, mistake: click.UsageError, missing: click.Parameter) -> str:
    """The usage line of a command, with the missing option or argument in it."""
    context = mistake.ctx or click.Context(click.Command(""))
    pieces = context.command.collect_usage_pieces(context)
    if isinstance(missing, click.Option):
        pieces.append(f"{_parameter_name(missing)} {missing.metavar or 'VALUE'}")
    return " ".join([path, *pieces])


def _value_problem(message: str) -> str:
    """Whether an option takes no value or needs one, for the message."""
    return "takes no value" if "does not take a value" in message else "needs a value"


def _bad_value(mistake: click.BadParameter, parameter: click.Parameter) -> Error:
    """The error about a wrong value of an option or argument."""
    name, value_type = _parameter_name(parameter), parameter.type
    if isinstance(value_type, click.Choice):
        value = next(iter(re.findall(r"'(.*?)'", mistake.message)), "")
        error = unknown("value", value, [str(each) for each in value_type.choices])
        return Error(f"`{name}`: {error.message}", remedy=error.remedy)
    return Error(f"`{name}`: {mistake.message.rstrip('.')}", remedy="correct the value")

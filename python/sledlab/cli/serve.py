"""`sledlab serve`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import experiment_or_file
from sledlab.cli.doctor import CLIENTS
from sledlab.cli.help import GroupedHelp
from sledlab.cli.options import (
    REPLACE,
    json_option,
    options,
    quiet_option,
    show_json,
    show_table,
    static_option,
    unwrap_single,
)
from sledlab.cli.power_failure import handle_power_failures
from sledlab.cli.study_file import refuse_study
from sledlab.display import find_presentation
from sledlab.emulation.attachment import PACKAGES
from sledlab.emulation.exercise import SECONDS, Exercise
from sledlab.emulation.options import ServeOptions
from sledlab.emulation.server import serve as start
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.results import REPORT, list_in_manifest, prepare_directory, refuse_links
from sledlab.runs.options import Option, declared_options
from sledlab.runs.parsing import names
from sledlab.show import document, terminal
from sledlab.show import emulation as summary
from sledlab.show.status_lines import StatusLines
from sledlab.stop_signals import TERMINATION_SIGNALS, Interrupt

if TYPE_CHECKING:
    from sledlab.emulation.server import Server
    from sledlab.runs.emulation import Emulation
    from sledlab.runs.result import Result

OUTPUT = {"out": Option("Directory for summary, tables, recording and report.", "DIR"), **REPLACE}

EXERCISE = {
    "exercise": Option("Send requests: randread | randwrite | randrw.", "HOW"),
}

DEVICES = Option(
    "Preset (sledlab list device) or device file; several run COMMAND on each.", "NAME|FILE,..", read=names
)

KIND = "serve"
"""Kind of the results that several devices leave in a directory."""

POLL_INTERVAL_S = 0.25
"""Seconds between two polls of a server's status."""

END_S = 1.0
"""Seconds after a signal until the command is killed; the server then writes its results within a second."""


class WrapperCommand(GroupedHelp):
    """A command whose words after `--` are another command, left as they are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes the other command away before anything is parsed."""
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The pieces of the usage line, with the other command behind `--`."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ...]"]


@click.command(cls=WrapperCommand)
@click.argument("experiment", required=False, shell_complete=experiment_or_file)
@options({"device": DEVICES, **EXERCISE, **declared_options(ServeOptions), **OUTPUT})
@static_option
@quiet_option
@json_option
@click.pass_context
def serve(
    context: click.Context,
    /,
    experiment: str | None,
    device: list[str] | None,
    exercise: str | None,
    out: str | None,
    replace: bool | None,
    *,
    as_json: bool,
    **option_values: Any,
) -> int:
    """Serve a simulated device as a network block device (NBD).

    Replies leave when the model completes the request; data is stored. --attach makes the device a file, a
    block device or a file system. COMMAND has SLEDLAB_URI, SLEDLAB_SOCKET, SLEDLAB_DISK and
    SLEDLAB_TIME_SCALE in its environment; without it the server runs until Ctrl-C. Reports its accuracy.

    \b
    Examples:
      sledlab serve --device mems-g2 -- sh -c 'qemu-img info "$SLEDLAB_URI"'
      sledlab serve --device mems-g2 --exercise randread --duration 1 --out run
      sledlab serve --device mems-g2 --power-fail-after 30 -- ./database.sh
    """
    refuse_study(experiment)
    command: list[str] = context.meta.get("command", [])
    duration_s = option_values.pop("serve_s")
    given = {name: value for name, value in option_values.items() if value is not None}
    client = Exercise(exercise) if exercise is not None else None
    if client is not None and (command or (device is not None and len(device) > 1)):
        raise Error(
            "--exercise replaces COMMAND and serves one device", remedy="omit COMMAND, name one device"
        )
    if device is not None and len(device) > 1:
        return _serve_devices(
            device, command, experiment, out, given, duration_s, replace=bool(replace), as_json=as_json
        )
    with (
        handle_power_failures() as plug,
        start(
            unwrap_single(device), experiment=experiment, out=out, replace=bool(replace), **given
        ) as server,
        Interrupt() as interrupt,
    ):
        plug.server = server
        if client is None:
            code = _run(server, command, duration_s, interrupt, quiet=as_json)
        else:
            code = _exercise(server, client, duration_s or SECONDS, interrupt)
        plug.server = None
        # Ctrl-C is the usual end of a server without a command, so its exit code is 0.
        has_report = not (code and interrupt.pending_signal)
        try:
            server.stop(report=has_report)
        finally:
            if server.emulation is not None:
                _tell(server, out, client, as_json=as_json, has_report=has_report)
                if "power_fail_after_s" in given and not server.emulation.power_failures:
                    terminal.tell(
                        "The power did not fail: the server stopped first. Use a smaller --power-fail-after."
                    )
    return code


def _serve_devices(
    devices: list[str],
    command: list[str],
    experiment: str | None,
    out: str | None,
    given: dict[str, Any],
    duration_s: float | None,
    *,
    replace: bool,
    as_json: bool,
) -> int:
    """Runs the command on one device after the other, and shows their results side by side.

    Raises:
        Error: There is no command, or a device would find data that the device before it wrote.
    """
    if not command:
        raise Error("several devices require a command to run on each of them", remedy="append it after --")
    if "data" in given and "scratch" not in given:
        raise Error(
            "each device would start with the data that the previous device wrote",
            remedy="use --scratch, or omit --data",
        )
    if "power_failures" in given or "power_fail_after_s" in given:
        raise Error(
            "power failures cannot be combined with several devices",
            remedy="serve one with --device",
        )
    place = prepare_directory(out, KIND, replace=replace)
    runs: dict[str, Result] = {}
    for device in devices:
        name = Path(device).stem if device.endswith(".toml") else device
        within = _device_directory(place, name)
        with (
            start(device, experiment=experiment, out=within, replace=replace, **given) as server,
            Interrupt() as interrupt,
        ):
            code = _run(server, command, duration_s, interrupt, quiet=True)
            server.stop(report=not interrupt.pending_signal)
        if interrupt.pending_signal:
            return code
        if code or server.result is None:
            terminal.tell(f"{name}: the command exited with code {code}, or sent no requests")
            return code or 1
        runs[name] = server.result
    if place is not None:
        list_in_manifest(place, KIND, (REPORT,))
        with atomic_write(place / REPORT) as draft:
            draft.write_text(document.page(summary.comparison_page(runs)), encoding="utf-8")
    if as_json:
        show_json({name: _to_dict(run, run.emulation) for name, run in runs.items()})
    else:
        terminal.show(lambda console: document.write(summary.comparison(runs), console))
        if place is not None:
            terminal.note(f"report: {place / REPORT}")
    return 0


def _device_directory(place: Path | None, name: str) -> Path | None:
    """Return the directory for the results of one device of several."""
    if place is None:
        return None
    refuse_links(place, [name])
    return place / name


def _run(
    server: Server, command: list[str], duration_s: float | None, interrupt: Interrupt, *, quiet: bool
) -> int:
    """Wait for the command, `duration_s` or a signal, show the status meanwhile, and return the exit code."""
    deadline = time.monotonic() + (duration_s or float("inf"))
    with ExitStack() as stack:
        process = stack.enter_context(_start_process(command, server)) if command else None
        status_lines = (
            stack.enter_context(StatusLines(server.name, server.status))
            if not quiet and not command
            else None
        )
        if not command and not quiet:
            _introduce(server)
        while (process is None or process.poll() is None) and time.monotonic() < deadline:
            if interrupt.pending_signal or (process is None and server.status()["error"]):
                break
            if status_lines is not None:
                status_lines.update()
            _pause(process, min(POLL_INTERVAL_S, max(deadline - time.monotonic(), 0)))
        number = interrupt.pending_signal
        if process is None:
            return _exit_code(-number) if number in TERMINATION_SIGNALS else 0
        if number:
            _end_process(process, number)
            return _exit_code(-number)
        if process.poll() is None:  # --duration is over
            process.terminate()
            while process.poll() is None and not interrupt.pending_signal:
                _pause(process, POLL_INTERVAL_S)
            if not interrupt.pending_signal:
                return 0
            _end_process(process, interrupt.pending_signal)
            return _exit_code(-interrupt.pending_signal)
        return _exit_code(process.returncode)


def _end_process(process: subprocess.Popen[bytes], number: int) -> None:
    """End the command by a signal, or kill it if it ignores the signal."""
    remaining_s = END_S
    if number == signal.SIGINT:
        remaining_s = END_S / 2
        _pause(process, END_S - remaining_s)  # a terminal sends Ctrl-C to the command, too
    if process.poll() is None:
        process.send_signal(number)
        _pause(process, remaining_s)
    if process.poll() is None:
        process.kill()
        process.wait()


def _exercise(server: Server, client: Exercise, seconds: float, interrupt: Interrupt) -> int:
    """Send the requests of an exercise until its end or a signal; returns the exit code."""

    def is_running() -> bool:
        return not server.status()["error"] and not interrupt.pending_signal

    client.run(server.socket, seconds, is_running)
    number = interrupt.pending_signal
    return _exit_code(-number) if number in TERMINATION_SIGNALS else 0


def _pause(process: subprocess.Popen[bytes] | None, seconds: float) -> None:
    """Waits a while, or until the command ends."""
    if process is None:
        time.sleep(seconds)
        return
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _exit_code(code: int) -> int:
    """The exit code of a command as a shell gives it."""
    return code if code >= 0 else 128 - code


def _start_process(command: list[str], server: Server) -> subprocess.Popen[bytes]:
    """Starts a command, with the server's addresses in its environment.

    Raises:
        Error: The command cannot be started.
    """
    try:
        return subprocess.Popen(command, env={**os.environ, **server.environment})
    except OSError as error:
        package = {**PACKAGES, **CLIENTS}.get(command[0])
        remedy = f"install it: apt-get install {package}" if package else "check its name and path"
        raise Error(f"`{command[0]}` cannot be started: {error.strerror}", remedy=remedy) from error


def _introduce(server: Server) -> None:
    """Prints the address of the device, and commands that use it."""
    terminal.say(server.uri)
    sys.stdout.flush()  # a program behind a pipe may wait for the address
    if server.disk:
        terminal.say(server.disk)
    for line in _example_commands(server):
        terminal.note(line)
    terminal.note("Ctrl-C stops the server.")


def _example_commands(server: Server) -> list[str]:
    """Commands that use a device, to be run in another terminal."""
    reads = "fio --name=reads --rw=randread --bs=4k --size=64M --runtime=10"
    if server.disk and Path(server.disk).is_dir():
        return [f"cp -r /usr/share/doc '{server.disk}' && sync -f '{server.disk}'"]
    if server.disk:
        return [f"{reads} --direct=1 --filename='{server.disk}'"]
    return [
        f"{reads} --ioengine=nbd --uri='{server.uri}'",
        f"qemu-img convert -n -f raw -O raw disk.img '{server.uri}'",
        f"mkdir disk && nbdfuse disk '{server.uri}'",
    ]


def _tell(
    server: Server, out: str | None, client: Exercise | None, *, as_json: bool, has_report: bool
) -> None:
    """Prints the result of a server that has stopped."""
    emulation, result = server.emulation, server.result
    assert emulation is not None
    exercised = {} if client is None else client.to_dict(result, emulation.scale)
    if as_json:
        show_json({**_to_dict(result, emulation), **({"exercise": exercised} if exercised else {})})
        return
    if result is not None:
        find_presentation(result).show(result)
        if "client_ms" in exercised:
            show_table(*summary.exercise(exercised))
    else:
        requested = emulation.replies or emulation.untimed
        terminal.say(summary.verdict(emulation) if requested else "Nothing was read or written.")
        if emulation.power_failures:
            terminal.say(summary.power(emulation))
    if out and result is not None:
        page = str(Path(out) / REPORT)
        to_draw = f"not drawn after a signal; in Python, sledlab.open({out!r}).report({page!r}) draws it"
        terminal.note(f"report: {page if has_report else to_draw}")


def _to_dict(result: Result | None, emulation: Emulation | None) -> dict[str, Any]:
    """The result of a run and its emulation, as plain data."""
    emulated = {} if emulation is None else {"emulation": emulation.to_dict()}
    return {**({} if result is None else result.to_dict()), **emulated}

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
        """Take the other command away before anything is parsed."""
        if "--" in args:
            separator = args.index("--")
            ctx.meta["command"] = args[separator + 1 :]
            args = args[:separator]
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
    server_options = {name: value for name, value in option_values.items() if value is not None}
    client = Exercise(exercise) if exercise is not None else None
    if client is not None and (command or (device is not None and len(device) > 1)):
        raise Error(
            "--exercise replaces COMMAND and serves one device", remedy="omit COMMAND, name one device"
        )
    if device is not None and len(device) > 1:
        return _serve_devices(
            device,
            command,
            experiment,
            out,
            server_options,
            duration_s,
            replace=bool(replace),
            as_json=as_json,
        )
    with (
        handle_power_failures() as plug,
        start(
            unwrap_single(device), experiment=experiment, out=out, replace=bool(replace), **server_options
        ) as server,
        Interrupt() as interrupt,
    ):
        plug.server = server
        if client is None:
            code = _run(server, command, duration_s, interrupt, quiet=as_json)
        else:
            code = _run_exercise(server, client, duration_s or SECONDS, interrupt)
        plug.server = None
        # Ctrl-C is the usual end of a server without a command, so its exit code is 0.
        has_report = not (code and interrupt.pending_signal)
        try:
            server.stop(report=has_report)
        finally:
            if server.emulation is not None:
                _print_result(server, out, client, as_json=as_json, has_report=has_report)
                if "power_fail_after_s" in server_options and not server.emulation.power_failures:
                    terminal.tell(
                        "The power did not fail: the server stopped first. Use a smaller --power-fail-after."
                    )
    return code


def _serve_devices(
    devices: list[str],
    command: list[str],
    experiment: str | None,
    out: str | None,
    server_options: dict[str, Any],
    duration_s: float | None,
    *,
    replace: bool,
    as_json: bool,
) -> int:
    """Run the command on one device after the other, and show their results side by side.

    Raises:
        Error: There is no command, or a device would find data that the device before it wrote.
    """
    if not command:
        raise Error("several devices require a command to run on each of them", remedy="append it after --")
    if "data" in server_options and "scratch" not in server_options:
        raise Error(
            "each device would start with the data that the previous device wrote",
            remedy="use --scratch, or omit --data",
        )
    if "power_failures" in server_options or "power_fail_after_s" in server_options:
        raise Error(
            "power failures cannot be combined with several devices",
            remedy="serve one with --device",
        )
    directory = prepare_directory(out, KIND, replace=replace)
    results_by_device: dict[str, Result] = {}
    for device in devices:
        name = Path(device).stem if device.endswith(".toml") else device
        device_directory = _device_directory(directory, name)
        with (
            start(
                device, experiment=experiment, out=device_directory, replace=replace, **server_options
            ) as server,
            Interrupt() as interrupt,
        ):
            code = _run(server, command, duration_s, interrupt, quiet=True)
            server.stop(report=not interrupt.pending_signal)
        if interrupt.pending_signal:
            return code
        if code or server.result is None:
            terminal.tell(f"{name}: the command exited with code {code}, or sent no requests")
            return code or 1
        results_by_device[name] = server.result
    if directory is not None:
        list_in_manifest(directory, KIND, (REPORT,))
        with atomic_write(directory / REPORT) as draft:
            draft.write_text(document.page(summary.comparison_page(results_by_device)), encoding="utf-8")
    if as_json:
        show_json({name: _to_dict(run, run.emulation) for name, run in results_by_device.items()})
    else:
        terminal.show(lambda console: document.write(summary.comparison(results_by_device), console))
        if directory is not None:
            terminal.note(f"report: {directory / REPORT}")
    return 0


def _device_directory(directory: Path | None, name: str) -> Path | None:
    """Return the directory for the results of one device of several."""
    if directory is None:
        return None
    refuse_links(directory, [name])
    return directory / name


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
            _print_address(server)
        while (process is None or process.poll() is None) and time.monotonic() < deadline:
            if interrupt.pending_signal or (process is None and server.status()["error"]):
                break
            if status_lines is not None:
                status_lines.update()
            _pause(process, min(POLL_INTERVAL_S, max(deadline - time.monotonic(), 0)))
        signal_number = interrupt.pending_signal
        if process is None:
            return _exit_code(-signal_number) if signal_number in TERMINATION_SIGNALS else 0
        if signal_number:
            _end_process(process, signal_number)
            return _exit_code(-signal_number)
        if process.poll() is None:  # --duration is over
            process.terminate()
            while process.poll() is None and not interrupt.pending_signal:
                _pause(process, POLL_INTERVAL_S)
            if not interrupt.pending_signal:
                return 0
            _end_process(process, interrupt.pending_signal)
            return _exit_code(-interrupt.pending_signal)
        return _exit_code(process.returncode)


def _end_process(process: subprocess.Popen[bytes], signal_number: int) -> None:
    """End the command by a signal, or kill it if it ignores the signal."""
    remaining_s = END_S
    if signal_number == signal.SIGINT:
        remaining_s = END_S / 2
        _pause(process, END_S - remaining_s)  # a terminal sends Ctrl-C to the command, too
    if process.poll() is None:
        process.send_signal(signal_number)
        _pause(process, remaining_s)
    if process.poll() is None:
        process.kill()
        process.wait()


def _run_exercise(server: Server, client: Exercise, duration_s: float, interrupt: Interrupt) -> int:
    """Send the requests of an exercise until its end or a signal; return the exit code."""

    def is_running() -> bool:
        return not server.status()["error"] and not interrupt.pending_signal

    client.run(server.socket, duration_s, is_running)
    signal_number = interrupt.pending_signal
    return _exit_code(-signal_number) if signal_number in TERMINATION_SIGNALS else 0


def _pause(process: subprocess.Popen[bytes] | None, seconds: float) -> None:
    """Wait a while, or until the command ends."""
    if process is None:
        time.sleep(seconds)
        return
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _exit_code(code: int) -> int:
    """The exit code of a command as a shell gives it."""
    return code if code >= 0 else 128 - code


def _start_process(command: list[str], server: Server) -> subprocess.Popen[bytes]:
    """Start a command, with the server's addresses in its environment.

    Raises:
        Error: The command cannot be started.
    """
    try:
        return subprocess.Popen(command, env={**os.environ, **server.environment})
    except OSError as error:
        package = {**PACKAGES, **CLIENTS}.get(command[0])
        remedy = f"install it: apt-get install {package}" if package else "check its name and path"
        raise Error(f"`{command[0]}` cannot be started: {error.strerror}", remedy=remedy) from error


def _print_address(server: Server) -> None:
    """Print the address of the device, and commands that use it."""
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


def _print_result(
    server: Server, out: str | None, client: Exercise | None, *, as_json: bool, has_report: bool
) -> None:
    """Print the result of a server that has stopped."""
    emulation, result = server.emulation, server.result
    assert emulation is not None
    exercise = {} if client is None else client.to_dict(result, emulation.scale)
    if as_json:
        show_json({**_to_dict(result, emulation), **({"exercise": exercise} if exercise else {})})
        return
    if result is not None:
        find_presentation(result).show(result)
        if "client_ms" in exercise:
            show_table(*summary.exercise(exercise))
    else:
        has_requests = emulation.replies or emulation.untimed
        terminal.say_sentences(summary.verdict(emulation) if has_requests else "Nothing was read or written.")
        if emulation.power_failures:
            terminal.say_sentences(summary.power(emulation))
    if out and result is not None:
        page = str(Path(out) / REPORT)
        drawing_hint = f"not drawn after a signal; in Python, sledlab.open({out!r}).report({page!r}) draws it"
        terminal.note(f"report: {page if has_report else drawing_hint}")


def _to_dict(result: Result | None, emulation: Emulation | None) -> dict[str, Any]:
    """The result of a run and its emulation, as plain data."""
    emulation_part = {} if emulation is None else {"emulation": emulation.to_dict()}
    return {**({} if result is None else result.to_dict()), **emulation_part}

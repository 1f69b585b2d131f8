"""Real programs on devices that do not exist: a block device that replies when the model completes a request.

`serve` starts a server of the protocol NBD, which fio, QEMU, and the tools of libnbd speak; `attached` makes
a file, a block device or a file system of the server's device. The requests of programs are recorded and, at
the end, replayed: the result is that of `simulate`, and `Emulation` reports the lateness of replies.
"""

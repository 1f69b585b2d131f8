"""Real programs on devices that do not exist: a block device that answers when the model says.

`serve` starts a server of the protocol NBD, which fio, QEMU, and the tools of libnbd speak; `attached` makes
a file, a block device or a file system of it. What programs asked is recorded and, at the end, replayed: the
result is that of `simulate`, and `Emulation` says how true the run was.
"""

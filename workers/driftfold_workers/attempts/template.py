"""The template of processes, ``python -m driftfold_workers.attempts.template``.

Its arguments: a descriptor of a socket, its parent's number, and `torch` to import that, too.

It imports once what each of them would import, a second of work, and from then on does nothing but
fork: each message on its socket brings the descriptors of a new process. It computes nothing and
has one thread, else a fork would take over locks and thread pools that are of no use in it.
"""

import array
import errno
import gc
import os
import signal
import socket
import struct
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

import numpy as np

from driftfold.checkpoint.fingerprint import take_fingerprint
from driftfold.spec import load_builtins, load_spec
from driftfold.torch_lazily import load_torch
from driftfold_workers.attempts.child import live
from driftfold_workers.attempts.guardian import die_with

ANSWER = struct.Struct(">q")
"""What comes of a request: a process number, or less than 0 for an error's number."""
READY = b"ready"
TORCH = "torch"
"""A further argument: import torch as well."""
ENDS = 3
"""Descriptors that come with a request: for the answer, for orders, and for what is told."""


def main() -> None:
    """Serve the socket until its other end is gone."""
    server, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else nobody can be waited for
    load_builtins()
    load_spec("pca-synthetic")  # the first specification imports what reads them
    take_fingerprint()  # kept; torch brings libraries that no run has when it begins
    if TORCH in sys.argv[3:]:
        load_torch()
    gc.collect()
    gc.freeze()  # else the first collection of each process copied every page of these objects
    server.send(READY)
    while ends := receive(server):
        answer, orders, pipe = ends
        fork(server, answer, orders, pipe, parent)
        for end in ends:
            os.close(end)


def receive(server: socket.socket) -> list[int]:
    """Wait for a request; return its descriptors, none when there is nobody left to ask."""
    ends = array.array("i")
    room = socket.CMSG_SPACE(ENDS * ends.itemsize)
    # Not `socket.recv_fds`: it would leave them open in programs that a plug-in starts.
    _, ancillary, _, _ = server.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    for _, _, data in ancillary:
        ends.frombytes(data)
    return list(ends)


def fork(server: socket.socket, answer: int, orders: int, pipe: int, parent: int) -> None:
    """Fork a process that `parent` adopts, and answer with its number.

    Twice: the process in between ends at once, and what it leaves behind becomes a child of the
    next process above that adopts orphans. So the supervisor is the one who waits for it, and who
    dies with it, and no process ends with this one.
    """
    template = os.getpid()
    try:
        if between := os.fork():
            os.waitpid(between, 0)
        elif number := os.fork():
            tell(answer, number)
        else:
            server.close()
            os.close(answer)
            become_child(orders, pipe, parent)
    except OSError as error:
        tell(answer, -(error.errno or errno.EAGAIN))
    if os.getpid() != template:
        os._exit(0)


def tell(answer: int, number: int) -> None:
    """Answer a request, unless nobody waits any more."""
    with suppress(BrokenPipeError):
        os.write(answer, ANSWER.pack(number))


def become_child(orders: int, pipe: int, parent: int) -> NoReturn:
    """Go on as the process of an attempt."""
    try:
        os.setsid()
        os.dup2(orders, 0)
        os.close(orders)
        np.random.seed()  # noqa: NPY002 - plug-ins may draw from it; Python's own is seeded anew
        live(pipe, parent)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


if __name__ == "__main__":
    main()

"""What the operating system asks for a write to each of many sockets."""

import socket
import time


def bare_writes(size: int, sockets: int, turns: int) -> float:
    """Return CPU microseconds of one write to one of many sockets that are read in between."""
    with socket.create_server(("127.0.0.1", 0), backlog=sockets) as listening:
        near = [socket.create_connection(listening.getsockname()) for _ in range(sockets)]
        far = [listening.accept()[0] for _ in near]
    frame, spent = b"x" * size, 0.0
    for _ in range(turns):
        cpu = time.thread_time()
        for one in near:
            one.send(frame)
        spent += time.thread_time() - cpu
        for other in far:
            other.recv(size, socket.MSG_WAITALL)
    for one in near + far:
        one.close()
    return spent / (turns * sockets) * 1e6

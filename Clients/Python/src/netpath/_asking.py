# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Questions with one answer."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from typing import List

from . import _places, _processes
from ._values import Host, Path, Reachability, Unusable
from ._values import host as read_host
from ._values import path as read_path
from ._waiting import within


def current(timeout: float = 5.0) -> Path:
    """The present path, from the service, or, where none answers within a second, from the program.

    It blocks, at most as long as ``timeout``, in seconds; in a program with a loop take the first of ``watch()``.
    """
    end = time.monotonic() + timeout
    try:
        return read_path(_ask_service(min(end, time.monotonic() + _places.HELLO)))
    except Unusable as error:
        program = _places.program()
        if program is None:
            return error.path
        try:
            return read_path(_ask_program([program, "status", "--json"], end))
        except Unusable as second:
            return second.path


async def reach(host: str, timeout: float = 20.0) -> Host:
    """Whether packets to a host (a name, an address or a URL) would be sent; none are. A name is looked up.

    It starts ``netpath reach``; ``timeout`` is in seconds.
    """
    program = _places.program()
    if program is None:
        return Host(Reachability.UNKNOWN, Unusable("noService", "the program netpath is not installed").reason)
    try:
        process = await _processes.start(program, "reach", "--json", "--", host)
    except (OSError, ValueError) as error:
        return Host(Reachability.UNKNOWN, Unusable("noAnswer", f"netpath cannot be started: {error}").reason)
    try:
        assert process.stdout
        line = await within(timeout, process.stdout.read())
        return read_host(line)
    except asyncio.TimeoutError:
        return Host(Reachability.UNKNOWN, Unusable("noAnswer", "netpath does not answer").reason)
    except Unusable as error:
        return Host(Reachability.UNKNOWN, error.reason)
    finally:
        await _processes.end(process)


def _ask_service(end: float) -> bytes:
    with _places.connect() as client:
        parts: List[bytes] = []
        size = 0
        try:
            client.settimeout(max(end - time.monotonic(), 0.001))
            client.sendall(_places.STATUS)
            while not parts or b"\n" not in parts[-1]:
                left = end - time.monotonic()
                if left <= 0 or size > _places.LIMIT:
                    raise Unusable("noAnswer", "netpath's service does not answer")
                client.settimeout(left)
                part = client.recv(1 << 16)
                if not part:
                    raise Unusable("noService", "netpath's service ended without an answer")
                parts.append(part)
                size += len(part)
        except socket.timeout:
            raise Unusable("noAnswer", "netpath's service does not answer") from None
        except OSError as error:
            raise Unusable("noService", f"netpath's service does not answer: {error.strerror}") from None
        return b"".join(parts).split(b"\n", 1)[0]


def _ask_program(command: List[str], end: float) -> bytes:
    try:
        left = max(end - time.monotonic(), 0.001)
        # The exit status is the answer's.
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=left,
            start_new_session=True, check=False,
        )
        return done.stdout
    except subprocess.TimeoutExpired:
        raise Unusable("noAnswer", "netpath does not answer") from None
    except OSError as error:
        raise Unusable("noAnswer", f"netpath cannot be started: {error.strerror}") from None

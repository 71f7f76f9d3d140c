# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Where the service and the program are, and who is trusted."""

from __future__ import annotations

import os
import socket
import struct
from typing import List, Optional

from ._values import Unusable

WATCH = b'{"request":"watch","schema":1}\n'
STATUS = b'{"request":"status","schema":1}\n'
# How long the service, and a program that has to start, may take to say anything.
HELLO = 1.0
PROGRAM_HELLO = 5.0
# A line that is longer is none of netpath's.
LIMIT = 16 << 20

_LISTENS = 0x10000


def sockets() -> List[str]:
    """Where a service may answer."""
    places = ["/run/netpath/netpath.sock"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        places.append(runtime + "/netpath/netpath.sock")
    return places


def program() -> Optional[str]:
    """The program; none where it is not installed."""
    named = os.environ.get("NETPATH_PROGRAM")
    usual = ["/usr/bin/netpath", "/usr/local/bin/netpath"] if named is None else [named]
    return next((path for path in usual if path.startswith("/") and os.access(path, os.X_OK)), None)


def connect() -> socket.socket:
    """A connection to the service, which does not block; raises ``Unusable`` where none is there, or one not to be used."""
    reason = Unusable("noService", "netpath does not run")
    for index, place in enumerate(sockets()):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            client.connect(place)
            check(client, place, is_users=index > 0)
            return client
        except OSError:
            client.close()
        except Unusable as error:
            client.close()
            reason = error
    raise reason


def check(client: socket.socket, place: str, is_users: bool) -> None:
    """Raises ``Unusable`` unless the service is of root or of the owner of its folder, and of this network."""
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user = struct.unpack("3i", credentials)[1] & 0xFFFFFFFF
    trusted = {0, os.geteuid()} | (set() if is_users else {os.stat(os.path.dirname(place)).st_uid})
    if user not in trusted:
        raise Unusable("notTrusted", "another user listens on the socket of netpath's service")
    try:
        with open("/proc/thread-self/net/unix", "rb") as lines:
            # The last column is the path, which may have spaces in it.
            listed = [line.rstrip(b"\n").split(None, 7) for line in lines]
    except OSError:
        return
    for words in listed[1:]:
        if words[7:] == [os.fsencode(place)] and int(words[3], 16) & _LISTENS:
            return
    raise Unusable("otherNetwork", "netpath's service is in another network namespace")

#!/usr/bin/env python3
"""What NetworkManager says of the network, as a plugin of netpath.

Needs Python 3.8, `busctl` (systemd) and `gdbus` (Debian: libglib2.0-bin); no package of Python's. It reads the properties of
NetworkManager on the system bus, and reads them again for each signal of it: nothing is asked at intervals.

    backends:
      - type: netlink      # decides; what is stated below it is compared with it, and above it would decide
      - type: exec
        name: networkmanager
        command: [/usr/bin/python3, /usr/local/lib/netpath/networkmanager.py]
"""

import json
import os
import selectors
import subprocess
import sys
import time

BUS = "org.freedesktop.NetworkManager"
ROOT = "/org/freedesktop/NetworkManager"
# NMConnectivityState, NMState and NMMetered of the D-Bus interface.
INTERNET = {1: "unreachable", 2: "portal", 3: "unreachable", 4: "reachable"}
CONNECTING, CONNECTED = 40, 50
METERED = {1: True, 2: False, 3: True, 4: False}


def say(**message):
    print(json.dumps(message), flush=True)


def read(path, interface, *names):
    """The values of properties, in their order; raises CalledProcessError while NetworkManager is not there."""
    command = ["busctl", "--system", "--json=short", "--timeout=1", "get-property", BUS, path, interface, *names]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=2).stdout.splitlines()
    return [json.loads(line)["data"] for line in lines]


def look():
    state, connectivity, metered, primary = read(
        ROOT, BUS, "State", "Connectivity", "Metered", "PrimaryConnection"
    )
    conclusion = {"internet": INTERNET.get(connectivity), "isExpensive": METERED.get(metered)}
    if state >= CONNECTED:
        conclusion.update(status="satisfied", reason=f"NetworkManager is connected (state {state})")
    elif state == CONNECTING:
        conclusion.update(status="requiresConnection", reason="NetworkManager is connecting")
    else:
        conclusion.update(status="unsatisfied", reason=f"NetworkManager is not connected (state {state})")
    if primary != "/":
        [devices] = read(primary, f"{BUS}.Connection.Active", "Devices")
        if devices:
            # The interface that packets leave through, where it differs from the one that is configured.
            names = read(devices[0], f"{BUS}.Device", "IpInterface", "Interface")
            conclusion["interface"] = names[0] or names[1]
    say(conclusion=conclusion)


def report():
    try:
        look()
    except (subprocess.SubprocessError, ValueError, KeyError, IndexError):
        say(unavailable="NetworkManager does not answer on the system bus")


def listen(waiting):
    # Also tells when NetworkManager comes and goes; unlike `busctl monitor` it needs no privilege.
    signals = subprocess.Popen(["gdbus", "monitor", "--system", "--dest", BUS], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    waiting.register(signals.stdout, selectors.EVENT_READ, signals)


def main():
    say(netpath=1, name="NetworkManager", requests=["refresh"])
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin, selectors.EVENT_READ)
    listen(waiting)
    report()
    pending = b""
    # When to look for a system bus again; None while one is listened to.
    again = None
    while True:
        ready = waiting.select(None if again is None else max(0, again - time.monotonic()))
        wanted = again is not None and time.monotonic() >= again
        if wanted:
            listen(waiting)
            again = None
        for key, _ in ready:
            # Past Python's own buffers, in which a line would wait for the next one.
            octets = os.read(key.fd, 65536)
            if key.data:
                wanted = True
                if not octets:
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
                    key.data.wait()
                    again = time.monotonic() + 10
                continue
            if not octets:
                return
            *lines, pending = (pending + octets).split(b"\n")
            for line in lines:
                request = json.loads(line).get("request")
                if request == "shutdown":
                    return
                wanted = wanted or request == "refresh"
        if wanted:
            report()


if __name__ == "__main__":
    main()

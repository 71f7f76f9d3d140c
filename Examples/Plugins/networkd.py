#!/usr/bin/env python3
"""What systemd-networkd says of the network, as a plugin of netpath.

Needs Python 3.8 and a running systemd-networkd; no package of Python's. It reads /run/systemd/netif/state, which networkd
replaces when something changes, at the interval that its first argument names, or 2 s; a refresh is answered at once.

    backends:
      - type: netlink      # decides; what is stated below it is compared with it, and above it would decide
      - type: exec
        name: networkd
        command: [/usr/bin/python3, /usr/local/lib/netpath/networkd.py]
"""

import json
import os
import select
import sys

STATE = "/run/systemd/netif/state"
# OnlineState= and OperationalState= of networkctl(1).
CARRIED = {"routable", "degraded-routable"}
PENDING = {"carrier", "degraded", "enslaved"}


def say(**message):
    print(json.dumps(message), flush=True)


def look():
    with open(STATE, encoding="utf-8") as file:
        values = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line and not line.startswith("#"))
    state = values.get("OPER_STATE", "unknown")
    families = {name: values.get(f"{name}_ADDRESS_STATE", state) == "routable" for name in ("IPV4", "IPV6")}
    status = "satisfied" if state in CARRIED else "requiresConnection" if state in PENDING else "unsatisfied"
    return {
        "status": status,
        "reason": f"systemd-networkd says {state}",
        "supportsIPv4": status == "satisfied" and families["IPV4"],
        "supportsIPv6": status == "satisfied" and families["IPV6"],
    }


def main():
    interval = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    say(netpath=1, name="systemd-networkd", requests=["refresh"], heartbeat=max(1, int(interval * 5)))
    said = None
    asked = True
    pending = b""
    while True:
        try:
            word = {"conclusion": look()}
        except (OSError, ValueError) as error:
            word = {"unavailable": f"cannot read {STATE} ({error})"}
        if asked or word != said:
            say(**word)
        else:
            say(heartbeat=True)
        said, asked = word, False
        readable, _, _ = select.select([sys.stdin], [], [], interval)
        if not readable:
            continue
        # Past Python's own buffer, in which a line would wait for the next one.
        octets = os.read(sys.stdin.fileno(), 65536)
        if not octets:
            return
        *lines, pending = (pending + octets).split(b"\n")
        requests = [json.loads(line).get("request") for line in lines]
        if "shutdown" in requests:
            return
        asked = "refresh" in requests


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Runs scenarios inside the lab's machine: `guest.py quick|all [WORD...]`, a line for each as the test runners write them."""

import importlib
import os
import signal
import sys
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, f"{here}/scenarios"]

import gadget  # noqa: E402
import peers  # noqa: E402
import scenario  # noqa: E402
from views import Views  # noqa: E402
from world import World, Wrong, clean, run, write  # noqa: E402

# How long a scenario may take, in seconds: most take half a minute on a machine of their own.
LIMIT = 900


def play(entry, folder):
    """Plays a scenario in this process, and returns its exit status: 0, 1 for wrong, 77 for skipped."""
    world = World(folder)
    views = None
    status = 0
    text = ""
    try:
        def start(*settings, config=None):
            nonlocal views
            views = Views(world, entry.title, entry.views, settings, config)
            return views
        entry.function(world, start)
    except scenario.Impossible as reason:
        status, text = 77, str(reason)
    except Wrong as reason:
        status, text = 1, str(reason)
    except Exception:
        status, text = 1, traceback.format_exc()
    with open(f"{folder}/result", "w") as file:
        file.write(text)
    if views is not None:
        views.end(status == 1)
    return status


def attempt(entry, folder):
    """Plays a scenario in a process of its own, and returns its exit status, what it says, and how long it took."""
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        os._exit(play(entry, folder))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    gadget.remove_all()
    clean()
    took = f"({time.monotonic() - begin:.1f} s)"
    try:
        with open(f"{folder}/result") as file:
            text = file.read()
    except OSError:
        text = f"was ended after {LIMIT} s" if status == -signal.SIGALRM else f"ended with {status}"
    return status, "\n".join("      " + line for line in text.replace("; ", ";\n  ").split("\n")), took


def main():
    part, words = sys.argv[1], sys.argv[2:]
    for file in sorted(os.listdir(f"{here}/scenarios")):
        if file.endswith(".py"):
            importlib.import_module(file[:-3])
    has_ipv6 = os.path.exists("/proc/sys/net/ipv6")
    failed = 0
    for number, entry in enumerate(scenario.entries * int(os.environ.get("LAB_TIMES", 1))):
        if entry.without_ipv6 == has_ipv6 or (part == "quick" and not entry.quick):
            continue
        if words and not any(word.lower() in entry.title.lower() for word in words):
            continue
        folder = f"/lab/{number:02}"
        try:
            os.mkdir(folder)
        except FileExistsError:
            # Another machine plays it, or has.
            continue
        status, text, took = attempt(entry, folder)
        if status not in (0, 77) and os.environ.get("LAB_AGAIN"):
            print(f"again {entry.title} {took}:\n{text}", flush=True)
            folder += "-again"
            status, text, took = attempt(entry, folder)
        if status == 0:
            print(f"ok    {entry.title} {took}", flush=True)
        elif status == 77:
            print(f"skipped: {entry.title}: {text.strip()}", flush=True)
        else:
            failed += 1
            print(f"FAIL  {entry.title} {took}, see {os.path.basename(folder)}\n{text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    os.makedirs("/run/netns", exist_ok=True)
    run("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup", check=False)
    # Else modules of tunnels place gre0 and sit0 into the namespaces of all later scenarios.
    run("sysctl", "-qw", "net.core.fb_tunnels_only_for_init_net=1", check=False)
    if os.environ.get("LAB_PEERS"):
        write("/lab/versions", peers.versions())
        write("/lab/pace", str(peers.pace()))
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""What `netpath watch --json` says, of each backend alone and of both merged, and whether it is what had to be said.

A state is written as `STATUS REASON TYPE over CARRIER`: `satisfied routed wifi`, `satisfied routed other over wlan0`,
`unsatisfied noInterface`. The type is that of the first interface, of a satisfied path only.
"""

import glob
import json
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from peers import Peers
from world import Wrong, run, until, write

NETPATH = os.environ["NETPATH_BINARY"]
VIEWS = {
    "default": [],
    "netlink": ["--set", "backends.sysfs.mode=off"],
    "sysfs": ["--set", "backends.netlink.mode=off", "--set", "backends.sysfs.mode=active"],
}
LOOKING, JOINING = "requiresConnection wifiNotAssociated", "requiresConnection authenticating"
# How long a state has to last to count as the last one: sysfs looks every 2 s where nothing changed.
SETTLED = 2.5


def state(path):
    if path["status"] is None:
        return "no verdict yet"
    words = [path["status"], path["reason"]["code"]]
    if path["status"] == "satisfied" and path["interfaces"]:
        words.append(path["interfaces"][0]["type"])
    if path["carriedBy"] is not None:
        words += ["over", name_of(path["carriedBy"])]
    return " ".join(words)


def name_of(index):
    for link in json.loads(run("ip", "-n", "here", "-json", "link", "show") or "[]"):
        if link["ifindex"] == index:
            return link["ifname"]
    return f"interface {index}"


class View:
    def __init__(self, name, world, settings, config):
        self.name = name
        self.states = []
        # When it said that there is a path, and that there is none; see `peers.py`.
        self.says = []
        # The paths of which a gateway is said not to answer.
        self.complaints = []
        self.changed = time.monotonic()
        self.mark = 0
        private = f"/run/views/{name}"
        os.makedirs(private, exist_ok=True)
        environment = dict(os.environ, RUNTIME_DIRECTORY=private, STATE_DIRECTORY=private)
        self.command = ["ip", "netns", "exec", "here", NETPATH]
        self.settings = (["--config", config] if config else []) + VIEWS[name]
        self.settings += [word for setting in settings for word in ("--set", setting)]
        self.recording = f"{world.folder}/{name}.jsonl"
        self.environment = environment
        self.process = subprocess.Popen(
            self.command + ["watch", "--json", "--record", self.recording] + self.settings, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(f"{world.folder}/{name}.log", "w"), text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            moment = time.monotonic()
            path = json.loads(line)
            if path["status"] is None:
                continue
            if any(gateway["answers"] is False for gateway in path["gateways"]):
                self.complaints.append(f"{path['time']} {path['reason']['message']}")
            seen = state(path)
            if not self.states or self.states[-1] != seen:
                self.states.append(seen)
                self.changed = time.monotonic()
            online = seen.startswith("satisfied")
            if not self.says or self.says[-1][1] != online:
                self.says.append((moment, online))
        self.states.append(f"netpath ended with status {self.process.wait()}")

    def wake_ups(self):
        """How often its threads have gone to sleep, and so were woken."""
        total = 0
        for file in glob.glob(f"/proc/{self.process.pid}/task/*/status"):
            with open(file) as status:
                total += int(status.read().split("\nvoluntary_ctxt_switches:")[1].split()[0])
        return total

    def since_mark(self):
        return self.states[self.mark:]

    def fresh(self, user=0):
        """What a netpath says that is started now, by a user."""
        command = self.command
        if user:
            command = command[:-1] + ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", NETPATH]
        done = subprocess.run(command + ["--json"] + self.settings, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        try:
            return state(json.loads(done.stdout))
        except ValueError:
            return f"netpath ended with status {done.returncode}: {done.stderr.strip()}"

    def report(self, file):
        subprocess.run(self.command + ["report", file, "--yes", "--recording", self.recording] + self.settings,
                       env=self.environment, stdin=subprocess.DEVNULL, capture_output=True)


def is_part(seen, allowed):
    """Whether a sequence leaves out states of another, and has no more."""
    rest = iter(allowed)
    return all(any(candidate.lstrip("?") == one for candidate in rest) for one in seen)


def with_tries(states, tries):
    """The states, where a station joined at so many tries: it looks for an access point again in between."""
    again = ["?" + LOOKING, "?" + JOINING] * (tries - 1)
    return [state for one in states for state in ([one] + again if one.lstrip("?") == JOINING else [one])]


def agrees(seen, wanted, may_miss):
    """Whether what was seen is what had to be. States that begin with `?` may be missing, and all may but the last where a
    view looks now and then."""
    if not is_part(seen, wanted):
        return False
    needed = [one for one in wanted if not one.startswith("?")]
    return may_miss or is_part(needed, seen)


class Views:
    """The three views of a scenario, and the truth."""

    def __init__(self, world, title, names, settings=(), config=None):
        self.world = world
        self.views = [View(name, world, settings, config) for name in names]
        until("word of netpath", lambda: all(view.states for view in self.views), 120)
        # Others are compared with what netpath says as it comes.
        is_compared = os.environ.get("LAB_PEERS") and self.views[0].name == "default"
        self.peers = Peers(world, title, self.views[0]) if is_compared else None
        self.log = open(f"{world.folder}/steps", "w")
        self.tries = self.count_tries()

    def count_tries(self):
        """How often the supplicant, if there is one, has tried to join an access point."""
        try:
            with open(f"{self.world.folder}/supplicant.log") as log:
                return log.read().count("Trying to associate")
        except FileNotFoundError:
            return 0

    def expect(self, what, *wanted, sysfs=None, fresh=("default", "sysfs"), limit=180):
        """After a step: every view comes to the last of the states by way of the others, and by way of no other; datagrams
        return if and only if that state is satisfied; a netpath that is started then says the same, in the views of `fresh`. `sysfs`: what that backend alone says, where it knows less."""
        problems = []
        deadline = time.monotonic() + limit
        # Everything that happened was after the states that the last step ended with.
        for view in self.views:
            lists = sysfs if view.name == "sysfs" and sysfs is not None else wanted
            final = lists[-1].lstrip("?")
            while time.monotonic() < deadline and (not view.states or view.states[-1] != final):
                time.sleep(0.05)
        settled = max([view.changed for view in self.views] + [time.monotonic() - SETTLED + 0.7]) + SETTLED
        time.sleep(max(0, min(settled - time.monotonic(), SETTLED)))
        # At the same time, as datagrams that do not return take seconds.
        with ThreadPoolExecutor() as pool:
            looks = {view.name: pool.submit(view.fresh) for view in self.views if view.name in fresh}
            does = self.world.datagrams_return()
        if self.peers:
            self.peers.write(what)
        total = self.count_tries()
        tries, self.tries = total - self.tries, total
        for view in self.views:
            lists = sysfs if view.name == "sysfs" and sysfs is not None else wanted
            problems += self.judge(what, view, lists, tries, f"datagrams {does}")
        if does != wanted[-1].lstrip("?").startswith("satisfied"):
            problems.append(f"datagrams {'return' if does else 'do not return'}")
        for name, look in looks.items():
            lists = sysfs if name == "sysfs" and sysfs is not None else wanted
            if look.result() != lists[-1].lstrip("?"):
                problems.append(f"a fresh look ({name}) says {look.result()}, not {lists[-1].lstrip('?')}")
        self.log.flush()
        if problems:
            raise Wrong(f"{what}: " + "; ".join(problems))

    def judge(self, what, view, wanted, tries, note):
        """What is wrong with what a view has said since the last step."""
        lists = list(wanted)
        before = view.states[view.mark - 1] if view.mark > 0 else None
        seen = view.since_mark()
        final = lists[-1].lstrip("?")
        if before == lists[0].lstrip("?") and (not seen or seen[0] != before):
            lists = lists[1:]
        self.log.write(f"{what} | {view.name} | {' -> '.join(seen) or '(as before)'} | {note}\n")
        view.mark += len(seen)
        if (seen or [before])[-1] == final and agrees(seen, with_tries(lists, tries), may_miss=view.name == "sysfs"):
            return []
        return [f"{view.name} says {' -> '.join(seen) or before}, not {' -> '.join(lists) or before}"]

    def follow(self, what, rest, *wanted, limit=180):
        """After one of many steps, without datagrams and fresh looks: every view comes to the last of the states as above, and
        stays there for `rest` seconds."""
        for view in self.views:
            until(f"'{wanted[-1]}' of {view.name} after {what}", lambda: view.states[-1] == wanted[-1], limit)
        time.sleep(rest)
        total = self.count_tries()
        tries, self.tries = total - self.tries, total
        problems = [problem for view in self.views for problem in self.judge(what, view, wanted, tries, "on the way")]
        self.log.flush()
        if problems:
            raise Wrong(f"{what}: " + "; ".join(problems))

    def expect_answers(self):
        """No view has ever said that a gateway does not answer."""
        complaints = [f"{view.name} at {complaint}" for view in self.views for complaint in view.complaints]
        if complaints:
            raise Wrong(f"the gateway answers; {'; '.join(complaints)}")

    def freeze(self, frozen):
        """Has the views stand still, or go on, as the freezer does it before a suspend."""
        group = "/sys/fs/cgroup/views"
        os.makedirs(group, exist_ok=True)
        for view in self.views:
            write(f"{group}/cgroup.procs", str(view.process.pid))
        write(f"{group}/cgroup.freeze", str(int(frozen)))
        until("freezer", lambda: f"frozen {int(frozen)}" in open(f"{group}/cgroup.events").read())

    def end(self, is_wrong):
        if self.peers:
            self.peers.end()
        for view in self.views:
            if is_wrong or (os.environ.get("LAB_REPORTS") and view.name == "default"):
                view.report(f"{self.world.folder}/report-{view.name}.txt")
        for view in self.views:
            view.process.terminate()
        for view in self.views:
            view.process.wait()

# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""What a machine goes through as a whole: its boot, and netpath standing still while things change."""

import time

from radio import Radios, ask_for_address, serve_addresses
from scenario import scenario
from views import NETPATH
from world import Wrong, run, until

WIRED = "satisfied routed wired"


def ends_well(world, waiting):
    if waiting.wait(timeout=30) != 0:
        raise Wrong(f"wait ended with {waiting.returncode}")
    if not world.datagrams_return():
        raise Wrong("wait ended before datagrams return")


def still_waits(waiting, what):
    if waiting.poll() is not None:
        raise Wrong(f"wait ended with {waiting.poll()} {what}")


@scenario("netpath wait ends when a path is there", quick=True, views=())
def wait(world, watch):
    waiting = world.start("here", "wait", NETPATH, "wait")
    time.sleep(4)
    still_waits(waiting, "before there was an interface")
    world.veth("lan0", 1)
    ends_well(world, waiting)


@scenario("netpath wait from before there is a radio until DHCP has answered", views=())
def wait_for_radio(world, watch):
    waiting = world.start("here", "wait", NETPATH, "wait")
    radios = Radios(world)
    still_waits(waiting, "before the radio was up")
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    radios.join()
    until("join", radios.is_joined)
    time.sleep(2)
    still_waits(waiting, "before there was an address")
    serve_addresses(world, "ap0")
    ask_for_address(world, "wlan0")
    ends_well(world, waiting)


def set_clock(days):
    run("date", "-s", f"@{time.time() + days * 86400:.0f}")


@scenario("netpath frozen while a cable is pulled and plugged in, and a day goes by on its clock")
def frozen(world, watch):
    world.veth("lan0", 1)
    views = watch()
    views.expect("at the start", WIRED)
    views.freeze(True)
    world.far("link set lan0-far down")
    set_clock(1)
    time.sleep(3)
    views.freeze(False)
    views.expect("pulled while it was frozen", "unsatisfied noCarrier")
    views.freeze(True)
    world.far("link set lan0-far up")
    time.sleep(3)
    views.freeze(False)
    views.expect("plugged in while it was frozen", WIRED)
    views.freeze(True)
    world.far(*["link set lan0-far down", "link set lan0-far up"] * 50)
    set_clock(-1)
    time.sleep(3)
    views.freeze(False)
    views.expect("both fifty times while it was frozen", "?unsatisfied noCarrier", "?" + WIRED)

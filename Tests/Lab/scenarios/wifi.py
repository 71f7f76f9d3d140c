# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Wi-Fi: a station with a supplicant, and access points that come, refuse, and go."""

import glob
import time

from radio import Radios, airplane_mode, ask_for_address, serve_addresses
from scenario import scenario
from world import Wrong, run, until, write

WIFI = "satisfied routed wifi"
LOOKING = "requiresConnection wifiNotAssociated"
JOINING = "requiresConnection authenticating"
WAITING = "requiresConnection configuringAddress"


@scenario("Wi-Fi without an access point")
def no_point(world, watch):
    radios = Radios(world)
    views = watch()
    views.expect("the radio is down", "unsatisfied allDown")
    world.here("link set wlan0 up")
    views.expect("the radio is up", LOOKING)
    radios.join()
    views.expect("a supplicant scans", LOOKING)


@scenario("Wi-Fi with WPA2: joined, addressed by DHCP, the access point gone and back", quick=True)
def joined(world, watch):
    radios = Radios(world)
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    # Longer than a busy machine takes for the next steps.
    views = watch("grace=10m")
    views.expect("not joined", LOOKING)
    radios.join()
    until("join", radios.is_joined)
    ask_for_address(world, "wlan0")
    # A sysfs that is started now does not know since when there is a carrier.
    views.expect("joined, without an address", "?" + LOOKING, "?" + JOINING, WAITING, fresh=("default",))
    serve_addresses(world, "ap0")
    # The client adds the route after the address, and sysfs may look in between.
    views.expect("an address from DHCP", "?" + WAITING, WIFI, sysfs=["?" + WAITING, "?unsatisfied noRoute", WIFI])
    radios.point_gone()
    views.expect("the access point is gone", LOOKING)
    radios.point(address="10.4.0.1")
    views.expect("it is back", "?" + JOINING, WIFI)


@scenario("Wi-Fi with the wrong key for WPA2")
def wrong_key(world, watch):
    radios = Radios(world)
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    radios.static()
    views = watch()
    views.expect("not joined", LOOKING)
    radios.join(key="wrongsecret")
    until("refusal", lambda: "pre-shared key may be incorrect" in open(f"{world.folder}/supplicant.log").read())
    views.expect("refused", "?" + LOOKING, JOINING, LOOKING, sysfs=["?" + LOOKING, "?" + JOINING, LOOKING])


@scenario("Wi-Fi whose DHCP does not answer until the grace period is over, and then does")
def slow_addresses(world, watch):
    radios = Radios(world)
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    views = watch("grace=8s")
    views.expect("not joined", LOOKING)
    radios.join()
    until("join", radios.is_joined)
    ask_for_address(world, "wlan0")
    views.expect("DHCP does not answer", "?" + LOOKING, "?" + JOINING, "?" + WAITING, "unsatisfied noAddress", fresh=())
    serve_addresses(world, "ap0")
    views.expect("it answers", "?" + WAITING, WIFI, sysfs=["?" + WAITING, "?unsatisfied noRoute", WIFI])


@scenario("Wi-Fi from one access point to another, from 2.4 to 5 GHz")
def roaming(world, watch):
    radios = Radios(world, points=2)
    radios.two_points()
    views = watch()
    views.expect("joined", WIFI)
    radios.roam()
    # The kernel itself says that there is no carrier between the two.
    views.expect("roamed", "?" + LOOKING, "?" + JOINING, "?" + WIFI)


@scenario("Wi-Fi and its radio switch", quick=True)
def switch(world, watch):
    radios = Radios(world)
    radios.one_point()
    views = watch()
    views.expect("joined", WIFI)
    radios.block(True)
    views.expect("blocked", "?unsatisfied allDown", "?unsatisfied interfaceDown", "?" + LOOKING, "unsatisfied radioBlocked")
    radios.block(False)
    world.here("link set wlan0 up")
    radios.static()
    views.expect("free again", "?unsatisfied allDown", "?" + LOOKING, "?" + JOINING, "?unsatisfied noRoute", WIFI)


@scenario("Wi-Fi in airplane mode, beside a cable, and out of it")
def airplane(world, watch):
    radios = Radios(world)
    radios.one_point()
    views = watch()
    views.expect("joined", WIFI)
    try:
        airplane_mode(True)
        blocked = ("?unsatisfied allDown", "?unsatisfied interfaceDown", "?" + LOOKING, "unsatisfied radioBlocked")
        views.expect("airplane mode", *blocked)
        if world.run_in("here", "sh", "-c", "ip link set wlan0 up || echo refused") != "refused\n":
            raise Wrong("a blocked radio goes up")
        world.veth("lan0", 1)
        views.expect("a cable beside it", "?unsatisfied noCarrier", "satisfied routed wired")
        world.here("link del lan0")
        views.expect("without the cable", *blocked)
    finally:
        airplane_mode(False)
    radios.point_gone()
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    radios.static()
    views.expect("out of airplane mode", "?unsatisfied allDown", "?" + LOOKING, "?" + JOINING, "?unsatisfied noRoute", WIFI)


@scenario("Wi-Fi that is scanned, rekeyed, used, and near and far for a minute: nothing wakes netpath", views=("netlink",))
def minute(world, watch):
    radios = Radios(world, scans_in_hardware=True)
    radios.point(address="10.4.0.1", settings=("wpa_group_rekey=5", "wpa_ptk_rekey=7"))
    world.here("link set wlan0 up")
    radios.static()
    radios.join()
    until("join", radios.is_joined)
    views = watch()
    views.expect("joined", WIFI)
    world.talk("10.4.0.1")
    views.expect("in use", WIFI)
    run("mount", "-t", "debugfs", "none", "/sys/kernel/debug", check=False)
    strength = glob.glob("/sys/kernel/debug/ieee80211/*/hwsim/rx_rssi")
    log = f"{world.folder}/supplicant.log"
    before, rekeyed = views.views[0].wake_ups(), open(log).read().count("rekeying completed")
    scans, deadline = 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        scans += "BSS " in world.run_in("here", "timeout", "10", "iw", "dev", "wlan0", "scan", "freq", "2412", "2437", check=False)
        for file in strength:
            # In dBm; this kernel reads no sign there.
            write(file, str((1 << 64) - 40 - scans * 7 % 45))
    woken, rekeyed = views.views[0].wake_ups() - before, open(log).read().count("rekeying completed") - rekeyed
    if scans < 5 or rekeyed < 5 or not strength:
        raise Wrong(f"only {scans} scans and {rekeyed} new keys, and the strength of {len(strength)} radios")
    if woken:
        raise Wrong(f"{scans} scans and {rekeyed} new keys woke netpath {woken} times")
    views.expect("afterwards", WIFI)


@scenario("an open Wi-Fi, joined without a supplicant")
def open_network(world, watch):
    radios = Radios(world)
    radios.point(key=None, address="10.4.0.1")
    world.here("link set wlan0 up")
    radios.static()
    views = watch()
    views.expect("not joined", LOOKING)
    world.run_in("here", "iw", "dev", "wlan0", "connect", "labnet", "2412")
    views.expect("joined", WIFI)
    world.run_in("here", "iw", "dev", "wlan0", "disconnect")
    views.expect("left", LOOKING)


@scenario("a cable takes over from Wi-Fi, and gives back")
def cable_and_radio(world, watch):
    radios = Radios(world)
    radios.point(address="10.4.0.1")
    world.here("link set wlan0 up")
    world.here("address replace 10.4.0.2/24 dev wlan0", "route replace default via 10.4.0.1 dev wlan0 metric 600")
    radios.join()
    until("join", radios.is_joined)
    views = watch()
    views.expect("joined", WIFI)
    world.veth("lan0", 1)
    # The kernel takes the route at once, and the cable only when its carrier was looked at.
    views.expect("a cable", "?unsatisfied noCarrier", "satisfied routed wired")
    world.here("link set lan0 down")
    views.expect("without it", WIFI)

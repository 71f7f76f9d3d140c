# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Simulated Wi-Fi: radios, access points and a supplicant, and DHCP on top of them."""

import glob
import os
import stat
import struct

from world import Wrong, run, until, write

FREQUENCIES = {1: 2412, 6: 2437, 36: 5180}



def airplane_mode(is_on):
    """What the key of a laptop does: it blocks every radio of every kind, also the access points' and those to come."""
    with open("/dev/rfkill", "wb", buffering=0) as switches:
        switches.write(struct.pack("=IBBBB", 0, 0, 3, is_on, 0))


class Radios:
    """`wlan0` in `here`, and access points `ap0`, `ap1` in `far`."""

    def __init__(self, world, points=1, scans_in_hardware=False):
        self.world = world
        self.servers = {}
        run("modprobe", "-r", "mac80211_hwsim", check=False)
        # With one channel mac80211 scans itself, and on an emulated processor a station that is joined comes to no end of it.
        world.load("mac80211_hwsim", f"radios={points + 1}", f"channels={1 + scans_in_hardware}")
        phys = until("radio", lambda: self._radios(points + 1))
        run("iw", "reg", "set", "US", check=False)
        for number, phy in enumerate(phys):
            old = os.listdir(f"/sys/class/ieee80211/{phy}/device/net")[0]
            new = "sta0" if number == 0 else f"ap{number - 1}"
            run("ip", "link", "set", old, "name", new)
            run("iw", "phy", phy, "set", "netns", "name", "here" if number == 0 else "far")
        world.here("link set sta0 name wlan0")
        self.address = world.run_in("here", "cat", "/sys/class/net/wlan0/address").strip()

    def _radios(self, count):
        found = sorted(os.listdir("/sys/class/ieee80211"), key=lambda name: int(name[3:]))
        return found if len(found) == count and all(
            glob.glob(f"/sys/class/ieee80211/{phy}/device/net/*") for phy in found) else None

    def block(self, blocked):
        # The switch moved into the namespace with its radio.
        self.world.run_in("here", "bash", "-c", f"echo {int(blocked)} >/sys/class/net/wlan0/phy80211/rfkill*/soft")

    def point(self, number=0, key="labsecret", channel=1, ssid="labnet", address=None, settings=()):
        """Starts an access point; `key` None: an open one. `settings`: more lines for hostapd."""
        file = f"{self.world.folder}/ap{number}.conf"
        secret = f"wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nwpa_passphrase={key}\n" if key else ""
        write(file, f"interface=ap{number}\ndriver=nl80211\nctrl_interface=/run/ap\nssid={ssid}\n"
                    f"hw_mode={'a' if channel > 14 else 'g'}\nchannel={channel}\n{secret}" + "\n".join(settings))
        self.servers[number] = self.world.start("far", f"ap{number}", "hostapd", "-t", file)
        until("access point", lambda: "UP" in self.world.run_in("far", "ip", "-o", "link", "show", f"ap{number}")
              and "AP-ENABLED" in open(f"{self.world.folder}/ap{number}.log").read())
        if address:
            self.world.far(f"address replace {address}/24 dev ap{number}")

    def point_gone(self, number=0):
        """The access point falls silent, without a farewell."""
        self.world.far(f"link set ap{number} down")
        self.servers[number].kill()
        self.servers[number].wait()

    def join(self, key="labsecret", ssid="labnet", channels=(1,)):
        """Starts a supplicant that knows a network."""
        file = f"{self.world.folder}/supplicant.conf"
        secret = f'psk="{key}"' if key else "key_mgmt=NONE"
        frequencies = " ".join(str(FREQUENCIES[channel]) for channel in channels)
        write(file, f'ctrl_interface=/run/supplicant\nnetwork={{\n ssid="{ssid}"\n {secret}\n scan_freq={frequencies}\n}}\n')
        self.world.start("here", "supplicant", "wpa_supplicant", "-t", "-D", "nl80211", "-i", "wlan0", "-c", file)

    def one_point(self):
        """An access point at 10.4.0.1; and joins it."""
        self.point(address="10.4.0.1")
        self.world.here("link set wlan0 up")
        self.static()
        self.join()
        until("join", self.is_joined)

    def two_points(self):
        """Two access points of one network, at 2.4 and 5 GHz, behind 10.4.0.1; and joins it."""
        self.world.far("link add br0 type bridge", "link set br0 up", "address add 10.4.0.1/24 dev br0")
        self.point(0, channel=1)
        self.point(1, channel=36)
        self.world.far("link set ap0 master br0", "link set ap1 master br0")
        self.world.here("link set wlan0 up")
        self.static()
        self.join(channels=(1, 36))
        until("join", self.is_joined)

    def roam(self):
        """From one of the two to the other."""
        now = self.ask("status")
        goal = until("the other access point", lambda: [
            line.split()[0] for line in self.ask("scan_results").split("\n")[1:]
            if "labnet" in line and line.split()[0] not in now])[0]
        self.ask("roam", goal)
        until("roam", lambda: f"bssid={goal}" in self.ask("status") and self.is_joined())

    def ask(self, *words):
        return self.world.run_in("here", "wpa_cli", "-p", "/run/supplicant", "-i", "wlan0", *words)

    def is_joined(self):
        try:
            return "wpa_state=COMPLETED" in self.ask("status")
        except Wrong:
            return False

    def static(self, subnet=4):
        """An address and a route that are there whatever the radio does."""
        self.world.here(f"address replace 10.{subnet}.0.2/24 dev wlan0",
                        f"route replace default via 10.{subnet}.0.1 dev wlan0")


CLIENT = """#!/bin/sh
case $1 in
bound | renew)
    ip address replace "$ip/24" dev "$interface"
    ip route replace default via "$router" dev "$interface" ;;
deconfig) ip address flush dev "$interface" ;;
esac
"""


def serve_addresses(world, interface, subnet=4):
    world.start("far", "dnsmasq", "dnsmasq", "--keep-in-foreground", "--port=0", f"--interface={interface}", "--bind-dynamic",
                f"--dhcp-range=10.{subnet}.0.50,10.{subnet}.0.59,255.255.255.0,3600", f"--dhcp-leasefile={world.folder}/leases",
                "--user=root", f"--dhcp-option=3,10.{subnet}.0.1", "--no-ping", "--conf-file=/dev/null", "--pid-file=")


def ask_for_address(world, interface):
    script = f"{world.folder}/client"
    write(script, CLIENT)
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    world.start("here", "udhcpc", "busybox", "udhcpc", "-f", "-i", interface, "-s", script, "-t", "200", "-T", "1")

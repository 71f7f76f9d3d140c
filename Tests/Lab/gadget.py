# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Devices at a USB that is looped back inside the machine (dummy_hcd): the kernel's own drivers find them."""

import glob
import os

from scenario import Impossible
from world import run, until, write

GADGETS = "/sys/kernel/config/usb_gadget"


def remove_all():
    for gadget in glob.glob(f"{GADGETS}/*"):
        try:
            write(f"{gadget}/UDC", "\n")
        except OSError:
            pass
        for link in glob.glob(f"{gadget}/configs/*/*.usb0"):
            os.unlink(link)
        for folder in glob.glob(f"{gadget}/configs/*") + glob.glob(f"{gadget}/functions/*"):
            os.rmdir(folder)
        for folder in glob.glob(f"{gadget}/strings/*"):
            os.rmdir(folder)
        os.rmdir(gadget)


class Gadget:
    """A device at a USB that is looped back: the host's driver gets an interface, and so has the device."""

    def __init__(self, function, vendor, product):
        for module in ("libcomposite", "cdc_ether", "cdc_ncm", "rndis_host"):
            run("modprobe", module, check=False)
        run("modprobe", "dummy_hcd", check=False)
        if not os.path.isdir("/sys/class/udc/dummy_udc.0"):
            raise Impossible("this kernel cannot loop USB back (dummy_hcd)")
        run("mount", "-t", "configfs", "none", "/sys/kernel/config", check=False)
        before = set(os.listdir("/sys/class/net"))
        self.folder = f"{GADGETS}/{function}"
        for part in ("strings/0x409", "configs/c.1", f"functions/{function}.usb0"):
            os.makedirs(f"{self.folder}/{part}")
        self.function = f"{self.folder}/functions/{function}.usb0"
        write(f"{self.folder}/idVendor", vendor)
        write(f"{self.folder}/idProduct", product)
        write(f"{self.function}/dev_addr", "42:00:00:00:00:01")
        write(f"{self.function}/host_addr", "02:00:00:00:00:02")
        os.symlink(self.function, f"{self.folder}/configs/c.1/{function}.usb0")
        self.plug(True)
        new = until("interface at USB", lambda: (lambda found: found if len(found) == 2 else None)(
            set(os.listdir("/sys/class/net")) - before))
        self.device = open(f"{self.function}/ifname").read().strip()
        self.host = (new - {self.device}).pop()

    def plug(self, plugged):
        write(f"{self.folder}/UDC", "dummy_udc.0\n" if plugged else "\n")

    def connect(self, world):
        run("ip", "link", "set", self.device, "netns", "far")
        run("ip", "link", "set", self.host, "netns", "here")
        world.far(f"link set {self.device} name device", "address add 10.6.0.1/24 dev device", "link set device up")
        world.here(f"link set {self.host} name usb0", "link set usb0 up", "address add 10.6.0.2/24 dev usb0",
                   "route add default via 10.6.0.1 dev usb0")

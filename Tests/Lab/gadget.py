# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Devices at a USB that is looped back inside the machine (dummy_hcd): the kernel's own drivers find them."""

import glob
import os
import socket
import struct
import threading
from fcntl import ioctl

from scenario import Impossible
from world import in_namespace, run, until, write

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


class QMIModem(Gadget):
    """An ECM device that the driver of Qualcomm's modems takes, which claims a carrier with and without a bearer."""

    def __init__(self):
        super().__init__("ecm", "0x2c7c", "0x0900")
        port = os.path.basename(os.path.realpath(f"/sys/class/net/{self.host}/device"))
        drivers = "/sys/bus/usb/drivers"
        run("modprobe", "qmi_wwan")
        try:
            write(f"{drivers}/qmi_wwan/new_id", "2c7c 0900")
        except FileExistsError:
            pass
        write(f"{drivers}/cdc_ether/unbind", port)
        before = set(os.listdir("/sys/class/net"))
        write(f"{drivers}/qmi_wwan/bind", port)
        self.host = until("interface of the modem", lambda: set(os.listdir("/sys/class/net")) - before).pop()

    def connect(self, world):
        run("ip", "link", "set", self.device, "netns", "far")
        run("ip", "link", "set", self.host, "netns", "here")
        world.far(f"link set {self.device} name device", "address add 10.6.0.1/24 dev device", "link set device up")
        world.here(f"link set {self.host} name wwan0")

    def without_headers(self, world):
        """Both sides send packets without Ethernet headers (raw IP): a tunnel in `far` takes and gives them."""
        world.here("link set wwan0 down")
        world.run_in("here", "sh", "-c", "echo Y >/sys/class/net/wwan0/qmi/raw_ip")
        world.far("address flush dev device")
        run("modprobe", "tun")
        tunnel = in_namespace("far", lambda: os.open("/dev/net/tun", os.O_RDWR))
        in_namespace("far", lambda: ioctl(tunnel, 0x400454CA, struct.pack("16sH", b"modem", 0x1001)))
        line = in_namespace("far", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        line.bind(("device", 3))
        world.far("address add 10.6.0.1/24 dev modem", "link set modem up")

        def take():
            while True:
                packet, source = line.recvfrom(2048)
                # What the device itself sends is seen here too.
                if source[2] != socket.PACKET_OUTGOING and packet[0] >> 4 == 4:
                    os.write(tunnel, packet)

        def give():
            while True:
                packet = os.read(tunnel, 2048)
                if packet[0] >> 4 == 4:
                    line.send(packet)

        for work in (take, give):
            threading.Thread(target=work, daemon=True).start()

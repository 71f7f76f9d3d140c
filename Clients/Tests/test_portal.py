# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Flatpak programs: the frontend of xdg-desktop-portal asks GLib's monitor, and so netpath where its module is."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from lab import *
from test_gio import Lines

FRONTEND = "/usr/libexec/xdg-desktop-portal"
CALL = [
    "gdbus", "call", "--session", "--dest", "org.freedesktop.portal.Desktop", "--object-path", "/org/freedesktop/portal/desktop",
    "--method",
]


@needs(
    os.path.exists(FRONTEND) and shutil.which("dbus-daemon") and shutil.which("gdbus"),
    "NO PORTAL IS TESTED: there is no xdg-desktop-portal, dbus-daemon or gdbus")
class Portal(unittest.TestCase):
    def test_status_changes_and_hosts(self):
        lay()
        with Service():
            # GLib's own monitor, which it takes where the service does not answer in time, does not see the cable.
            for _ in range(20):
                # A frontend whose bus has ended may still write there.
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    if self.start(folder):
                        return
                cable(True)
        self.fail("the frontend never sees what netpath does")

    def start(self, folder):
        address = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/bus", "HOME": folder, "XDG_RUNTIME_DIR": folder}
        # The bus starts the frontend, with its own environment.
        modules = {"GIO_EXTRA_MODULES": str(BUILT / "gio"), "LD_LIBRARY_PATH": str(BUILT)}
        bus = f"exec dbus-daemon --session --nofork --address=unix:path={folder}/bus 2>/dev/null"
        with Lines("sh", "-c", bus, **address, **modules):
            until(lambda: os.path.exists(folder + "/bus"))
            return self.ask(address)

    def ask(self, address):
        """False where the frontend has a monitor that does not see the cable."""
        def call(method, *arguments):
            command = [*CALL, "org.freedesktop.portal.NetworkMonitor." + method, *arguments]
            return subprocess.run(command, env=os.environ | address, stdout=-1, stderr=-2, text=True).stdout

        until(lambda: "'available': <true>, 'metered': <false>, 'connectivity': <uint32 4>" in call("GetStatus"))
        self.assertEqual(call("CanReach", "192.0.2.1", "80"), "(true,)\n")
        with Lines("gdbus", "monitor", *CALL[2:5], **address) as signals:
            signals.find("is owned by")
            begin = time.time()
            cable(False)
            try:
                signals.find(r"NetworkMonitor\.changed", begin, 5)
            except AssertionError:
                return False
        until(lambda: "'available': <false>, 'metered': <false>, 'connectivity': <uint32 1>" in call("GetStatus"))
        self.assertEqual(call("CanReach", "192.0.2.1", "80"), "(false,)\n")
        return True


if __name__ == "__main__":
    unittest.main()

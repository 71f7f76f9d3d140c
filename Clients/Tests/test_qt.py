# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""A program that knows Qt alone: Qt's backend `glib` asks GLib's monitor, and so netpath where its module is."""

import subprocess
import tempfile
import unittest

from lab import *
from test_gio import Lines

HAS_QT = subprocess.run(["pkg-config", "--exists", "Qt6Network"], stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(HAS_QT, "there is no Qt to build a program with (qt6-base-dev)")
class NetworkInformation(unittest.TestCase):
    def test_reachability(self):
        lay()
        with tempfile.TemporaryDirectory() as folder:
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "Qt6Network"], check=True, stdout=-1, text=True)
            source = str(ROOT / "Clients/Qt/program.cpp")
            subprocess.run(
                ["c++", "-std=c++17", "-fPIC", "-Wall", "-Wextra", "-Werror", source, *flags.stdout.split(), "-o", f"{folder}/a"],
                check=True)
            # NetworkManager is not asked.
            bus = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/none"}
            modules = {"GIO_EXTRA_MODULES": str(BUILT / "gio"), "LD_LIBRARY_PATH": str(BUILT)}
            with Service(), Lines(f"{folder}/a", **bus, **modules) as lines:
                begin = lines.find("^glib reachability=4 portal=0")
                cable(False)
                # GLib's own monitor does not see that.
                begin = lines.find("^glib reachability=1 portal=0", begin)
                cable(True)
                lines.find("^glib reachability=4 portal=0", begin)


if __name__ == "__main__":
    unittest.main()

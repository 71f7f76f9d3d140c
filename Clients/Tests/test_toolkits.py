# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""GLib's own tests of its monitor with netpath's module, and a GTK program on an X server."""

import os
import shutil
import subprocess
import unittest

from lab import *
from test_gio import Lines

TESTS = pathlib.Path("/usr/libexec/installed-tests/glib")
MODULES = {"GIO_EXTRA_MODULES": str(BUILT / "gio"), "LD_LIBRARY_PATH": str(BUILT), "GIO_USE_NETWORK_MONITOR": "netpath"}
PYTHON = "/usr/bin/python3"
HAS_GTK = shutil.which("Xvfb") and os.access(PYTHON, os.X_OK) and subprocess.run(
    [PYTHON, "-c", "import gi; gi.require_version('Gtk', '3.0')"], stderr=subprocess.DEVNULL).returncode == 0


@needs((TESTS / "network-monitor").exists(), "GLIB'S OWN TESTS ARE NOT RUN: they are not here (libglib2.0-tests)")
class GLibsOwn(unittest.TestCase):
    def test_pass_with_the_module(self):
        lay()
        with Service():
            for name in ("network-monitor", "network-monitor-race"):
                with self.subTest(name):
                    done = subprocess.run(
                        [TESTS / name, "--tap"], env=os.environ | MODULES, stdout=-1, stderr=-2, text=True, timeout=PATIENCE * 4)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn("\nok 1 ", done.stdout)
                    self.assertNotIn("not ok", done.stdout)


@needs(HAS_GTK, "NO GTK PROGRAM IS TESTED: there is no X server or no GTK (xvfb, python3-gi, gir1.2-gtk-3.0)")
class Gtk(unittest.TestCase):
    def test_a_window_says_what_netpath_says(self):
        lay()
        server = ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "320x240x24"]
        with Service(), Lines(*server) as screen:
            number = until(lambda: screen.lines and screen.lines[0][1])
            # The service may not answer a busy machine in time, and GLib's own monitor is taken then.
            for _ in range(20):
                with Lines(PYTHON, str(ROOT / "Clients/GIO/program.py"), DISPLAY=f":{number}", **MODULES) as program:
                    begin = program.find("the window says")
                    if "NetpathMonitor" not in program.lines[0][1]:
                        continue
                    begin = program.find("NetpathMonitor the window says online")
                    cable(False)
                    begin = program.find("NetpathMonitor the window says offline", begin)
                    cable(True)
                    program.find("NetpathMonitor the window says online", begin)
                    return
            self.fail("never with netpath's monitor")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""A program that knows GTK alone, for the tests: its window says whether there is a network, and it prints what that says."""

import time

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gio, Gtk


def show(monitor, is_available):
    label.set_text("online" if is_available else "offline")
    print(f"{time.time():.6f} {type(monitor).__name__} the window says {label.get_text()}", flush=True)


monitor = Gio.NetworkMonitor.get_default()
window, label = Gtk.Window(title="network"), Gtk.Label()
window.add(label)
window.connect("destroy", Gtk.main_quit)
window.show_all()
show(monitor, monitor.get_network_available())
monitor.connect("network-changed", show)
Gtk.main()

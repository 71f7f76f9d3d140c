// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// GLib's monitor, as most desktop programs use it: prints a line when GNetworkMonitor says that the network changed.

#include <gio/gio.h>
#include <unistd.h>

static void show(GNetworkMonitor *monitor) {
    gboolean available = g_network_monitor_get_network_available(monitor);
    char *line = g_strdup_printf("{\"available\":%s,\"connectivity\":%d}\n", available ? "true" : "false",
                                 (int)g_network_monitor_get_connectivity(monitor));
    if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(0);
    g_free(line);
}

static void changed(GNetworkMonitor *monitor, gboolean available, gpointer unused) {
    (void)available;
    (void)unused;
    show(monitor);
}

int main(void) {
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    // The kernel's own, not the one of a desktop service that a session bus would bring.
    g_setenv("GIO_USE_NETWORK_MONITOR", "netlink", TRUE);
    GNetworkMonitor *monitor = g_network_monitor_get_default();
    g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
    show(monitor);
    g_main_loop_run(loop);
}

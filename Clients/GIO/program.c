/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * A program that knows GLib alone, for the tests: prints which monitor it has, every change, and whether it can reach the
 * host that is its argument.
 */
#include <gio/gio.h>
#include <stdio.h>

static void show(GNetworkMonitor *monitor, gboolean is_available)
{
    gint64 now = g_get_real_time();
    printf("%lld.%06d %s %s metered=%d connectivity=%d\n", (long long)(now / 1000000), (int)(now % 1000000),
        G_OBJECT_TYPE_NAME(monitor), is_available ? "available" : "unavailable",
        g_network_monitor_get_network_metered(monitor), (int)g_network_monitor_get_connectivity(monitor));
    fflush(stdout);
}

static void on_changed(GNetworkMonitor *monitor, gboolean is_available, gpointer data)
{
    (void)data;
    show(monitor, is_available);
}

static void on_reached(GObject *monitor, GAsyncResult *result, gpointer data)
{
    GError *error = NULL;
    gboolean is_reachable = g_network_monitor_can_reach_finish(G_NETWORK_MONITOR(monitor), result, &error);
    printf("%s later: %s\n", (const char *)data, is_reachable ? "reachable" : error->message);
    fflush(stdout);
    g_clear_error(&error);
}

int main(int count, char **arguments)
{
    gint64 begin = g_get_monotonic_time();
    GNetworkMonitor *monitor = g_network_monitor_get_default();
    printf("started in %d us\n", (int)(g_get_monotonic_time() - begin));
    show(monitor, g_network_monitor_get_network_available(monitor));
    g_signal_connect(monitor, "network-changed", G_CALLBACK(on_changed), NULL);
    for (int index = 1; index < count; index++) {
        GError *error = NULL;
        GSocketConnectable *host = g_network_address_parse(arguments[index], 443, NULL);
        gboolean is_reachable = g_network_monitor_can_reach(monitor, host, NULL, &error);
        printf("%s now: %s\n", arguments[index], is_reachable ? "reachable" : error->message);
        g_clear_error(&error);
        g_network_monitor_can_reach_async(monitor, host, NULL, on_reached, arguments[index]);
    }
    fflush(stdout);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

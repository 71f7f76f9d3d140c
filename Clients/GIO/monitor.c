/* SPDX-License-Identifier: Apache-2.0
 * Copyright the netpath authors
 *
 * GNetworkMonitor as netpath's service answers it. GLib takes the first monitor whose g_initable_init succeeds: this one does
 * where the service answers, and else fails before anything is waited for, so that GLib goes on to its own.
 */
#include "begin.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib-unix.h>

/* GLib's own have up to 40. */
enum { PRIORITY = 50 };

enum { AVAILABLE = 1, METERED, CONNECTIVITY };

typedef struct {
    gboolean is_available, is_metered;
    GNetworkConnectivity connectivity;
} State;

typedef struct {
    GObject parent;
    GMutex mutex; /* of what follows, because any thread may ask */
    struct netpath *handle;
    GSource *source;
    State state;
} NetpathMonitor;

typedef GObjectClass NetpathMonitorClass;

static void initable(GInitableIface *interface);
static void network_monitor(GNetworkMonitorInterface *interface);
GType netpath_monitor_get_type(void);

G_DEFINE_DYNAMIC_TYPE_EXTENDED(NetpathMonitor, netpath_monitor, G_TYPE_OBJECT, 0,
    G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_INITABLE, initable)
    G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_NETWORK_MONITOR, network_monitor))

/* Where nothing is known the network is there, as GNetworkMonitorBase has it. */
static State state_of(const struct netpath_path *path)
{
    State state = {TRUE, (path->flags & (NETPATH_EXPENSIVE | NETPATH_CONSTRAINED)) != 0, G_NETWORK_CONNECTIVITY_FULL};
    if (path->internet == NETPATH_INTERNET_PORTAL) {
        /* The page to sign in is to be shown. */
        state.connectivity = G_NETWORK_CONNECTIVITY_PORTAL;
    } else if (path->status == NETPATH_UNSATISFIED || path->status == NETPATH_REQUIRES_CONNECTION) {
        state.is_available = FALSE;
        state.connectivity = G_NETWORK_CONNECTIVITY_LOCAL;
    } else if (path->internet == NETPATH_INTERNET_UNREACHABLE) {
        state.connectivity = G_NETWORK_CONNECTIVITY_LIMITED;
    }
    return state;
}

static gboolean on_ready(gint descriptor, GIOCondition condition, gpointer data)
{
    (void)descriptor, (void)condition;
    NetpathMonitor *monitor = data;
    struct netpath_path path;
    g_mutex_lock(&monitor->mutex);
    netpath_process(monitor->handle);
    gboolean is_news = netpath_next(monitor->handle, &path, sizeof path) == 1;
    State before = monitor->state;
    if (is_news) monitor->state = state_of(&path);
    State now = monitor->state;
    g_mutex_unlock(&monitor->mutex);
    if (!is_news) return G_SOURCE_CONTINUE;
    GObject *object = g_object_ref(G_OBJECT(monitor));
    g_object_freeze_notify(object);
    if (now.is_available != before.is_available) g_object_notify(object, "network-available");
    if (now.is_metered != before.is_metered) g_object_notify(object, "network-metered");
    if (now.connectivity != before.connectivity) g_object_notify(object, "connectivity");
    g_object_thaw_notify(object);
    g_signal_emit_by_name(object, "network-changed", now.is_available);
    g_object_unref(object);
    return G_SOURCE_CONTINUE;
}

/* MARK: g_initable_init */

static gboolean init(GInitable *self, GCancellable *cancellable, GError **error)
{
    (void)cancellable;
    NetpathMonitor *monitor = (NetpathMonitor *)self;
    if (monitor->handle) return TRUE;
    struct netpath_path path;
    int status = begin(&monitor->handle, &path);
    if (status < 0) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(-status), "netpath: %s", g_strerror(-status));
        return FALSE;
    }
    if (status > 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "netpath: %s", path.message);
        return FALSE;
    }
    monitor->state = state_of(&path);
    monitor->source = g_unix_fd_source_new(netpath_fd(monitor->handle), G_IO_IN);
    g_source_set_callback(monitor->source, G_SOURCE_FUNC(on_ready), monitor, NULL);
    g_source_set_name(monitor->source, "netpath");
    g_source_attach(monitor->source, g_main_context_get_thread_default());
    return TRUE;
}

static void initable(GInitableIface *interface)
{
    interface->init = init;
}

/* MARK: GNetworkMonitor */

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *specification)
{
    NetpathMonitor *monitor = (NetpathMonitor *)object;
    struct netpath_path path;
    g_mutex_lock(&monitor->mutex);
    /* That the service does not answer any more shows later, as a change. */
    if (monitor->handle) netpath_current(monitor->handle, &path, sizeof path);
    State state = monitor->state;
    g_mutex_unlock(&monitor->mutex);
    switch (id) {
    case AVAILABLE: g_value_set_boolean(value, state.is_available); break;
    case METERED: g_value_set_boolean(value, state.is_metered); break;
    case CONNECTIVITY: g_value_set_enum(value, (gint)state.connectivity); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, specification);
    }
}

/* Asks netpath about an address; waits for its answer, as can_reach is to. */
static int reach(struct netpath *handle, GSocketAddress *address, GCancellable *cancellable, GError **error)
{
    if (!G_IS_INET_SOCKET_ADDRESS(address)) return NETPATH_HOST_UNREACHABLE;
    GInetSocketAddress *internet = G_INET_SOCKET_ADDRESS(address);
    GInetAddress *bare = g_inet_socket_address_get_address(internet);
    gboolean has_zone = g_inet_address_get_family(bare) == G_SOCKET_FAMILY_IPV6;
    guint32 zone = has_zone ? g_inet_socket_address_get_scope_id(internet) : 0;
    gchar *text = g_inet_address_to_string(bare);
    gchar *host = zone ? g_strdup_printf("%s%%%u", text, zone) : g_strdup(text);
    int64_t question = netpath_reach(handle, host);
    g_free(host);
    g_free(text);
    struct netpath_host answer = {0};
    GPollFD ready[] = {{netpath_fd(handle), G_IO_IN, 0}, {-1, G_IO_IN, 0}};
    gboolean is_cancellable = g_cancellable_make_pollfd(cancellable, &ready[1]);
    while (question > 0 && netpath_reached(handle, &answer, sizeof answer) == 0) {
        g_poll(ready, is_cancellable ? 2 : 1, -1);
        if (g_cancellable_set_error_if_cancelled(cancellable, error)) {
            netpath_cancel(handle, question);
            break;
        }
        netpath_process(handle);
    }
    if (is_cancellable) g_cancellable_release_fd(cancellable);
    return answer.status;
}

static gboolean can_reach(GNetworkMonitor *self, GSocketConnectable *host, GCancellable *cancellable, GError **error)
{
    NetpathMonitor *monitor = (NetpathMonitor *)self;
    struct netpath *handle;
    int status = netpath_open(&handle, NULL, NULL, NETPATH_NO_WATCH);
    if (status != 0) {
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(-status), "netpath: %s", g_strerror(-status));
        return FALSE;
    }
    g_mutex_lock(&monitor->mutex);
    gboolean is_available = monitor->state.is_available;
    g_mutex_unlock(&monitor->mutex);
    gboolean is_reachable = FALSE;
    GError *failure = NULL;
    GSocketAddressEnumerator *addresses = g_socket_connectable_proxy_enumerate(host);
    GSocketAddress *address;
    while (!is_reachable && !failure && (address = g_socket_address_enumerator_next(addresses, cancellable, &failure))) {
        int answer = reach(handle, address, cancellable, &failure);
        is_reachable = answer == NETPATH_HOST_UNKNOWN ? is_available : answer != NETPATH_HOST_UNREACHABLE;
        g_object_unref(address);
    }
    g_object_unref(addresses);
    netpath_close(handle);
    if (failure) {
        g_propagate_error(error, failure);
        return FALSE;
    }
    if (!is_reachable) {
        gint code = is_available ? G_IO_ERROR_HOST_UNREACHABLE : G_IO_ERROR_NETWORK_UNREACHABLE;
        g_set_error_literal(error, G_IO_ERROR, code, is_available ? "Host unreachable" : "Network unreachable");
    }
    return is_reachable;
}

static void run_can_reach(GTask *task, gpointer self, gpointer host, GCancellable *cancellable)
{
    GError *error = NULL;
    if (can_reach(self, host, cancellable, &error)) g_task_return_boolean(task, TRUE);
    else g_task_return_error(task, error);
}

static void can_reach_async(GNetworkMonitor *self, GSocketConnectable *host, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
    GTask *task = g_task_new(self, cancellable, callback, data);
    g_task_set_task_data(task, g_object_ref(host), g_object_unref);
    g_task_run_in_thread(task, run_can_reach);
    g_object_unref(task);
}

static gboolean can_reach_finish(GNetworkMonitor *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);
    return g_task_propagate_boolean(G_TASK(result), error);
}

static void network_monitor(GNetworkMonitorInterface *interface)
{
    interface->can_reach = can_reach;
    interface->can_reach_async = can_reach_async;
    interface->can_reach_finish = can_reach_finish;
}

/* MARK: The type and the module */

static void netpath_monitor_init(NetpathMonitor *monitor)
{
    g_mutex_init(&monitor->mutex);
    monitor->state = state_of(&(struct netpath_path){0});
}

static void finalize(GObject *object)
{
    NetpathMonitor *monitor = (NetpathMonitor *)object;
    if (monitor->source) {
        g_source_destroy(monitor->source);
        g_source_unref(monitor->source);
    }
    netpath_close(monitor->handle);
    g_mutex_clear(&monitor->mutex);
    G_OBJECT_CLASS(netpath_monitor_parent_class)->finalize(object);
}

static void netpath_monitor_class_init(NetpathMonitorClass *class)
{
    class->get_property = get_property;
    class->finalize = finalize;
    g_object_class_override_property(class, AVAILABLE, "network-available");
    g_object_class_override_property(class, METERED, "network-metered");
    g_object_class_override_property(class, CONNECTIVITY, "connectivity");
}

static void netpath_monitor_class_finalize(NetpathMonitorClass *class)
{
    (void)class;
}

G_MODULE_EXPORT void g_io_module_load(GIOModule *module)
{
    /* Its type stays known to GLib, so its code stays, too. */
    g_type_module_use(G_TYPE_MODULE(module));
    netpath_monitor_register_type(G_TYPE_MODULE(module));
    g_io_extension_point_implement(
        G_NETWORK_MONITOR_EXTENSION_POINT_NAME, netpath_monitor_get_type(), "netpath", PRIORITY);
}

G_MODULE_EXPORT void g_io_module_unload(GIOModule *module)
{
    (void)module;
}

G_MODULE_EXPORT gchar **g_io_module_query(void)
{
    gchar *points[] = {(gchar *)G_NETWORK_MONITOR_EXTENSION_POINT_NAME, NULL};
    return g_strdupv(points);
}

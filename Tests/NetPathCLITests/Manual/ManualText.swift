// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What the manual page says that no command's help does.
enum ManualText {
    static let description = [
        """
        netpath says whether this machine has a path to the network, through which interfaces, and why (not). It asks \
        the kernel what it would do with a packet to the internet, and sends nothing.
        """,
        """
        A path is satisfied when for at least one of IPv4 and IPv6 the kernel would route such packets through a usable \
        interface with a usable source address. It is requiresConnection when it is not, but a step is pending or can \
        be started: authentication, address configuration, a Wi-Fi network to join, a modem to connect. Otherwise it \
        is unsatisfied. Each comes with the reason.
        """,
        """
        Data goes to standard output, messages to standard error. The exit status is the answer.
        """,
    ]

    static let environment = [
        ("NETPATH_CONFIG", "The configuration file, when --config names none."),
        ("NETPATH_SET", "Values that replace those of the configuration, as --set does, with ';' between them."),
        ("XDG_CONFIG_HOME", "Where netpath/netpath.yaml is looked for next; $HOME/.config when unset."),
        ("HOME", "Used when XDG_CONFIG_HOME is unset."),
        ("XDG_RUNTIME_DIR", "The socket of a user's 'netpath run' is in netpath below it."),
        ("XDG_STATE_HOME", "The recording of a user's 'netpath run' is in netpath below it, or ~/.local/state."),
        (
            "RUNTIME_DIRECTORY",
            "Set by the service manager (systemd.exec(5)): in /run, netpath is a service of the system, and reads /etc/netpath alone."
        ),
        (
            "STATE_DIRECTORY",
            "Set with it: where 'netpath run' records. Both name the folders of a service, also for the commands that ask it."
        ),
        ("NOTIFY_SOCKET", "Where 'netpath run' tells the service manager how it is doing (sd_notify(3))."),
        ("WATCHDOG_USEC", "How often the service manager wants to hear from 'netpath run'."),
        ("WATCHDOG_PID", "The process that it wants to hear from."),
        ("JOURNAL_STREAM", "Whether standard error of 'netpath run' is the journal, which takes priorities."),
        ("NETPATH_QUEUE", "The file of the requests, when --queue names none."),
        (
            "PATH",
            "Where netpath-http, netpath-plugin, netpath-queue and netpath-serve are looked for when they are not beside netpath."
        ),
        ("NO_COLOR", "When set and not empty, --color auto means never."),
        ("TERM", "When it is unset, empty or dumb, --color auto means never."),
    ]

    static let files = [
        ("$XDG_CONFIG_HOME/netpath/netpath.yaml", "The user's configuration."),
        ("/etc/netpath/netpath.yaml", "The system's configuration, read when the user has none."),
        ("/etc/netpath/hooks.d", "Programs that the system's 'netpath run' runs when the status changes."),
        ("/usr/local/lib/netpath", "The place for programs of your own that the configuration names."),
        ("/run/netpath", "The socket of the system's 'netpath run'; a user's is in $XDG_RUNTIME_DIR/netpath."),
        (
            "/var/lib/netpath",
            "Its recording and its last good configuration; a user's are in $XDG_STATE_HOME/netpath, or ~/.local/state/netpath."
        ),
        ("/etc/resolv.conf", "The name servers that are shown."),
        ("/run/systemd/resolve/resolv.conf", "Those that the stub of systemd-resolved forwards to."),
        ("/run/NetworkManager/no-stub-resolv.conf", "Those that the dnsmasq of NetworkManager forwards to."),
        (
            "$XDG_DATA_HOME/netpath/requests/netpath.sqlite",
            "The requests that wait; ~/.local/share when the variable is unset."
        ),
    ]

    static let examples = [
        ("Wait until there is a path:", "netpath wait"),
        ("The address of the gateway in use:", "netpath --field gateways.0.address"),
        ("Each change as JSON:", "netpath watch --json --changes-only | jq -c '[.status, .reason.code]'"),
        (
            "Wait for the next change, but not longer than a minute:",
            "netpath watch --changes-only --count 1 --timeout 1m"
        ),
        (
            "Store and forward: the measurement is on disk when this returns, and goes out when there is a path:",
            "read_sensor | netpath send -d - --key sensor1 https://example.net/measurements"
        ),
        ("Send what waits, and end:", "netpath queue run --until-empty"),
    ]
}

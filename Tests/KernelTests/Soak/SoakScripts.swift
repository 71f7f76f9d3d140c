// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The programs that run beside the service.
enum SoakScripts {
    /// Writes what the service publishes.
    static let follower = """
        use Socket; $| = 1;
        socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die;
        connect($s, sockaddr_un($ARGV[0])) or die "cannot connect: $!";
        syswrite($s, qq({"request":"watch"}\\n));
        while (sysread($s, my $bytes, 65536)) { print $bytes }
        """

    /// Clients that ask and do not read: how many, of which socket, and what.
    static let clients = """
        use Socket; $SIG{PIPE} = 'IGNORE'; my @all;
        for (1 .. $ARGV[0]) {
            socket(my $s, PF_UNIX, SOCK_STREAM, 0) or last;
            connect($s, sockaddr_un($ARGV[1])) or next;
            syswrite($s, $ARGV[2]); push @all, $s;
        }
        sleep 3600;
        """

    /// What a plugin can do wrong; it goes on by the word in a file.
    static let moods = ["end", "crash", "garbage", "flood", "endless", "silent", "stubborn", "leaving"]

    static func plugin(in folder: String) -> String {
        """
        echo '{"netpath":1,"heartbeat":2}'
        echo '{"unavailable":"there is nothing to go by"}'
        while read -r mood <\(folder)/plugin-mood; do
            case $mood in
                end) exit 3 ;;
                crash) kill -SEGV $$ ;;
                garbage) head -c 1000 /dev/urandom; echo ;;
                flood) yes '{"heartbeat":true}' | head -n 5000 ;;
                endless) head -c 2000000 /dev/zero ;;
                silent) sleep 30 ;;
                stubborn) trap '' TERM; sleep 3; exit 1 ;;
                leaving) sleep 1000 & ;;
                *) echo '{"heartbeat":true}' ;;
            esac
            sleep 0.3
        done

        """
    }

    /// What a hook can do wrong.
    static let hookMoods = ["fails", "hangs", "leaves", "floods"]

    static func hook(in folder: String) -> String {
        """
        read -r mood <\(folder)/hook-mood
        case $mood in
            fails) exit 1 ;;
            hangs) sleep 1000 ;;
            leaves) sleep 1000 & exit 0 ;;
            floods) yes | head -n 100000 ;;
        esac

        """
    }
}

/// A configuration of the service.
enum SoakConfiguration: CaseIterable, Sendable {
    /// What it measures itself by.
    case usual
    /// Other numbers, so that backends and hooks are others.
    case other
    /// Without what is not needed.
    case small
    /// Text that is no configuration, and one that says what cannot be.
    case broken
    case refused

    /// A text as one of YAML.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n"))\""
    }

    func text(_ options: String, folder: String) -> String {
        let netlink = "{type: netlink, \(options)"
        let sysfs = "{type: sysfs, mode: standby, \(options)"
        let plugin = "{type: exec, name: plugin, command: [/bin/sh, -c, \(Self.quoted(SoakScripts.plugin(in: folder)))]"
        let hook = "command: [/bin/sh, -c, \(Self.quoted(SoakScripts.hook(in: folder)))], timeout: 1s, on"
        switch self {
        case .usual:
            return """
                backends: [\(netlink), receiveBuffer: 8192}, \(sysfs)}, \(plugin)}]
                hooks: [{name: told, \(hook): status}, {name: often, \(hook): any}]

                """ + WalkedNetwork.rules
        case .other:
            return """
                backends: [\(netlink), receiveBuffer: 2048}, \(sysfs), interval: 1s}, \(plugin), heartbeat: 3s},
                    {type: tcpProbe, targets: ["192.0.2.77:443", "no.such.host.invalid:80"], timeout: 200ms, interval: 1s}]
                hooks: [{name: often, \(hook): interface, retries: 2}, {name: other, \(hook): dispatcher}]
                grace: 10s

                """ + WalkedNetwork.rules
        case .small: return "backends: [\(netlink)}, \(sysfs)}]\n" + WalkedNetwork.rules
        case .broken: return "backends: [{type: netlink\nhooks: ]]"
        case .refused: return "backends: [\(netlink)}]\ngrace: soon\nnonsense: [1]\n"
        }
    }
}

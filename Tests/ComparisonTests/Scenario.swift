// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathTestKit
import Testing

/// A row of the table: what happens to a working network, and what each column says then.
///
/// What the merged columns say follows from the backends' own words by the merge's rules, and is given only where they
/// do not: with an opinion of the netlink backend its word is the merged one.
struct Scenario: Sendable {
    /// When the monitors are started.
    enum Approach: Sendable {
        /// Before the change, on a working path, and others after it: the events and the snapshot must agree.
        case both
        /// After the change only.
        case atStart
    }

    /// What happens, in the documentation's words.
    let title: String
    /// What there is before.
    let world: Stage.World
    let approach: Approach
    /// How the monitors are started.
    let launcher: Launcher
    /// What the machine has to offer besides namespaces.
    let need: Need?
    /// Whether nothing may be published while it happens but the status there was.
    let isSteady: Bool
    /// What each backend says of itself.
    let words: [Column: Cell]
    /// What the merged columns say.
    let merged: Cell
    let required: Cell
    /// Why the columns may rightly differ.
    let why: String
    /// A part of what sysfs says it has to do without.
    let limitation: String?
    /// What is set up besides the world; the path works afterwards.
    let prepare: @Sendable (Stage) throws -> Void
    /// What happens.
    let change: @Sendable (Stage) throws -> Void

    init(
        _ title: String,
        in world: Stage.World = .ipv4,
        _ approach: Approach = .both,
        by launcher: Launcher = .plain,
        needs need: Need? = nil,
        steady isSteady: Bool = false,
        netlink: Cell,
        sysfs: Cell? = nil,
        probe: Cell,
        merged: Cell? = nil,
        required: Cell? = nil,
        why: String = "",
        limitation: String? = nil,
        prepare: @escaping @Sendable (Stage) throws -> Void = { _ in },
        change: @escaping @Sendable (Stage) throws -> Void
    ) {
        self.title = title
        self.world = world
        self.approach = approach
        self.launcher = launcher
        self.need = need ?? launcher.need
        self.isSteady = isSteady
        self.words = [.netlink: netlink, .sysfs: sysfs ?? netlink, .tcpProbe: probe]
        self.merged = merged ?? netlink
        self.required = required ?? (netlink == .routed && probe == .unanswered ? .unanswered : self.merged)
        self.why = why
        self.limitation = limitation
        self.prepare = prepare
        self.change = change
    }

    /// What a column is expected to say.
    func cell(_ column: Column) -> Cell {
        switch column {
        case .merged: self.merged
        case .required: self.required
        case .netlink, .sysfs, .tcpProbe: self.words[column] ?? .silent
        }
    }

    /// Whether a person is told why there is no path, and what would help.
    var needsAdvice: Bool { self.words[.netlink]?.status.map { $0 != .satisfied } ?? false }

    /// Whether the columns see different things, which needs a reason.
    var differs: Bool {
        // A probe knows yes and no only.
        let isOnline = { self.words[$0]?.status == .satisfied }
        return self.words[.netlink] != self.words[.sysfs] || isOnline(.tcpProbe) != isOnline(.netlink)
    }
}

extension Scenario: CustomTestStringConvertible {
    var testDescription: String { self.title }
}

/// What not every machine has.
enum Need: String, Sendable {
    case tun = "/dev/net/tun"
    case vrf = "a kernel with VRF"
    case x86 = "an x86-64 processor"

    /// Whether this machine has it; tried once.
    var isMet: Bool {
        switch self {
        case .tun: TunDevice.isAvailable
        case .vrf: Self.hasVRF
        case .x86:
            #if arch(x86_64)
            true
            #else
            false
            #endif
        }
    }

    private static let hasVRF = (try? NetworkNamespace().ip("link add vrf0 type vrf table 10")) != nil
}

/// How a monitor is started.
enum Launcher: Sendable {
    /// Just so.
    case plain
    /// In a sandbox that refuses netlink sockets.
    case withoutNetlink
    /// With monotonic and boot clocks that are ten days ahead of everybody else's.
    case otherClocks

    /// The words before the program.
    var words: [String] {
        switch self {
        case .plain: []
        case .otherClocks:
            ["unshare", "--time", "--monotonic", "864000", "--boottime", "864000", "--fork", "--kill-child"]
        case .withoutNetlink: ["perl", "-e", Self.sandbox]
        }
    }

    var need: Need? {
        if case .withoutNetlink = self { .x86 } else { nil }
    }

    /// A seccomp filter that answers EPERM to socket(AF_NETLINK, …) on x86-64, then the program.
    private static let sandbox = """
        my @filter = ([0x20,0,0,0], [0x15,0,3,41], [0x20,0,0,16], [0x15,0,1,16], [6,0,0,0x50001], [6,0,0,0x7fff0000]);
        my $code = join "", map { pack("SCCL", @$_) } @filter;
        syscall(157, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
        my $program = pack("Sx6P", scalar(@filter), $code);
        syscall(157, 22, 2, $program) == 0 or die "seccomp: $!";
        exec @ARGV;
        """
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What happens to a working network, and what each backend says then.
///
/// One of your own:
///
/// ```swift
/// Scenario("the modem hangs up", netlink: .no(.noCarrier)) { try $0.wan.setPeerCarrier(false) }
/// ```
///
/// What the merged columns say follows from the backends' own words by the merge's rules, and is given only where they
/// do not: with a verdict of the netlink backend its word is the merged one.
public struct Scenario: Sendable {
    /// When the monitors are started.
    public enum Approach: Sendable {
        /// Before the change, on a working path, and others after it: the events and the snapshot must agree.
        case both
        /// After the change only.
        case atStart
    }

    /// What happens, in the documentation's words.
    public let title: String
    /// What there is before.
    public let world: ScenarioStage.World
    /// When the monitors are started.
    public let approach: Approach
    /// How the monitors are started.
    package private(set) var launcher = Launcher.plain
    /// What the machine has to offer besides namespaces.
    package private(set) var need: Need?
    /// Whether nothing may be published while it happens but the status there was.
    public let isSteady: Bool
    /// What each column is expected to say.
    package private(set) var words: [ScenarioColumn: ScenarioCell]
    /// Why the columns may rightly differ.
    public let why: String
    /// A part of what sysfs says limits it.
    package private(set) var limitation: String?
    /// What is set up besides the world; the path works afterwards.
    package let prepare: @Sendable (ScenarioStage) throws -> Void
    /// What happens.
    package let change: @Sendable (ScenarioStage) throws -> Void

    /// Describes a scenario; the titles of those that are played together differ.
    ///
    /// - Parameters:
    ///   - title: What happens, in a few words without a vertical bar.
    ///   - world: What there is before: an uplink wan0 with a path to the internet.
    ///   - approach: When the monitors are started.
    ///   - isSteady: Whether nothing may be published while it happens but the status there was.
    ///   - netlink: What the netlink backend says then.
    ///   - sysfs: What the sysfs backend says; the same unless named.
    ///   - probe: What the tcpProbe backend says; a target answers where netlink says `routed`, unless named.
    ///   - why: Why they may rightly differ, where they do: another backend may differ likewise.
    ///   - prepare: What is set up besides; the path works afterwards.
    ///   - change: What happens. It blocks until it has.
    public init(
        _ title: String,
        in world: ScenarioStage.World = .ipv4,
        _ approach: Approach = .both,
        steady isSteady: Bool = false,
        netlink: ScenarioCell,
        sysfs: ScenarioCell? = nil,
        probe: ScenarioCell? = nil,
        why: String = "",
        prepare: @escaping @Sendable (ScenarioStage) throws -> Void = { _ in },
        change: @escaping @Sendable (ScenarioStage) throws -> Void
    ) {
        self.title = title
        self.world = world
        self.approach = approach
        self.isSteady = isSteady
        let probe = probe ?? (netlink == .routed ? .answered : .unanswered)
        self.words = [
            .netlink: netlink, .sysfs: sysfs ?? netlink, .tcpProbe: probe, .merged: netlink,
            .required: netlink == .routed && probe == .unanswered ? .unanswered : netlink,
        ]
        self.why = why
        self.prepare = prepare
        self.change = change
    }

    /// The same with what only the project's own have.
    ///
    /// - Parameters:
    ///   - launcher: How the monitors are started.
    ///   - need: What the machine has to offer besides namespaces.
    ///   - merged: What the merged columns say, where that is not netlink's word.
    ///   - limitation: A part of what sysfs says limits it.
    /// - Returns: The scenario.
    func with(
        launcher: Launcher = .plain,
        need: Need? = nil,
        merged: ScenarioCell? = nil,
        limitation: String? = nil
    ) -> Scenario {
        var scenario = self
        scenario.launcher = launcher
        scenario.need = need ?? launcher.need
        if let merged { scenario.words.merge([.merged: merged, .required: merged]) { $1 } }
        scenario.limitation = limitation
        return scenario
    }

    /// What a column is expected to say.
    package func cell(_ column: ScenarioColumn) -> ScenarioCell { self.words[column] ?? .silent }

    /// Whether a person is told why there is no path, and what would help.
    package var needsAdvice: Bool { self.words[.netlink]?.status.map { $0 != .satisfied } ?? false }

    /// Whether the columns see different things, which needs a reason.
    package var differs: Bool {
        // A probe knows yes and no only.
        let isOnline = { self.words[$0]?.status == .satisfied }
        return self.words[.netlink] != self.words[.sysfs] || isOnline(.tcpProbe) != isOnline(.netlink)
    }
}

extension Scenario: CustomStringConvertible {
    /// Its title.
    public var description: String { self.title }
}

/// What not every machine has.
package enum Need: String, Sendable {
    case tun = "/dev/net/tun"
    case vrf = "a kernel with VRF"
    case x86 = "an x86-64 processor"

    /// Whether this machine has it; tried once.
    package var isMet: Bool {
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
package enum Launcher: Sendable {
    /// Just so.
    case plain
    /// In a sandbox that refuses netlink sockets.
    case withoutNetlink
    /// With monotonic and boot clocks that are ten days ahead of everybody else's.
    case otherClocks

    /// The words before the program.
    package var words: [String] {
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A machine's network as some software makes it, and what happens to it.
struct Setup: Sendable {
    /// The software and what it makes, in the words of its documentation.
    let title: String
    /// The links that lead out of the machine.
    let uplinks: [Uplink]
    /// The rules of the configuration (`interfaces:`), as YAML; empty for the embedded default.
    let rules: String
    /// What is made after the uplinks are connected and before the monitor starts.
    let prepare: [Command]
    let steps: [Step]
    /// Whether it was made at random, so that a stated doubt is never wrong.
    var isRandom = false

    init(
        _ title: String,
        uplinks: [Uplink] = [],
        rules: String = "",
        prepare: [Command] = [],
        steps: [Step]...
    ) {
        self.title = title
        self.uplinks = uplinks
        self.rules = rules
        self.prepare = prepare
        self.steps = steps.flatMap { $0 }
    }
}

/// Something that happens to the machine's network.
struct Step: Sendable {
    let title: String
    let commands: [Command]
    /// Whether there is a path all the time, so that nothing else may be published meanwhile.
    let isSteady: Bool
    /// Why neither a route nor a neighbour tells what the datagrams tell; such a step is counted apart.
    var untold: String?

    init(_ title: String, _ commands: Command..., steady isSteady: Bool = false, untold: String? = nil) {
        self.init(title, commands, steady: isSteady, untold: untold)
    }

    init(_ title: String, _ commands: [Command], steady isSteady: Bool = false, untold: String? = nil) {
        self.title = title
        self.commands = commands
        self.isSteady = isSteady
        self.untold = untold
    }
}

extension [Step] {
    /// Says that neither a route nor a neighbour tells what the datagrams tell after a step.
    ///
    /// - Parameters:
    ///   - reason: Why.
    ///   - title: The step's title.
    /// - Returns: The steps.
    func untold(_ reason: String, after title: String) -> [Step] {
        self.map { step in
            var step = step
            if step.title == title { step.untold = reason }
            return step
        }
    }
}

extension Setup: CustomStringConvertible {
    /// Every command, for whoever has to find out what went wrong.
    var description: String {
        func line(_ title: String, _ commands: [Command]) -> String {
            "    \(title): \(commands.map { "\($0)" }.joined(separator: "; "))"
        }
        return ([line("before", self.prepare)] + self.steps.map { line($0.title, $0.commands) }).joined(separator: "\n")
    }
}

/// What changes a network.
///
/// A text is a command of `ip`, without this word, on the machine under test.
enum Command: Sendable, ExpressibleByStringLiteral {
    /// A command of `ip` on the machine under test.
    case host(String)
    /// A command of `sh` on the machine under test.
    case shell(String)
    /// An interface of this name appears, with a cable, and is up.
    case connect(String)
    /// An interface of this name appears, without a cable, and is up.
    case add(String)
    /// The cable of this uplink is plugged in.
    case plugIn(String)
    /// The cable of this uplink is unplugged.
    case unplug(String)
    /// The program that holds the tunnel starts, and configures the machine.
    case start(Tunnel)
    /// The same, but the program's socket stays in a namespace of its own, with an uplink.
    case startElsewhere(Tunnel)
    /// The program of the tunnel of this name ends, and its interface with it.
    case stop(String)

    init(stringLiteral value: String) { self = .host(value) }

    /// A kernel parameter, by its name below `/proc/sys/net`.
    static func parameter(_ name: String, _ value: Int) -> Command { .shell("echo \(value) >/proc/sys/net/\(name)") }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// Scenarios about one subject.
package struct ScenarioSection: Sendable {
    /// The subject.
    package let title: String
    /// What holds for all of its rows.
    package let note: String
    /// The scenarios.
    package let rows: [Scenario]
}

/// The scenarios that the project plays for its own backends, in the order of the documentation.
public enum ScenarioTable: Sendable {
    /// By subject.
    package static let sections = [
        links, stacks, addresses, routes, rejections, pieces, tunnels, uplinks, servers, names, views, disturbances,
    ]

    /// All of them.
    public static var rows: [Scenario] { self.sections.flatMap(\.rows) }

    // Reasons that apply to more than one row.

    static let mainTableOnly = """
        sysfs reads the main table: policy rules and other tables are out of its sight, and a route that it does not \
        find is a partial no
        """
    static let firstRoutesOnly = """
        sysfs reads the first hundred routes or so, among which the default routes are, so that a long table costs \
        nothing; what may lie behind them is unknown
        """
    static let beyond = "beyond the first hop only a packet can tell; the kernel's routes are as they were"

    /// What is routed and lost all the same, as only a probe sees.
    static func lost(
        _ title: String,
        in world: ScenarioStage.World = .ipv4,
        why: String = ScenarioTable.beyond,
        prepare: @escaping @Sendable (ScenarioStage) throws -> Void = { _ in },
        change: @escaping @Sendable (ScenarioStage) throws -> Void
    ) -> Scenario {
        Scenario(title, in: world, netlink: .routed, probe: .unanswered, why: why, prepare: prepare, change: change)
    }
}

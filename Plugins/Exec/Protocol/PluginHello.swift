// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

/// What a plugin says of itself in its first line.
package struct PluginHello: Hashable, Sendable {
    /// The version of the protocol that netpath speaks.
    static let version: Int64 = 1

    /// What it calls itself.
    package var name: String?
    /// Whether it answers refresh requests, with a report or a heartbeat.
    package var answersRefresh = false
    /// Whether it wants to know which hosts clients ask about.
    package var watches = false
    /// How long it is silent at most; nil for as long as it likes.
    package var heartbeat: Duration?

    init(_ node: JSONNode) throws(PluginFault) {
        guard node["netpath"] == .integer(Self.version) else {
            throw PluginFault("uses an unsupported version of the protocol; this netpath supports \(Self.version)")
        }
        self.name = try node.optionalText("name")?.printable(limit: 64)
        let requests = try node.texts("requests", limit: 64)
        self.answersRefresh = requests.contains("refresh")
        self.watches = requests.contains("watch")
        if let seconds = node["heartbeat"] {
            guard case .integer(let number) = seconds, (1...86_400).contains(number)
            else { throw PluginFault("has an invalid heartbeat; it has to be a number of seconds from 1 to 86400") }
            self.heartbeat = .seconds(number)
        }
    }
}

/// What netpath asks of a plugin.
enum PluginRequest: Hashable, Sendable {
    /// The first line, which needs no answer.
    case hello(instance: String, referenceDestinations: [InternetAddress], once: Bool)
    /// Read everything again, and report.
    case refresh
    /// Routes to these hosts matter too.
    case watch([InternetAddress])
    /// End.
    case shutdown

    /// The most hosts that a plugin is told of.
    static let watchLimit = 512

    /// The line, with its line feed.
    var line: [UInt8] {
        func list(_ addresses: some Sequence<InternetAddress>) -> String {
            "[\(addresses.map { "\"\($0)\"" }.joined(separator: ","))]"
        }
        let text =
            switch self {
            case .hello(let instance, let referenceDestinations, let once):
                "{\"netpath\":1,\"instance\":\"\(instance)\",\"referenceDestinations\":\(list(referenceDestinations)),\"once\":\(once)}"
            case .refresh: "{\"request\":\"refresh\"}"
            case .watch(let addresses):
                "{\"request\":\"watch\",\"addresses\":\(list(addresses.prefix(Self.watchLimit)))}"
            case .shutdown: "{\"request\":\"shutdown\"}"
            }
        return Array("\(text)\n".utf8)
    }
}

/// What is wrong with a line, to be read after its number.
struct PluginFault: Error, Hashable, Sendable {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

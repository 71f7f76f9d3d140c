// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathTestKit
import Testing

/// Every suite of delivery tests: runs where namespaces can be made, and fails rather than skips in CI.
extension Trait where Self == ConditionTrait {
    static var needsNamespaces: Self {
        .enabled(if: NetworkNamespace.isAvailableOrRequired, "\(NetworkNamespace.unavailableReason ?? "")")
    }
}

/// A host with one uplink, programs that queue requests, and a server beyond the uplink.
struct Stage {
    /// The server's address, which only the default route leads to.
    static let serverAddress = "198.51.100.7"
    static let origin = "http://\(serverAddress):8080"
    private static let gateway = "192.0.2.1"

    let lab: NetworkNamespace
    let uplink: LabInterface

    init() throws {
        self.lab = try NetworkNamespace()
        self.uplink = try self.lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: Self.gateway)
        try self.lab.runOnFarSide("ip address add \(Self.gateway)/24 dev \(self.farInterface)")
        try self.letPacketsPass()
    }

    /// A file for a queue; the name tells queues of one stage apart.
    func queueFile(_ name: String = "queue") -> String { "\(self.lab.directory)/\(name).sqlite" }

    /// Starts a scenario; the path says what the server does with its requests.
    func start(
        _ scenario: String,
        path: String = "/ok",
        origin: String = Stage.origin,
        file: String? = nil,
        _ options: [String: String] = [:],
        environment: [String: String] = [:]
    ) throws -> MonitorProcess {
        let arguments = [scenario, file ?? self.queueFile(), origin + path]
        return try self.lab.start(
            try MonitorProcess.builtProduct("OfflineScenarios"),
            arguments + options.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] },
            environment: environment
        )
    }

    /// Sends what a file holds with a process of its own, until nothing is left.
    func drain(_ file: String? = nil, timeout: Duration = .seconds(60)) throws {
        let process = try self.start("deliver", file: file, ["pace": "fast"])
        try process.next(timeout: timeout) { $0["empty"] != nil }
        try process.waitForEnd()
    }

    // MARK: What happens to the path

    /// The server's machine has its address: packets arrive.
    func letPacketsPass() throws {
        try self.lab.runOnFarSide("ip address add \(Self.serverAddress)/32 dev \(self.farInterface)")
    }

    /// The server's machine loses its address: packets vanish without a word, while the path stays what it is.
    func losePackets() throws {
        try self.lab.runOnFarSide("ip address del \(Self.serverAddress)/32 dev \(self.farInterface)")
    }

    func addRoute() throws { try self.lab.addDefaultRoute(via: Self.gateway, through: self.uplink) }

    var farInterface: String { self.uplink.peerName ?? "" }
}

/// What SQLite thinks of a file that nobody uses any more.
func integrity(of file: String) throws -> String {
    try DatabaseQueue(path: file).read { database in
        try String.fetchAll(database, sql: "PRAGMA integrity_check").joined(separator: "; ")
    }
}

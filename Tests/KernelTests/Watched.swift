// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A namespace with `netpath watch --json` running in it: the shipped program against the real kernel.
struct Watched {
    let lab: NetworkNamespace
    let monitor: MonitorProcess

    /// Starts the program in a namespace that was prepared, with an optional configuration.
    init(_ lab: NetworkNamespace, configuration: String? = nil) throws {
        self.lab = lab
        var arguments = ["watch", "--json"]
        if let configuration { arguments += ["--config", try Self.write(configuration, in: lab)] }
        self.monitor = try lab.start(Self.program, arguments)
    }

    /// The program under test: the one named by NETPATH_BINARY, else the one built with the tests.
    static var program: String {
        get throws { try MonitorProcess.builtProduct("netpath") }
    }

    /// Whether what cannot run here must fail rather than skip.
    static var isRequired: Bool { ProcessInfo.processInfo.environment["NETPATH_CI"] != nil }

    /// Writes a configuration into the namespace's own folder.
    static func write(_ configuration: String, in lab: NetworkNamespace) throws -> String {
        let path = "\(lab.directory)/netpath-\(UUID().uuidString).yaml"
        try configuration.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Makes changes and waits for the path they must lead to: for less than the 45 s in which an address may still come, or
    /// one that is late would be taken for one that is right.
    @discardableResult
    func expect(
        _ status: String,
        _ reason: String,
        within timeout: Duration = .seconds(40),
        sourceLocation: SourceLocation = #_sourceLocation,
        after changes: () throws -> Void = {}
    ) throws -> JSONLine {
        try changes()
        var seen: [String] = []
        do {
            return try self.monitor.next(timeout: timeout) { line in
                seen.append("\(line["status"]?.string ?? "null")(\(line.reason))")
                return line["status"]?.string == status && line.reason == reason
            }
        } catch {
            let standardError = self.monitor.standardError
            Issue.record(
                "expected \(status)(\(reason)), saw \(seen); \(error)\n\(standardError)",
                sourceLocation: sourceLocation
            )
            throw error
        }
    }
}

extension JSONLine {
    /// The code of the path's reason.
    var reason: String { self["reason"]?["code"]?.string ?? "none" }
    /// The names of the listed interfaces, in order.
    var interfaceNames: [String] { self["interfaces"]?.elements.compactMap { $0["name"]?.string } ?? [] }
    /// The gateways in use.
    var gateways: [String] { self["gateways"]?.elements.compactMap { $0["address"]?.string } ?? [] }
    /// The name servers.
    var dnsServers: [String] { self["dnsServers"]?.elements.compactMap(\.string) ?? [] }
    /// Whether a listed interface has a usable address.
    func holds(_ address: String, _ interface: String) -> Bool {
        self.interface(named: interface)?["addresses"]?.elements.contains(.string(address)) == true
    }
    /// The code of an interface's reason.
    func reason(of interface: String) -> String? {
        self.interface(named: interface)?["reason"]?["code"]?.string
    }
}

/// Every suite of kernel tests: runs where namespaces can be made, and fails rather than skips in CI.
extension Trait where Self == ConditionTrait {
    static var needsNamespaces: Self {
        .enabled(
            if: NetworkNamespace.isAvailableOrRequired,
            "\(NetworkNamespace.unavailableReason ?? "")"
        )
    }
}

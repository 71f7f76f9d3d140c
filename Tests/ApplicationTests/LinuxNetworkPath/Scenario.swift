// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A scenario of Apple-style code that runs in a namespace: the facade against the real kernel.
struct Scenario {
    let lab: NetworkNamespace
    let process: MonitorProcess

    /// Starts a scenario in a namespace that was prepared.
    init(_ arguments: String..., in lab: NetworkNamespace) throws {
        self.lab = lab
        let program = try MonitorProcess.builtProduct("MonitorScenarios")
        self.process = try lab.start(program, ["path-monitor"] + arguments)
    }

    /// Waits for the next line and requires it to be this event.
    @discardableResult
    func next(_ event: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONLine {
        let line = try self.process.next(timeout: .seconds(30))
        #expect(line["event"]?.string == event, "\(line)", sourceLocation: sourceLocation)
        return line
    }

    /// Waits for an event; returns it and those that came before it.
    func lines(
        until event: String,
        where condition: (JSONLine) -> Bool = { _ in true }
    ) throws -> (before: [JSONLine], last: JSONLine) {
        var before: [JSONLine] = []
        while true {
            let line = try self.process.next(timeout: .seconds(60))
            if line["event"]?.string == event, condition(line) { return (before, line) }
            before.append(line)
        }
    }

    /// Waits for the end; everything the scenario checked itself must hold.
    ///
    /// - Returns: What else it said.
    @discardableResult
    func finish(sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSONLine] {
        let lines = try self.lines(until: "done").before
        let checks = lines.filter { $0["event"]?.string == "check" }
        for check in checks {
            #expect(check["holds"]?.bool == true, "\(check["name"]?.string ?? "")", sourceLocation: sourceLocation)
        }
        return lines.filter { $0["event"]?.string != "check" }
    }
}

extension JSONLine {
    var status: String { self["status"]?.string ?? "none" }
    /// One line as `debugDescription` gives it.
    var pathText: String { self["text"]?.string ?? "none" }

    func strings(_ name: String) -> [String] { self[name]?.elements.compactMap(\.string) ?? [] }
}

extension NetworkNamespace {
    /// A namespace with one uplink that carries the path.
    static func online(metric: Int? = nil) throws -> (lab: NetworkNamespace, wan: LabInterface) {
        let lab = try NetworkNamespace(resolverConfiguration: "nameserver 192.0.2.53\n")
        let wan = try lab.addUplink("wan0", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", metric: metric)
        return (lab, wan)
    }
}

/// Every suite here: runs where namespaces can be made, and fails rather than skips in CI.
extension Trait where Self == ConditionTrait {
    static var needsNamespaces: Self {
        .enabled(
            if: NetworkNamespace.isAvailableOrRequired,
            "\(NetworkNamespace.unavailableReason ?? "")"
        )
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit

/// Why a walk failed.
struct WalkFailure: Error, CustomStringConvertible {
    var description: String
}

/// Takes walks in real namespaces, with the program under test looking on.
struct WalkRunner {
    /// The backends of the configuration, as YAML, given the options that every one of them gets.
    let backends: @Sendable (_ options: String) -> String

    /// Takes a walk to its end.
    ///
    /// - Throws: ``WalkFailure`` where the program and the model disagree, or the program and one that starts after the
    ///   step; ``LabError`` where the kernel and the model do, or the program ended.
    func take(_ walk: Walk) throws {
        var network = try WalkedNetwork(
            ignoresRoutesWithoutCarrier: walk.preparation.model.ignoresRoutesWithoutCarrier
        )
        defer { network.lab.close() }
        try network.take(walk.preparation)
        let configuration = "\(network.lab.directory)/netpath.yaml"
        try (self.backends("resolvConf: \(network.resolverFile)") + WalkedNetwork.rules)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let program = try WalkEnvironment.program
        let monitor = try network.lab.start(program, ["watch", "--json", "--config", configuration])
        let fresh = FreshLook(in: network.lab, of: program, configuration: configuration)
        for (number, step) in ([walk.preparation] + walk.steps).enumerated() {
            if number > 0 { try network.take(step) }
            let line: JSONLine
            do {
                line = try network.settled(monitor, within: WalkEnvironment.patience)
            } catch {
                throw WalkFailure(description: "after step \(number): \(error)")
            }
            guard step.model.allows(ExpectedVerdict(line.value)) else {
                throw WalkFailure(
                    description: "after step \(number) the program says\n\(line.text)\nand the model "
                        + "\(step.model.verdict)"
                )
            }
            let comparison = try fresh.compare(with: line, remembering: .formerPath) {
                try network.settled(monitor, within: WalkEnvironment.patience)
            }
            if case .differs = comparison {
                throw WalkFailure(description: "after step \(number): \(comparison)")
            }
        }
        // What a sanitizer finds makes this status another one.
        let status = try monitor.stop()
        guard status == 0, !monitor.standardError.contains("Sanitizer") else {
            throw WalkFailure(description: "the program ended with \(status): \(monitor.standardError)")
        }
    }
}

extension ExpectedVerdict {
    /// What a path's document says, as far as the model predicts it.
    init(_ document: JSONValue) {
        self.init(
            status: document["status"]?.string ?? "null",
            reason: document["reason"]?["code"]?.string ?? "none",
            hasIPv4: document["supportsIPv4"]?.bool ?? false,
            hasIPv6: document["supportsIPv6"]?.bool ?? false,
            egress: document["interfaces"]?.elements
                .filter { $0["reason"]?["code"] == "routed" }
                .compactMap { $0["name"]?.string } ?? []
        )
    }
}

/// How many walks, which, and of which program.
enum WalkEnvironment {
    private static func value(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// The program under test: the one named by NETPATH_BINARY, else the one built with the tests.
    static var program: String {
        get throws { try MonitorProcess.builtProduct("netpath") }
    }

    /// Whether the program under test is one that was built apart from the tests.
    static var isReleaseProgram: Bool { Self.value("NETPATH_BINARY") != nil }

    /// The seeds: NETPATH_WALKS (100) of them, or the one of NETPATH_WALK_SEED.
    static var seeds: ClosedRange<UInt64> {
        if let seed = Self.value("NETPATH_WALK_SEED").flatMap(UInt64.init) { return seed...seed }
        return 1...max(1, Self.value("NETPATH_WALKS").flatMap(UInt64.init) ?? 100)
    }

    /// The seeds of as many chaotic runs as NETPATH_CHAOS_CYCLES (200) asks for, or the one of NETPATH_WALK_SEED.
    static func chaosSeeds(cyclesPerRun: Int) -> ClosedRange<UInt64> {
        if let seed = Self.value("NETPATH_WALK_SEED").flatMap(UInt64.init) { return seed...seed }
        let cycles = Self.value("NETPATH_CHAOS_CYCLES").flatMap { Int($0) } ?? 200
        return 1...UInt64(max(1, cycles / cyclesPerRun))
    }

    /// The seeds of the walks with datagrams: of each kind a fifth of ``seeds``, since their steps take longer.
    static var datagramSeeds: ClosedRange<UInt64> {
        let seeds = Self.seeds
        return seeds.count == 1 ? seeds : 1...max(1, seeds.upperBound / 5)
    }

    /// How long a program may take to show a mark: far longer than any takes that works.
    static let patience: Duration = .seconds(60)
}

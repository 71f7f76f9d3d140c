// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathTestKit
import Testing

/// How a program and everything that it started are made to stand still, while their clocks go on.
enum Standstill: String, CaseIterable, Sendable {
    /// SIGSTOP and SIGCONT: of the program alone.
    case signal
    /// The freezer of cgroups, as `docker pause` and `systemctl freeze` use it.
    case freezer

    /// Those that this machine has.
    static let available: [Standstill] = {
        if Freezer.parent != nil { return allCases }
        print("skipped: no cgroup can be frozen here, so that standing still is tried with SIGSTOP alone")
        return [.signal]
    }()
}

/// A cgroup of version 2 that can be frozen.
final class Freezer {
    /// Where one can be made; nil where none can.
    static let parent: String? = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].first { folder in
        guard FileManager.default.fileExists(atPath: "\(folder)/cgroup.controllers"),
            let freezer = try? Freezer(in: folder)
        else { return false }
        return FileManager.default.fileExists(atPath: "\(freezer.folder)/cgroup.freeze")
    }

    private let folder: String

    init(in parent: String) throws {
        self.folder = "\(parent)/netpath-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
    }

    deinit { unsafe rmdir(self.folder) }

    /// Takes a process with all that it has started.
    func take(_ process: Int32) throws {
        try self.write("\(process)", to: "cgroup.procs")
        let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        for child in (text ?? "").split(separator: " ").compactMap({ Int32($0) }) { try self.take(child) }
    }

    /// Freezes everything, and returns when nothing moves any more.
    func freeze() throws {
        try self.write("1", to: "cgroup.freeze")
        let deadline = ContinuousClock.now + .seconds(60)
        while try !String(contentsOfFile: "\(self.folder)/cgroup.events", encoding: .utf8).contains("frozen 1") {
            try #require(ContinuousClock.now < deadline, "the cgroup does not freeze")
            usleep(1_000)
        }
    }

    func thaw() throws { try self.write("0", to: "cgroup.freeze") }

    /// Written in one piece, and to the file itself.
    private func write(_ text: String, to name: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: "\(self.folder)/\(name)"))
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }
}

/// A program that can be made to stand still.
struct Stander {
    let process: MonitorProcess
    private let freezer: Freezer?

    init(_ process: MonitorProcess, by standstill: Standstill) throws {
        self.process = process
        guard standstill == .freezer, let parent = Freezer.parent else {
            self.freezer = nil
            return
        }
        let freezer = try Freezer(in: parent)
        try freezer.take(process.processIdentifier)
        self.freezer = freezer
    }

    /// Does something while the program stands still.
    ///
    /// - Returns: When it was let go.
    @discardableResult
    func standing(_ body: () throws -> Void) throws -> ContinuousClock.Instant {
        if let freezer { try freezer.freeze() } else { self.process.sendSignal(.suspend) }
        let result = Result { try body() }
        let now = ContinuousClock.now
        if let freezer { try freezer.thaw() } else { self.process.sendSignal(.resume) }
        try result.get()
        return now
    }
}

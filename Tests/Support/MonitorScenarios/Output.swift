// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Network
import Synchronization

private let outputLock = Mutex(())

/// Writes one line of JSON.
func say(_ event: String, _ fields: [String: Any] = [:]) {
    var object = fields
    object["event"] = event
    guard var line = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys) else { return }
    line.append(UInt8(ascii: "\n"))
    outputLock.withLock { _ in FileHandle.standardOutput.write(line) }
}

/// Writes a line at once, though the output is a pipe.
func write(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// Writes whether something is as it must be.
func check(_ name: String, _ holds: Bool) {
    say("check", ["name": name, "holds": holds])
}

/// Writes what a path says in public.
func say(_ event: String, _ path: NWPath, _ more: [String: Any] = [:]) {
    let types: [NWInterface.InterfaceType] = [.wifi, .cellular, .wiredEthernet, .loopback, .other]
    let fields: [String: Any] = [
        "status": "\(path.status)",
        "reason": "\(path.unsatisfiedReason)",
        "available": path.availableInterfaces.map(\.name),
        "types": path.availableInterfaces.map { "\($0.type)" },
        "uses": types.filter(path.usesInterfaceType).map { "\($0)" },
        "ipv4": path.supportsIPv4,
        "ipv6": path.supportsIPv6,
        "dns": path.supportsDNS,
        "gateways": path.gateways.map { "\($0)" },
        "text": "\(path)",
    ]
    say(event, fields.merging(more) { $1 })
}

/// What the process has open, and how much memory it uses.
///
/// Measured when the last monitors have gone, and their threads with them, which takes its time on a busy machine.
func resources() -> [String: Int] {
    var (last, now): ([String: Int], [String: Int]) = ([:], measureResources())
    while last["descriptors"] != now["descriptors"] || last["threads"] != now["threads"] {
        Thread.sleep(forTimeInterval: 0.3)
        (last, now) = (now, measureResources())
    }
    return now
}

func measureResources() -> [String: Int] {
    let files = FileManager.default
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let resident = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?.filter(\.isNumber)
    return [
        "descriptors": (try? files.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1,
        "threads": (try? files.contentsOfDirectory(atPath: "/proc/self/task").count) ?? -1,
        "memoryKiB": resident.flatMap { Int($0) } ?? -1,
    ]
}

/// Waits until something holds that no event tells of; false when it does not within the limit.
func eventually(within limit: TimeInterval = 30, _ condition: () -> Bool) -> Bool {
    let end = Date().addingTimeInterval(limit)
    while !condition() {
        if Date() > end { return false }
        Thread.sleep(forTimeInterval: 0.005)
    }
    return true
}

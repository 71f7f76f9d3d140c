// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Lets the sysfs backend look as often as the argument says, alone in this process, and prints what that cost as JSON.

import Foundation
import NetPath

@testable import NetPathSysfs

/// Resident memory in KiB, and open descriptors.
func footprint() throws -> (memory: Int, descriptors: Int) {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? -1, descriptors)
}

func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100
let clock = SystemMonotonicClock()
let session = SysfsSession(options: SysfsMonitor.Options(), queries: try InterfaceQueries(), clock: clock)
// Written to from the beginning, so that its own pages are no growth.
var times = [Duration](repeating: .seconds(1), count: count)
let start = clock.now()
var last = try session.look().0
let first = clock.now() - start
// What the allocator keeps is not what a pass leaves behind.
for _ in 0..<(count / 10) { last = try session.look().0 }
let before = try footprint()
for number in 0..<count {
    let start = clock.now()
    last = try session.look().0
    times[number] = clock.now() - start
}
let after = try footprint()
times.sort()
let routes = last.representatives.filter { if case .route = $0.answer { true } else { false } }.count
print(
    """
    {"optimized":\(!_isDebugAssertConfiguration()),"interfaces":\(last.interfaces?.count ?? -1),"routes":\(routes),\
    "firstMicroseconds":\(microseconds(first)),"medianMicroseconds":\(microseconds(times[count / 2])),\
    "p99Microseconds":\(microseconds(times[count * 99 / 100])),"maxMicroseconds":\(microseconds(times[count - 1])),\
    "memoryKiB":[\(before.memory),\(after.memory)],"descriptors":[\(before.descriptors),\(after.descriptors)]}
    """
)

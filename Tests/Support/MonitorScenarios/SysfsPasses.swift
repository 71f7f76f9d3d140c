// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSysfs

/// Resident memory in KiB, and open descriptors.
private func footprint() -> (memory: Int, descriptors: Int) {
    var pages = 0
    if let file = unsafe fopen("/proc/self/statm", "r") {
        var line = [CChar](repeating: 0, count: 128)
        _ = unsafe fgets(&line, Int32(line.count), file)
        _ = unsafe fclose(file)
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 }, as: UTF8.self)
        let words = text.split(separator: " ")
        pages = Int(words[1]) ?? 0
    }
    let descriptors = (0..<Int32(1024)).count { fcntl($0, F_GETFD) >= 0 }
    return (pages * sysconf(Int32(_SC_PAGESIZE)) / 1024, descriptors)
}

/// The time that this thread has had a processor: what else the machine does takes none of it.
private func processorTime() -> Duration {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

private func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }

/// Lets the sysfs backend look as often as the argument says, alone in this process, and prints what that cost as JSON; the
/// times are those of the processor.
func sysfsPasses(_ arguments: [String]) throws {
    let count = arguments.first.flatMap { Int($0) } ?? 100
    let session = try SysfsSession(options: SysfsMonitor.Options(), clock: SystemMonotonicClock())
    // Written to from the beginning, so that its own pages are no growth.
    var times = [Duration](repeating: .seconds(1), count: count)
    let start = processorTime()
    var last = try session.look().0
    let first = processorTime() - start
    // What the allocator keeps is not what a pass leaves behind.
    for _ in 0..<(count / 10) { last = try session.look().0 }
    let before = footprint()
    for number in 0..<count {
        let start = processorTime()
        last = try session.look().0
        times[number] = processorTime() - start
    }
    let after = footprint()
    times.sort()
    let routes = last.referenceRoutes.filter { if case .route = $0.answer { true } else { false } }.count
    print(
        """
        {"optimized":\(!_isDebugAssertConfiguration()),"interfaces":\(last.interfaces?.count ?? -1),"routes":\(routes),\
        "firstMicroseconds":\(microseconds(first)),"medianMicroseconds":\(microseconds(times[count / 2])),\
        "p99Microseconds":\(microseconds(times[count * 99 / 100])),"maxMicroseconds":\(microseconds(times[count - 1])),\
        "memoryKiB":[\(before.memory),\(after.memory)],"descriptors":[\(before.descriptors),\(after.descriptors)]}
        """
    )
}

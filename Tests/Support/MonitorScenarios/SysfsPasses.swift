// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathSysfs

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
    let before = resources()
    for number in 0..<count {
        let start = processorTime()
        last = try session.look().0
        times[number] = processorTime() - start
    }
    let after = resources()
    func both(_ resource: String) -> [Int] { [before, after].map { $0[resource, default: -1] } }
    times.sort()
    let routes = last.referenceRoutes.filter { if case .route = $0.answer { true } else { false } }.count
    print(
        """
        {"optimized":\(!_isDebugAssertConfiguration()),"interfaces":\(last.interfaces?.count ?? -1),"routes":\(routes),\
        "firstMicroseconds":\(microseconds(first)),"medianMicroseconds":\(microseconds(times[count / 2])),\
        "p99Microseconds":\(microseconds(times[count * 99 / 100])),"maxMicroseconds":\(microseconds(times[count - 1])),\
        "memoryKiB":\(both("memoryKiB")),"descriptors":\(both("descriptors"))}
        """
    )
}

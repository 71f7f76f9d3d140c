// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath

/// What came of waiting for a reader and a wake-up.
struct PollResult: Hashable, Sendable {
    /// The reader is gone.
    var isReaderGone = false
    /// There is room for output.
    var hasRoom = false
    /// What the thread was woken for.
    var reasons: LoopWakeUp.Reasons = []
}

/// Blocks until there is room for output, the reader is gone, the thread is woken, or time is up.
///
/// - Parameters:
///   - output: A descriptor that is written to; that its reader is gone is noticed whether or not room is wanted.
///   - wantsRoom: Whether to wait for room.
///   - wakeUp: Ends the waiting.
///   - screen: Where keys end the waiting too.
///   - file: A descriptor that ends it with the reason `file` when it is readable.
///   - limit: How long to wait; nil to wait for ever.
/// - Returns: What happened; nothing when time is up.
func wait(
    for output: WatchDescriptor?,
    wantsRoom: Bool,
    wakeUp: LoopWakeUp,
    screen: TerminalScreen? = nil,
    file: Int32? = nil,
    limit: Duration?
) -> PollResult {
    var entries = [
        // A negative descriptor is passed over.
        pollfd(
            fd: output.flatMap { $0.isPollable ? $0.rawValue : nil } ?? -1,
            events: wantsRoom ? Int16(POLLOUT) : 0,
            revents: 0
        ),
        pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: screen?.input ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: file ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // Rounded up: waking before the deadline would only mean to wait again.
    let milliseconds = limit.map { Int32(clamping: ($0.inNanoseconds + 999_999) / 1_000_000) } ?? -1
    guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return PollResult() }
    let events = Int32(entries[0].revents)
    var reasons: LoopWakeUp.Reasons = entries[1].revents != 0 ? wakeUp.take() : []
    if let screen, entries[2].revents != 0 { reasons.formUnion(screen.takeKeys()) }
    if entries[3].revents != 0 { reasons.insert(.file) }
    return PollResult(
        isReaderGone: events & (Int32(POLLERR) | Int32(POLLHUP) | Int32(POLLNVAL)) != 0,
        hasRoom: events & Int32(POLLOUT) != 0,
        reasons: reasons
    )
}

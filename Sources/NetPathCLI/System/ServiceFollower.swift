// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

/// Follows the paths of a running service, and waits for it where it has gone.
///
/// On a thread of its own, which sleeps while nothing changes.
enum ServiceFollower {
    /// How long it waits before it looks for a service that is gone; doubled up to the second.
    private static let pause: (first: Duration, last: Duration) = (.milliseconds(100), .seconds(5))

    /// Begins.
    ///
    /// - Parameters:
    ///   - places: Where to look for a service.
    ///   - answers: Called on the thread with false when the service has ended, and with true when one answers again.
    ///   - publish: Receives every state, on the thread; of a service that is gone the last one, marked stale.
    /// - Returns: Whether the system granted a thread.
    static func start(
        _ places: [ServiceFolders],
        answers: @escaping @Sendable (Bool) -> Void = { _ in },
        _ publish: @escaping @Sendable ([UInt8]) -> Void
    ) -> Bool {
        BackgroundThread.start {
            var (pause, hasEnded) = (Self.pause.first, false)
            while true {
                if Self.follow(places, returned: { if hasEnded { answers(true) } }, publish) {
                    answers(false)
                    (pause, hasEnded) = (Self.pause.first, true)
                }
                _ = FileDescriptor.poll(readable: [], timeout: pause)
                pause = min(pause * 2, Self.pause.last)
            }
        }
    }

    /// Follows one run of the service to its end; returns whether there was one.
    ///
    /// Not inlined: within a loop without an end it keeps the optimiser of Swift 6.3 busy for ever.
    @inline(never)
    private static func follow(
        _ places: [ServiceFolders],
        returned: () -> Void,
        _ publish: ([UInt8]) -> Void
    ) -> Bool {
        var last: [UInt8]?
        ServiceClient(places)?.watch { line in
            if last == nil { returned() }
            last = line
            publish(line)
        }
        guard let last else { return false }
        publish(Self.stale(last))
        return true
    }

    /// The document of a path that no backend confirms any more, from its line of JSON: the first member of that name is the
    /// path's, and no text has such quotes.
    static func stale(_ line: [UInt8]) -> [UInt8] {
        line.replacing(#""stale":false"#.utf8, with: #""stale":true"#.utf8, maxReplacements: 1)
    }

    /// Asks a question on a connection of its own; nil when no service answers.
    static func ask(_ request: ServiceRequest, of places: [ServiceFolders]) -> [UInt8]? {
        // One of an older version knows less, and refuses.
        guard let answer = try? ServiceClient(places)?.ask(request), !answer.isEmpty else { return nil }
        return answer
    }

    /// The metrics in an answer that has them, to which more can be added: without the last line of OpenMetrics.
    static func text(in answer: [UInt8]?) -> [UInt8]? {
        guard let answer, let text = (try? JSONReader.read(answer[...]))?["text"]?.text else { return nil }
        return Array((text.hasSuffix(MetricsText.end) ? text.dropLast(MetricsText.end.count) : text[...]).utf8)
    }
}

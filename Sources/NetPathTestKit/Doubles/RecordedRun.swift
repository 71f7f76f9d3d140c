// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

public import NetPath
import NetPathRecording

/// What `netpath watch --record`, `netpath run` or `netpath report` recorded, as the fixture of a test.
///
/// A failure in the field becomes a test in three lines; nothing of the machine takes part:
///
/// ```swift
/// let run = try RecordedRun(contentsOf: "Tests/Fixtures/hotel.jsonl")
/// let paths = run.paths()
/// #expect(paths.last?.status == .satisfied)
/// ```
public struct RecordedRun: Sendable {
    /// Why a recording is no fixture.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What, and where.
        public let description: String
    }

    /// What a backend said.
    public struct Report: Hashable, Sendable {
        /// The number of the backend: its place in the configuration, from 0, unless that changed meanwhile.
        public var backend: Int
        /// When the coordinator heard of it.
        public var time: MonotonicTime
        /// What it saw; a ``ScriptedMonitor`` may say it again.
        public var evidence: Evidence
    }

    private let events: [RecordedEvent]

    /// Reads a recording.
    ///
    /// - Parameter path: A file, which may be a report, or a folder of the service.
    /// - Throws: ``Failure`` when it cannot be read, lines of it are damaged, or nothing in it can be replayed.
    public init(contentsOf path: String) throws {
        var events: [RecordedEvent] = []
        let damaged: Int
        do {
            damaged = try Recording(path).read { event in
                events.append(event)
                return true
            }
        } catch {
            throw Failure(description: "\(error)")
        }
        // Of a recording that was cut short the rest would be another story.
        guard damaged == 0 else { throw Failure(description: "\(path): \(damaged) lines cannot be read") }
        let begins = events.contains { if case .checkpoint = $0.kind { true } else { false } }
        guard begins else { throw Failure(description: "\(path) holds no recording of netpath") }
        self.events = events
    }

    /// What the backends said, in order.
    public var reports: [Report] {
        self.events.compactMap { event in
            guard case .input(.report(let backend, _, let evidence)) = event.kind else { return nil }
            return Report(backend: backend, time: event.time, evidence: evidence)
        }
    }

    /// Runs what happened through the coordinator of this version.
    ///
    /// - Parameter settings: Settings in place of the recorded ones; nil for those.
    /// - Returns: The paths that are published, in order, from the one there was at the beginning on.
    public func paths(settings: CoordinatorSettings? = nil) -> [NetworkPath] {
        var replay: CoordinatorReplay?
        var paths: [NetworkPath] = []
        for event in self.events {
            switch event.kind {
            case .checkpoint(let checkpoint, let continues):
                if continues, replay != nil { continue }
                let next = CoordinatorReplay(from: checkpoint, settings: settings)
                paths += [next.path].compactMap { $0 }
                replay = next
            case .input(let input): paths += replay?.take(input, at: event.time) ?? []
            case .header, .path, .clock, .gap, .end: break
            }
        }
        return paths
    }

    /// The statuses that were published when it was recorded; those of another version may be others.
    public var recordedStatuses: [PathStatus] {
        self.events.compactMap { if case .path(let path) = $0.kind { path.status } else { nil } }
    }
}

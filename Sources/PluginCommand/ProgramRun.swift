// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathCLI
import NetPathExec
import NetPathSystem
import NetPathTestKit
import Synchronization

/// What a program was seen to do.
struct ProgramRecord: Sendable {
    /// How many lines it wrote.
    var lines = 0
    /// The most seconds between two lines, as its hello says.
    var heartbeat: Duration?
    /// Whether its hello names requests.
    var takesRequests = false
    /// The interfaces that it named and that this machine does not have.
    var missing: Set<String> = []
    /// What it took to end it, and how it ended.
    var end: (method: TerminationMethod, ending: ProcessEnding?)?
}

/// One run of a program as a backend of the type exec, observed.
final class ProgramRun: Sendable {
    /// The backend.
    let backend: BackendRun
    private let state: SharedRecord

    private final class SharedRecord: Sendable {
        let record = Mutex(ProgramRecord())
    }

    /// What it did so far.
    var record: ProgramRecord { self.state.record.withLock(\.self) }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - entry: The backend as an entry of a configuration.
    ///   - patienceFactor: How many times the usual time it has.
    ///   - see: Sees every line, on the thread that reads them.
    /// - Throws: What is wrong with the entry.
    init(_ entry: String, patienceFactor: Int = 1, see: @escaping @Sendable (PluginLine) -> Void = { _ in }) throws {
        let state = SharedRecord()
        self.state = state
        self.backend = BackendRun(
            try makeProgram(entry, patienceFactor: patienceFactor) { event in
                if case .line(let line) = event { see(line) }
                state.record.withLock { $0.take(event) }
            }
        )
    }

    /// Waits for its first report.
    ///
    /// - Returns: Whether there was one, in time.
    func hasReported(within limit: Duration) async -> Bool {
        let backend = self.backend
        return (try? await NetPathTestKit.within(limit) { try await backend.waitForEvidence() }) != nil
    }

    /// Lets it run for a time.
    ///
    /// - Throws: Why it ended meanwhile.
    func rest(_ limit: Duration) async throws {
        let backend = self.backend
        _ = try await NetPathTestKit.within(limit) { try await backend.waitForEnd() }
    }

    /// Ends it.
    func stop() async { try? await self.backend.stop() }
}

/// Makes a backend of the type exec whose programs are observed, and have so many times the usual time.
///
/// - Throws: What is wrong with the entry.
func makeProgram(
    _ entry: String,
    patienceFactor: Int,
    observe: @escaping @Sendable (PluginEvent) -> Void
) throws -> any PathMonitor {
    guard let monitor = try makeMonitor(entry) as? ExecMonitor else {
        throw ToolFailure(.failure, "the backend is no program")
    }
    return monitor.observed(patienceFactor: patienceFactor, by: observe)
}

extension ProgramRecord {
    fileprivate mutating func take(_ event: PluginEvent) {
        switch event {
        case .line(let line):
            self.lines += 1
            self.missing.formUnion(line.missing)
            guard case .hello(let hello) = line.reading else { return }
            self.heartbeat = hello.heartbeat
            self.takesRequests = hello.answersRefresh || hello.watches
        case .ended(let method, let ending, _): self.end = (method, ending)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathExplanation
import NetPathRecording
import NetPathSystem

/// A running service that answers a question in place of backends which send packets or start programs.
///
/// Only one with the same configuration, in the same network namespace. It may lag behind the kernel for a
/// moment, so what this program's own backends found out is compared with what the service's say.
struct AnsweringService: Sendable {
    /// How long a service may take to answer.
    static let limit: Duration = .milliseconds(500)
    /// How long it may say something else than this program sees; after that it is believed, because it knows what was.
    private static let lag: Duration = .milliseconds(100)
    private static let pause: Duration = .milliseconds(5)

    private let folders: ServiceFolders
    private let key: String

    /// Looks for a service that could answer, and asks it; nil where its answer would be no better, or none has the same
    /// configuration.
    static func find(_ configuration: LoadedConfiguration) -> (service: AnsweringService, status: StatusSnapshot)? {
        guard configuration.isWorthAService else { return nil }
        let places = ServiceFolders.places(of: ToolContext.current.environment)
        let served = places.filter { FileAccess.exists($0.socket) }
        guard !served.isEmpty, let key = configuration.serviceKey else { return nil }
        for folders in served {
            let service = AnsweringService(folders: folders, key: key)
            if let status = service.status { return (service, status) }
        }
        return nil
    }

    private func ask(_ request: ServiceRequest) -> [UInt8]? {
        try? ServiceClient([self.folders], limit: Self.limit)?.ask(request, limit: Self.limit)
    }

    /// What the service says now; nil where it does not answer, has another configuration by now, or has no verdict.
    var status: StatusSnapshot? {
        guard let answer = self.ask(.snapshot),
            let snapshot = try? CodedLine.value(ServiceSnapshot.self, from: answer), snapshot.key == self.key
        else { return nil }
        return snapshot.status.path.map { _ in snapshot.status }
    }

    /// What the service says, once it has seen what this program has.
    ///
    /// - Parameters:
    ///   - own: What this program's own backends say.
    ///   - first: What the service said last; nil to ask it.
    /// - Returns: What it says; nil where it does not answer any more.
    func status(beside own: StatusSnapshot, first: StatusSnapshot? = nil) -> StatusSnapshot? {
        let deadline = MonotonicTime.now() + Self.lag
        var latest = first ?? self.status
        while let status = latest, !status.agrees(with: own), MonotonicTime.now() < deadline {
            _ = FileDescriptor.poll(readable: [], timeout: Self.pause)
            latest = self.status
        }
        return latest
    }

    /// Why the service says what it does; nil where it does not tell.
    func explanation(of snapshot: StatusSnapshot) -> ExplainedPath? {
        guard let answer = self.ask(.details),
            let node = (try? JSONReader.read(answer[...]))?["explanation"], let rule = node["rule"]?.text
        else { return nil }
        return ExplainedPath(
            snapshot: snapshot,
            backend: node["backend"]?.text,
            explanation: Explanation(
                rule: rule,
                evidence: node["evidence"]?.texts ?? [],
                remedies: node["remedies"]?.texts ?? []
            )
        )
    }

    /// Follows the paths of the service on a thread of its own, and waits a while for one that is started anew.
    ///
    /// - Parameters:
    ///   - onPath: Receives every path, on the thread.
    ///   - onEnd: Called when the service is gone, or has another configuration.
    /// - Returns: Whether the system granted a thread.
    func follow(_ onPath: @escaping @Sendable (NetworkPath) -> Void, onEnd: @escaping @Sendable () -> Void) -> Bool {
        BackgroundThread.start {
            var absence = 0
            while absence < Self.patience {
                ServiceClient([self.folders], limit: Self.limit)?.watch { _ in
                    guard let path = self.status?.path else { return }
                    absence = 0
                    onPath(path)
                }
                absence += 1
                _ = FileDescriptor.poll(readable: [], timeout: .seconds(1))
            }
            onEnd()
        }
    }

    /// So many seconds a service may take to be started anew.
    private static let patience = 10
}

extension LoadedConfiguration {
    /// What a service and a question have to have in common; nil where the network namespace is not known.
    var serviceKey: String? {
        ServiceMemory.namespace.map { "\($0) \(self.fingerprint)" }
    }
}

extension StatusSnapshot {
    /// Whether every backend that has a verdict here has the same one there.
    fileprivate func agrees(with own: StatusSnapshot) -> Bool {
        own.backends.allSatisfy { report in
            guard report.health == .healthy, let status = report.status else { return true }
            return self.backends.contains { $0.name == report.name && $0.status == status }
        }
    }

    /// Says of backends that were left out that they were not asked, rather than that they are off.
    ///
    /// One on standby would not run while another one has a verdict.
    mutating func note(leftOut: [String: BackendMode]) {
        guard !leftOut.isEmpty else { return }
        let hasPath = self.path != nil
        func noted(_ reports: [BackendReport]) -> [BackendReport] {
            reports.map { report in
                guard let mode = leftOut[report.name] else { return report }
                var report = report
                report.mode = mode
                report.health = mode == .standby && hasPath ? .standby : .notAsked
                return report
            }
        }
        self.backends = noted(self.backends)
        if let reports = self.path?.backends { self.path?.backends = noted(reports) }
    }
}

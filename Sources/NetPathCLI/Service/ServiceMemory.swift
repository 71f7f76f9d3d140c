// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// What a running service has seen, for a program that has just begun to look.
enum ServiceMemory {
    /// The network namespace of this thread, which a service has to be in as well; nil where it is not known.
    static var namespace: String? { FileAccess.linkTarget("/proc/thread-self/ns/net") }

    /// What names thousands of interfaces; more would take longer to read than it may take.
    private static let answerLimit = 1 << 20

    /// Asks which interfaces had a default route at some time.
    ///
    /// - Returns: Their indices; none where no service of this network namespace answers within
    ///   ``AnsweringService/limit`` in all.
    static func formerCarriers() -> Set<UInt32> {
        let places = ServiceFolders.places(of: ToolContext.current.environment)
        let deadline = MonotonicTime.now() + AnsweringService.limit
        for folders in places where FileAccess.exists(folders.socket) {
            let left = deadline - MonotonicTime.now()
            guard left > .zero, let client = ServiceClient([folders], limit: left),
                client.user.map({ self.isTrusted($0, at: folders, asking: PeerCredentials.ownUser) }) == true,
                let answer = try? client.ask(.snapshot, limit: deadline - MonotonicTime.now(), size: Self.answerLimit),
                let snapshot = try? CodedLine.value(ServiceSnapshot.self, from: answer),
                let namespace = self.namespace, snapshot.key?.hasPrefix(namespace + " ") == true
            else { continue }
            return Set(snapshot.formerCarriers)
        }
        return []
    }

    /// Whether a service of a user is believed: root's, one's own, and what listens where only root can have put it.
    static func isTrusted(_ user: UInt32, at folders: ServiceFolders, asking: UInt32) -> Bool {
        user == 0 || user == asking || folders.runtime == ServiceFolders.system.runtime
    }
}

extension [BackendSnapshot] {
    /// The indices of the interfaces that had a default route at some time.
    var formerCarriers: [UInt32] {
        let interfaces = self.flatMap { $0.evidence?.interfaces ?? [] }
        return Set(interfaces.filter { $0.hadDefaultRoute == true }.map(\.index)).sorted()
    }
}

extension BackendSnapshot {
    /// The same with a verdict that knows which interfaces had a default route.
    func recalling(_ carriers: Set<UInt32>, _ policy: EvaluationPolicy, now: MonotonicTime) -> BackendSnapshot {
        guard var evidence, let interfaces = evidence.interfaces, self.verdict != nil else { return self }
        evidence.interfaces = interfaces.map { interface in
            var interface = interface
            if carriers.contains(interface.index) { interface.hadDefaultRoute = true }
            return interface
        }
        guard let verdict = evidence.verdict(policy: policy, now: now) else { return self }
        var copy = self
        copy.evidence = evidence
        copy.verdict = verdict
        copy.report.status = verdict.status
        copy.report.reason = verdict.reason
        return copy
    }
}

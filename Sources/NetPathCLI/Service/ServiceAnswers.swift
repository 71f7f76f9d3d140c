// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathRecording
import NetPathSystem

/// What a service answers on its socket.
struct ServiceAnswers: Sendable {
    let coordinator: PathCoordinator
    /// Where it records; nil where it does not.
    let recording: String?
    /// Records, and may have something to write yet.
    let recorder: Recorder?
    /// What configuration is in force, and whether the one on disk was accepted.
    let follower: ConfigurationFollower
    /// Runs the hooks.
    let hooks: HookRunner

    /// Answers a question.
    func answer(_ request: ServiceRequest, for peer: ServiceSocket.Peer) -> ServiceAnswer {
        switch request {
        case .status, .watch:
            let snapshot = self.snapshot
            return .path(snapshot.jsonLine, sequence: snapshot.path?.sequence ?? 0, watches: request == .watch)
        case .snapshot:
            // First: a path that is of a newer configuration than the key is asked for again, one of an older is believed.
            let key = self.follower.serviceKey
            var standing = self.follower.standing
            if !peer.isTrusted { standing.hideRefusal() }
            let snapshot = ServiceSnapshot(
                status: self.snapshot,
                hooks: self.reports(for: peer),
                key: key,
                configuration: standing,
                formerCarriers: self.coordinator.snapshots.formerCarriers
            )
            return .whole((try? CodedLine.bytes(of: snapshot)) ?? [])
        case .hooks: return .whole(Array((HookReport.document(self.reports(for: peer)).line + "\n").utf8))
        case .metrics(let isOpenMetrics):
            let targets = self.follower.configuration.probeTargets
            let bytes = self.coordinator.metrics(isOpenMetrics: isOpenMetrics, targets: targets) { text in
                text.add(self.hooks.reports)
                if let recorder { text.add(recorder.status) }
                text.add(self.follower.standing)
            }
            let text = String(decoding: bytes, as: UTF8.self) + (isOpenMetrics ? MetricsText.end : "")
            return .whole(JSONText.line { sink in sink.object { $0.member("text", text) } })
        case .details:
            let details = self.coordinator.details(self.follower.configuration.evaluation)
            return .whole(JSONText.line(details.write))
        case .history(let since): return .pages(self.history(since: since, for: peer))
        case .unknown: return .whole(Array((ServiceRequest.refusal.line + "\n").utf8))
        }
    }

    private func reports(for peer: ServiceSocket.Peer) -> [HookReport] {
        peer.isTrusted ? self.hooks.reports : self.hooks.reports.map(\.forOthers)
    }

    private var snapshot: StatusSnapshot {
        let path = self.coordinator.path
        return .now(path, path?.backends ?? self.coordinator.snapshots.map(\.report))
    }

    /// The lines that tell of paths.
    ///
    /// What reasons say, with the addresses in it, is for those who may read the files.
    private func history(since: Int64, for peer: ServiceSocket.Peer) -> ServicePages {
        ServicePages { [recorder, recording] in
            recorder?.flush()
            let lines = recording.flatMap { try? Recording($0) }
                .flatMap { try? $0.pathLines(since: since * 1_000_000_000, withMessages: peer.isTrusted) }
            return ([], lines.map(ServicePages.init))
        }
    }
}

extension ServicePages {
    /// The lines of a recording.
    fileprivate init(_ lines: PathLines) {
        self.init {
            var lines = lines
            // What cannot be read ends it: the lines before stand for themselves.
            guard let page = try? lines.next() else { return ([], nil) }
            return (page, lines.isAtEnd ? nil : ServicePages(lines))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathRecording
import NetPathSystem

/// What a service answers on its socket.
struct ServiceAnswers: Sendable {
    let coordinator: PathCoordinator
    /// Where it records; nil where it does not.
    let recording: String?
    /// Records, and may have something to write yet.
    let recorder: Recorder?
    /// What verdicts depend on now, besides the evidence.
    let evaluation: @Sendable () -> EvaluationPolicy
    /// What tells this service from one with another configuration.
    let key: @Sendable () -> String?
    /// Runs the hooks.
    let hooks: HookRunner

    /// Answers a question.
    func answer(_ request: ServiceRequest, for peer: ServiceSocket.Peer) -> [UInt8] {
        switch request {
        case .status, .watch: return self.snapshot.jsonLine
        case .snapshot:
            let snapshot = ServiceSnapshot(self.snapshot, hooks: self.reports(for: peer), key: self.key())
            return (try? CodedLine.bytes(of: snapshot)) ?? []
        case .hooks: return Array((HookReport.document(self.reports(for: peer)).line + "\n").utf8)
        case .metrics(let isOpenMetrics):
            let text = String(decoding: self.coordinator.metrics(isOpenMetrics: isOpenMetrics), as: UTF8.self)
            return JSONText.line { sink in sink.object { $0.member("text", text) } }
        case .details:
            return JSONText.line(self.coordinator.details(self.evaluation()).write)
        case .history(let since): return self.history(since: since, for: peer)
        case .unknown: return Array((ServiceRequest.refusal.line + "\n").utf8)
        }
    }

    private func reports(for peer: ServiceSocket.Peer) -> [HookReport] {
        peer.isTrusted ? self.hooks.reports : self.hooks.reports.map(\.withoutCommand)
    }

    private var snapshot: StatusSnapshot {
        let path = self.coordinator.path
        return StatusSnapshot(
            path: path,
            backends: path?.backends ?? self.coordinator.snapshots.map(\.report),
            takenAt: .now(),
            via: Provenance.via
        )
    }

    /// The lines that tell of paths.
    ///
    /// What reasons say, with the addresses in it, is for those who may read the files.
    private func history(since: Int64, for peer: ServiceSocket.Peer) -> [UInt8] {
        self.recorder?.flush()
        guard let recording, let files = try? Recording(recording) else { return [] }
        let (begin, isOutOfRange) = since.multipliedReportingOverflow(by: 1_000_000_000)
        return (try? files.pathLines(since: isOutOfRange ? 0 : begin, withMessages: peer.isTrusted)) ?? []
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What the machine-readable output of a path is made from.
struct PathSnapshot: Hashable, Sendable {
    /// The path; nil while no backend has an opinion.
    var path: NetworkPath?
    /// What the backends say of themselves.
    var backends: [BackendReport]
    /// When the snapshot was taken, for ages and for `time`.
    @EqualityIgnored var takenAt: ClockReading

    /// When the path was published, or, without a path, when the snapshot was taken.
    var time: WallTime {
        self.path.map { self.takenAt.wall(at: $0.publishedAt) } ?? self.takenAt.wall
    }
}

/// Version of the documents: it changes only when a name goes away or changes its meaning.
let schemaVersion: JSONValue = .integer(1)

extension PathSnapshot {
    /// The document of `status` and `watch`; every key is always present, null when unknown.
    ///
    /// The names are described in `JSON.md`.
    var document: JSONValue {
        let path = self.path
        return [
            "schema": schemaVersion,
            "status": .optional(path?.status.rawValue),
            "reason": .reason(path?.reason),
            "stale": .bool(path?.isStale ?? false),
            "interfaces": .array(path?.interfaces.map(JSONValue.interface) ?? []),
            "carriedBy": .optional(path?.carriedBy),
            "gateways": .array(path?.gateways.map(JSONValue.gateway) ?? []),
            "dnsServers": path?.dnsServers.map { .strings($0.map(\.description)) } ?? .null,
            "supportsIPv4": .optional(path?.supportsIPv4),
            "supportsIPv6": .optional(path?.supportsIPv6),
            // Not to know the name servers is not the same as to have none.
            "supportsDNS": .optional(path?.dnsServers.map { !$0.isEmpty }),
            "isExpensive": .optional(path?.isExpensive),
            "isConstrained": .optional(path?.isConstrained),
            "internet": .string((path?.internet ?? .unknown).rawValue),
            "probes": .array(path?.probes.map(JSONValue.probe) ?? []),
            "backends": .array(self.backends.map { .backend($0, at: self.takenAt) }),
            "disagreements": .array(path?.disagreements.map(JSONValue.disagreement) ?? []),
            "sequence": .optional(path?.sequence),
            "time": .string(self.time.rfc3339),
        ]
    }
}

extension JSONValue {
    static func reason(_ reason: PathReason?) -> JSONValue {
        reason.map { ["code": .string($0.code.rawValue), "message": .string($0.message)] } ?? .null
    }

    static func interface(_ interface: PathInterface) -> JSONValue {
        [
            "name": .string(interface.name),
            "index": .integer(interface.index),
            "type": .string(interface.type.rawValue),
            "kind": .optional(interface.kind),
            "reason": .reason(interface.reason),
            "operationalState": .optional(interface.operationalState?.name),
            "addresses": .strings(interface.addresses.map(\.description)),
            "gateways": .strings(interface.gateways.map(\.description)),
            "metric": .optional(interface.metric),
            "table": .optional(interface.table),
            "underlying": .optional(interface.underlying),
        ]
    }

    static func gateway(_ gateway: Gateway) -> JSONValue {
        ["address": .string(gateway.address.description), "interface": .integer(gateway.interfaceIndex)]
    }

    static func probe(_ outcome: ProbeOutcome) -> JSONValue {
        var errno: Int32?
        if case .unreachable(let number) = outcome.result { errno = number }
        return [
            "target": .string(outcome.target),
            "outcome": .string(outcome.result.name),
            "errno": .optional(errno),
            "rttMicroseconds": .optional(outcome.roundTrip.map { $0.inNanoseconds / 1_000 }),
        ]
    }

    static func backend(_ report: BackendReport, at now: ClockReading) -> JSONValue {
        [
            "name": .string(report.name),
            "mode": .string(report.mode.rawValue),
            "health": .string(report.health.rawValue),
            "status": .optional(report.status?.rawValue),
            "reason": .reason(report.reason),
            "error": .optional(report.error),
            "ageMilliseconds": .optional(report.age(at: now).map { $0.inNanoseconds / 1_000_000 }),
            "limitations": .strings(report.limitations),
            "restarts": .integer(report.restarts),
            "resynchronizations": .integer(report.resynchronizations),
        ]
    }

    static func disagreement(_ disagreement: Disagreement) -> JSONValue {
        [
            "backend": .string(disagreement.backend),
            "status": .string(disagreement.status.rawValue),
            "reason": .reason(disagreement.reason),
        ]
    }
}

extension ProbeOutcome.Result {
    /// The name used in output.
    var name: String {
        switch self {
        case .connected: "connected"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .timedOut: "timedOut"
        case .notResolved: "notResolved"
        case .portal: "portal"
        }
    }
}

extension BackendReport {
    /// How long ago the backend last reported; nil before its first word.
    func age(at now: ClockReading) -> Duration? {
        self.reportedAt.map { max(.zero, now.monotonic - $0) }
    }
}

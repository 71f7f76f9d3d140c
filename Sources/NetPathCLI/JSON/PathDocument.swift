// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
package import NetPathSystem

/// What the machine-readable output of a path is made from.
struct StatusSnapshot: Hashable, Sendable, Codable {
    /// The path; nil while no backend has a verdict.
    var path: NetworkPath?
    /// What the backends say of themselves.
    var backends: [BackendReport]
    /// When the snapshot was taken, for ages and for `time`.
    @EqualityIgnored var takenAt: ClockReading
    /// Whose words take part, this machine's first (``Provenance``).
    var via: [String] = []

    /// What there is to say of a path now.
    static func now(_ path: NetworkPath?, _ backends: [BackendReport]) -> StatusSnapshot {
        StatusSnapshot(path: path, backends: backends, takenAt: .now(), via: Provenance.via)
    }

    /// When the path was published, or, without a path, when the snapshot was taken.
    var time: WallTime {
        // Without a closure, which would copy the path.
        guard let publishedAt = self.path?.publishedAt else { return self.takenAt.wall }
        return self.takenAt.wall(at: publishedAt)
    }
}

/// Version of the documents: it changes only when a name goes away or changes its meaning.
package let schemaVersion: JSONNode = .integer(1)

extension StatusSnapshot {
    /// The document of `status` and `watch`.
    var document: JSONNode { JSONNode.written(self.write) }

    /// The document as text, with a line feed.
    var jsonLine: [UInt8] { JSONText.line { self.write(to: &$0) } }

    /// Writes the document as text, with a line feed, into an array from its beginning on; returns how many bytes.
    func writeLine(in room: inout [UInt8]) -> Int { JSONText.line(in: &room) { self.write(to: &$0) } }

    /// Writes the document; every key is always present, null when unknown.
    ///
    /// The names are described in `JSON.md`.
    func write(to sink: inout JSONText) {
        let path = self.path
        sink.object { sink in
            sink.member("schema", schemaVersion.write)
            sink.member("status", path?.status.rawValue)
            sink.member("reason") { $0.reason(path?.reason) }
            sink.member("statedBy", path?.statedBy)
            sink.member("stale", path?.isStale ?? false)
            sink.member("interfaces", path?.interfaces ?? []) { $0.interface($1) }
            sink.member("carriedBy", path?.carriedByIndex)
            sink.member("gateways", path?.gateways ?? []) { $0.gateway($1) }
            sink.member("dnsServers", path?.dnsServers) { $0.string($1.description) }
            sink.member("nameServers", path?.dnsServers) { $0.nameServer($1) }
            let knowsFamilies = path?.knowsFamilies == true
            sink.member("supportsIPv4", knowsFamilies ? path?.supportsIPv4 : nil)
            sink.member("supportsIPv6", knowsFamilies ? path?.supportsIPv6 : nil)
            // Not to know the name servers is not the same as to have none.
            sink.member("supportsDNS", path?.dnsServers == nil ? nil : path?.supportsDNS)
            sink.member("isExpensive", path?.isExpensive)
            sink.member("isConstrained", path?.isConstrained)
            sink.member("internet", (path?.internet ?? .unknown).rawValue)
            sink.member("portalURL", path?.portalURL)
            sink.member("probes", path?.probes ?? []) { $0.probe($1) }
            sink.member("backends", self.backends) { $0.backend($1, at: self.takenAt) }
            sink.member("disagreements", path?.disagreements ?? []) { $0.disagreement($1) }
            sink.member("via", self.via)
            sink.member("sequence", path?.sequence)
            sink.member("time", self.time.rfc3339)
        }
    }
}

extension JSONText {
    fileprivate mutating func reason(_ reason: PathReason?) {
        guard let reason else { return self.null() }
        self.object { sink in
            sink.member("code", reason.code.rawValue)
            sink.member("message", reason.message)
        }
    }

    mutating func interface(_ interface: PathInterface) {
        self.object { sink in
            sink.member("name", interface.name)
            sink.member("index", interface.index == 0 ? nil : interface.index)
            sink.member("type", interface.type.rawValue)
            sink.member("kind", interface.kind)
            sink.member("reason") { $0.reason(interface.reason) }
            sink.member("operationalState", interface.operationalState?.name)
            let addresses = interface.knowsAddresses ? interface.addresses : nil
            sink.member("addresses", addresses) { $0.string($1.description) }
            sink.member("gateways", interface.gateways) { $0.string($1.description) }
            sink.member("metric", interface.metric)
            sink.member("table", interface.table)
            sink.member("underlying", interface.underlyingIndex)
            var families = interface.supportsIPv4 ? ["ipv4"] : []
            if interface.supportsIPv6 { families.append("ipv6") }
            sink.member("families", families)
            sink.member("labels", interface.labels ?? []) { $0.label($1) }
        }
    }

    mutating func label(_ label: InterfaceLabel) {
        self.object { sink in
            sink.member("backend", label.backend)
            sink.member("text", label.text)
        }
    }

    mutating func gateway(_ gateway: Gateway) {
        self.object { sink in
            sink.member("address", gateway.address.description)
            sink.member("interface", gateway.interfaceIndex)
            sink.member("answers", gateway.answers)
        }
    }

    mutating func nameServer(_ server: DNSServer) {
        self.object { sink in
            sink.member("address", server.description)
            sink.member("reachable", server.isReachable)
        }
    }

    mutating func probe(_ outcome: ProbeOutcome) {
        var errno: Int32?
        if case .unreachable(let number) = outcome.result { errno = number }
        self.object { sink in
            sink.member("target", outcome.target)
            sink.member("outcome", outcome.result.name)
            sink.member("errno", errno)
            sink.member("rttMicroseconds", outcome.roundTrip.map { $0.inNanoseconds / 1_000 })
            sink.member("detail", outcome.detail)
        }
    }

    fileprivate mutating func backend(_ report: BackendReport, at now: ClockReading) {
        self.object { sink in
            sink.member("name", report.name)
            sink.member("mode", report.mode.rawValue)
            sink.member("health", report.health.rawValue)
            sink.member("status", report.status?.rawValue)
            sink.member("reason") { $0.reason(report.reason) }
            sink.member("stated", report.isStated)
            sink.member("host", report.host)
            sink.member("error", report.error)
            sink.member("ageMilliseconds", report.age(at: now)?.inMilliseconds)
            sink.member("limitations", report.limitations)
            sink.member("restarts", report.restarts)
            sink.member("resynchronizations", report.resynchronizations)
        }
    }

    fileprivate mutating func disagreement(_ disagreement: Disagreement) {
        self.object { sink in
            sink.member("backend", disagreement.backend)
            sink.member("status", disagreement.status.rawValue)
            sink.member("reason") { $0.reason(disagreement.reason) }
            sink.member("stated", disagreement.isStated)
        }
    }
}

// As parts of other documents.
extension JSONNode {
    /// The value that is written: what is described once becomes text on the way of every event, and is read where it is
    /// looked into.
    static func written(_ body: (inout JSONText) -> Void) -> JSONNode {
        // What the writer writes is JSON.
        (try? JSONReader.read(JSONText.line(body)[...], valueLimit: .max)) ?? .null
    }

    static func reason(_ reason: PathReason?) -> JSONNode { .written { $0.reason(reason) } }
    static func interface(_ interface: PathInterface) -> JSONNode { .written { $0.interface(interface) } }
    static func gateway(_ gateway: Gateway) -> JSONNode { .written { $0.gateway(gateway) } }
    static func probe(_ outcome: ProbeOutcome) -> JSONNode { .written { $0.probe(outcome) } }
    static func backend(_ report: BackendReport, at now: ClockReading) -> JSONNode {
        .written { $0.backend(report, at: now) }
    }

    static func disagreement(_ disagreement: Disagreement) -> JSONNode { .written { $0.disagreement(disagreement) } }
}

extension BackendReport {
    /// How long ago the backend last reported; nil before its first report.
    func age(at now: ClockReading) -> Duration? {
        (self.observedAt ?? self.reportedAt).map { max(.zero, now.monotonic - $0) }
    }
}

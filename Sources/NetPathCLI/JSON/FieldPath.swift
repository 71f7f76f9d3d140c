// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPath
package import NetPathSystem

/// Names one value of the path document: keys and list positions with dots between them, `interfaces.0.name`.
///
/// It is checked against the names there can be, not against one document: a script that asks for a misspelled name
/// must fail on every machine, one that asks for the second gateway of a machine with one must not.
struct FieldPath: Hashable, Sendable {
    let components: [String]

    /// Checks a name.
    ///
    /// - Parameter text: The name as it was typed.
    /// - Throws: `ValidationError`.
    init(parsing text: String) throws(ValidationError) {
        // `interfaces[0].name`, as messages write it, is `interfaces.0.name`.
        self.components = text.split(separator: ".", omittingEmptySubsequences: false).flatMap { step in
            guard step.last == "]", let bracket = step.firstIndex(of: "["),
                case let position = step[bracket...].dropFirst().dropLast(), Int(position) != nil
            else { return [String(step)] }
            return [String(step[..<bracket]), String(position)]
        }
        var place = Self.document
        var prefix = ""
        for component in self.components {
            switch place {
            case .array(let elements):
                guard component.allSatisfy({ "0"..."9" ~= $0 }), Int(component) != nil else {
                    throw ValidationError(
                        "'\(prefix)' is a list; a position such as '\(prefix).0' follows, not '\(component.safe)'"
                    )
                }
                place = elements.first ?? .null
            case .object(let members):
                guard let value = members[component] else {
                    throw Self.error(unknown: component, in: prefix, allowed: members.keys)
                }
                place = value
            default: throw ValidationError("'\(prefix.safe)' is a single value; nothing can follow it")
            }
            prefix += prefix.isEmpty ? component : "." + component
        }
    }

    private static func error(unknown name: String, in prefix: String, allowed: [String]) -> ValidationError {
        let place = prefix.isEmpty ? "" : " in '\(prefix)'"
        let suggestion = nearestMatch(to: name, among: allowed).map { " (did you mean '\($0)'?)" } ?? ""
        let all = allowed.joined(separator: ", ")
        return ValidationError("there is no field '\(name.safe)'\(place)\(suggestion); allowed: \(all)")
    }

    /// Finds the value in a document; null when it is not known, or the list is shorter.
    func value(in document: JSONNode) -> JSONNode {
        self.components.reduce(document) { value, component in
            switch value {
            case .object(let members): members[component] ?? .null
            case .array(let elements):
                Int(component).flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null
            default: .null
            }
        }
    }
}

extension JSONNode {
    /// The text on one line, without a final line feed.
    package var line: String { String(decoding: JSONText.line(self.write).dropLast(), as: UTF8.self) }

    /// A string as it is; nil for everything else.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The strings of a list; none for everything else.
    var texts: [String] { if case .array(let nodes) = self { nodes.compactMap(\.text) } else { [] } }

    /// A string as it is, save for what could act on a terminal; everything else as JSON.
    var plainText: String { self.text?.printable(limit: .max) ?? self.line }
}

// MARK: - The path document

extension FieldPath {
    /// The names at the top of the document.
    static var topLevelNames: [String] { Self.document.members.map(\.key) }

    /// What ``StatusSnapshot/document`` writes, of a path that has something in every list of objects.
    static let document = StatusSnapshot.full.document
}

extension StatusSnapshot {
    /// Has an element in every list of objects, and whatever is an object.
    fileprivate static var full: StatusSnapshot {
        let reason = PathReason(.routed, "")
        let address = InternetAddress(ipv4: 0)
        var interface = PathInterface(index: 1, name: "", type: .other, reason: reason)
        interface.labels = [InterfaceLabel(by: "", "")]
        var path = NetworkPath(.satisfied, reason, interfaces: [interface])
        path.gateways = [Gateway(address: address, interfaceIndex: 1)]
        path.dnsServers = [DNSServer(address)]
        path.probes = [ProbeOutcome(target: "", result: .connected)]
        path.disagreements = [Disagreement(backend: "", status: .satisfied, reason: reason)]
        var report = BackendReport(name: "")
        report.reason = reason
        let time = ClockReading(monotonic: path.publishedAt, wall: WallTime(nanoseconds: 0))
        return StatusSnapshot(path: path, backends: [report], takenAt: time)
    }
}

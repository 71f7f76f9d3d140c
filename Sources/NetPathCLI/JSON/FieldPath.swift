// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Names one value of the path document: keys and list positions with dots between them, `interfaces.0.name`.
///
/// It is checked against the names there can be, not against one document: a script that asks for a misspelled name
/// must fail on every machine, one that asks for the second gateway of a machine with one must not.
struct FieldPath: Hashable, Sendable {
    /// What may stand below a name.
    indirect enum Shape: Sendable {
        case value
        case list(Shape)
        case object([(key: String, shape: Shape)])
    }

    let components: [String]

    /// Checks a name.
    ///
    /// - Parameter text: The name as it was typed.
    /// - Throws: ``FieldPathError``.
    init(parsing text: String) throws(FieldPathError) {
        self.components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var shape = Self.path
        var prefix = ""
        for component in self.components {
            switch shape {
            case .value:
                throw FieldPathError("'\(prefix.safe)' is a single value; nothing can follow it")
            case .list(let element):
                guard component.allSatisfy({ "0"..."9" ~= $0 }), Int(component) != nil else {
                    throw FieldPathError(
                        "'\(prefix)' is a list; a position such as '\(prefix).0' follows, not '\(component.safe)'"
                    )
                }
                shape = element
            case .object(let members):
                guard let member = members.first(where: { $0.key == component }) else {
                    throw FieldPathError(unknown: component, in: prefix, allowed: members.map(\.key))
                }
                shape = member.shape
            }
            prefix += prefix.isEmpty ? component : "." + component
        }
    }

    /// Finds the value in a document; null when it is not known, or the list is shorter.
    func value(in document: OrderedJSON) -> OrderedJSON {
        self.components.reduce(document) { value, component in
            switch value {
            case .object(let members): members.first { $0.key == component }?.value ?? .null
            case .array(let elements):
                Int(component).flatMap { elements.indices.contains($0) ? elements[$0] : nil } ?? .null
            default: .null
            }
        }
    }
}

/// Why something is not the name of a field.
struct FieldPathError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    init(unknown name: String, in prefix: String, allowed: [String]) {
        let place = prefix.isEmpty ? "" : " in '\(prefix)'"
        let suggestion = nearestMatch(to: name, among: allowed).map { " (did you mean '\($0)'?)" } ?? ""
        self.init("there is no field '\(name.safe)'\(place)\(suggestion); allowed: \(allowed.joined(separator: ", "))")
    }
}

// MARK: - The path document

extension FieldPath {
    /// The names at the top of the document.
    static var topLevelNames: [String] { if case .object(let members) = Self.path { members.map(\.key) } else { [] } }

    private static let reason = Shape.values("code", "message")

    /// What ``StatusSnapshot/document`` writes; a test holds the two together.
    static let path = Shape.object([
        ("schema", .value),
        ("status", .value),
        ("reason", reason),
        ("statedBy", .value),
        ("stale", .value),
        (
            "interfaces",
            .list(
                .object([
                    ("name", .value),
                    ("index", .value),
                    ("type", .value),
                    ("kind", .value),
                    ("reason", reason),
                    ("operationalState", .value),
                    ("addresses", .list(.value)),
                    ("gateways", .list(.value)),
                    ("metric", .value),
                    ("table", .value),
                    ("underlying", .value),
                    ("labels", .list(.values("backend", "text"))),
                ])
            )
        ),
        ("carriedBy", .value),
        ("gateways", .list(.values("address", "interface", "answers"))),
        ("dnsServers", .list(.value)),
        ("nameServers", .list(.values("address", "reachable"))),
        ("supportsIPv4", .value),
        ("supportsIPv6", .value),
        ("supportsDNS", .value),
        ("isExpensive", .value),
        ("isConstrained", .value),
        ("internet", .value),
        ("portalURL", .value),
        ("probes", .list(.values("target", "outcome", "errno", "rttMicroseconds", "detail"))),
        (
            "backends",
            .list(
                .object([
                    ("name", .value),
                    ("mode", .value),
                    ("health", .value),
                    ("status", .value),
                    ("reason", reason),
                    ("stated", .value),
                    ("host", .value),
                    ("error", .value),
                    ("ageMilliseconds", .value),
                    ("limitations", .list(.value)),
                    ("restarts", .value),
                    ("resynchronizations", .value),
                ])
            )
        ),
        (
            "disagreements",
            .list(.object([("backend", .value), ("status", .value), ("reason", reason), ("stated", .value)]))
        ),
        ("via", .list(.value)),
        ("sequence", .value),
        ("time", .value),
    ])
}

extension FieldPath.Shape {
    fileprivate static func values(_ keys: String...) -> Self {
        .object(keys.map { ($0, .value) })
    }
}

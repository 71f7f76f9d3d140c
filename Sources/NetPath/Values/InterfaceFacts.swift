// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a backend knows of an interface without seeing paths: a supplicant, a daemon of modems.
///
/// It adds to what other backends see of the interface with this name, as <doc:Merging> says. What is nil is not said.
public struct InterfaceFacts: Hashable, Sendable, Codable {
    /// The name of the interface.
    public var name: String
    /// What the interface is.
    public var type: InterfaceType?
    /// Whether traffic through it costs money.
    public var isExpensive: Bool?
    /// Whether traffic through it should be kept low.
    public var isConstrained: Bool?
    /// The step that it waits for, or that can be started: the reason where it does not carry the path.
    public var pendingStep: PathReason?
    /// What to show with it, such as `home, WPA3` or `LTE, roaming`.
    ///
    /// A path with another label is another path: what changes all the time belongs into a ``BackendMetric``.
    public var label: String?

    /// Creates facts that say nothing yet; everything else is set afterwards.
    public init(_ name: String) {
        self.name = name
    }
}

/// What one backend states of an interface.
package struct InterfaceStatement: Hashable, Sendable, Codable {
    /// The backend's name.
    package var backend: String
    /// What it states.
    package var facts: InterfaceFacts

    /// Creates a statement.
    package init(by backend: String, _ facts: InterfaceFacts) {
        self.backend = backend
        self.facts = facts
    }
}

/// What a backend shows with an interface.
public struct InterfaceLabel: Hashable, Sendable, Codable {
    /// The backend's name.
    public var backend: String
    /// Its words.
    public var text: String

    /// Creates a label.
    public init(by backend: String, _ text: String) {
        self.backend = backend
        self.text = text
    }
}

extension [InterfaceStatement] {
    /// What is stated of an interface, each fact by the first that states it; nil when nothing is.
    func facts(of name: String) -> InterfaceFacts? {
        var merged: InterfaceFacts?
        for statement in self where statement.facts.name == name {
            var facts = merged ?? InterfaceFacts(name)
            facts.type = facts.type ?? statement.facts.type
            facts.isExpensive = facts.isExpensive ?? statement.facts.isExpensive
            facts.isConstrained = facts.isConstrained ?? statement.facts.isConstrained
            if facts.pendingStep == nil, let step = statement.facts.pendingStep {
                facts.pendingStep = PathReason(step.code, "\(name): \(step.message) (\(statement.backend) says)")
            }
            merged = facts
        }
        return merged
    }

    /// What to show with an interface; nil when there is nothing.
    func labels(of name: String) -> [InterfaceLabel]? {
        let labels = self.compactMap { statement in
            statement.facts.name == name
                ? statement.facts.label.map { InterfaceLabel(by: statement.backend, $0) } : nil
        }
        return labels.isEmpty ? nil : labels
    }
}

extension NetworkInterface {
    /// Takes over what is stated of it.
    mutating func take(_ facts: InterfaceFacts) {
        self.type = facts.type ?? self.type
        self.isExpensive = facts.isExpensive ?? self.isExpensive
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathSystem

// Values as what they have to be; `name` is what messages call them.
extension JSONNode {
    /// Takes a text.
    func text(_ name: String) throws(PluginFault) -> String {
        guard case .string(let text) = self else { throw PluginFault("has '\(name)' as \(self.kind), not as text") }
        return text
    }

    func truth(_ name: String) throws(PluginFault) -> Bool {
        guard case .bool(let truth) = self else {
            throw PluginFault("has '\(name)' as \(self.kind), not as true or false")
        }
        return truth
    }

    func number<Number: FixedWidthInteger>(
        _ name: String,
        as type: Number.Type = Number.self
    ) throws(PluginFault) -> Number {
        guard case .integer(let value) = self, let number = Number(exactly: value)
        else {
            throw PluginFault("has '\(name)' as something else than a whole number from \(Number.min) to \(Number.max)")
        }
        return number
    }

    func elements(_ name: String) throws(PluginFault) -> [JSONNode] {
        guard case .array(let elements) = self else {
            throw PluginFault("has '\(name)' as \(self.kind), not as a list")
        }
        return elements
    }

    func object(_ name: String) throws(PluginFault) -> JSONNode {
        guard case .object = self else { throw PluginFault("has '\(name)' as \(self.kind), not as an object") }
        return self
    }

    /// Takes one of some words, as what it stands for.
    func choice<Value>(_ name: String, among words: [(String, Value)]) throws(PluginFault) -> Value {
        let text = try self.text(name)
        for (word, value) in words where word == text { return value }
        let allowed = words.map(\.0).joined(separator: ", ")
        throw PluginFault("has '\(name)' as '\(text.printable(limit: 40))'; allowed: \(allowed)")
    }

    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        among _: Value.Type
    ) throws(PluginFault) -> Value {
        try self.choice(name, among: Value.allCases.map { ($0.rawValue, $0) })
    }

    func address(_ name: String) throws(PluginFault) -> InternetAddress {
        let text = try self.text(name)
        guard let address = InternetAddress(text)
        else { throw PluginFault("has '\(name)' as '\(text.printable(limit: 60))', which is no address") }
        return address
    }

    // Members that may be absent or null.

    func optionalText(_ name: String) throws(PluginFault) -> String? { try self[name]?.text(name) }

    func optionalTruth(_ name: String) throws(PluginFault) -> Bool? { try self[name]?.truth(name) }

    func optionalNumber<Number: FixedWidthInteger>(_ name: String) throws(PluginFault) -> Number? {
        try self[name]?.number(name)
    }

    /// The elements of a member; none when it is absent.
    func list(_ name: String) throws(PluginFault) -> [JSONNode] { try self[name]?.elements(name) ?? [] }

    /// The first texts in a member, each as far as it can be shown; none when it is absent.
    func texts(_ name: String, limit: Int, most: Int = .max) throws(PluginFault) -> [String] {
        try self.list(name).prefix(most).map { text throws(PluginFault) in try text.text(name).printable(limit: limit) }
    }

    /// A reason: a sentence, or an object with one as `message`, and with a `code`; nil when it is absent.
    func reason(_ name: String, else words: String? = nil) throws(PluginFault) -> PathReason? {
        guard let node = self[name] else { return nil }
        if case .string(let sentence) = node { return PathReason(.stated, sentence.printable(limit: 300)) }
        let code = try node.object(name).optionalText("code")?.printable(limit: 64)
        guard let message = try node.optionalText("message")?.printable(limit: 300) ?? words
        else { throw PluginFault("lacks 'message'") }
        return PathReason(code.map(PathReason.Code.init(rawValue:)) ?? .stated, message)
    }
}

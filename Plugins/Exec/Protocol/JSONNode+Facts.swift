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
        else { throw PluginFault("has '\(name)' as something else than a whole number that fits") }
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

    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        among type: Value.Type
    ) throws(PluginFault) -> Value {
        let text = try self.text(name)
        guard let value = Value(rawValue: text) else {
            let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw PluginFault("has '\(name)' as '\(text.printable(limit: 40))'; allowed: \(allowed)")
        }
        return value
    }

    func address(_ name: String) throws(PluginFault) -> InternetAddress {
        let text = try self.text(name)
        guard let address = InternetAddress(text)
        else { throw PluginFault("has '\(name)' as '\(text.printable(limit: 60))', which is no address") }
        return address
    }

    /// Takes a member that may be absent or null.
    func optional<Value>(
        _ name: String,
        _ read: (JSONNode) throws(PluginFault) -> Value
    ) throws(PluginFault) -> Value? {
        guard let node = self[name] else { return nil }
        return try read(node)
    }

    func optionalText(_ name: String) throws(PluginFault) -> String? {
        guard let node = self[name] else { return nil }
        return try node.text(name)
    }

    func optionalTruth(_ name: String) throws(PluginFault) -> Bool? {
        guard let node = self[name] else { return nil }
        return try node.truth(name)
    }

    func optionalNumber<Number: FixedWidthInteger>(_ name: String) throws(PluginFault) -> Number? {
        guard let node = self[name] else { return nil }
        return try node.number(name)
    }

    /// The elements of a member; none when it is absent.
    func list(_ name: String) throws(PluginFault) -> [JSONNode] {
        guard let node = self[name] else { return [] }
        return try node.elements(name)
    }
}

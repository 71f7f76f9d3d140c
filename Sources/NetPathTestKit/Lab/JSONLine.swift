// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A line of a program's output that holds a JSON object.
public struct JSONLine: Sendable, CustomStringConvertible {
    /// The line as written.
    public let text: String

    /// The decoded line.
    public let value: JSONValue

    /// When the line was read from the pipe.
    public let receivedAt: ContinuousClock.Instant

    /// The line as written.
    public var description: String { text }

    /// A member of the object, or nil when it is absent.
    public subscript(name: String) -> JSONValue? { value[name] }

    /// The element of `interfaces` with this name, or nil when there is none.
    public func interface(named name: String) -> JSONValue? {
        value["interfaces"]?.elements.first { $0["name"] == .string(name) }
    }

    /// Whether an interface lists the mark's address, that is, whether everything before the mark was seen.
    package func shows(_ mark: EventMark) -> Bool {
        value["interfaces"]?.elements.contains { interface in
            interface["addresses"]?.elements.contains(.string(mark.address)) ?? false
        } ?? false
    }
}

/// The lines of a monitor up to a mark.
package struct MarkedLines: Sendable {
    /// The lines before the mark was seen.
    package let before: [JSONLine]

    /// The first line that shows the mark.
    ///
    /// A monitor that reads several events at once shows their effect here and not in ``before``.
    package let settled: JSONLine
}

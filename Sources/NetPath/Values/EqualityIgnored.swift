// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// A stored value that never makes two owners differ.
///
/// Times, ages and counters change without the network changing. Wrapping them keeps the synthesized `==` of the
/// values that carry them honest: two paths are equal when nothing that matters differs.
@propertyWrapper
public struct EqualityIgnored<Value: Sendable>: Sendable {
    /// The value itself.
    public var wrappedValue: Value

    /// Creates a wrapper around a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension EqualityIgnored: Hashable {
    /// Always true: see the type.
    public static func == (_: EqualityIgnored, _: EqualityIgnored) -> Bool { true }

    /// Adds nothing, to agree with `==`.
    public func hash(into _: inout Hasher) {}
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Not fnmatch(3): this module, which holds the rules about interfaces, has no C.

/// A pattern of names as in `glob(7)`: `*` stands for any text, `?` for one character, `[a-c]` for one of some
/// characters, `[!a-c]` for any other one.
///
/// Everything else stands for itself; `[*]` is a literal asterisk.
public struct GlobPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Element: Hashable {
        case anyText
        case anyCharacter
        case literal(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
    }

    /// The pattern as it was written.
    public let description: String
    private let elements: [Element]

    /// Reads a pattern.
    ///
    /// - Parameter text: The pattern; nil is the answer to an empty one, and to a set that does not end.
    public init?(_ text: String) {
        var elements: [Element] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": if elements.last != .anyText { elements.append(.anyText) }
            case "?": elements.append(.anyCharacter)
            case "[":
                guard let set = Self.set(&rest) else { return nil }
                elements.append(set)
            default: elements.append(.literal(scalar))
            }
        }
        guard !elements.isEmpty else { return nil }
        self.description = text
        self.elements = elements
    }

    /// Reads a set after its opening bracket; a closing bracket that stands first belongs to the set.
    private static func set(_ rest: inout Substring.UnicodeScalarView) -> Element? {
        let isNegated = rest.first == "!" || rest.first == "^"
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let scalar = rest.popFirst() {
            if scalar == "]", !ranges.isEmpty { return .set(ranges, isNegated: isNegated) }
            let after = rest.dropFirst().first
            if rest.first == "-", let last = after, last != "]" {
                guard scalar <= last else { return nil }
                ranges.append(scalar...last)
                rest = rest.dropFirst(2)
            } else {
                ranges.append(scalar...scalar)
            }
        }
        return nil
    }

    /// Tells whether the pattern stands for a whole text.
    public func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var (position, element) = (0, 0)
        // Where to go on when what follows the latest asterisk does not fit: one character more for the asterisk. Only
        // the latest one has to be tried, so the time is bounded by the product of the lengths.
        var retry: (position: Int, element: Int)?
        while position < scalars.count || element < self.elements.count {
            if element < self.elements.count, self.elements[element] == .anyText {
                element += 1
                retry = (position, element)
            } else if position < scalars.count, element < self.elements.count,
                Self.matches(self.elements[element], scalars[position])
            {
                (position, element) = (position + 1, element + 1)
            } else if let last = retry, last.position < scalars.count {
                retry = (last.position + 1, last.element)
                (position, element) = (last.position + 1, last.element)
            } else {
                return false
            }
        }
        return true
    }

    private static func matches(_ element: Element, _ scalar: Unicode.Scalar) -> Bool {
        switch element {
        case .anyText, .anyCharacter: true
        case .literal(let expected): expected == scalar
        case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
        }
    }
}

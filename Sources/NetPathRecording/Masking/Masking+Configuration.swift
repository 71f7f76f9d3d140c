// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension Masking {
    /// How the values of a key of the configuration are masked, where their form does not tell.
    private enum Treatment {
        case command, variable, host, user, token, hardware
    }

    private static let treatments: [String: Treatment] = [
        "command": .command, "exec": .command, "environment": .variable, "targets": .host, "host": .host, "user": .user,
        "body": .token, "value": .token, "mac": .hardware, "allowedHosts": .host, "listen": .host,
        "trustedProxies": .host,
    ]

    /// Masks what is private in the text of a configuration as netpath writes it, a value on each line; it stays one.
    package mutating func maskConfiguration(_ text: String) -> String {
        var treatment: (Treatment, indentation: Int)?
        var isFirst = false
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let (content, comment) = Self.parts(of: line)
            var rest = content[...]
            var lead = rest.prefix { $0 == " " }
            rest = rest.dropFirst(lead.count)
            let isElement = rest.hasPrefix("- ")
            if isElement {
                lead += "- "
                rest = rest.dropFirst(2)
            }
            let comments = comment.isEmpty ? "" : self.mask(String(comment))
            if let colon = Self.endOfKey(in: rest) {
                let key = String(rest[..<colon])
                let value = rest[rest.index(after: colon)...].drop { $0 == " " }
                let known = Self.treatments[key]
                treatment = value.isEmpty ? known.map { ($0, lead.count) } : nil
                isFirst = true
                var masked = value
                if let known, !value.isEmpty {
                    masked = Substring(self.mask(scalars: value, known, &isFirst))
                } else {
                    masked = Substring(self.mask(String(value)))
                }
                lines.append("\(lead)\(key):\(value.isEmpty ? "" : " ")\(masked)\(comments)")
            } else if isElement, let (known, indentation) = treatment, lead.count > indentation {
                lines.append("\(lead)\(self.mask(scalar: rest, known, &isFirst))\(comments)")
            } else {
                lines.append("\(lead)\(self.mask(String(rest)))\(comments)")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A line without its comment, and that with the spaces before it; what is in quotes is no comment.
    private static func parts(of line: Substring) -> (Substring, Substring) {
        var isQuoted = false
        var previous: Character = " "
        for index in line.indices {
            let character = line[index]
            if character == "\"", previous != "\\" { isQuoted.toggle() }
            if character == "#", !isQuoted, previous == " " {
                let end = line[..<index].lastIndex { $0 != " " }.map { line.index(after: $0) } ?? line.startIndex
                return (line[..<end], line[end...])
            }
            previous = character
        }
        return (line, "")
    }

    /// The colon after a key of netpath's.
    private static func endOfKey(in text: Substring) -> Substring.Index? {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return nil }
        let next = text.index(after: colon)
        return next == text.endIndex || text[next] == " " ? colon : nil
    }

    /// Masks a scalar, or a list in brackets.
    private mutating func mask(scalars text: Substring, _ treatment: Treatment, _ isFirst: inout Bool) -> String {
        guard text.hasPrefix("["), text.hasSuffix("]") else { return self.mask(scalar: text, treatment, &isFirst) }
        let elements = text.dropFirst().dropLast().split(separator: ",").map { $0.drop { $0 == " " } }
        var masked: [String] = []
        for element in elements { masked.append(self.mask(scalar: element, treatment, &isFirst)) }
        return "[" + masked.joined(separator: ", ") + "]"
    }

    private mutating func mask(scalar text: Substring, _ treatment: Treatment, _ isFirst: inout Bool) -> String {
        defer { isFirst = false }
        let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let value = String(isQuoted ? text.dropFirst().dropLast() : text)
        if value.isEmpty { return String(text) }
        let masked: String
        switch treatment {
        // Which program it is says what kind of backend it is.
        case .command: masked = isFirst ? self.mask(value) : self.mask(value, as: .argument)
        case .variable:
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            masked = parts.count < 2 ? value : parts[0] + "=" + self.mask(String(parts[1]), as: .argument)
        case .host:
            masked = self.maskHost(value)
            self.remember(host: value, as: masked)
        case .user: masked = self.mask(value, as: .user)
        case .token: masked = self.mask(value, as: .token)
        case .hardware:
            let bytes = value.split(separator: ":").compactMap { UInt8($0, radix: 16) }
            masked = Self.hexadecimal(self.addresses.mask(hardware: bytes), separator: ":")
        }
        return isQuoted || masked.contains(":") ? "\"\(masked)\"" : masked
    }
}

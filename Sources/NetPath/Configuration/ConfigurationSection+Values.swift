// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

extension ConfigurationSection {
    // MARK: Text

    /// Reads text, quoted or not.
    ///
    /// - Parameter key: The key of the value.
    /// - Returns: The text, `nil` when the key is absent or wrong.
    public func string(_ key: String) -> String? {
        note(key, .text)
        guard let node = value(key) else { return nil }
        guard let text = node.text else {
            reject(key, "must be text")
            return nil
        }
        return text
    }

    /// Reads text, quoted or not.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fallback: What holds when the key is absent or wrong.
    /// - Returns: The text, or the fallback.
    public func string(_ key: String, default fallback: String) -> String {
        fallBack(key, to: .scalar(text: fallback, isQuoted: true))
        return string(key) ?? fallback
    }

    /// Reads the name of an interface.
    package func interfaceName(_ key: String) -> String? {
        let name = string(key)
        if let name, !(1...15).contains(name.utf8.count) || name.contains("/") {
            reject(key, "must be the name of an interface, 1 to 15 characters")
        }
        return name
    }

    /// Reads text that has to be there and not be empty.
    ///
    /// - Parameter key: The key of the value.
    /// - Returns: The text; empty when the key is absent or wrong, and then the file is refused.
    public func requiredString(_ key: String) -> String {
        require(key)
        guard let text = string(key) else { return "" }
        if text.isEmpty { reject(key, "must not be empty") }
        return text
    }

    /// Reads a list of texts.
    ///
    /// - Parameters:
    ///   - key: The key of the list.
    ///   - fallback: What holds when the key is absent or anything in the list is wrong.
    /// - Returns: The texts, or the fallback.
    public func strings(_ key: String, default fallback: [String] = []) -> [String] {
        note(key, .texts)
        fallBack(key, to: .sequence(fallback.map { Self.node(.scalar(text: $0, isQuoted: true)) }))
        guard let node = value(key) else { return fallback }
        guard case .sequence(let elements) = node.content else {
            reject(key, "must be a list such as [a, b]")
            return fallback
        }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            if let text = element.text, !element.isNull {
                texts.append(text)
            } else {
                reject(key, at: index, "must be text")
            }
        }
        return texts.count == elements.count ? texts : fallback
    }

    /// Reads a list of texts that has to be there, with at least one in it, none of them empty.
    ///
    /// - Parameter key: The key of the list.
    /// - Returns: The texts; none when the key is absent or anything is wrong, and then the file is refused.
    public func requiredStrings(_ key: String) -> [String] {
        require(key)
        guard let node = value(key), case .sequence(let elements) = node.content else { return strings(key) }
        if elements.isEmpty { reject(key, "must not be empty") }
        let texts = strings(key)
        guard texts.contains("") else { return texts }
        reject(key, "must contain no empty text")
        return []
    }

    // MARK: Choices

    /// Reads one of a number of words.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - words: What may stand there.
    /// - Returns: The word, `nil` when the key is absent or wrong.
    public func choice(_ key: String, among words: [String]) -> String? {
        note(key, .choice(words))
        guard let node = value(key) else { return nil }
        if let text = node.text, words.contains(text) { return text }
        let message = "must be one of the allowed words"
        let near = node.text.flatMap { nearestMatch(to: $0, among: words) }
        collector.record(diagnostic(message, path: path(of: key), node: node, allowed: words, suggestion: near))
        return nil
    }

    /// Reads one case of an enumeration.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - type: The enumeration.
    /// - Returns: The case, `nil` when the key is absent or wrong.
    public func choice<Value>(_ key: String, of type: Value.Type = Value.self) -> Value?
    where Value: RawRepresentable<String> & CaseIterable {
        choice(key, among: Value.allCases.map(\.rawValue)).flatMap(Value.init(rawValue:))
    }

    /// Reads one case of an enumeration.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fallback: What holds when the key is absent or wrong.
    /// - Returns: The case, or the fallback.
    public func choice<Value>(_ key: String, default fallback: Value) -> Value
    where Value: RawRepresentable<String> & CaseIterable {
        fallBack(key, to: .scalar(text: fallback.rawValue, isQuoted: true))
        return choice(key, of: Value.self) ?? fallback
    }

    // MARK: Numbers and truth

    /// Reads a whole number, written with decimal digits only and without quotes.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - range: The smallest and the largest number allowed.
    /// - Returns: The number, `nil` when the key is absent or wrong.
    public func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        note(key, .integer(range))
        guard let node = value(key) else { return nil }
        if case .scalar(let text, isQuoted: false) = node.content, let number = Int(decimal: text),
            range.contains(number)
        {
            return number
        }
        reject(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a whole number, written with decimal digits only and without quotes.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fallback: What holds when the key is absent or wrong.
    ///   - range: The smallest and the largest number allowed.
    /// - Returns: The number, or the fallback.
    public func integer(_ key: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
        fallBack(key, to: .scalar(text: "\(fallback)", isQuoted: false))
        return integer(key, in: range) ?? fallback
    }

    /// Reads `true` or `false`, without quotes.
    ///
    /// `yes`, `on` and the rest of YAML 1.1's words for the two are refused: other readers of the same file take
    /// them for text.
    ///
    /// - Parameter key: The key of the value.
    /// - Returns: The truth, `nil` when the key is absent or wrong.
    public func boolean(_ key: String) -> Bool? {
        note(key, .boolean)
        guard let node = value(key) else { return nil }
        if case .scalar(let text, isQuoted: false) = node.content, let truth = Bool(text) { return truth }
        let isQuoted = if case .scalar(_, isQuoted: true) = node.content { true } else { false }
        reject(key, "must be true or false\(isQuoted ? ", without quotes" : "")")
        return nil
    }

    /// Reads `true` or `false`, without quotes.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fallback: What holds when the key is absent or wrong.
    /// - Returns: The truth, or the fallback.
    public func boolean(_ key: String, default fallback: Bool) -> Bool {
        fallBack(key, to: .scalar(text: "\(fallback)", isQuoted: false))
        return boolean(key) ?? fallback
    }

    /// Reads a duration such as `500ms`, `1.5s`, `5m` or `1h`; only `0` may go without its unit.
    ///
    /// Unlike numbers, durations may be quoted: JSON has no other way to write one.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - range: The shortest and the longest duration allowed.
    /// - Returns: The duration, `nil` when the key is absent or wrong.
    public func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        note(key, .duration(range))
        guard let node = value(key) else { return nil }
        let text = node.text ?? ""
        if let duration = DurationText.parse(text) {
            if range.contains(duration) { return duration }
            let bounds = "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
            reject(key, "must be a duration from \(bounds)")
        } else if DurationText.parse(text + "s") != nil {
            let message = "must have a unit (ms, s, m, h or d)"
            collector.record(diagnostic(message, path: path(of: key), node: node, suggestion: text + "s"))
        } else {
            reject(key, "must be a duration such as 2s or 500ms")
        }
        return nil
    }

    /// Reads a duration such as `500ms`, `1.5s`, `5m` or `1h`; only `0` may go without its unit.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fallback: What holds when the key is absent or wrong.
    ///   - range: The shortest and the longest duration allowed.
    /// - Returns: The duration, or the fallback.
    public func duration(
        _ key: String,
        default fallback: Duration,
        in range: ClosedRange<Duration>
    ) -> Duration {
        fallBack(key, to: .scalar(text: DurationText.format(fallback), isQuoted: false))
        return duration(key, in: range) ?? fallback
    }
}

extension Int {
    /// Reads digits with an optional minus sign, and nothing else.
    ///
    /// A leading zero is refused: YAML 1.1 means octal by it, YAML 1.2 and people mean decimal.
    fileprivate init?(decimal text: String) {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard digits.allSatisfy(\.isASCIIDigit), digits == "0" || !digits.hasPrefix("0") else { return nil }
        self.init(text)
    }
}

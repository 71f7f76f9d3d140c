// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// Makes a tree of the events of one document and refuses what a configuration file should not hold.
///
/// libyaml lets pass what other formats forbid: duplicate keys, several documents, keys that are lists. Anchors and
/// aliases it hands on unexpanded; they are refused as they arrive, so that a "billion laughs" file costs nothing.
/// The stack is explicit: nesting in the file never becomes nesting of calls.
struct YAMLTreeBuilder {
    /// Enough for any configuration, and little enough to compare and release trees by recursion.
    static let depthLimit = 32
    /// Bounds the memory that a file of the greatest size allowed can take.
    static let nodeLimit = 50_000

    /// A list or mapping whose end has not come yet.
    private struct Frame {
        let isMapping: Bool
        let position: SourcePosition
        var elements: [ConfigurationNode] = []
        var entries: [ConfigurationNode.Entry] = []
        var key: ConfigurationNode?
        var keyPositions: [String: SourcePosition] = [:]
    }

    /// The finished document, `nil` when there was none.
    private(set) var root: ConfigurationNode?

    private let collector: DiagnosticCollector
    private var frames: [Frame] = []
    private var documentCount = 0
    private var nodeCount = 0
    private var reported: Set<String> = []

    init(collector: DiagnosticCollector) {
        self.collector = collector
    }

    // MARK: Events; each returns whether to go on

    /// Takes the beginning of a document.
    mutating func beginDocument(at position: SourcePosition) -> Bool {
        documentCount += 1
        if documentCount > 1 {
            record("a second document begins here; a configuration file holds one only", at: position)
        }
        return documentCount == 1
    }

    /// Takes the beginning of a list or mapping.
    mutating func begin(isMapping: Bool, at position: SourcePosition) -> Bool {
        guard frames.count < Self.depthLimit else {
            record("lists and mappings are nested more than \(Self.depthLimit) deep", at: position)
            return false
        }
        frames.append(Frame(isMapping: isMapping, position: position))
        return true
    }

    /// Takes the end of a list or mapping.
    mutating func end() -> Bool {
        guard let frame = frames.popLast() else { return false }
        let content: ConfigurationNode.Content =
            frame.isMapping ? .mapping(frame.entries) : .sequence(frame.elements)
        return add(ConfigurationNode(content, at: frame.position))
    }

    /// Takes an alias, in whose place something has to stand.
    mutating func addAlias(at position: SourcePosition) -> Bool {
        refuse(hasAnchor: true, hasTag: false, at: position)
        return add(ConfigurationNode(.scalar(text: "*", isQuoted: true), at: position))
    }

    /// Records what a value may not have.
    mutating func refuse(hasAnchor: Bool, hasTag: Bool, at position: SourcePosition) {
        if hasTag { recordOnce("tags such as !!str are not supported: remove them", at: position) }
        if hasAnchor { recordOnce("anchors and aliases are not supported: write each value out", at: position) }
    }

    /// Takes a value that is complete.
    mutating func add(_ node: ConfigurationNode) -> Bool {
        nodeCount += 1
        guard nodeCount <= Self.nodeLimit else {
            record("the file holds more than \(Self.nodeLimit) values", at: node.position)
            return false
        }
        if case .scalar(let text, _) = node.content, text.utf8.contains(0) {
            // What the system calls take ends there: a path would name another file.
            record("must not hold a NUL (\\0)", at: node.position)
        }
        // Through indices only: a frame taken out and put back would copy its elements each time.
        let top = frames.count - 1
        if top < 0 {
            root = node
        } else if !frames[top].isMapping {
            frames[top].elements.append(node)
        } else if let key = frames[top].key {
            frames[top].entries.append(ConfigurationNode.Entry(key: key, value: node))
            frames[top].key = nil
        } else {
            check(key: node)
            frames[top].key = node
        }
        return true
    }

    private mutating func check(key: ConfigurationNode) {
        guard case .scalar(let text, let isQuoted) = key.content else {
            record("a key must be a word, not a list or a mapping", at: key.position)
            return
        }
        if text.isEmpty {
            record("a key must not be empty", at: key.position)
        } else if text == "<<", !isQuoted {
            recordOnce("merge keys (<<) are not supported: write the keys out", at: key.position)
        } else if let first = frames[frames.count - 1].keyPositions[text] {
            record(
                "duplicate key '\(text.printable(limit: 60))', first given at line \(first.line), column \(first.column)",
                at: key.position,
                key: text
            )
        } else {
            frames[frames.count - 1].keyPositions[text] = key.position
        }
    }

    /// Reports a rule of the whole file at its first breach only; a hundred repetitions would hide the rest.
    private mutating func recordOnce(_ message: String, at position: SourcePosition) {
        if reported.insert(message).inserted { record(message, at: position) }
    }

    private func record(_ message: String, at position: SourcePosition, key: String? = nil) {
        collector.record(ConfigurationDiagnostic(message, in: collector.source, at: position, path: path(key: key)))
    }

    private func path(key: String?) -> String {
        var path = ""
        for frame in frames {
            if !frame.isMapping {
                path += "[\(frame.elements.count)]"
            } else if let name = frame.key?.text ?? key {
                path += (path.isEmpty ? "" : ".") + name.printable(limit: 60)
            }
        }
        return path
    }
}

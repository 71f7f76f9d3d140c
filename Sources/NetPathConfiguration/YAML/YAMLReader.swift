// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

internal import CYAML
package import NetPath

/// Reads YAML, and JSON with it, into nodes that know where they stand.
///
/// This is the only file that touches libyaml; no pointer leaves it.
package enum YAMLReader: Sendable {
    /// The C library it runs with and the version of that, not of the headers: `libyaml 0.2.5`.
    package static var library: String { unsafe "libyaml \(String(cString: yaml_get_version_string()))" }

    /// Reads a configuration file.
    ///
    /// - Parameter source: The text; an empty one is an empty mapping.
    /// - Returns: The content of the file's one document.
    /// - Throws: Everything that is wrong with the text itself, up to the first error of syntax.
    package static func read(_ source: ConfigurationSource) throws(ConfigurationError) -> ConfigurationNode {
        try self.read(source.bytes, quoting: source)
    }

    /// Reads part of a text.
    ///
    /// - Parameters:
    ///   - text: The text with blanks for what is not to be read.
    ///   - source: The whole text, from which diagnostics quote.
    /// - Returns: The content.
    /// - Throws: Everything that is wrong with the text itself, up to the first error of syntax.
    static func read(
        _ text: [UInt8],
        quoting source: ConfigurationSource
    ) throws(ConfigurationError) -> ConfigurationNode {
        let collector = DiagnosticCollector(source: source)
        var builder = YAMLTreeBuilder(collector: collector)
        if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            let message = "the file is UTF-16 text; save it as UTF-8"
            let start = SourcePosition(line: 1, column: 1)
            collector.record(ConfigurationDiagnostic(message, in: source, at: start))
        } else {
            unsafe text.withUnsafeBufferPointer { bytes in
                unsafe parse(bytes, into: &builder, collector: collector)
            }
        }
        if let error = collector.error { throw error }
        let nothing = ConfigurationNode(.mapping([]), at: SourcePosition(line: 1, column: 1))
        guard let root = builder.root, root.content != .scalar(text: "", isQuoted: false) else { return nothing }
        return root
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into builder: inout YAMLTreeBuilder,
        collector: DiagnosticCollector
    ) {
        // libyaml asserts that the input is not NULL, which the address of an empty array may be.
        guard let input = bytes.baseAddress, !bytes.isEmpty else { return }
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            collector.record(ConfigurationDiagnostic(origin: collector.source.name, message: "out of memory"))
            return
        }
        defer { unsafe yaml_parser_delete(parser) }
        // Otherwise libyaml would guess UTF-16 from a byte order mark.
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input, bytes.count)

        var isGoingOn = true
        while isGoingOn {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else {
                collector.record(unsafe diagnostic(from: parser.pointee, in: collector.source))
                return
            }
            isGoingOn = unsafe hand(event, to: &builder)
            unsafe yaml_event_delete(&event)
        }
    }

    /// Hands on an event, copying everything that is needed, for libyaml frees it; returns whether to go on.
    private static func hand(_ event: yaml_event_t, to builder: inout YAMLTreeBuilder) -> Bool {
        let position = SourcePosition(unsafe event.start_mark)
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return builder.beginDocument(at: position)
        case YAML_ALIAS_EVENT: return builder.addAlias(at: position)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let text = unsafe String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length),
                as: UTF8.self
            )
            unsafe builder.refuse(hasAnchor: scalar.anchor != nil, hasTag: scalar.tag != nil, at: position)
            let isQuoted = unsafe scalar.style != YAML_PLAIN_SCALAR_STYLE
            return builder.add(ConfigurationNode(.scalar(text: text, isQuoted: isQuoted), at: position))
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            unsafe builder.refuse(hasAnchor: start.anchor != nil, hasTag: start.tag != nil, at: position)
            return builder.begin(isMapping: false, at: position)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            unsafe builder.refuse(hasAnchor: start.anchor != nil, hasTag: start.tag != nil, at: position)
            return builder.begin(isMapping: true, at: position)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return builder.end()
        case YAML_STREAM_END_EVENT: return false
        // The start of the stream, the end of a document, and whatever a later libyaml may add.
        default: return true
        }
    }

    // MARK: Errors of syntax

    private static func diagnostic(
        from parser: yaml_parser_t,
        in source: ConfigurationSource
    ) -> ConfigurationDiagnostic {
        var problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "out of memory"
        if unsafe parser.error == YAML_READER_ERROR {
            // The mark of a reader error is always 0:0.
            let position = source.position(ofByteAt: unsafe parser.problem_offset)
            let value = String(unsafe max(parser.problem_value, 0), radix: 16, uppercase: true)
            let message =
                problem.hasPrefix("control character")
                ? "the control character U+\(String(repeating: "0", count: max(4 - value.count, 0)))\(value) is not allowed"
                : "the file is not UTF-8 text: \(problem) (byte 0x\(value)); save it as UTF-8"
            return ConfigurationDiagnostic(message, in: source, at: position)
        }
        // What libyaml does not report there needs no message.
        if problem == "did not find expected <document start>" { problem = "the document has ended before this" }
        // libyaml tells where it gave up, which is the line after the one to mend.
        if problem == "could not find expected ':'" {
            let message = "not valid YAML: a key needs a ':' and a blank behind it, as in 'key: value'"
            return unsafe ConfigurationDiagnostic(message, in: source, at: SourcePosition(parser.context_mark))
        }
        let position = unsafe SourcePosition(parser.problem_mark)
        var message = "not valid YAML: \(problem)"
        if let context = unsafe parser.context {
            let start = unsafe SourcePosition(parser.context_mark)
            message += " \(unsafe String(cString: context))"
            if start != position { message += " that begins at line \(start.line), column \(start.column)" }
        }
        if let line = source.line(position.line), line.prefix(while: \.isWhitespace).contains("\t") {
            message += "; indent with spaces, not with tabs"
        }
        return ConfigurationDiagnostic(message, in: source, at: position)
    }
}

extension SourcePosition {
    /// libyaml counts from 0, people from 1.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

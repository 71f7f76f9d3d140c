// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathSystem

/// Values as lines of JSON between programs of one version of netpath: the form may change with any version.
package enum CodedLine {
    /// Writes a value and a line feed.
    ///
    /// - Throws: `EncodingError`.
    package static func bytes(of value: some Encodable) throws -> [UInt8] {
        JSONText.line(try NodeEncoder.node(of: value).write)
    }

    /// Reads a value.
    ///
    /// - Throws: `DecodingError`, or ``JSONFault``.
    package static func value<Value: Decodable>(_: Value.Type = Value.self, from line: [UInt8]) throws -> Value {
        try NodeDecoder.value(from: try JSONReader.read(line[...], valueLimit: .max))
    }
}

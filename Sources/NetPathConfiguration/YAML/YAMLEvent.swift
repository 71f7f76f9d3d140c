// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// One step of libyaml's walk through a document.
struct YAMLEvent {
    enum Content {
        case documentStart
        case documentEnd
        case alias
        case scalar(text: String, isQuoted: Bool)
        case sequenceStart
        case sequenceEnd
        case mappingStart
        case mappingEnd
        case streamEnd
        /// The start of the stream, and whatever a later libyaml may add.
        case other
    }

    let content: Content
    let position: SourcePosition
    var hasAnchor = false
    var hasTag = false
}

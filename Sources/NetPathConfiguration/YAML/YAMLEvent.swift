// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// One step of libyaml's walk through a document.
struct YAMLEvent {
    enum Content {
        case documentStart
        case alias
        case scalar(text: String, isQuoted: Bool)
        /// The start of a list or mapping.
        case start(isMapping: Bool)
        /// The end of a list or mapping.
        case end
        case streamEnd
        /// The start of the stream, the end of a document, and whatever a later libyaml may add.
        case other
    }

    let content: Content
    let position: SourcePosition
    var hasAnchor = false
    var hasTag = false
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// The rows and columns of a terminal.
struct TerminalSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// What a terminal has that does not say.
    static let usual = TerminalSize(columns: 80, rows: 24)
}

/// Everything the live view shows; ``LiveState/lines(_:local:)`` makes the picture.
struct LiveState: Hashable, LivePicture {
    private(set) var snapshot: StatusSnapshot?
    var history = ChangeHistory()
    var size: TerminalSize = .usual
    /// What the program is called.
    let name: String
    let characters: LiveCharacters
    /// How to leave, for the last row.
    let hint: String

    init(name: String, characters: LiveCharacters, hint: String) {
        self.name = name
        self.characters = characters
        self.hint = hint
    }

    /// Takes the next snapshot.
    mutating func record(_ snapshot: StatusSnapshot) {
        self.snapshot = snapshot
        self.history.record(snapshot)
    }
}

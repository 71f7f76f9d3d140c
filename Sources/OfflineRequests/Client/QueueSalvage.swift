// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What was saved from a file that is damaged or gone, which another has taken the place of.
package struct QueueSalvage: Hashable, Sendable {
    /// How many requests are in the new file.
    package var recovered: Int
    /// How many are not, as far as the damaged file still says; nil when it does not.
    package var lost: Int?
    /// What the damaged file is called now, or the journal of one that is gone; nil when nothing of it is left.
    ///
    /// Bodies that belong to no request any more are in a folder of that name and `-bodies`.
    package var asideAs: String?

    /// Creates a description.
    package init(recovered: Int, lost: Int?, asideAs: String?) {
        self.recovered = recovered
        self.lost = lost
        self.asideAs = asideAs
    }
}

extension QueueSalvage {
    func event(of file: String) -> QueueEvent {
        if let asideAs, !self.wasRemoved {
            return .salvaged(recovered: self.recovered, lost: self.lost, setAsideAs: asideAs)
        }
        return .failed(.io(path: file, reason: self.removal))
    }

    /// Whether there is no damaged file, but none any more.
    package var wasRemoved: Bool { self.asideAs?.hasSuffix("-wal") ?? true }

    /// What is said of a file that is there no more.
    package var removal: String {
        let journal = self.asideAs.map { ", and its journal kept as \($0)" } ?? ""
        return "the file was removed while it was open, and what waited in it is lost; a new one was made\(journal)"
    }
}

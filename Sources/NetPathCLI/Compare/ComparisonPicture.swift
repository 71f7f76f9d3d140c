// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

// The live view of `compare`.
extension Comparison: LiveSnapshot {
    static let command = "compare"

    func record(in history: inout ChangeHistory, since earlier: Self?) {
        for change in self.changes(since: earlier) {
            history.add(self.takenAt.wall, change.word, change.emphasis, change.text)
        }
    }

    func sections(of picture: LivePicture<Self>, local: (WallTime) -> CivilTime) -> [LiveSection] {
        // When, not how long ago: nothing is drawn while nothing happens.
        self.sections(width: picture.size.columns, picture.characters) { column in
            guard let time = column.report.reportedAt else { return "nothing" }
            return String(local(self.takenAt.wall(at: time)).time.prefix(8))
        }
    }

    func title(of picture: LivePicture<Self>, local _: (WallTime) -> CivilTime) -> [LiveLine] {
        let (word, emphasis, sentence) = self.headline
        let lead = word.count + 2
        var lines = [LiveLine(word, emphasis)]
        var text = wrapped(picture.characters.displayable(sentence), to: max(1, picture.size.columns - lead))
        if !text.isEmpty { lines[0].append("  " + text.removeFirst()) }
        if picture.isRoomy { lines += text.prefix(2).map { LiveLine(String(repeating: " ", count: lead) + $0) } }
        return lines
    }

    func remark(of picture: LivePicture<Self>, local: (WallTime) -> CivilTime) -> String? {
        picture.end.map { "until \(local($0).time.prefix(8))" }
    }
}

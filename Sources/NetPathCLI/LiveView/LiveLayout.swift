// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

extension StatusSnapshot {
    /// What stands at the top of the live view.
    func title(of picture: LivePicture, local: (WallTime) -> CivilTime) -> [LiveLine] {
        let (word, emphasis, sentence) = self.headline
        let isStale = self.path?.isStale == true
        let columns = picture.size.columns
        let since = picture.history.statusSince.map { "since \(local($0).time.prefix(8))" } ?? ""
        var lines: [LiveLine] = []
        if picture.isRoomy, let banner = picture.characters.banner(word), (banner.map(\.count).max() ?? 0) <= columns {
            lines = banner.map { LiveLine($0, emphasis) }
            lines[1].append(isStale ? "stale" : "", .caution, rightIn: columns)
            lines[2].append(since, .faint, rightIn: columns)
        } else {
            lines = [LiveLine(word, emphasis)]
            if isStale { lines[0].append(" stale", .caution) }
            lines[0].append(since, .faint, rightIn: columns)
        }
        // Where there is little room the interfaces say more than the rest of a sentence.
        let limit = picture.size.rows < 8 ? 1 : 2
        var reason = wrapped(picture.characters.displayable(sentence), to: columns)
        // What has no row of its own hangs over the margin, so that it is seen to be cut off.
        if reason.count > limit { reason[limit - 1] = reason[(limit - 1)...].joined(separator: " ") }
        let facts = picture.isRoomy ? self.path?.facts(picture.characters) : nil
        return lines + reason.prefix(limit).map { LiveLine($0, .strong) } + [facts].compactMap { $0 }
    }
}

extension NetworkPath {
    /// What else there is to say about the path, in one line.
    fileprivate func facts(_ characters: LiveCharacters) -> LiveLine {
        var facts = [
            ("IPv4", self.familyText(self.supportsIPv4)), ("IPv6", self.familyText(self.supportsIPv6)),
            ("DNS", self.dnsText), ("internet", self.internetText),
        ]
        if let carrier = self.carriedByIndex { facts.insert(("carried by", self.name(of: carrier)), at: 0) }
        if self.isExpensive { facts.insert(("cost", "expensive"), at: 0) }
        if self.isConstrained { facts.insert(("traffic", "constrained"), at: 0) }
        var line = LiveLine()
        for (number, (name, value)) in facts.enumerated() {
            line.append((number == 0 ? "" : "   ") + name + " ", .faint)
            line.append(characters.displayable(value))
        }
        return line
    }
}

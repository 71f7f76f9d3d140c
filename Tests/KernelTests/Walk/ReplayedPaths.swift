// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathTestKit

/// The paths that a recording replays to.
struct ReplayedPaths: Sendable {
    /// What depends on when a line was written, or by whom.
    private static let volatile: Set<String> = ["time", "ageMilliseconds", "via"]

    let paths: [JSONValue]

    /// Replays a recording.
    ///
    /// - Throws: ``LabError`` when the paths are not those that were recorded.
    init(of recording: String, by program: String, in lab: NetworkNamespace) throws {
        let text = try lab.run("\(program) replay --json \(recording)", timeout: .seconds(600))
        self.paths = try text.split(separator: "\n").map { Self.stable(try JSONValue(json: String($0))) }
    }

    /// A path without what is another one each time.
    static func stable(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(members.filter { !self.volatile.contains($0.key) }.mapValues(self.stable))
        case .array(let elements): .array(elements.map(self.stable))
        default: value
        }
    }

    /// Looks for paths that were shown, in their order.
    ///
    /// - Throws: ``WalkFailure`` that names the first one that is missing.
    func contain(_ shown: [JSONValue]) throws {
        // A reader that is too slow gets the newest state next, so that some may be missing among those shown.
        var rest = self.paths[...]
        for path in shown where path["status"] != .null {
            guard let position = rest.firstIndex(of: path) else {
                throw WalkFailure(description: "shown, and not replayed, or not in that order: \(path)")
            }
            rest = rest[(position + 1)...]
        }
    }
}
